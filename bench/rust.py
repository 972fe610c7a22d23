#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures the Rust crate beside std and walkdir, in a virtual machine whose clock counts instructions.

    bench/rust.py [--kernel 6.12] [--write]

Builds bench/rust with cargo, and prints a page; --write puts it into docs/measured/rust.md.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import counted
from report import table

CONTENDERS = ("std", "walkdir", "cosy", "lent")
Counts = dict[str, dict[str, int]]  # instructions, by row and contender


def build(cargo: str, library: Path) -> tuple[Path, dict[str, str]]:
    """Builds the program; returns it, and the environment that it runs in."""
    env = os.environ | {"COSY_LIB_DIR": str(library), "LD_LIBRARY_PATH": str(library)}
    folder = counted.HERE / "rust"
    subprocess.run([cargo, "build", "--release", "--quiet", "--locked"], cwd=folder, env=env, check=True)
    return folder / "target/release/cosy-bench", env


def counts(lines: list[dict[str, Any]], way: str) -> Counts:
    found: Counts = {}
    for line in lines:
        if line["way"] == way:
            found.setdefault(line["row"], {})[line["contender"]] = line["each"]
    return found


def rows(found: Counts) -> list[list[str]]:
    made = []
    for name, row in found.items():
        cells = [name, *(f"{row[contender]:,}" if contender in row else "" for contender in CONTENDERS)]
        for contender in ("std", "walkdir"):
            cells.append(f"{row[contender] / row['cosy']:.2f}" if contender in row else "")
        made.append(cells)
    return made


def document(lines: list[dict[str, Any]], kernel: str, compiler: str) -> str:
    head = ["", *CONTENDERS, "std / cosy", "walkdir / cosy"]
    return counted.page(
        "Rust",
        "The crate [cosy](../use/rust.md) beside std and the crate walkdir. Written by `bench/rust.py --write`.",
        f"{counted.machine(kernel)}, of process and kernel, for each entry. {compiler}, tmpfs: a folder of 20 files, "
        "and a tree of 2,000 files in 110 folders. *cosy* is an iterator of owned entries, as std's and walkdir's are; "
        "*lent* returns entries that live until the next call. Results were compared in each run.",
        "## With the module",
        "Settings are the default ones, after 12 runs, so that the calls have earned their place in the kernel.",
        table(head, rows(counts(lines, "kernel"))),
        "## Without the module",
        "The same program under `COSY_MODE=native`.",
        table(head, rows(counts(lines, "native"))),
    )


def main() -> int:
    parser = counted.parser(__doc__)
    parser.add_argument("--write", action="store_true", help="write docs/measured/rust.md")
    options = parser.parse_args()
    cargo = shutil.which("cargo")
    if not cargo:
        sys.exit("cargo is not installed")
    program, env = build(cargo, options.build / "lib")
    compiler = subprocess.run(["rustc", "--version"], stdout=subprocess.PIPE, text=True, check=True).stdout.split()
    command = "uname -r; /t/cosy-bench kernel && COSY_MODE=native /t/cosy-bench native"
    settings = ["--timeout", "1800"]
    said = counted.run(options, [program], ["sh", "-c", command], *settings, env=env)
    text = document(counted.records(said), counted.kernel_of(said), " ".join(compiler[:2]))
    if options.write:
        (options.docs / "rust.md").write_text(text)
    else:
        print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
