#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures the Python package beside os and shutil, in a virtual machine whose clock counts instructions.

    bench/python.py [--kernel 6.12] [--row scandir]

Prints a table of instructions an entry: with the module, in the default settings, and without it.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
TREE = HERE.parent


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernel", default="6.12", metavar="SERIES")
    parser.add_argument("--build", type=Path, default=TREE / "build", metavar="DIR")
    parser.add_argument("--row", default="", metavar="TEXT", help="only rows that have this in their names")
    options = parser.parse_args()
    command = [TREE / "tests/vm/vm.py", "run", "--kernel", options.kernel, "--icount", "--strip"]
    command += ["--mem", "1024", "--timeout", "1800"]
    for path in (options.build / "python/python", HERE / "python/measure.py", HERE / "python/measure.sh"):
        command += ["--put", path]
    done = subprocess.run([*command, "--", "sh", "/t/measure.sh", options.row], stdout=subprocess.PIPE, text=True)
    if done.returncode:
        print(done.stdout, file=sys.stderr)
        return done.returncode
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    native = {line["row"]: line for line in lines if line["way"] == "native"}
    print("| instructions an entry | standard library | cosy | x | without the module | x |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for line in lines:
        if line["way"] == "kernel":
            alone = native[line["row"]]
            print(
                f"| {line['row']} | {line['os']:,.0f} | {line['cosy']:,.0f} | {line['os'] / line['cosy']:.2f} "
                f"| {alone['cosy']:,.0f} | {alone['os'] / alone['cosy']:.2f} |"
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
