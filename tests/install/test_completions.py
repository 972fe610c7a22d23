# SPDX-License-Identifier: MIT
"""Compares completions with the tables by which commands read their options, and completes in bash."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import unittest
from pathlib import Path

TREE = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ["COSY_BUILD"])
sys.path.insert(0, str(TREE / "packaging"))

import completions  # noqa: E402

KINDS = {"no": (False, False), "required": (True, False), "optional": (True, True)}


def table(source: str) -> dict[str, tuple[bool, bool]]:
    """Reads a table for getopt_long: whether each long option has an argument, and may have one."""
    text = (TREE / source).read_text()
    rows = re.findall(r'^\t\t\{"([\w-]+)", (\w+)_argument, NULL, ', text, re.M)
    return {f"--{name}": KINDS[kind] for name, kind in rows}


def short(source: str) -> set[str]:
    """Returns the short options that getopt_long is called with, except -h."""
    found = re.search(r'getopt_long\(argc, argv, "\+?:([\w:]*)"', (TREE / source).read_text())
    assert found
    return {f"-{letter}" for letter in found[1].replace(":", "") if letter != "h"}


def completed(command: str, *words: str) -> set[str]:
    """Returns what bash offers for the last word."""
    script = 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); '
    script += f'_{command} 2>/dev/null; printf "%s\\n" "${{COMPREPLY[@]}}"'
    file = BUILD / "completions/bash" / command
    done = subprocess.run(
        ["bash", "--norc", "-c", script, "bash", file, command, *words], check=True, stdout=subprocess.PIPE, text=True
    )
    return set(done.stdout.split())


class Tables(unittest.TestCase):
    def check(self, options: list[completions.Option], source: str) -> None:
        long = {o.name: (bool(o.argument), o.optional) for o in options if o.name.startswith("--")}
        self.assertGreater(len(long), 5)
        self.assertEqual(long, table(source), f"--help and the table in {source} differ")
        self.assertEqual({o.name for o in options if not o.name.startswith("--")}, short(source))
        for option in options:
            self.assertTrue(option.what, f"{source}: {option.name} is not explained")

    def test_run(self) -> None:
        self.check(completions.options(completions.said(str(BUILD / "bin/cosy"), "run", "--help")), "command/run.c")

    def test_profile(self) -> None:
        self.check(
            completions.options(completions.said(str(BUILD / "bin/cosy"), "profile", "--help")), "profile/main.c"
        )

    def test_cosyd(self) -> None:
        self.check(completions.options(completions.said(str(BUILD / "bin/cosyd"), "--help")), "cosyd/main.c")

    def test_cosycc(self) -> None:
        driver = (TREE / "compiler/driver/arguments.cpp").read_text()
        text = completions.said(str(BUILD / "bin/cosycc"), "--help").partition("COSY'S OPTIONS:\n")[2]
        options = completions.options(text)
        self.assertGreater(len(options), 5)
        for option in options:
            self.assertIn(f'"{option.name}', driver, "cosycc does not read an option that it lists")


class Bash(unittest.TestCase):
    def test_commands(self) -> None:
        listed = re.findall(r'^\t\{"(\w+)", ', (TREE / "command/main.c").read_text(), re.M)
        self.assertEqual(completed("cosy", ""), {*listed, "--help", "--version"})
        self.assertEqual(completed("cosy", "pro"), {"profile"})

    def test_options(self) -> None:
        self.assertEqual(completed("cosy", "run", "--st"), {"--stats"})
        self.assertEqual(completed("cosy", "run", "--relax", "=", "tr"), {"trunc"})
        self.assertEqual(completed("cosy", "run", "--relax", "="), {"trunc", "coalesce", "reflink", "none"})
        self.assertEqual(completed("cosy", "profile", "--backend", "f"), {"fentry"})
        self.assertIn("-p", completed("cosy", "profile", "-"))
        self.assertEqual(completed("cosyd", "--user-f"), {"--user-files"})
        self.assertEqual(completed("cosycc", "-Wer"), {"-Werror=cosy"})

    def test_programs(self) -> None:
        self.assertIn("bash", completed("cosy", "run", "--stats", "bas"))
        self.assertIn("bash", completed("cosy", "profile", "-o", "recording", "bas"))
        self.assertEqual(completed("cosy", "run", "ls", "--st"), set())


if __name__ == "__main__":
    unittest.main(verbosity=2)
