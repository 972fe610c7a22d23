# SPDX-License-Identifier: MIT
"""Takes user and kernel instructions apart: split.c counts them inside QEMU, and this reads its counts."""

from __future__ import annotations

import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import versions

_SOURCE = Path(__file__).resolve().parent / "split.c"
_REPORTS = 4  # of a program: two warm-ups, small, large; see bench.c


@dataclass
class Part:
    """The instructions of one part of a program."""

    user: int = 0
    kernel: int = 0
    blocks: Counter[int] = field(default_factory=Counter)  # of the kernel's, by their addresses


def build(scratch: Path) -> Path:
    """Builds the plugin, for the interface that the installed QEMU has."""
    plugin = scratch / "split.so"
    # QEMU 9.0 stopped taking plugins of version 1; what split.c uses is the same in 2.
    version = 1 if versions.emulator() < (9,) else 2
    options = ["-O2", "-Wall", "-shared", "-fPIC", f"-DINTERFACE={version}"]
    subprocess.run(["cc", *options, str(_SOURCE), "-o", str(plugin)], check=True)
    return plugin


def parts(path: Path) -> Iterator[Part]:
    """Yields what the plugin writes, as it comes."""
    while not path.exists():
        time.sleep(0.1)
    with open(path) as file:
        text, part = "", Part()
        while True:
            text += file.readline()
            if not text.endswith("\n"):
                time.sleep(0.05)
                continue
            words = text.split()
            text = ""
            if len(words) == 2:
                part.blocks[int(words[0], 16)] += int(words[1])
            else:
                part.user, part.kernel = int(words[0]), int(words[1])
                yield part
                part = Part()


def between(counted: Iterator[Part]) -> Part:
    """Returns the next program's large part less its small one."""
    *_, small, large = (next(counted) for _ in range(_REPORTS))
    large.blocks.subtract(small.blocks)
    return Part(large.user - small.user, large.kernel - small.kernel, large.blocks)
