# SPDX-License-Identifier: MIT
"""The files that the checks examine, and the report of faults.

Needs no git, so it also checks an unpacked archive.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
_LEFT_OUT = {".git", ".cache", "__pycache__", "Testing"}


def files(*patterns: str, top: Path = TOP) -> Iterator[Path]:
    """Files whose names match one of the patterns, without builds; in order."""
    for folder, folders, names in os.walk(top):
        folders[:] = sorted(n for n in folders if n not in _LEFT_OUT and not n.startswith("build"))
        for name in sorted(names):
            path = Path(folder, name)
            if any(path.match(pattern) for pattern in patterns):
                yield path


def verdict(name: str, faults: Iterable[str]) -> int:
    """Prints the faults; an exit status."""
    count = 0
    for fault in faults:
        print(f"{name}: {fault}", file=sys.stderr)
        count += 1
    return 1 if count else 0
