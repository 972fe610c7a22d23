#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Keeps the section of docs/measured/compounds.md that compares kernels.

    bench/run.py --kernel SERIES --short --contenders plain,COSY-FAST --json docs/measured/kernels.jsonl
    kernels.py		writes the section
    kernels.py --check	says where it is not that of the lines

The lines are run.py's, of two kernels or more; the last one of a row, a contender and a kernel
counts.  The table has the rows that were measured on all of them.  report.py puts the same section
into the document that it writes.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import cases
import report

TOP = Path(__file__).resolve().parent.parent
LINES = TOP / "docs/measured/kernels.jsonl"
DOCUMENT = TOP / "docs/measured/compounds.md"
HEADING = "## Other kernels"
# From the heading to the next one.
PLACE = re.compile(rf"^{HEADING}\n.*?(?=^## |\Z)", re.S | re.M)
CONTENDERS = ("plain", "COSY-FAST")

Line = dict


def _series(release: str) -> str:
    """Returns a release's first two numbers, by which kernels are named."""
    return ".".join(release.split(".")[:2])


def _age(release: str) -> list[int]:
    return [int(part) for part in _series(release).split(".")]


def _less(values: dict[str, float]) -> str:
    plain, fast = (values[name] for name in CONTENDERS)
    less = 100 * (1 - fast / plain)
    return f"{less:.0f} % less" if less >= 0 else f"{-less:.0f} % more"


def _version(lines: list[Line]) -> str:
    versions = sorted({line["version"] for line in lines if line["contender"] == CONTENDERS[1]})
    return " and ".join(versions)


def section(lines: list[Line]) -> str:
    """Returns the section with its heading; "" if fewer than two kernels were measured."""
    releases = sorted({line["kernel"] for line in lines}, key=_age)
    if len(releases) < 2:
        return ""
    values: dict[tuple[str, str, str], dict[str, dict[str, float]]] = {}
    for line in lines:
        row = line["workload"], report.row_name(line), line["fs"]
        values.setdefault(row, {}).setdefault(line["kernel"], {})[line["contender"]] = line["value"]
    order = {name: index for index, name in enumerate(cases.WORKLOADS)}
    rows = []
    for row in sorted(values, key=lambda row: order[row[0]]):
        measured = values[row]
        if any(not set(CONTENDERS) <= set(measured.get(release, {})) for release in releases):
            continue
        cells = []
        for release in releases:
            needs = measured[release]
            cells += [report.number(needs["plain"]), report.number(needs["COSY-FAST"]), _less(needs)]
        rows.append([row[0], row[1], *cells])
    head = ["workload", "row"]
    for release in releases:
        head += [f"{_series(release)}: plain", "COSY-FAST", ""]
    text = [
        HEADING,
        "",
        f"Single operations on Linux {', '.join(releases)}, on tmpfs, in instructions: {_version(lines)}.",
        "",
        report.table(head, rows),
        report.wrapped(report.remarks_of("kernels")),
    ]
    return report.narrow("\n".join(text).rstrip())


def read() -> list[Line]:
    """Returns the lines that are kept; none if there are none yet."""
    return [json.loads(text) for text in LINES.read_text().splitlines()] if LINES.exists() else []


def main() -> int:
    text = DOCUMENT.read_text()
    wanted = section(read())
    found = PLACE.search(text)
    if not wanted or not found:
        print(f"kernels: {DOCUMENT.name} has no {HEADING!r}, or no two kernels were measured", file=sys.stderr)
        return 1
    rest = text[found.end() :]
    new = text[: found.start()] + wanted + ("\n" + rest if rest else "")
    if "--check" not in sys.argv:
        DOCUMENT.write_text(new)
    elif new != text:
        print(f"kernels: {DOCUMENT.name} does not show {LINES.name}: bench/kernels.py writes it", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
