#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests what bench/metadata.py makes of a machine's lines: rows that do not count, savings, and losses."""

from __future__ import annotations

import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import metadata  # noqa: E402
import metadata_files  # noqa: E402

SAME = "0123456789abcdef"
PROGRAM = metadata.PROGRAMS[2]


def _read(*lines: str) -> metadata.Row:
    row = metadata.Row(PROGRAM, "60", 1)
    metadata.read([row], [f"{line}\n" for line in ("release 6.12.1", *lines)])
    return row


def _line(fs: str, kernel: str, plain: int, cost: int) -> dict:
    line = {"row": PROGRAM.name, "tree": "60", "fs": fs, "kernel": kernel, "served": 1, "files": 60, "folders": 10}
    return {**line, "plain": plain, "with": cost}


class Lines(unittest.TestCase):
    def test_the_least_of_the_runs_counts(self) -> None:
        row = _read("@ 0 first", f"run 1 0 {SAME} 0 0", "@ 0 plain", f"run 9 0 {SAME} 0 0", f"run 7 0 {SAME} 0 0")
        self.assertEqual(row.cost("plain"), 7)

    def test_output_and_status_are_compared(self) -> None:
        plain = ["@ 0 plain", f"run 9 0 {SAME} 0 0", "@ 0 with"]
        self.assertEqual(_read(*plain, f"run 8 0 {SAME} 0 0").complaint(), "")
        self.assertEqual(_read(*plain, f"run 8 0 {'f' * 16} 0 0").complaint(), "its runs printed different things")
        self.assertEqual(_read(*plain, f"run 8 256 {SAME} 0 0").complaint(), "a run failed")
        self.assertEqual(_read(*plain).complaint(), "not all of its runs ended")

    def test_columns_are_file_systems_and_kernels(self) -> None:
        lines = [_line("ext4", "6.12.1", 200, 150), _line("tmpfs", "6.12.1", 2000000, 1500000)]
        table = metadata.tree_table(lines, "60", goals=True).splitlines()
        self.assertEqual(table[0], "| command | tmpfs, 6.12 | saves | ext4, 6.12 | saves | goals |")
        cells = "2.00 → 1.50 | 25.0 % | 0.00 → 0.00 | 25.0 % | 30 / 22 %"
        self.assertEqual(table[2], f"| `{PROGRAM.name}` | {cells} |")

    def test_losses_are_shown_the_worst_first(self) -> None:
        lines = [_line("tmpfs", "6.12.1", 100, 90), _line("tmpfs", "7.3.1", 100, 101), _line("ext4", "7.3.1", 100, 110)]
        costs = [row.split("|")[5].strip() for row in metadata.lost_table(lines).splitlines()[2:]]
        self.assertEqual(costs, ["10.0 %", "1.0 %"])

    def test_a_tree_has_as_many_files_as_its_name_says(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            for tree in ("60", "303", "585"):
                metadata_files.tree_make(Path(name, tree), tree)
                self.assertEqual(metadata_files.counts(Path(name, tree))[1], int(tree))


if __name__ == "__main__":
    unittest.main()
