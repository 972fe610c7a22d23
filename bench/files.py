#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures <cosy/files.h> beside libc, and writes docs/measured/files.md.

bench/files.py --build build --kernel 6.12
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from pathlib import Path

import counted
from report import table

PROGRAMS = ("files-driver", "files-libc", "files-cosy", "files-tree")
WORKS = {
    "scan": ("one directory with attributes", "readdir, fstatat", "cosy_scan"),
    "walk": ("a tree with attributes", "readdir, fstatat, openat", "cosy_walk"),
    "stat": ("attributes of names", "statx", "cosy_stat_many"),
    "read": ("small files", "open, read, close", "cosy_read_files"),
    "copy": ("copy a tree", "cp -r", "cosy_copy_tree"),
    "remove": ("remove a tree", "rm -r", "cosy_remove_tree"),
}
COMMANDS = ("copy", "remove")  # their counterparts are whole processes
MODES = ("module", "native")
# The dynamic linker finds libcosy.so.0 as it does where Cosy is installed.
FOLDER = "/usr/lib/x86_64-linux-gnu"
INSTALL = f"unset LD_LIBRARY_PATH; cp /t/libcosy.so.0 {FOLDER}; /t/ldconfig {FOLDER}"

Key = tuple[str, str, int, str]  # mode, work, files, contender
Line = dict[str, int]


def measure(options: argparse.Namespace, mode: str) -> tuple[str, dict[Key, Line]]:
    """Runs the driver in a machine; returns the kernel's name and what each contender took."""
    place = options.build / "bench/files"
    put = [place / name for name in PROGRAMS] + [Path(shutil.which(name) or name) for name in ("cp", "rm")]
    put += [options.build / "lib/libcosy.so.0", Path("/sbin/ldconfig")]
    settings = ["--timeout", "0"]
    if mode == "native":
        settings += ["--no-module"]
    command = f"{INSTALL}; mount -t tmpfs tmpfs /tmp; uname -r; /t/files-driver /t /tmp {options.work}"
    library = dict(os.environ, LD_LIBRARY_PATH=str(options.build / "lib"))
    lines = counted.run(options, put, ["sh", "-c", command], *settings, env=library)
    found = {
        (mode, read["work"], read["files"], read["contender"]): {what: read[what] for what in ("whole", "each")}
        for read in counted.records(lines)
    }
    return counted.kernel_of(lines), found


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
    works = [work for work in WORKS if any(work == key[1] for key in found)]
    whole = [row(found, "whole", work, files) for work in works for files in sizes]
    each = [row(found, "each", work, files) for work in works if work not in COMMANDS for files in sizes]
    return counted.page(
        "Directories, trees and files by one call",
        "Written by `bench/files.py`: `<cosy/files.h>` beside libc's functions and commands.",
        f"{counted.machine(kernel)}, on tmpfs. *libc*: the counterpart. *cosy*: with the module and default settings. "
        "*no module*: the same program where there is none. *times*: libc divided by it. Results were compared in "
        "each run.",
        table(["work", "libc", "cosy"], (list(WORKS[work]) for work in works)),
        "## Whole processes",
        "From fork to wait, with the dynamic linker's work, after 12 such processes (copy, remove: 2). The median of 9 "
        "processes (copy, remove: 3), with libcosy.so.0 where it is when it is installed.",
        table(head, whole),
        "## For each file",
        "The last of 6 turns in one process.",
        table(head, each),
        remarks="files",
    )


def main() -> int:
    parser = counted.parser(__doc__)
    parser.add_argument("--work", default="", choices=("", *WORKS), help="measure this alone, and print the page")
    options = parser.parse_args()
    found: dict[Key, Line] = {}
    kernel = ""
    for mode in MODES:
        kernel, some = measure(options, mode)
        found.update(some)
    text = document(found, kernel)
    if options.work:
        print(text)
    else:
        (options.docs / "files.md").write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
