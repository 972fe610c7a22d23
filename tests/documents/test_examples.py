#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tries what documents show: their C and C++ compiles by cosycc and by any compiler, their rules are rules.

A block of C that includes a header is a whole file.  Under ```c it has to become compounds
without a region left native; under ```c native a region has to stay native.  A block under
```conf is one that `cosy run --policy` takes.  Commands of the page on `cosy run` are run.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TREE = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```", re.M | re.S)
WARNINGS = ["-std=gnu11", "-D_GNU_SOURCE", "-O2", "-Wall", "-Wextra", "-Werror", "-fsyntax-only"]


class Settings:
    cosycc = Path()
    cosy = Path()


def blocks(language: str) -> list[tuple[str, str, str]]:
    """Yields the place of each block, the rest of its first line, and the block."""
    found = []
    for path in [TREE / "README.md", *sorted((TREE / "docs").rglob("*.md"))]:
        text = path.read_text()
        for block in BLOCK.finditer(text):
            if block[1] == language:
                line = text.count("\n", 0, block.start()) + 1
                found.append((f"{path.relative_to(TREE)}:{line}", block[2].strip(), block[3]))
    return found


class Examples(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = Path(folder.name) / "example"

    def run_on(self, text: str, suffix: str, *command: str | Path) -> subprocess.CompletedProcess[str]:
        path = self.file.with_suffix(suffix)
        path.write_text(text)
        words = [str(path) if word == "FILE" else str(word) for word in command]
        return subprocess.run(words, capture_output=True, text=True, cwd=path.parent)

    def test_c(self) -> None:
        programs = [block for block in blocks("c") if "#include" in block[2]]
        self.assertGreater(len(programs), 4)
        include = [f"-I{TREE / 'include'}", f"-I{TREE / 'include/uapi'}"]
        for where, kind, text in programs:
            with self.subTest(where=where):
                plain = self.run_on(text, ".c", "cc", *WARNINGS, *include, "FILE")
                self.assertEqual(plain.stderr, "")
                ours = self.run_on(text, ".c", Settings.cosycc, "-O2", "-Werror=cosy", *include, "-c", "FILE")
                if kind == "native":
                    self.assertIn("stays native", ours.stderr)
                else:
                    self.assertEqual((ours.returncode, ours.stderr), (0, ""))

    def test_cpp(self) -> None:
        programs = [block for block in blocks("cpp") if "#include" in block[2]]
        self.assertTrue(programs)
        command = ["c++", "-std=c++17", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", f"-I{TREE / 'include'}", "FILE"]
        for where, _, text in programs:
            with self.subTest(where=where):
                self.assertEqual(self.run_on(text, ".cpp", *command).stderr, "")

    def test_remarks(self) -> None:
        """Checks that a remark that a comment quotes is one of the compiler's."""
        quoted = [(w, t) for w, _, t in blocks("c") if "-Rcosy:" in t]
        self.assertTrue(quoted)
        for where, text in quoted:
            with self.subTest(where=where):
                said = self.run_on(text, ".c", Settings.cosycc, "-O2", "-Rcosy", f"-I{TREE / 'include'}", "-c", "FILE")
                for remark in re.findall(r"-Rcosy: (.*?) \*/", text):
                    self.assertIn(f"remark: {remark}", said.stderr)

    def test_commands(self) -> None:
        """Runs the commands of the page on `cosy run` as they are, and sees that reads are served."""
        if missing := [program for program in ("perl", "sqlite3") if not shutil.which(program)]:
            self.skipTest(f"not installed: {', '.join(missing)}")
        page = (TREE / "docs/use/cosy-run.md").read_text()
        commands = [line.split("#")[0] for line in page.splitlines() if line.startswith("cosy run ")]
        self.assertGreater(len(commands), 2)
        folder = self.file.parent
        (folder / "data").write_bytes(bytes(20000))
        (folder / "count.pl").write_text('open(F, "<", $ARGV[0]) or die; $n++ while sysread(F, $b, 1); print "$n\\n"')
        rows = "with recursive n(i) as (select 1 union all select i + 1 from n where i < 20000) "
        subprocess.run(
            ["sqlite3", "db", f"create table t as {rows} select i, hex(zeroblob(100)) from n"], cwd=folder, check=True
        )
        lookups = (f"select i from t where rowid = {number * 7919 % 20000 + 1};" for number in range(9000))
        (folder / "lookups.sql").write_text("\n".join(lookups))
        environment = {**os.environ, "PATH": f"{Settings.cosy.parent}:{os.environ['PATH']}"}
        for command in commands:
            with self.subTest(command=command):
                words = {"shell": True, "cwd": folder, "env": environment, "capture_output": True, "text": True}
                done = subprocess.run(command, check=False, **words)
                self.assertEqual(done.returncode, 0)
                told = {"--stats": r"reads: [1-9]\d+ specialised", "--explain": r"descriptor \d+: specialised"}
                for option, text in told.items():
                    if option in command:
                        self.assertRegex(done.stderr, text)
                if "count.pl" in command:
                    self.assertEqual(done.stdout, "20000\n")

    def test_rules(self) -> None:
        rules = blocks("conf")
        self.assertTrue(rules)
        for where, _, text in rules:
            with self.subTest(where=where):
                done = self.run_on(text, ".conf", Settings.cosy, "run", "--policy", "FILE", "--", "true")
                self.assertEqual((done.returncode, done.stderr), (0, ""))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--cosycc", required=True, type=Path)
    parser.add_argument("--cosy", required=True, type=Path)
    options = parser.parse_args()
    Settings.cosycc, Settings.cosy = options.cosycc.resolve(), options.cosy.resolve()
    return not unittest.main(argv=[sys.argv[0]], exit=False, verbosity=1).result.wasSuccessful()


if __name__ == "__main__":
    sys.exit(main())
