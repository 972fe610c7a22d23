#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures <cosy/files.h> beside libc, and writes docs/measured/files.md.

bench/files.py --build build --kernel 6.12
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import versions
from report import narrow, remarks_of, table

HERE = Path(__file__).resolve().parent
VM = HERE.parent / "tests/vm/vm.py"
PROGRAMS = ("files-driver", "files-libc", "files-cosy", "files-tree")
WORKS = {
    "scan": ("one directory with attributes", "readdir, fstatat", "cosy_scan"),
    "walk": ("a tree with attributes", "readdir, fstatat, openat", "cosy_walk"),
    "stat": ("attributes of names", "statx", "cosy_stat_many"),
    "read": ("small files", "open, read, close", "cosy_read_files"),
    "copy": ("copy a tree", "cp -r", "cosy_copy_tree"),
    "remove": ("remove a tree", "rm -r", "cosy_remove_tree"),
}
MODES = ("module", "native")

Key = tuple[str, str, int, str]  # mode, work, files, contender
Line = dict[str, int]


def measure(options: argparse.Namespace, mode: str) -> tuple[str, dict[Key, Line]]:
    """Runs the driver in a machine; returns the kernel's name and what each contender took."""
    place = options.build / "bench/files"
    put = [place / name for name in PROGRAMS] + [Path(shutil.which(name) or name) for name in ("cp", "rm")]
    machine = [sys.executable, "-B", VM, "run", "--kernel", options.kernel, "--icount", "--timeout", "0"]
    for path in put:
        machine += ["--put", path]
    if mode == "native":
        machine += ["--no-module"]
    command = "mount -t tmpfs tmpfs /tmp; uname -r; /t/files-driver /t /tmp"
    library = dict(os.environ, LD_LIBRARY_PATH=str(options.build / "lib"))
    done = subprocess.run(
        [*machine, "--env", "LD_LIBRARY_PATH=/t", "--", "sh", "-c", command],
        stdout=subprocess.PIPE,
        text=True,
        env=library,
    )
    lines = done.stdout.splitlines()
    found: dict[Key, Line] = {}
    for line in lines:
        if line.startswith("{"):
            read = json.loads(line)
            found[(mode, read["work"], read["files"], read["contender"])] = read
    if done.returncode or not found:
        sys.exit(f"files: the driver did not end well ({mode})")
    return next(line for line in lines if line[:1].isdigit()), found


def ratio(libc: int, cosy: int) -> str:
    return f"{libc / cosy:.2f}"


def row(found: dict[Key, Line], what: str, work: str, files: int) -> list[str]:
    cells = [WORKS[work][0], f"{files:,}", f"{found[('module', work, files, 'libc')][what]:,}"]
    for mode in MODES:
        libc, cosy = (found[(mode, work, files, name)][what] for name in ("libc", "cosy"))
        cells += [f"{cosy:,}", ratio(libc, cosy)]
    return cells


def document(found: dict[Key, Line], kernel: str) -> str:
    sizes = sorted({files for _, _, files, _ in found})
    head = ["work", "files", "libc", "cosy", "times", "no module", "times"]
    whole = [row(found, "whole", work, files) for work in WORKS for files in sizes]
    each = [row(found, "each", work, files) for work in ("scan", "walk", "stat", "read") for files in sizes]
    names = [[WORKS[work][0], *WORKS[work][1:]] for work in WORKS]
    text = "\n".join(
        [
            "# Directories, trees and files by one call",
            "",
            "Written by `bench/files.py`: `<cosy/files.h>` beside libc's functions and commands.",
            "",
            f"Instructions, counted by a virtual machine's clock ({versions.machine('insn')}, Linux {kernel}, tmpfs). "
            "*libc*: the counterpart. *cosy*: with the module and default settings. *no module*: the same program "
            "where there is none. *times*: libc divided by it. Results were compared in each run.",
            "",
            table(["work", "libc", "cosy"], names),
            "## Whole processes",
            "",
            "From fork to wait, with the dynamic linker's work, after 12 such processes (copy, remove: 2).",
            "",
            table(head, whole),
            "## For each file",
            "",
            "The last of 6 turns in one process.",
            "",
            table(head, each),
            remarks_of("files"),
        ]
    )
    return narrow(text)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=HERE.parent / "build")
    parser.add_argument("--kernel", default="6.12")
    parser.add_argument("--docs", type=Path, default=HERE.parent / "docs/measured")
    options = parser.parse_args()
    found: dict[Key, Line] = {}
    kernel = ""
    for mode in MODES:
        kernel, some = measure(options, mode)
        found.update(some)
    (options.docs / "files.md").write_text(document(found, kernel))
    return 0


if __name__ == "__main__":
    sys.exit(main())
