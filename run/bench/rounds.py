# SPDX-License-Identifier: MIT
"""The rows that micro/ measures in C: reads, what surrounds them, and exec."""

from __future__ import annotations

import os
import subprocess

from installed import Installed
from lines import PLAIN, RATIO, Lines

# What --relax saves depends on what the file system does at a close.
RELAXED_ON = ("/tmp", "/dev/shm")


def _take(command: list[str], lines: Lines, directory: str = "") -> None:
    environment = os.environ | ({"TMPDIR": directory} if directory else {})
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=environment)
    for text in done.stdout.splitlines():
        workload, name, size, contender, value, spread, runs, ratio = text.split("\t")
        parameters: dict[str, str | int] = {"row": name, "size": int(size)}
        lines.add(workload, parameters, contender, "per call", float(value), "ns", int(runs), float(spread))
        if contender != PLAIN:
            lines.add(workload, parameters, contender, f"{RATIO}, per call", float(ratio), "x", int(runs), 0.0)


def measure(cosy: Installed, lines: Lines, rounds: int, part: int) -> None:
    """`part`: an Nth of the calls, for a test."""
    _take([cosy.command, "run", "--", cosy.program("run_rounds"), str(rounds), str(part)], lines)
    relaxed = [cosy.command, "run", "--relax=trunc,coalesce,reflink", "--", cosy.program("run_rounds")]
    for directory in RELAXED_ON:
        _take([*relaxed, str(rounds), str(part), "relaxed"], lines.on(directory), directory)
    command = [cosy.program("run_exec"), str(10 * rounds), "/bin/true", cosy.program("run_empty.so")]
    _take([*command, cosy.library, cosy.command], lines)
