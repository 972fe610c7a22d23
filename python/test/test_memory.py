#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Nothing is lost: blocks of memory and descriptors, over many calls, failures and abandoned iterators."""

from __future__ import annotations

import contextlib
import gc
import os
import random
import sys
import unittest
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import cosy
import trees
from trees import FolderTest

# Of memory that Python does not count, some may be lost to fragments. A leak in each turn would be more.
RESIDENT_SLACK = 1 << 20


def resident() -> int:
    with open("/proc/self/statm") as stream:
        return int(stream.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Memory(FolderTest):
    def steady(self, turn: Callable[[], Any], turns: int = 120) -> None:
        """Asserts that a turn leaves nothing, from the second on."""

        def run(count: int) -> None:
            for _ in range(count):
                with contextlib.suppress(OSError, TypeError, ValueError):
                    turn()
            gc.collect()

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)
            run(turns)
            descriptors, blocks, pages = trees.open_descriptors(), sys.getallocatedblocks(), resident()
            run(turns)
            self.assertEqual(trees.open_descriptors(), descriptors)
            # Losing one in each turn would be more.
            self.assertLess(sys.getallocatedblocks() - blocks, turns // 4)
            self.assertLess(resident() - pages, RESIDENT_SLACK)

    def setUp(self) -> None:
        super().setUp()
        trees.fill(self.folder)
        trees.grow(self.folder / "dir", random.Random(7), 40)

    def test_scandir(self) -> None:
        self.steady(lambda: [trees.described(entry, self) for entry in cosy.scandir(".")], 30)
        self.steady(lambda: [trees.described(entry, self) for entry in cosy.scandir(b".", stat=False)], 30)
        self.steady(lambda: [hash(entry) for entry in sorted(cosy.scandir("."))])
        self.steady(lambda: next(cosy.scandir(".")))
        self.steady(lambda: next(cosy.scandir(".")).stat())
        self.steady(lambda: cosy.scandir("missing"))
        self.steady(lambda: cosy.scandir(3.5))
        self.steady(lambda: cosy.scandir("nul\0"))

    def test_walk(self) -> None:
        def walks(top: str, down: bool, links: bool, entries: bool) -> None:
            list(cosy.walk(top, down, None, links, entries=entries))

        # A walk that follows links goes through each loop of them 40 times. Here is one loop, in the
        # test's folder there are so many that such a walk has thousands of steps.
        os.makedirs("linked/a/b")
        os.symlink("../b", "linked/a/b/again")
        for down in (True, False):
            for entries in (False, True):
                self.steady(partial(walks, ".", down, False, entries), 80)
                self.steady(partial(walks, "linked", down, True, entries), 80)
        self.steady(lambda: list(cosy.walk("missing", onerror=[].append)))
        self.steady(lambda: next(cosy.walk(".")))

        def sorts(entries: bool) -> None:
            for _, dirs, _ in cosy.walk(".", entries=entries):
                dirs.sort(reverse=True)

        def prunes(entries: bool) -> None:
            for _, dirs, _ in cosy.walk(".", entries=entries):
                del dirs[::2]

        for entries in (False, True):
            self.steady(lambda entries=entries: sorts(entries), 80)
            self.steady(lambda entries=entries: prunes(entries), 80)

    def test_many(self) -> None:
        names = [*os.listdir("."), "missing"]
        names.remove("fifo")
        names.remove("socket")
        self.steady(lambda: cosy.stat_many(names))
        self.steady(lambda: cosy.stat_many(names, return_exceptions=True), 60)
        self.steady(lambda: cosy.read_files(names))
        self.steady(lambda: cosy.read_files(names, return_exceptions=True), 60)
        self.steady(lambda: cosy.read_files([*names, 3]))
        self.steady(lambda: [s.as_os() for s in cosy.stat_many(["file"] * 20)])
        self.steady(lambda: [(s == s, hash(s), repr(s), s[1:]) for s in cosy.stat_many(["file"])])
        Path("large").write_bytes(b"x" * (1 << 20))
        self.steady(lambda: cosy.read_files(["large"] * 3), 40)

    def test_copytree(self) -> None:
        def copy() -> None:
            cosy.copytree("dir", "copy", symlinks=True)

        def clean() -> None:
            for folder, dirs, files in os.walk("copy", topdown=False):
                for name in [*files, *dirs]:
                    path = os.path.join(folder, name)
                    (os.unlink if os.path.islink(path) or name in files else os.rmdir)(path)
            if os.path.isdir("copy"):
                os.rmdir("copy")

        self.steady(lambda: (clean(), copy()), 40)
        self.steady(copy, 40)

    def test_entries_outlive(self) -> None:
        entries = list(cosy.scandir("."))
        steps = list(cosy.walk(".", entries=True))
        gc.collect()
        self.assertEqual(len(entries), len(os.listdir(".")))
        self.assertTrue(all(entry.path for _, dirs, files in steps for entry in [*dirs, *files]))


if __name__ == "__main__":
    unittest.main()
