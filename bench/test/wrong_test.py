#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A contender whose bytes are wrong fails its row: wrong_test.py BUILD KERNEL

Runs plain and WRONG (wrong.c) on this machine: each short row must say which byte of what
differs in WRONG, and none that one does in plain.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

BENCH = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(BENCH))

import cases  # noqa: E402  (bench/ is no package)


def main() -> int:
    build, kernel = sys.argv[1:]
    options = ["--lane", "native", "--short", "--runs", "1", "--part", "16", "--contenders", "plain,WRONG"]
    command = [sys.executable, "-B", str(BENCH / "run.py"), "--build", build, "--kernel", kernel, *options]
    done = subprocess.run(command, capture_output=True, text=True)
    rows = [case for name in cases.WORKLOADS for case in cases.cases(name) if case.short]
    # Outputs of whole programs are compared with each other, among them those of the distribution's own.
    names = [case.name() for case in rows if case.program not in ("programs", "process")]
    wrong = []
    for name in (case.name() for case in rows):
        found = [text for text in done.stderr.splitlines() if text.startswith(f"bench: {name} on tmpfs, ")]
        said = [text.split(" on tmpfs, ")[1] for text in found]
        if name in names and not any(
            re.fullmatch(r"WRONG: byte \d+ of .+ is (\w\w|nothing), not (\w\w|nothing)", text) for text in said
        ):
            wrong.append(f"{name}: WRONG passes")
        wrong += [f"{name}: {text}" for text in said if text.startswith("plain")]
    if done.returncode != 1:
        wrong.append(f"status {done.returncode}, not 1")
    if wrong:
        print(done.stderr, *wrong, sep="\n")
    else:
        print(f"{len(names)} rows")
    return 1 if wrong or not names else 0


if __name__ == "__main__":
    sys.exit(main())
