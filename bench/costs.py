#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes docs/measured/costs.md of what kmod_cost prints where the clock counts instructions.

bench/costs.py --build build --kernel 6.12
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from pathlib import Path

import versions
from report import narrow, remarks_of, table

HERE = Path(__file__).resolve().parent
VM = HERE.parent / "tests/vm/vm.py"
LINE = re.compile(r"(\S.{0,42}\S) +(\d+\.\d\d)( times)?(?:   at most (\d+\.\d\d).*)?$")

Cost = tuple[str, float, float | None]  # what, instructions, the bound that tests keep


def costs(said: str) -> list[Cost]:
    """Returns the lines of kmod_cost that are costs; those in "times" are ratios."""
    found = (LINE.match(line) for line in said.splitlines())
    return [(f[1], float(f[2]), float(f[4]) if f[4] else None) for f in found if f and not f[3]]


def shown(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:,.0f}" if value >= 10 else f"{value:.2f}".rstrip("0").rstrip(".")


def document(lines: list[Cost], kernel: str) -> str:
    rows = [[what, shown(cost), shown(bound)] for what, cost, bound in lines]
    text = "\n".join(
        [
            "# What things cost",
            "",
            "Written by `make bench` from what `tests/vm/guest/kmod_cost.c` prints.",
            "",
            f"Instructions, counted by a virtual machine's clock ({versions.machine('insn')}, Linux {kernel}), "
            "the least of many. Where there is a bound, `make test` fails above it (`vm-kmod-cost`).",
            "",
            table(["what", "instructions", "at most"], rows),
            remarks_of("costs"),
        ]
    )
    return narrow(text)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=HERE.parent / "build")
    parser.add_argument("--kernel", default="6.12")
    parser.add_argument("--docs", type=Path, default=HERE.parent / "docs/measured")
    options = parser.parse_args()
    program = options.build / "tests/vm/guest/kmod_cost"
    machine = [sys.executable, "-B", VM, "run", "--kernel", options.kernel, "--icount", "--put", program, "--"]
    done = subprocess.run([*machine, "sh", "-c", "uname -r; /t/kmod_cost"], stdout=subprocess.PIPE, text=True)
    lines = costs(done.stdout)
    if done.returncode or not lines:
        print("costs: kmod_cost did not end well", file=sys.stderr)
        return 1
    (options.docs / "costs.md").write_text(document(lines, done.stdout.splitlines()[0]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
