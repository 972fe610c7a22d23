# SPDX-License-Identifier: MIT
"""The rows that micro/ measures in C: reads, what surrounds them, and exec."""

from __future__ import annotations

import subprocess

from installed import Installed
from lines import PLAIN, RATIO, Lines


def _take(command: list[str], lines: Lines) -> None:
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    for text in done.stdout.splitlines():
        workload, name, size, contender, value, spread, runs, ratio = text.split("\t")
        parameters: dict[str, str | int] = {"row": name, "size": int(size)}
        lines.add(workload, parameters, contender, "per call", float(value), "ns", int(runs), float(spread))
        if contender != PLAIN:
            lines.add(workload, parameters, contender, f"{RATIO}, per call", float(ratio), "x", int(runs), 0.0)


def measure(cosy: Installed, lines: Lines, rounds: int, part: int) -> None:
    """`part`: an Nth of the calls, for a test."""
    _take([cosy.command, "run", "--", cosy.program("read_rounds"), str(rounds), str(part)], lines)
    command = [cosy.program("read_exec"), str(10 * rounds), "/bin/true", cosy.program("read_empty.so")]
    _take([*command, cosy.library, cosy.command], lines)
