#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Blocks that the plugin counts are added up by the function that they lie in."""

from __future__ import annotations

import sys
import tempfile
import unittest
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import functions
import split

_PRINTED = """\
symbol ffffffff81000000 first
symbol ffffffff81000000 its_other_name
symbol ffffffff81000100 second
symbol ffffffffc0400000 cosy_read
module 0xffffffffc0400000 8192 cosy
another line
"""


class Functions(unittest.TestCase):
    def setUp(self) -> None:
        self.symbols = functions.Symbols()
        self.others = [line for line in _PRINTED.splitlines() if not self.symbols.line(line.split())]

    def test_lines_of_others_are_left(self) -> None:
        self.assertEqual(self.others, ["another line"])

    def test_names(self) -> None:
        for address, name in (
            (0xFFFFFFFF81000000, "first"),
            (0xFFFFFFFF810000FF, "first"),
            (0xFFFFFFFF81000100, "second"),
            (0xFFFFFFFFC0401FFF, "cosy_read"),
            (0xFFFFFFFFC0402000, "(compiled compounds)"),
            (0xFFFFFFFF80000000, "(no function)"),
        ):
            self.assertEqual(self.symbols.name(address), name)

    def test_table(self) -> None:
        blocks = Counter({0xFFFFFFFF81000000: 1000, 0xFFFFFFFF81000010: 500, 0xFFFFFFFF81000100: 2})
        table = functions.table(functions.named(blocks, self.symbols), 10)
        self.assertEqual([line.split() for line in table][0], ["150.0", "99.9", "%", "first"])
        self.assertEqual(table[1].split()[:3], ["0.2", "0.1", "%"])
        self.assertEqual(len(table), 2)


class Parts(unittest.TestCase):
    def test_large_less_small(self) -> None:
        first = 0xFFFFFFFF81000000
        small, large = (f"{first:x} {kernel}\n{user} {kernel} .\n" for user, kernel in ((3, 10), (30, 110)))
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "marks")
            path.write_text(small + small + small + large)
            part = split.between(split.parts(path))
        self.assertEqual((part.user, part.kernel, part.blocks), (27, 100, Counter({first: 100})))


if __name__ == "__main__":
    unittest.main()
