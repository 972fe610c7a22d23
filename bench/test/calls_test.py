#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reads what the programs of bench/calls print, and refuses rows whose results differ."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import calls

SAID = [
    "6.12.1-test",
    "contender plain",
    "row getpid 300 2560",
    "row umask 240 46080",
    "contender COSY-FAST",
    "row getpid 30 2560",
    "row umask 80 46080",
]


class CallsTest(unittest.TestCase):
    def test_rows_are_paired(self) -> None:
        self.assertEqual(calls.lines_of(calls.rows(SAID)), {"getpid": (300, 30), "umask": (240, 80)})

    def test_change_is_of_the_plain_call(self) -> None:
        self.assertEqual(calls.cells(1300, 325), ["1,300", "325", "-75 %"])

    def test_other_results_are_refused(self) -> None:
        with self.assertRaises(SystemExit):
            calls.lines_of(calls.rows([*SAID[:-1], "row umask 80 1"]))

    def test_missing_rows_are_refused(self) -> None:
        with self.assertRaises(SystemExit):
            calls.lines_of(calls.rows(SAID[:-1]))


if __name__ == "__main__":
    unittest.main()
