#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that the table of contents in kmod/main.c names every source of the module, and no other file."""

from __future__ import annotations

import fnmatch
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import tree

_LINE = re.compile(r"^ \*\t( *)((?:[\w*]+(?:/|\.[chS])(?:, )?)+)")


def named(text: str) -> set[str]:
    """Returns the files, or patterns of files, that the comment names: a folder, then its files."""
    found: set[str] = set()
    folder = ""
    for line in text.partition("/*")[2].partition("*/")[0].splitlines():
        match = _LINE.match(line)
        if not match:
            continue
        for name in match.group(2).split(", "):
            if name.endswith("/"):
                folder = name
                found.add(f"{name}*" if name == "compat/" else name)
            else:
                found.add(f"{folder if match.group(1) else ''}{name}")
    return found


def faults(top: Path) -> Iterator[str]:
    """Yields sources that main.c does not name, and names without a file."""
    folder = top / "kmod"
    listed = named((folder / "main.c").read_text())
    files = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.suffix in {".c", ".h", ".S"}}
    for file in sorted(files):
        if not file.endswith(".h") and file != "main.c" and not any(fnmatch.fnmatch(file, name) for name in listed):
            yield f"kmod/{file} is not in the contents of kmod/main.c"
    for name in sorted(listed):
        if not name.endswith("/") and not any(fnmatch.fnmatch(file, name) for file in files):
            yield f"kmod/main.c names {name}, which does not exist"


if __name__ == "__main__":
    sys.exit(tree.verdict("check-contents", faults(tree.TOP)))
