#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Placeholders are filled from measured lines, and one that cannot be is an error."""

from __future__ import annotations

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from figures import FigureError, fill
from report import Results, narrow, number, remarks
from run import _unsteady


def _line(row: dict[str, int], contender: str, value: float) -> dict[str, object]:
    fixed = {"lane": "insn", "fs": "tmpfs", "flags": "calibrated", "metric": "per call"}
    return {"workload": "getpid", "parameters": row, "contender": contender, "value": value, **fixed}


def _results() -> Results:
    rows = ((2, 607.0, 679.0), (4, 320.0, 413.0))
    fast = [_line({"calls": calls}, "COSY-FAST", value) for calls, value, _ in rows]
    return Results(fast + [_line({"calls": calls}, "COSY", value) for calls, _, value in rows])


class Runs(unittest.TestCase):
    def test_steady(self) -> None:
        for costs in ([100.0], [100.0, 101.0, 99.0], [100.0, 160.0, 70.0], []):
            self.assertFalse(_unsteady(costs), costs)

    def test_unsteady(self) -> None:
        for costs in ([0.0], [-3.0, 2.0, -1.0], [1.0, 1400.0, 2.0]):
            self.assertTrue(_unsteady(costs), costs)


class Figures(unittest.TestCase):
    def setUp(self) -> None:
        results = _results()
        self.filled = lambda text: fill(text, results.look_up, number)

    def test_value(self) -> None:
        self.assertEqual(self.filled("a {getpid:calls 2:COSY-FAST} b"), "a 607 b")

    def test_sum(self) -> None:
        text = "{4*getpid:calls 2:COSY-FAST - 4*getpid:calls 4:COSY-FAST}"
        self.assertEqual(self.filled(text), "1,148")

    def test_not_measured(self) -> None:
        for text in ("{getpid:calls 8:COSY-FAST}", "{getpid:calls 2:plain}", "{db:calls 2:COSY}"):
            self.assertRaises(FigureError, self.filled, text)

    def test_no_figure(self) -> None:
        for text in ("{}x{nothing}", "{getpid:calls 2:COSY getpid:calls 4:COSY}"):
            self.assertRaises(FigureError, self.filled, text)

    def test_remarks(self) -> None:
        text = " ".join(remarks("getpid", _results()).split())
        self.assertIn("COSY-FAST 1,148 instructions and each call in it 33.0,", text)

    def test_width(self) -> None:
        text = narrow(
            "# Head\n\n" + "word " * 40 + "\n\n- an item " + "of words " * 20 + "\n\n| a row " + "x" * 120 + " |\n"
        )
        long = [line for line in text.splitlines() if len(line) > 100]
        self.assertEqual([line[:7] for line in long], ["| a row"])
        self.assertIn("\n  of words", text)


if __name__ == "__main__":
    unittest.main()
