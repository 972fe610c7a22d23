#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures single calls in a region beside plain ones, and writes docs/measured/calls.md.

bench/calls.py --build build [--kernels 6.12,7.3]
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import counted
from report import table

CONTENDERS = ("plain", "COSY-FAST")


@dataclass
class Row:
    """What an iteration of one contender took, and the sum of its results."""

    instructions: int
    results: int


def rows(lines: list[str]) -> dict[str, dict[str, Row]]:
    """Returns contender, name and row of what the programs printed."""
    found: dict[str, dict[str, Row]] = {}
    contender = ""
    for words in (line.split() for line in lines):
        if words[:1] == ["contender"]:
            contender = words[1]
        elif words[:1] == ["row"]:
            found.setdefault(contender, {})[words[1]] = Row(int(words[2]), int(words[3]))
    return found


def lines_of(found: dict[str, dict[str, Row]]) -> dict[str, tuple[int, int]]:
    """Returns what each row takes by plain calls and in a region; ends the program if results differ."""
    plain, fast = (found.get(contender, {}) for contender in CONTENDERS)
    if not plain or list(plain) != list(fast):
        sys.exit("calls: nothing was measured, or not the same rows")
    for name in plain:
        if plain[name].results != fast[name].results:
            sys.exit(f"calls: {name}: {fast[name].results} in a region, {plain[name].results} by plain calls")
    return {name: (plain[name].instructions, fast[name].instructions) for name in plain}


def cells(plain: int, fast: int) -> list[str]:
    return [f"{plain:,}", f"{fast:,}", f"{100 * (fast - plain) / plain:+.0f} %"]


def main() -> int:
    parser = counted.parser(__doc__)
    parser.add_argument("--kernels", default="6.12,7.3", metavar="SERIES,...")
    options = parser.parse_args()
    put = [options.build / "bench/calls" / contender for contender in CONTENDERS]
    script = "mount -t tmpfs tmpfs /tmp; uname -r; " + "; ".join(
        f"echo contender {name}; COSY_TIER=always /t/{name} /tmp/{name} || exit 1" for name in CONTENDERS
    )
    measured, versions = [], []
    for series in options.kernels.split(","):
        options.kernel = series
        said = counted.run(options, put, ["sh", "-c", script], "--timeout", "0", "--strip")
        versions.append(counted.kernel_of(said))
        measured.append(lines_of(rows(said)))
    head = ["one iteration"]
    for version in versions:
        head += [f"plain, {version.split('-')[0]}", "region", "change"]
    body = [
        [name.replace("_", " "), *(cell for lines in measured for cell in cells(*lines[name]))] for name in measured[0]
    ]
    text = counted.page(
        "Single calls in a region",
        "Written by `bench/calls.py`. Each row is a loop of `bench/calls/rows.def`.",
        f"{counted.machine(' and '.join(versions))}, on tmpfs; sums of results were compared. Memory is outside the "
        "shared buffer. The region's loop has been loaded, and guards that fail each time are no longer tried.",
        table(head, body),
        remarks="calls",
    )
    (options.docs / "calls.md").write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
