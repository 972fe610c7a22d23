#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes docs/measured/costs.md of what kmod_cost prints where the clock counts instructions.

bench/costs.py --build build --kernel 6.12
"""

from __future__ import annotations

import re
import sys

import counted
from report import table

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
    return counted.page(
        "What things cost",
        "Written by `make bench` from what `tests/vm/guest/kmod_cost.c` prints.",
        f"{counted.machine(kernel)}, the least of many. Where there is a bound, `make test` fails above it "
        "(`vm-kmod-cost`).",
        table(["what", "instructions", "at most"], rows),
        remarks="costs",
    )


def main() -> int:
    options = counted.parser(__doc__).parse_args()
    program = options.build / "tests/vm/guest/kmod_cost"
    said = counted.run(options, [program], ["sh", "-c", "uname -r; /t/kmod_cost"])
    lines = costs("\n".join(said))
    if not lines:
        sys.exit("kmod_cost printed no costs")
    (options.docs / "costs.md").write_text(document(lines, counted.kernel_of(said)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
