#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Keeps lists in documents equal to the *.def files that they repeat.

    tables.py		updates the lists
    tables.py --check	reports lists that differ from the *.def file

A document has such a list between these lines:

    <!-- list: run/file/guards.def -->
    <!-- end of list -->

and is to name each entry of a *.def file, in words of its own, where it has

    <!-- names all of: core/guards.def -->

or each entry of one macro, where it has

    <!-- names all COSY_FAST_CALL of: core/ops.def -->
"""

from __future__ import annotations

import re
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import tree

WIDTH = 100
LIST = re.compile(r"(<!-- list: (\S+) -->\n)(.*?)(<!-- end of list -->)", re.S)
NAMES = re.compile(r"<!-- names all (?:(\w+) )?of: (\S+) -->")
CALL = re.compile(r"^(\w+)\((\d+), (\w+),", re.M)
ENTRY = re.compile(r"^((?:COSY_)?GUARD)\((.*?)\)$", re.M | re.S)
ARGUMENT = re.compile(r'((?:"(?:[^"\\]|\\.)*"\s*)+|[^,"]+)(?:,|$)')


def entries(path: Path) -> Iterator[tuple[str, list[str]]]:
    """The macro and the arguments of each entry, strings without their quotes."""
    code = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.S)
    for macro, body in ENTRY.findall(code):
        arguments = [argument.strip() for argument in ARGUMENT.findall(body)]
        yield macro, ["".join(re.findall(r'"((?:[^"\\]|\\.)*)"', a)) if '"' in a else a for a in arguments]


def named(path: Path, macro: str | None) -> list[str]:
    """The names of all entries, or of those of a macro whose first argument is a number."""
    if not macro:
        return [arguments[0] for _, arguments in entries(path)]
    return [name for entry, _, name in CALL.findall(path.read_text()) if entry == macro]


def said(macro: str, arguments: list[str]) -> str:
    """An entry's text: its premise, the calls that break it, and the reaction."""
    if macro == "COSY_GUARD":  # (name, name of its statistics, what is relied on, what breaks it; what then)
        name, _, relies, breaks = arguments
        return f"- **{name}**: {relies}. *Broken by:* {breaks}."
    name, relies, breaks, then = arguments
    return f"- **{name}**: {relies}." + (f" *Broken by:* {breaks}. *Then:* {then}." if breaks != "-" else "")


def listed(path: Path) -> str:
    """All entries, a paragraph each."""
    wrap = textwrap.TextWrapper(WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
    return "".join(wrap.fill(said(*entry)) + "\n" for entry in entries(path))


def updated(text: str, top: Path) -> str:
    """The document with its lists from the *.def files."""
    return LIST.sub(lambda found: found[1] + listed(top / found[2]) + found[4], text)


def faults(top: Path) -> Iterator[str]:
    """Lists and names that are not those of the *.def files, a line each."""
    for path in tree.files("*.md", top=top):
        text, name = path.read_text(), path.relative_to(top)
        for found in LIST.finditer(text):
            if not (top / found[2]).exists():
                yield f"{name}: there is no {found[2]}"
            elif found[3] != listed(top / found[2]):
                yield f"{name}: the list is not that of {found[2]}; `make tables` writes it"
        for found in NAMES.finditer(text):
            for entry in named(top / found[2], found[1]):
                if not re.search(rf"\b{entry}\b", text):
                    yield f"{name}: {entry} of {found[2]} is not explained"


def main() -> int:
    if sys.argv[1:] == ["--check"]:
        return tree.verdict("tables", faults(tree.TOP))
    for path in tree.files("*.md"):
        text = path.read_text()
        new = updated(text, tree.TOP)
        if new != text:
            path.write_text(new)
    return 0


if __name__ == "__main__":
    sys.exit(main())
