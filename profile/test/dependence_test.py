#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What flows in the twelve loops of dependences.c is found, and nothing else; and a recording of it that is
kept (golden/) still says what it said.

dependence_test.py COSY PROGRAM [--write]	--write keeps what the recording says now
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

COSY, PROGRAM = sys.argv[1:3]
GOLDEN = Path(__file__).resolve().parent / "golden"
TURNS = 10

# For each loop: kind, from, to, how often it held and was broken, whether a count varied.
Edge = tuple[str, str, str, int, int, bool]
EXPECTED: dict[str, set[Edge]] = {
    "loop_descriptor": {
        ("descriptor", "openat", "read", TURNS, 0, False),
        ("descriptor", "openat", "close", TURNS, 0, False),
        ("path", "openat", "openat", TURNS - 1, 0, False),
    },
    "loop_descriptor_false": {
        ("descriptor", "openat", "close", TURNS, 0, False),
        ("path", "openat", "openat", TURNS - 1, 0, False),
    },
    "loop_duplicate": {
        ("descriptor", "dup", "write", TURNS, 0, False),
        ("descriptor", "dup", "close", TURNS, 0, False),
    },
    "loop_buffer": {
        ("buffer", "pread64", "pwrite64", TURNS, 0, False),
        ("count", "pread64", "pwrite64", TURNS, 0, True),
    },
    "loop_buffer_false": {
        ("buffer", "pread64", "pwrite64", 0, TURNS, False),
        ("count", "pread64", "pwrite64", TURNS, 0, True),
    },
    "loop_buffer_half": {
        ("buffer", "pread64", "pwrite64", TURNS // 2, TURNS // 2, False),
        ("count", "pread64", "pwrite64", TURNS, 0, True),
    },
    "loop_count": {("count", "pread64", "pwrite64", TURNS, 0, True)},
    "loop_count_false": {("count", "pread64", "pwrite64", TURNS, 0, False)},
    "loop_position": {("position", "lseek", "read", TURNS, 0, False)},
    "loop_position_false": set(),
    "loop_path": {
        ("path", "newfstatat", "access", TURNS, 0, False),
        ("path", "access", "newfstatat", TURNS - 1, 0, False),
    },
    "loop_path_false": {
        ("path", "newfstatat", "newfstatat", TURNS - 1, 0, False),
        ("path", "access", "access", TURNS - 1, 0, False),
    },
}


def profile(*arguments: str) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report"
        command = [COSY, "profile", "--json", str(report), *arguments]
        run = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
        if "Operation not permitted" in run.stderr:
            print("ptrace is not permitted here")
            sys.exit(77)
        assert run.returncode == 0, (run.returncode, run.stderr)
        found: dict[str, Any] = json.loads(report.read_text())
        return found


def check_loops() -> None:
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "in"
        source.write_bytes(bytes(i * i % 251 for i in range(4096)))
        report = profile("--backend", "ptrace", "--", PROGRAM, str(source), folder + "/out")
    functions = {site["site"]: (site["place"] or {}).get("function") for site in report["sites"]}
    for function, expected in EXPECTED.items():
        found = {
            (d["kind"], d["from_call"], d["to_call"], d["held"], d["broken"], d["varied"])
            for d in report["dependences"]
            if functions[d["from"]] == function and functions[d["to"]] == function
        }
        assert found == expected, (function, found ^ expected)


def names_dropped(value: Any) -> Any:
    """Without what is looked up in programs and libraries as they are here and now."""
    if isinstance(value, dict):
        return {k: names_dropped(v) for k, v in value.items() if k not in ("function", "file", "line")}
    return [names_dropped(part) for part in value] if isinstance(value, list) else value


def check_golden(write: bool) -> None:
    """Findings are left out: what they predict changes with what was measured last."""
    report = profile("--read", str(GOLDEN / "dependences.events"))
    kept = (
        *("calls", "errors", "slept", "lost", "forgotten", "processes", "threads", "in_loops"),
        *("rows", "sites", "dependences", "sessions", "useless"),
    )
    text = json.dumps({key: names_dropped(report[key]) for key in kept}, indent=1, sort_keys=True) + "\n"
    golden = GOLDEN / "dependences.json"
    if write:
        golden.write_text(text)
    assert golden.read_text() == text, "the kept recording says something else: look, then --write"


def check_summary() -> None:
    """Each way that is advised says what it does, and in one line what to type or do."""
    command = [COSY, "profile", "--read", str(GOLDEN / "dependences.events")]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert "301 system calls, 1 process, 1 thread," in text, text
    # By ptrace nothing is known of shares of the processor time.
    assert "recorded by ptrace" in text and not re.search(r"\d % of (the )?(processor )?time|processor time \d", text)
    ways = re.split(r"\n +\d+\. ", text.split("\n\nWould not pay")[0])[1:]
    assert ways, text
    for way in ways:
        labels = re.findall(r"^     (\w+(?: up)?) +\S", way, re.MULTILINE)
        assert labels.count("what") == 1 and labels.count("type") + labels.count("do") == 1, way


if __name__ == "__main__":
    check_golden(sys.argv[3:] == ["--write"])
    check_summary()
    check_loops()
