#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that names in comments and documents exist in the code.

It checks names that begin with cosy_ or COSY_.  A name exists if a source contains it outside of
comments, if a file is called so (cosy_fast.3), or if a macro makes it from `prefix ## parameter`
and a word of a *.def file.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import tree

NAME = re.compile(r"\b(?:cosy|COSY)_\w*[A-Za-z0-9]\b(?![*(]?\*)")
PASTED = re.compile(r"\b((?:cosy|COSY)_\w*_) ?## ?\w+")
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')
# Files with C's comments, files with # comments, and files that are text as a whole.
C_LIKE = ("*.c", "*.h", "*.S", "*.def", "*.cpp", "*.map", "*.pml")
SCRIPTS = ("*.py", "*.sh", "*.cmake", "*.txt", "Kbuild", "*.mk", "Makefile", "*.conf", "*.rules", "*.json", "*.ll")
TEXTS = ("*.md", "*.[1-8]")


def split(path: Path) -> tuple[str, str]:
    """Returns the code and the comments of a source, each with all of its line breaks."""
    text = path.read_text(errors="replace")
    if any(path.match(pattern) for pattern in C_LIKE):
        # Blank out the beginnings of comments that are inside strings.
        text = STRING.sub(lambda string: string[0].replace("/*", "  ").replace("//", "  "), text)
        code = COMMENT.sub(lambda comment: "\n" * comment[0].count("\n"), text)
        comments, at = [], 0
        for comment in COMMENT.finditer(text):
            comments.append("\n" * text.count("\n", at, comment.start()) + comment[0])
            at = comment.end()
        return code, "".join(comments)
    lines = text.splitlines()
    return (
        "\n".join("" if line.lstrip().startswith("#") else line for line in lines),
        "\n".join(line if line.lstrip().startswith("#") else "" for line in lines),
    )


def faults(top: Path) -> Iterator[str]:
    """Yields one line for each use of a name that does not exist."""
    known: set[str] = set()
    prefixes: set[str] = set()
    table_words: set[str] = set()
    texts: list[tuple[Path, str]] = []
    for path in tree.files(*C_LIKE, *SCRIPTS, top=top):
        code, comments = split(path)
        known |= set(NAME.findall(code)) | {path.name.partition(".")[0]}
        prefixes |= set(PASTED.findall(code))
        if path.suffix == ".def":
            table_words |= set(re.findall(r"\w+", code))
        texts.append((path, comments))
    for path in tree.files(*TEXTS, top=top):
        known.add(path.name.partition(".")[0])
        texts.append((path, path.read_text()))

    def exists(name: str) -> bool:
        if name in known:
            return True
        return any(name.startswith(prefix) and name[len(prefix) :] in table_words for prefix in prefixes)

    for path, text in texts:
        for number, line in enumerate(text.splitlines(), 1):
            for name in NAME.findall(line):
                if not exists(name):
                    yield f"{path.relative_to(top)}:{number}: nothing is called {name}"


if __name__ == "__main__":
    sys.exit(tree.verdict("names", faults(tree.TOP)))
