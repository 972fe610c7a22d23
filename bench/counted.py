# SPDX-License-Identifier: MIT
"""Runs programs in a virtual machine whose clock counts instructions, and makes pages of what they print."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import report
import versions

HERE = Path(__file__).resolve().parent
TREE = HERE.parent
VM = TREE / "tests/vm/vm.py"


def parser(description: str | None) -> argparse.ArgumentParser:
    """Returns a parser with the options that say what runs, where, and where its page goes."""
    made = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--kernel", default="6.12", metavar="SERIES")
    made.add_argument("--build", type=Path, default=TREE / "build", metavar="DIR")
    made.add_argument("--tree", type=Path, default=TREE, metavar="DIR", help="where cosy.ko's sources are")
    made.add_argument("--docs", type=Path, default=TREE / "docs/measured", metavar="DIR")
    return made


def run(
    options: argparse.Namespace,
    put: Iterable[Path],
    command: Sequence[str],
    *settings: str,
    env: Mapping[str, str] | None = None,
) -> list[str]:
    """Runs a command with files in /t; returns the lines that it printed. Ends the program if it fails."""
    machine: list[str | Path] = [sys.executable, "-B", VM, "run", "--kernel", options.kernel, "--tree", options.tree]
    machine += ["--icount", *settings]
    for path in put:
        machine += ["--put", path]
    done = subprocess.run([*machine, "--", *command], stdout=subprocess.PIPE, text=True, env=env)
    if done.returncode:
        sys.exit(f"{done.stdout}{' '.join(command)}: ended with status {done.returncode}")
    return done.stdout.splitlines()


def records(lines: Iterable[str]) -> list[dict[str, Any]]:
    """Returns the lines that are JSON objects."""
    found = [json.loads(line) for line in lines if line.startswith("{")]
    if not found:
        sys.exit("nothing was measured")
    return found


def kernel_of(lines: Iterable[str]) -> str:
    """Returns the line of `uname -r`."""
    return next(line for line in lines if line[:1].isdigit())


def machine(kernel: str) -> str:
    """Says how a page's numbers were counted."""
    return f"Instructions, counted by a virtual machine's clock ({versions.machine('insn')}, Linux {kernel})"


def page(title: str, *parts: str, remarks: str = "") -> str:
    """Returns a page: title, paragraphs and tables, and the section `remarks` of remarks.md."""
    blocks = [f"# {title}", *parts, report.remarks_of(remarks)]
    return report.narrow("\n\n".join(block.rstrip("\n") for block in blocks).rstrip("\n"))
