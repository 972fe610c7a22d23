#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Records a program that makes calls which it could leave out, and one that needs what it makes.

useless_test.py COSY WASTEFUL
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from typing import Any

COSY, WASTEFUL = sys.argv[1:3]
TURNS = 200  # of wasteful.c

# A wait during which the process gives up its processor by chance counts as one that slept.
MOST = TURNS * 9 // 10

# How many calls could be left out, at least, and the advice.
KINDS = {
    "TWICE": (TURNS - 1, "ask lstat alone"),
    "NO_DIRECTORY": (TURNS, "d_type"),
    "REREAD": (4 * (TURNS - 2), "keep the contents"),
    "EMPTY": (TURNS, "wait for the descriptor before"),
    "READY": (MOST, "leave the wait out for regular files"),
    "UNBUFFERED": (TURNS, "setvbuf"),
}


def record(kind: str, how: str) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        command = [COSY, "profile", "--backend", "ptrace", "--json", "-", "--", WASTEFUL, kind, how, folder]
        run = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    if "Operation not permitted" in run.stderr:
        print("ptrace is not permitted here")
        sys.exit(77)
    assert run.returncode == 0, run
    return json.loads(run.stdout)


def main() -> None:
    for kind, (least, advice) in KINDS.items():
        report = record(kind, "wasteful")
        found, of = report["useless"][kind]
        assert least <= found <= of, (kind, report["useless"])
        advised = [finding for finding in report["findings"] if advice in finding["do"]]
        assert advised and advised[0]["way"] == "remove", (kind, report["findings"])
        assert (advised[0]["place"] or {}).get("file", "wasteful.c").endswith("wasteful.c"), advised
        if kind == "UNBUFFERED":
            assert report["cosy_run"]["UNBUFFERED"] >= TURNS > report["cosy_run"]["STDIO"], report["cosy_run"]
        report = record(kind, "careful")
        assert report["useless"][kind][0] <= 1, (kind, report["useless"])
        assert not [finding for finding in report["findings"] if advice in finding["do"]], (kind, report["findings"])


if __name__ == "__main__":
    main()
