#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""run.py --beside prints a line of JSON for each row that needs no explanation: beside_test.py BUILD KERNEL"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

RUN = Path(__file__).resolve().parent.parent / "run.py"


def main() -> int:
    build, kernel = sys.argv[1:]
    options = ["--beside", "--lane", "native", "--contenders", "plain"]
    command = [sys.executable, "-B", str(RUN), "--build", build, "--kernel", kernel, *options]
    rows = [json.loads(text) for text in subprocess.check_output(command, text=True).splitlines()]
    found = [row["workload"] for row in rows]
    wrong = found != ["db", "ls", "grep", "walk", "read1"] or any(set(row["needs"]) - {"plain"} for row in rows)
    print(*rows, sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
