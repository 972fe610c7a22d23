# SPDX-License-Identifier: MIT
"""Takes user and kernel instructions apart: split.c counts them inside QEMU, and this reads its counts."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import versions

_SOURCE = Path(__file__).resolve().parent / "split.c"
_REPORTS = 4  # of a program: two warm-ups, small, large; see bench.c


def build(scratch: Path) -> Path:
    """Builds the plugin, for the interface that the installed QEMU has."""
    plugin = scratch / "split.so"
    # QEMU 9.0 stopped taking plugins of version 1; what split.c uses is the same in 2.
    version = 1 if versions.emulator() < (9,) else 2
    options = ["-O2", "-Wall", "-shared", "-fPIC", f"-DINTERFACE={version}"]
    subprocess.run(["cc", *options, str(_SOURCE), "-o", str(plugin)], check=True)
    return plugin


def marks(path: Path) -> Iterator[tuple[int, int]]:
    """Yields the counts that the plugin writes, as they come."""
    while not path.exists():
        time.sleep(0.1)
    with open(path) as file:
        text = ""
        while True:
            text += file.readline()
            if text.endswith("\n"):
                user, kernel = text.split()
                yield int(user), int(kernel)
                text = ""
            else:
                time.sleep(0.05)


def between(counts: Iterator[tuple[int, int]]) -> tuple[int, int]:
    """Returns the next program's large part less its small one."""
    *_, small, large = (next(counts) for _ in range(_REPORTS))
    return large[0] - small[0], large[1] - small[1]
