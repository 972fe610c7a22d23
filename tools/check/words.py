#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that renamed things do not come back under their old names.

renamed.txt has a line for each: a regular expression for the old word, the word to use
(docs/glossary.md), and the folders where the rule holds; none means all.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import tree

RENAMED = Path("tools/check/renamed.txt")
SOURCES = (
    "*.c",
    "*.h",
    "*.S",
    "*.def",
    "*.cpp",
    "*.map",
    "*.py",
    "*.sh",
    "*.md",
    "*.[1-8]",
    "*.txt",
    "Kbuild",
    "Makefile",
)
# Left out: the history, the benchmarks' output, and these checks themselves.
LEFT_OUT = ("CHANGELOG.md", "docs/measured", "tools/check")


def renamed(top: Path) -> Iterator[tuple[re.Pattern[str], str, list[str]]]:
    """The old words, the new one, and the folders."""
    for line in (top / RENAMED).read_text().splitlines():
        if line and not line.startswith("#"):
            old, new, *folders = line.split("\t")
            yield re.compile(old), new, folders


def faults(top: Path) -> Iterator[str]:
    """Old words, a line each."""
    words = list(renamed(top))
    for path in tree.files(*SOURCES, top=top):
        name = str(path.relative_to(top))
        if name.startswith(LEFT_OUT):
            continue
        here = [(old, new) for old, new, folders in words if not folders or name.startswith(tuple(folders))]
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
            for old, new in here:
                if found := old.search(line):
                    yield f"{name}:{number}: {found[0]} is called {new} now"


if __name__ == "__main__":
    sys.exit(tree.verdict("words", faults(tree.TOP)))
