#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures the Python package beside os and shutil, in a virtual machine whose clock counts instructions.

    bench/python.py [--kernel 6.12] [--row scandir] [--write]

Prints a table of instructions an entry: with the module, in the default settings, and without it. --write
puts it into docs/measured/python.md.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
TREE = HERE.parent
PAGE = TREE / "docs/measured/python.md"
HEAD = """# Python

The package [cosy](../use/python.md) beside the functions that it stands for: instructions of
process and kernel for each entry, counted by a virtual machine. Written by
`bench/python.py --write`.

Linux {kernel}, Python {python}, tmpfs: a folder of 2,000 files, and a tree of 2,000 files in 100
folders. Settings are the default ones, after a few runs, so that the calls have earned their place
in the kernel. *Without the module* is the same program under `COSY_MODE=native`. Each function is
compared with the loop that it replaces; *stat* and *lstat* use the size of each entry.

"""


def _table(lines: list[dict[str, Any]]) -> str:
    native = {line["row"]: line for line in lines if line["way"] == "native"}
    rows = ["| | standard library | cosy | x | without the module | x |", "| --- | ---: | ---: | ---: | ---: | ---: |"]
    for line in lines:
        if line["way"] == "kernel":
            alone = native[line["row"]]
            rows.append(
                f"| {line['row']} | {line['os']:,.0f} | {line['cosy']:,.0f} | {line['os'] / line['cosy']:.2f} "
                f"| {alone['cosy']:,.0f} | {alone['os'] / alone['cosy']:.2f} |"
            )
    return "\n".join(rows) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernel", default="6.12", metavar="SERIES")
    parser.add_argument("--build", type=Path, default=TREE / "build", metavar="DIR")
    parser.add_argument("--tree", type=Path, default=TREE, metavar="DIR", help="where cosy.ko's sources are")
    parser.add_argument("--row", default="", metavar="TEXT", help="only rows that have this in their names")
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.relative_to(TREE)}")
    options = parser.parse_args()
    command: list[str | Path] = [TREE / "tests/vm/vm.py", "run", "--kernel", options.kernel, "--tree", options.tree]
    command += ["--icount", "--strip", "--mem", "1024", "--timeout", "1800"]
    for path in (options.build / "python/python", HERE / "python/measure.py", HERE / "python/measure.sh"):
        command += ["--put", path]
    command += ["--", "sh", "/t/measure.sh", *([options.row] if options.row else [])]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode or not lines:
        print(done.stdout, file=sys.stderr)
        return done.returncode or 1
    table = _table(lines)
    print(table, end="")
    if options.write:
        PAGE.write_text(HEAD.format(kernel=options.kernel, python=lines[0]["python"]) + table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
