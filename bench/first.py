#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Keeps the README's first table and chart as they were measured.

    bench/run.py --beside --runs 3 --contenders CONTENDERS --json docs/measured/first.jsonl
    first.py		writes the table in README.md and docs/measured/plots/first.svg
    first.py --check	says where they are not those of the lines

The lines are run.py's; the last one of a row and a contender counts. CONTENDERS are plain, io_uring,
io_uring-linked and COSY-FAST; of the two of io_uring the better one is shown.
"""

from __future__ import annotations

import json
import re
import sys
from dataclasses import dataclass
from pathlib import Path

import cases

TOP = Path(__file__).resolve().parent.parent
LINES = TOP / "docs/measured/first.jsonl"
CHART = TOP / "docs/measured/plots/first.svg"
README = TOP / "README.md"
PLACE = re.compile(r"(<!-- measured: docs/measured/first.jsonl -->\n)(.*?)(<!-- end of measured -->)", re.S)

# The chart, in pixels.
WIDTH, LABEL, BAR, GAP, TOP_MARGIN = 740, 270, 13, 14, 34
COLOURS = {"plain C": "#9a9a9a", "io_uring": "#4f9d5d", "Cosy": "#e07b28"}


@dataclass
class Row:
    """A workload at one setting: instructions per unit, by name in the table."""

    title: str
    unit: str
    needs: dict[str, float]


def rows() -> list[Row]:
    """Returns the measured lines, in the order of the benchmark."""
    lines = [json.loads(text) for text in LINES.read_text().splitlines()]
    out = []
    for case in (case for name in cases.WORKLOADS for case in cases.cases(name) if case.title):
        mine = [line for line in lines if (line["workload"], line["parameters"]) == (case.workload, case.parameters)]
        value = {line["contender"]: line["value"] for line in mine}
        if not {"plain", "COSY-FAST"} <= set(value):
            raise SystemExit(f"first: {LINES.name} has no plain or COSY-FAST of {case.name()}")
        ring = [value[name] for name in cases.RING if name in value]
        needs = {"plain C": value["plain"], "Cosy": value["COSY-FAST"]} | ({"io_uring": min(ring)} if ring else {})
        out.append(Row(case.title, case.unit.split()[0], {name: needs[name] for name in COLOURS if name in needs}))
    return out


def table(measured: list[Row]) -> str:
    """Returns the table, as Markdown."""
    out = [
        "| instructions | " + " | ".join(COLOURS) + " | than plain C |",
        "| --- |" + " --: |" * len(COLOURS) + " --- |",
    ]
    for row in measured:
        cells = [f"{row.needs[name]:,.0f}" if name in row.needs else "-" for name in COLOURS]
        less = f"{100 * (1 - round(row.needs['Cosy']) / round(row.needs['plain C'])):.0f} % less"
        out.append(f"| {row.title}; per {row.unit} | " + " | ".join(cells) + f" | **{less}** |")
    return "\n".join(out) + "\n"


def chart(measured: list[Row]) -> str:
    """Returns the chart, as SVG: each row against plain C; a bar that would not fit ends in its figure."""
    group = BAR * len(COLOURS) + GAP
    scale = (WIDTH - LABEL - 60) / 250  # pixels per per cent: plain C is 100, the picture ends at 250
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{TOP_MARGIN + group * len(measured)}" '
        'font-family="sans-serif" font-size="12">',
        '<rect width="100%" height="100%" fill="white"/>',
    ]
    for at, (name, colour) in enumerate(COLOURS.items()):
        x = LABEL + 110 * at
        out.append(
            f'<rect x="{x}" y="8" width="12" height="12" fill="{colour}"/><text x="{x + 17}" y="18">{name}</text>'
        )
    for number, row in enumerate(measured):
        y = TOP_MARGIN + number * group
        out.append(f'<text x="{LABEL - 8}" y="{y + 24}" text-anchor="end">{row.title}</text>')
        for at, (name, value) in enumerate(row.needs.items()):
            share = 100 * value / row.needs["plain C"]
            width = min(share, 250) * scale
            out.append(
                f'<rect x="{LABEL}" y="{y + at * BAR}" width="{width:.1f}" height="{BAR - 2}" fill="{COLOURS[name]}"/>'
                f'<text x="{LABEL + width + 4:.1f}" y="{y + at * BAR + 10}" font-size="10">{share:.0f} %</text>'
            )
    return "\n".join([*out, "</svg>"]) + "\n"


def main() -> int:
    measured, text = rows(), README.read_text()
    new = PLACE.sub(lambda found: found[1] + "\n" + table(measured) + "\n" + found[3], text)
    wanted = {README: new, CHART: chart(measured)}
    stale = [path for path, content in wanted.items() if not path.exists() or path.read_text() != content]
    if not PLACE.search(text):
        print(f"first: {README.name} has no place for the table", file=sys.stderr)
        return 1
    if sys.argv[1:] == ["--check"]:
        for path in stale:
            print(f"first: {path.relative_to(TOP)} is not what {LINES.name} says; bench/first.py writes it")
        return 1 if stale else 0
    for path in stale:
        path.write_text(wanted[path])
    return 0


if __name__ == "__main__":
    sys.exit(main())
