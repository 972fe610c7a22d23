#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The comparison of kernels has the rows that were measured on all of them, and no others."""

from __future__ import annotations

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import kernels
import report


def _line(kernel: str, contender: str, value: float, workload: str = "copy", size: int = 1) -> dict:
    return {
        "workload": workload,
        "parameters": {"size": size},
        "contender": contender,
        "version": f"{contender} 1",
        "kernel": kernel,
        "fs": "tmpfs",
        "metric": "per operation",
        "value": value,
    }


def _row(kernel: str, plain: float, fast: float, **parameters: object) -> list[dict]:
    return [_line(kernel, "plain", plain, **parameters), _line(kernel, "COSY-FAST", fast, **parameters)]


class Section(unittest.TestCase):
    def test_one_kernel_is_no_comparison(self) -> None:
        self.assertEqual(kernels.section([]), "")
        self.assertEqual(kernels.section(_row("6.12.1-amd64", 100, 50)), "")

    def test_older_kernel_comes_first(self) -> None:
        text = kernels.section(_row("10.1.0-amd64", 200, 150) + _row("6.12.1-amd64", 100, 50))
        self.assertIn("| workload | row | 6.12: plain | COSY-FAST |  | 10.1: plain | COSY-FAST |  |", text)
        self.assertIn("| copy | size 1 | 100 | 50.0 | 50 % less | 200 | 150 | 25 % less |", text)

    def test_losses_are_said(self) -> None:
        text = kernels.section(_row("6.12.1", 100, 50) + _row("7.3.0", 100, 108))
        self.assertIn("| 100 | 108 | 8 % more |", text)

    def test_last_line_counts(self) -> None:
        text = kernels.section(_row("6.12.1", 100, 50) + _row("7.3.0", 100, 90) + _row("7.3.0", 100, 80))
        self.assertIn("20 % less", text)
        self.assertNotIn("10 % less", text)

    def test_rows_of_one_kernel_are_left_out(self) -> None:
        both = _row("6.12.1", 100, 50) + _row("7.3.0", 100, 60)
        text = kernels.section(both + _row("7.3.0", 100, 70, size=2) + [_line("6.12.1", "plain", 100, size=2)])
        self.assertNotIn("size 2", text)

    def test_document_has_it_before_the_clocks(self) -> None:
        # The place is found again: writing the same section twice changes nothing.
        wanted = kernels.section(_row("6.12.1", 100, 50) + _row("7.3.0", 100, 60))
        text = "# Results\n\n" + wanted + "\n## Lane wall\n\nrows\n"
        found = kernels.PLACE.search(text)
        assert found
        self.assertEqual(text[: found.start()] + wanted + "\n" + text[found.end() :], text)

    def test_remark_is_there(self) -> None:
        self.assertTrue(report.remarks_of("kernels"))


if __name__ == "__main__":
    unittest.main()
