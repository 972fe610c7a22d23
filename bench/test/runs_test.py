#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests what bench/runs.py makes of the lines of its driver: ratios, and rows that do not count."""

from __future__ import annotations

import argparse
import sys
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import runs  # noqa: E402

SAME = "0123456789abcdef"


def _row(plain: list[int], marked: list[int]) -> runs.Row:
    row = runs.Row("name", "program", [])
    row.runs = {
        "plain": [(cost, 0, SAME, 0, 0) for cost in plain],
        "COSY-FAST": [(cost, 0, SAME, 0, 0) for cost in marked],
    }
    return row


class Lines(unittest.TestCase):
    def test_runs_are_compared_with_the_median_and_sums_with_the_sum(self) -> None:
        line = _row([100, 900, 200], [220, 100, 50]).line()
        self.assertEqual(line, "| name | 0.00 | 0.250 | 0.308 | 0.000 | 1.100 0.500 0.250 |")

    def test_the_sum_includes_the_background(self) -> None:
        row = _row([100, 100, 100], [100, 80, 80])
        row.runs["COSY-FAST"][0] = (100, 0, SAME, 10, 40)
        self.assertEqual(row.line(), "| name | 0.00 | 0.800 | 1.000 | 0.500 | 1.000 0.800 0.800 |")

    def test_output_and_status_are_compared(self) -> None:
        row = _row([1, 1, 1], [1, 1, 1])
        self.assertEqual(row.complaint(3), "")
        row.runs["COSY-FAST"][2] = (1, 0, "f" * 16, 0, 0)
        self.assertEqual(row.complaint(3), "its runs printed different things")
        row.runs["COSY-FAST"][2] = (1, 256, SAME, 0, 0)
        self.assertEqual(row.complaint(3), "a run failed")
        row.runs["COSY-FAST"].pop()
        self.assertEqual(row.complaint(3), "not all of its runs ended")

    def test_programs_that_wait_are_measured_by_the_processors_time(self) -> None:
        rows = [runs.Row("one", "program", []), runs.Row("several", "program", [], waits=True)]
        script = runs._script(rows, 3, "/tmp/place")
        self.assertIn("/t/driver 3 '' '' /t/plain/program", script)
        self.assertIn("/t/driver -p 3 '' '' /t/COSY-FAST/program", script)

    def test_names_are_forgotten_after_the_input_is_made(self) -> None:
        rows = [runs.Row("one", "program", [], prepare="make input")]
        self.assertNotIn("drop_caches", runs._script(rows, 3, "/tmp/place"))
        before, _, after = runs._script(rows, 3, "/tmp/place", reread=True).partition("drop_caches")
        self.assertIn("( make input )", before)
        self.assertNotIn("/t/driver", before)
        self.assertIn("/t/driver 1 'make input'", after)

    def test_rows_are_those_of_the_benchmarks(self) -> None:
        options = argparse.Namespace(workload="process,programs", row="du -s.*tree 500|records.*long", size=None)
        names = [(row.program, row.arguments) for row in runs.benchmark_rows(options)]
        self.assertEqual(
            names,
            [
                ("process-records", [".", "30000"]),
                ("programs-du", ["tree-500"]),
                ("programs-du", ["tree-5000"]),
            ],
        )

    def test_a_size_makes_one_row_of_each_program(self) -> None:
        options = argparse.Namespace(workload="process", row="records", size=6600)
        self.assertEqual([row.arguments for row in runs.benchmark_rows(options)], [[".", "6600"]])


if __name__ == "__main__":
    unittest.main()
