#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The recipes of docs/use/python.md do what they promise, run as they are."""

from __future__ import annotations

import hashlib
import os
import random
import re
import subprocess
import sys
import unittest
from collections import Counter
from pathlib import Path

import trees
from trees import FolderTest

HERE = Path(__file__).resolve().parent
# In a virtual machine the page lies beside the tests.
PAGE = next(page for page in (HERE / "python.md", HERE.parents[1] / "docs/use/python.md") if page.exists())


def recipe(title: str) -> str:
    section = re.search(rf"^##+ {title}\n(.*?)(?=^##|\Z)", PAGE.read_text(), re.M | re.S)
    assert section, title
    (program,) = re.findall(r"^```python\n(.*?)^```", section[1], re.M | re.S)
    return str(program)


class Recipes(FolderTest):
    def setUp(self) -> None:
        super().setUp()
        Path("tree").mkdir()
        trees.fill(self.folder / "tree")
        trees.grow(self.folder / "tree", random.Random(9), 150)
        os.makedirs("tree/.git/objects")
        Path("tree/.git/objects/pack").write_bytes(b"p" * 100_000)
        Path("tree/again").write_bytes(Path("tree/dir/inside").read_bytes())
        for i in range(20):
            Path(f"tree/dir/{i}.txt").write_text("word other\n" * i)

    def run_recipe(self, title: str, *args: str) -> list[str]:
        done = subprocess.run(
            [sys.executable, "-W", "error", "-W", "ignore::ResourceWarning", "-c", recipe(title), *args],
            stdout=subprocess.PIPE,
            encoding="utf-8",
            errors="surrogateescape",
            env=os.environ | {"PYTHONIOENCODING": "utf-8:surrogateescape"},
        )
        self.assertEqual(done.returncode, 0, title)
        return done.stdout.splitlines()

    def files(self) -> list[str]:
        return [os.path.join(folder, name) for folder, _, files in os.walk("tree") for name in files]

    def test_disk_usage(self) -> None:
        done = subprocess.run(["du", "-s", "tree"], stdout=subprocess.PIPE, text=True, check=True)
        self.assertEqual(self.run_recipe("Disk usage", "tree"), done.stdout.split()[:1])

    def test_by_size(self) -> None:
        found = [(os.lstat(path).st_size, path) for path in self.files() if "/.git/" not in path]
        expected = [f"{size} {path}" for size, path in sorted(found, reverse=True)[:20]]
        self.assertEqual(self.run_recipe("Finding files by size", "tree", "20"), expected)

    def test_duplicates(self) -> None:
        by_contents: dict[str, list[str]] = {}
        for path in self.files():
            if os.path.isfile(path) and not os.path.islink(path) and os.path.getsize(path):
                digest = hashlib.sha256(Path(path).read_bytes()).hexdigest()
                by_contents.setdefault(digest, []).append(path)
        expected = sorted(" ".join(sorted(paths)) for paths in by_contents.values() if len(paths) > 1)
        found = self.run_recipe("Finding duplicates", "tree")
        self.assertEqual(sorted(" ".join(sorted(line.split(" "))) for line in found), expected)
        self.assertGreater(len(found), 1)

    def test_storm(self) -> None:
        Path("listed").write_text("tree/file\ntree/empty\ntree/nowhere\n")
        title = "A storm of stat calls"
        first = ["changed tree/file", "changed tree/empty"]
        self.assertEqual(self.run_recipe(title, "listed", "state"), first)
        self.assertEqual(self.run_recipe(title, "listed", "state"), [])
        os.truncate("tree/empty", 7)
        os.unlink("tree/file")
        self.assertEqual(self.run_recipe(title, "listed", "state"), ["missing tree/file", "changed tree/empty"])

    def test_reading(self) -> None:
        words = Counter(word for path in Path("tree").rglob("*.txt") for word in path.read_bytes().split())
        expected = [f"{count} {word.decode()}" for word, count in sorted(words.items())]
        self.assertEqual(self.run_recipe("Reading many small files", "tree"), expected)
        self.assertGreater(len(expected), 1)

    def test_first(self) -> None:
        program = re.search(r"^```python\n(.*?)^```", PAGE.read_text(), re.M | re.S)
        assert program
        text = program[1].replace("/usr/share/doc", "tree")
        done = subprocess.run([sys.executable, "-c", text], stdout=subprocess.PIPE, text=True, check=True)
        self.assertEqual(int(done.stdout), sum(os.lstat(path).st_size for path in self.files()))


if __name__ == "__main__":
    unittest.main()
