#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that every list of packages and tools names the LLVM version of CMakeLists.txt.

CMakeLists.txt's COSY_LLVM is the one place that chooses it.  Scripts read it there, by version();
what no script can compute (lists of packages, presets) is compared.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import tree

# Files that name packages or programs by their version.
NAMING = ("CMakePresets.json", "packages*.txt", "control")
NAME = re.compile(r"\b(?:lib)?(?:clang(?:\+\+|-format|-tidy)?|llvm|lld|opt)-(\d+)\b")
CHOSEN = re.compile(r"^set\(COSY_LLVM (\d+)", re.M)


def version(top: Path = tree.TOP) -> str:
    """The version of LLVM that cosycc is built for."""
    chosen = CHOSEN.search((top / "CMakeLists.txt").read_text())
    if not chosen:
        raise SystemExit("llvm: CMakeLists.txt does not set COSY_LLVM")
    return chosen[1]


def faults(top: Path) -> Iterator[str]:
    """Names of another version, a line each."""
    expected = version(top)
    for path in tree.files(*NAMING, top=top):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            for name in NAME.finditer(line):
                if name[1] != expected:
                    yield f"{path.relative_to(top)}:{number}: {name[0]}, but COSY_LLVM is {expected}"


if __name__ == "__main__":
    sys.exit(tree.verdict("llvm", faults(tree.TOP)))
