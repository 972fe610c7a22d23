#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The document and its plots can be made once every row has been measured, whatever the figures are."""

from __future__ import annotations

import dataclasses
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import cases
from report import Results, document
from run import Line

# What all.sh measures: lane, flags, and whether the short selection only.
LANES = (
    ("insn", "calibrated", False),
    ("insn", "default", True),
    ("wall", "calibrated", True),
    ("native", "calibrated", True),
)


def _results() -> Results:
    """Returns a line for each contender of each row in each lane, with invented values."""
    lines = []
    for lane, flags, short in LANES:
        for case in (case for name in cases.WORKLOADS for case in cases.cases(name)):
            if short and not case.short:
                continue
            for fs in case.file_systems:
                for contender in case.contenders:
                    fixed = {"version": "1", "kernel": "6.12.0", "machine": "none", "runs": 3, "spread": 0.01}
                    line = Line(
                        workload=case.workload,
                        parameters=case.parameters,
                        contender=contender,
                        lane=lane,
                        fs=fs,
                        flags=flags,
                        metric=f"per {case.unit}",
                        value=1000.0 + len(lines),
                        unit="instructions" if lane == "insn" else "ns",
                        **fixed,
                    )
                    lines.append(dataclasses.asdict(line))
    return Results(lines)


class Document(unittest.TestCase):
    def test_document(self) -> None:
        text = document(_results(), [])
        for name in cases.WORKLOADS:
            self.assertIn(f"{name}, per ", text)

    def test_plots(self) -> None:
        try:
            import plots
        except ImportError:
            self.skipTest("python3-matplotlib is not installed")
        with tempfile.TemporaryDirectory() as docs:
            for name in plots.draw(_results(), Path(docs)):
                self.assertTrue((Path(docs) / name).stat().st_size > 1000, name)


if __name__ == "__main__":
    unittest.main()
