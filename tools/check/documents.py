#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that links have targets, that links lead to each document, and that its lines are short.

In every *.md, the target of a link to a file or a heading of this tree must exist.  So must a
document that a text, a source or a man page names by its path (docs/x.md).  Each document must
be reachable from README.md by links.  A line has at most 100 columns, except in tables and code.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import tree

WIDTH = 100
# Files whose lines are not checked, because they have placeholders.
LONG = {"bench/remarks.md"}
LINK = re.compile(r"(?<!!)\[[^\]\n]*\]\(([^)\s]+)\)|!\[[^\]\n]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ +(.*?) *$", re.M)
NAMED = re.compile(r"(?<![\w./(-])docs/[\w./-]+\.md\b")
# Texts in which a document is named by its path from the top.
TEXTS = ("*.md", "*.c", "*.h", "*.def", "*.S", "*.cpp", "*.py", "*.sh", "*.txt", "*.cmake", "Kbuild", "*.[1-8]")


def without_code(text: str) -> str:
    """The text without its blocks of code, whose lines stay as empty ones."""
    return re.sub(r"^```.*?^```", lambda block: "\n" * block[0].count("\n"), text, flags=re.M | re.S)


def anchors(text: str) -> set[str]:
    """The names that a link may have after '#': headings, as the usual viewers make them."""
    found: set[str] = set()
    for heading in HEADING.findall(without_code(text)):
        plain = re.sub(r"[^\w\- ]", "", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()).replace(" ", "-")
        name, count = plain, 0
        while name in found:
            count += 1
            name = f"{plain}-{count}"
        found.add(name)
    return found


def links(path: Path) -> Iterator[tuple[int, str]]:
    """The links of a document into the tree, with their lines."""
    for number, line in enumerate(without_code(path.read_text()).splitlines(), 1):
        for found in LINK.finditer(re.sub(r"`[^`]*`", "", line)):
            target = found[1] or found[2]
            if not re.match(r"[a-z]+:", target):
                yield number, target


def too_long(text: str) -> Iterator[int]:
    """The numbers of lines that have too many columns."""
    for number, line in enumerate(without_code(text).splitlines(), 1):
        if len(line) > WIDTH and not line.startswith(("|", "!", "<!--")):
            yield number


def faults(top: Path) -> Iterator[str]:
    """The faults, a line each."""
    documents = {path: path.read_text() for path in tree.files("*.md", top=top)}
    leads: dict[Path, set[Path]] = {path: set() for path in documents}
    for path, text in documents.items():
        for number in too_long(text) if str(path.relative_to(top)) not in LONG else ():
            yield f"{path.relative_to(top)}:{number}: more than {WIDTH} columns"
        for number, target in links(path):
            name, _, anchor = target.partition("#")
            to = (path.parent / name).resolve() if name else path
            where = f"{path.relative_to(top)}:{number}"
            if not to.exists():
                yield f"{where}: {target} does not exist"
            elif anchor and to in documents and anchor not in anchors(documents[to]):
                yield f"{where}: {name or 'this document'} has no heading #{anchor}"
            # A folder shows its README.md.
            for led in (to, to / "README.md"):
                if led in leads:
                    leads[path].add(led)
    for path in tree.files(*TEXTS, top=top):
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
            for name in NAMED.findall(line):
                if not (top / name).exists() and "tools/check" not in str(path.relative_to(top)):
                    yield f"{path.relative_to(top)}:{number}: {name} does not exist"
    reached, new = set(), {top / "README.md"}
    while new:
        reached |= new
        new = {to for path in new for to in leads[path]} - reached
    for path in sorted(set(documents) - reached):
        yield f"{path.relative_to(top)}: no links lead there from README.md"


if __name__ == "__main__":
    sys.exit(tree.verdict("documents", faults(tree.TOP)))
