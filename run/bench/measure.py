#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures `cosy run` against plain calls, on this machine.

    run/bench/measure.py --build build --json lines.jsonl

Rows in C (micro/: Synthetix's Table 3 and what surrounds it), unmodified programs, and two
servers under load.  Contenders take turns; a value is the median of the rounds, a ratio the
median of the ratios of neighbours.  Writes JSON lines as bench/run.py does; document.py makes
docs/measured/cosy-run.md of them.  The status says whether every output was the same, never how
fast anything was.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import programs
import rounds
import servers
from installed import install
from lines import TOP, Lines

PARTS = ("rounds", "programs", "servers")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=TOP / "build")
    parser.add_argument("--json", type=Path, default=Path("read.jsonl"), metavar="OUT", help="append the lines there")
    parser.add_argument("--only", choices=PARTS, action="append", help="one part; may be given again")
    parser.add_argument(
        "--rounds", type=int, default=15, help="of programs and servers; of rows in C ten times so many"
    )
    parser.add_argument("--short", action="store_true", help="one round of less work: a test, no figures; no servers")
    options = parser.parse_args()
    parts = options.only or (PARTS[:2] if options.short else PARTS)
    count = 1 if options.short else options.rounds
    wrong = []
    with tempfile.TemporaryDirectory() as made:
        root = Path(made)
        root.chmod(0o755)
        cosy = install(options.build, root / "cosy")
        lines = Lines(options.json, made)
        if "rounds" in parts:
            rounds.measure(cosy, lines, 1 if options.short else 10 * count + 1, 20 if options.short else 1)
        if "programs" in parts:
            (root / "files").mkdir()
            wrong += programs.measure(cosy, lines, root / "files", count, options.short)
        if "servers" in parts:
            wrong += servers.measure(cosy, lines, root, count)
    for what in wrong:
        print(f"bench: {what}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
