# SPDX-License-Identifier: MIT
"""The lines that bench/run.py writes, for what is measured here: `cosy run` against plain calls."""

from __future__ import annotations

import json
import platform
import statistics
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.append(str(TOP / "bench"))

import versions  # noqa: E402  (bench/ is no package)
from run import Line  # noqa: E402

PLAIN = "plain"
COSY = "cosy run"
# The metric of how many times faster a contender is: the median of the ratios of neighbours.
RATIO = "times faster"


def spread(values: list[float]) -> float:
    """The middle half over the median; the machine does other things besides."""
    middle = statistics.median(values)
    if len(values) < 2 or not middle:
        return 0.0
    quarters = statistics.quantiles(values, n=4)
    return (quarters[2] - quarters[0]) / middle


def _filesystem(directory: str | Path) -> str:
    said = subprocess.run(["stat", "-f", "-c", "%T", directory], stdout=subprocess.PIPE, text=True)
    return said.stdout.strip().replace("ext2/ext3", "ext4")


class Lines:
    """Takes values, makes lines of them, and prints them for the eye."""

    def __init__(self, out: Path, directory: str | Path) -> None:
        """`directory`: where the files are."""
        self.out = out
        self.fs = _filesystem(directory)
        self.ours = versions.contenders()["COSY"]
        self.libc = versions.contenders()["plain"].split(",")[0]
        self.machine = versions.machine("native")

    def on(self, directory: str) -> Lines:
        """The same for files elsewhere."""
        return Lines(self.out, directory)

    def add(
        self,
        workload: str,
        parameters: dict[str, str | int],
        contender: str,
        metric: str,
        value: float,
        unit: str,
        runs: int,
        spread: float,
        version: str = "",
    ) -> None:
        line = Line(
            workload=workload,
            parameters=parameters,
            contender=contender,
            version=self.ours if contender in (COSY, "libcosy-run.so") else version or self.libc,
            lane="native",
            kernel=platform.release(),
            fs=self.fs,
            flags="as booted",
            machine=self.machine,
            metric=metric,
            value=round(value, 4),
            unit=unit,
            runs=runs,
            spread=round(spread, 4),
        )
        with open(self.out, "a") as out:
            out.write(json.dumps(asdict(line)) + "\n")
        named = ", ".join(f"{name} {value}" for name, value in parameters.items())
        print(f"{workload:15} {named:34} {contender:16} {metric:22} {value:12.2f} {unit}", flush=True)

    def pair(
        self,
        workload: str,
        parameters: dict[str, str | int],
        metric: str,
        unit: str,
        plain: list[float],
        cosy: list[float],
        version: str = "",
        more_is_better: bool = False,
    ) -> None:
        """The rounds of both, and how many times faster the second is."""
        for contender, values in ((PLAIN, plain), (COSY, cosy)):
            middle = statistics.median(values)
            self.add(workload, parameters, contender, metric, middle, unit, len(values), spread(values), version)
        ratios = [b / a if more_is_better else a / b for a, b in zip(plain, cosy, strict=True) if a and b]
        if ratios:
            name = f"{RATIO}, {metric}"
            self.add(workload, parameters, COSY, name, statistics.median(ratios), "x", len(ratios), spread(ratios))
