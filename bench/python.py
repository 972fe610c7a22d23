#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures the Python package beside os and shutil, in a virtual machine whose clock counts instructions.

    bench/python.py [--kernel 6.12] [--row scandir] [--write]

Prints a table of instructions an entry: with the module, in the default settings, and without it. --write
puts it into docs/measured/python.md.
"""

from __future__ import annotations

import shlex
import sys
from typing import Any

import counted
from report import table


def rows(lines: list[dict[str, Any]]) -> list[list[str]]:
    native = {line["row"]: line for line in lines if line["way"] == "native"}
    found = []
    for line in lines:
        if line["way"] == "kernel":
            alone = native[line["row"]]
            cells = [line["row"], f"{line['os']:,.0f}"]
            for cosy, plain in ((line["cosy"], line["os"]), (alone["cosy"], alone["os"])):
                cells += [f"{cosy:,.0f}", f"{plain / cosy:.2f}"]
            found.append(cells)
    return found


def document(lines: list[dict[str, Any]], kernel: str) -> str:
    head = ["", "standard library", "cosy", "times", "without the module", "times"]
    return counted.page(
        "Python",
        "The package [cosy](../use/python.md) beside the functions that it stands for. Written by "
        "`bench/python.py --write`.",
        f"{counted.machine(kernel)}, of process and kernel, for each entry. Python {lines[0]['python']}, tmpfs: a "
        "folder of 2,000 files, and a tree of 2,000 files in 100 folders.",
        "Settings are the default ones, after a few runs, so that the calls have earned their place in the kernel. "
        "*Without the module* is the same program under `COSY_MODE=native`. Each function is compared with the loop "
        "that it replaces; *stat* and *lstat* use the size of each entry.",
        table(head, rows(lines)),
        remarks="python",
    )


def main() -> int:
    parser = counted.parser(__doc__)
    parser.add_argument("--row", default="", metavar="TEXT", help="only rows that have this in their names")
    parser.add_argument("--write", action="store_true", help="write docs/measured/python.md")
    options = parser.parse_args()
    put = [options.build / "python/python", *(counted.HERE / "python" / name for name in ("measure.py", "measure.sh"))]
    command = f"uname -r; sh /t/measure.sh {shlex.quote(options.row)}"
    settings = ["--strip", "--mem", "1024", "--timeout", "1800"]
    said = counted.run(options, put, ["sh", "-c", command], *settings)
    text = document(counted.records(said), counted.kernel_of(said))
    if options.write:
        (options.docs / "python.md").write_text(text)
    else:
        print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
