#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Keeps measured figures in documents equal to the benchmarks' tables.

    figures.py		updates stale figures
    figures.py --check	reports stale figures

A document marks a figure by a name after it, which readers do not see:

    reads of one byte take 360<!--=read1_fast--> instructions

or, in a header of C whose constants are measured costs (core/costs.h),

    #define COSY_LOSS_SHARED 5 /*=loss_shared*/

docs/measured/figures.txt defines each name: arithmetic with cells of the tables that
`make bench` and `make bench-run` write beside it.

    read1_fast: compounds[read1 | size 1, tmpfs | COSY-FAST]

That is PAGE[SECTION | ROW | COLUMN]: a heading, a row's first cells, a column's head.
A figure has as many decimals as the document gives it, and may be in thousands ("144k").
A number of instructions or ns without a name is also a fault; in docs/ and README.md so is one in
us or %.  Examples of a program's output, and tables that a benchmark writes, are not checked.
"""

from __future__ import annotations

import ast
import operator
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import tree

MEASURED = Path("docs/measured")
DEFINITIONS = MEASURED / "figures.txt"
FIGURE = re.compile(r"(-?\d[\d,]*)(\.\d+)?<!--=(\w+)-->")
CONSTANTS = Path("core/costs.h")
CONSTANT = re.compile(r"\b(\d+)([ \t]+/\*=(\w+)\*/)")
TERM = re.compile(r"\b(\w+(?:-\w+)*)\[([^\[\]]*)\]")
# A number in these units is a figure; limits and sizes have other units.
BARE = re.compile(r"(?<![\w.,-])\d[\d,.]*(?: (?:and|to|or) \d[\d,.]*)? (?:instructions|ns)\b")
# These are, in documents for users and readers.
SHARE = re.compile(r"(?<![\w.,-])\d[\d,.]*(?: (?:and|to|or) \d[\d,.]*)? (?:us\b|%)")
READ = ("docs", "README.md")
# A program's output is an example, and a benchmark's tables are not written by hand.
EXAMPLE = re.compile(r"^```.*?^```$|^<!-- measured:.*?^<!-- end of measured -->$", re.MULTILINE | re.DOTALL)
OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv}

Tables = dict[tuple[str, str, str], float]


class FigureFault(Exception):
    """A figure that cannot be computed."""


def _cells(line: str) -> list[str]:
    return [cell.strip().replace("**", "").replace("`", "") for cell in line.strip().strip("|").split("|")]


def _number(cell: str) -> float | None:
    found = re.match(r"[+]?(-?\d[\d,]*(?:\.\d+)?)", cell)
    return float(found[1].replace(",", "")) if found else None


def tables(text: str) -> Tables:
    """The numbers of a page's tables, by section, row and column.

    A row is named by its first two cells, and the first of those that begin alike also by its first.
    """
    found: Tables = {}
    section, head = "", []
    for line in text.splitlines():
        if line.startswith("#"):
            section, head = line.lstrip("# ").strip(), []
        elif not line.startswith("|"):
            head = []
        elif not head:
            head = _cells(line)
        elif not re.fullmatch(r"[|\s:-]+", line):
            cells = _cells(line)
            names = {cells[0]}
            if len(cells) > 1:
                names.add(f"{cells[0]}, {cells[1]}")
            for column, cell in zip(head, cells, strict=False):
                value = _number(cell)
                if value is not None:
                    for name in names:
                        found.setdefault((section, name, column), value)
    return found


def _arithmetic(node: ast.expr) -> float:
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        return float(node.value)
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        return float(OPERATORS[type(node.op)](_arithmetic(node.left), _arithmetic(node.right)))
    raise FigureFault("not a sum, difference, product or ratio")


class Figures:
    """The definitions of docs/measured/figures.txt."""

    def __init__(self, top: Path) -> None:
        self.formulas: dict[str, str] = {}
        self.pages: dict[str, Tables] = {}
        self.top = top
        if (top / DEFINITIONS).exists():
            for line in (top / DEFINITIONS).read_text().splitlines():
                name, colon, formula = line.partition(":")
                if colon and not line.startswith("#"):
                    self.formulas[name.strip()] = formula.strip()

    def _cell(self, page: str, place: str) -> float:
        if page not in self.pages:
            path = self.top / MEASURED / f"{page}.md"
            if not path.exists():
                raise FigureFault(f"there is no {MEASURED / page}.md")
            self.pages[page] = tables(path.read_text())
        names = [name.strip() for name in place.split("|")]
        value = self.pages[page].get((names[0], names[1], names[2])) if len(names) == 3 else None
        if value is None:
            raise FigureFault(f"{page}.md has no [{place}]")
        return value

    def value(self, name: str) -> float:
        """The value of a figure by the tables."""
        if name not in self.formulas:
            raise FigureFault(f"{DEFINITIONS} does not define it")
        formula = TERM.sub(lambda term: repr(self._cell(term[1], term[2])), self.formulas[name])
        try:
            return _arithmetic(ast.parse(formula, mode="eval").body)
        except SyntaxError as error:
            raise FigureFault(f"{self.formulas[name]} is no formula") from error


def shown(value: float, decimals: int) -> str:
    # Adding zero takes the sign of one away.
    return f"{round(value, decimals) + 0.0:,.{decimals}f}"


def documents(top: Path) -> Iterator[Path]:
    """The files with figures: documents that are written by hand, and the constants."""
    for path in tree.files("*.md", top=top):
        if path.relative_to(top).parent != MEASURED and path.name != "CHANGELOG.md":
            yield path
    if (top / CONSTANTS).exists():
        yield top / CONSTANTS


def updated(text: str, figures: Figures) -> str:
    """The text with its figures from the tables."""

    def figure(found: re.Match[str]) -> str:
        decimals = len(found[2]) - 1 if found[2] else 0
        return f"{shown(figures.value(found[3]), decimals)}<!--={found[3]}-->"

    def constant(found: re.Match[str]) -> str:
        return f"{figures.value(found[3]):.0f}{found[2]}"

    return CONSTANT.sub(constant, FIGURE.sub(figure, text))


def faults(top: Path) -> Iterator[str]:
    """Figures that are stale, unknown, unused or unnamed, a line each."""
    figures, used = Figures(top), set()
    for path in documents(top):
        text, name = path.read_text(), path.relative_to(top)
        constants = path == top / CONSTANTS
        for found in (CONSTANT if constants else FIGURE).finditer(text):
            used.add(found[3])
            where = f"{name}:{text.count(chr(10), 0, found.start()) + 1}"
            try:
                right = updated(found[0], figures)
            except FigureFault as fault:
                yield f"{where}: {found[3]}: {fault}"
            else:
                if right != found[0]:
                    now, was = (re.split("<| /", said)[0] for said in (right, found[0]))
                    yield f"{where}: {found[3]} is {now} by now, not {was}"
        if constants:
            continue
        prose = EXAMPLE.sub(lambda example: "\n" * example[0].count("\n"), text)
        for number, line in enumerate(prose.splitlines(), 1):
            for bare in BARE.findall(line) + (SHARE.findall(line) if name.parts[0] in READ else []):
                yield f"{name}:{number}: {bare!r} has no name in {DEFINITIONS}"
    for unused in sorted(set(figures.formulas) - used):
        yield f"{DEFINITIONS}: nothing uses {unused}"


def main() -> int:
    if sys.argv[1:] == ["--check"]:
        return tree.verdict("figures", faults(tree.TOP))
    figures = Figures(tree.TOP)
    for path in documents(tree.TOP):
        text = path.read_text()
        try:
            new = updated(text, figures)
        except FigureFault as fault:
            print(f"figures: {path.relative_to(tree.TOP)}: {fault}", file=sys.stderr)
            return 1
        if new != text:
            path.write_text(new)
    return 0


if __name__ == "__main__":
    sys.exit(main())
