#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures Cosy against plain calls and against the peers a user has.

    bench/run.py --workload db --kernel 6.12 --fs ext4 --json db.jsonl
    bench/run.py --workload read1,copy --contenders plain,COSY-FAST,sendfile
    bench/run.py --beside --contenders plain,COSY-FAST,io_uring

Prints a table and writes one JSON line for each contender at each setting of the
parameters.  Lanes:

    insn    a virtual machine whose clock counts instructions: repeats, whatever the
            host does besides.  Claims rest on this one.
    wall    the same machine with a clock: real time of an emulated processor.
    native  this machine, where the module is not loaded: plain calls and peers.

All contenders of a row run in turn in one boot, several times over; a value is the
median, per operation, with what a process takes to start subtracted (bench.h).
Programs come from `make`: build/bench/guest/CONTENDER/PROGRAM.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

import cases
import functions
import lanes
import versions
from lanes import Cell, Row, Setup

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests/vm"))
import scale  # noqa: E402


@dataclass
class Line:
    """One line of the result."""

    workload: str
    parameters: dict[str, str | int]
    contender: str
    version: str
    lane: str
    kernel: str
    fs: str
    flags: str  # of the kernel
    machine: str
    metric: str
    value: float
    unit: str
    runs: int
    spread: float  # (largest - smallest) / median


def _rows(options: argparse.Namespace, setup: Setup, contenders: list[str]) -> list[Row]:
    """Returns the rows to measure; prints those that cannot be."""
    left_out: list[str] = []
    rows = []
    for case in (case for name in options.workloads for case in cases.cases(name)):
        if setup.fs not in case.file_systems or options.row not in case.name():
            continue
        if (options.short and not case.short) or (options.beside and not case.title):
            continue
        row = Row(case)
        for contender in (*case.contenders, cases.WRONG):
            if contender not in (contenders or case.contenders):
                continue
            reason = setup.cannot(contender, case)
            if reason:
                left_out += [] if reason in left_out else [reason]
            else:
                row.cells.append(Cell(contender))
        if row.cells:
            rows.append(row)
    for reason in left_out:
        print(f"bench: left out: {reason}", file=sys.stderr)
    return rows


def _complaint(row: Row, cell: Cell, compares: bool) -> str:
    """Returns why a cell does not count: the same bytes must have come out, and of ours by the kernel."""
    first = row.cells[0]
    if cell.differs:
        return cell.differs
    if not cell.costs:
        return "no result"
    if compares and not cell.compared:
        return "ended before its bytes were compared"
    if cell.compared != first.compared:
        return f"other bytes than of {first.contender} were compared: {cell.compared}, {first.compared}"
    if cell.contender != "GNU" and cell.answers != first.answers:
        return f"not the work that {first.contender} did: {cell.answers}, {first.answers}"
    if cell.contender in lanes.NEEDS_MODULE and cell.not_in_kernel:
        return "not all of it ran in the kernel"
    return ""


def _unsteady(costs: list[float]) -> bool:
    """Returns whether runs lie further apart than what they measured: a start that is taken off leaves only noise."""
    if not costs:
        return False
    median = statistics.median(costs)
    return median <= 0 or max(costs) - min(costs) > median


class Report:
    """Takes finished rows: prints them, writes their lines, keeps what was wrong."""

    def __init__(self, setup: Setup, out: Path | None, beside: bool, rows: int) -> None:
        self.setup = setup
        self.beside = beside
        self.rows, self.finished = rows, 0
        self.out = out
        self.complaints: list[str] = []
        self.machine = versions.machine(setup.lane)
        self.versions = versions.contenders()

    def row(self, row: Row, release: str) -> None:
        lines: list[Line] = []
        for cell in row.cells:
            complaint = _complaint(row, cell, not self.setup.statistics)
            if complaint:
                self.complaints.append(f"{row.case.name()} on {self.setup.fs}, {cell.contender}: {complaint}")
            elif _unsteady(cell.costs.get("", [])):
                print(
                    f"bench: left out: {row.case.name()}, {cell.contender}: "
                    "its runs lie further apart than what they measured; take more --runs",
                    file=sys.stderr,
                )
            else:
                lines += [self._line(row, cell, release, part) for part in cell.costs]
        self.finished += 1
        if sys.stderr.isatty():
            print(f"bench: {self.setup.fs}, row {self.finished} of {self.rows}", file=sys.stderr)
        for text in [_beside(row, lines)] if self.beside else _table(lines):
            print(text, flush=True)
        if self.setup.functions:
            for cell in row.cells:
                print(f"{cell.contender}, the kernel's instructions by function:", flush=True)
                print("\n".join(functions.table(cell.functions, cell.operations)), flush=True)
        if self.out:
            with open(self.out, "a") as out:
                out.write("".join(json.dumps(asdict(line)) + "\n" for line in lines))

    def _line(self, row: Row, cell: Cell, release: str, part: str) -> Line:
        costs = cell.costs[part]
        value = statistics.median(costs)
        return Line(
            workload=row.case.workload,
            parameters=row.case.parameters,
            contender=cell.contender,
            version=self.versions.get(cell.contender, f"Linux {release}"),
            lane=self.setup.lane,
            kernel=release,
            fs=self.setup.fs,
            flags=self.setup.flags if self.setup.lane != "native" else "as booted",
            machine=self.machine,
            metric=f"{part}per {row.case.unit}",
            value=round(value, 2),
            unit=lanes.UNITS[self.setup.lane],
            runs=len(costs),
            spread=round((max(costs) - min(costs)) / value, 4) if value else 0.0,
        )


def _beside(row: Row, lines: list[Line]) -> str:
    """Returns a row as one JSON object: what each contender needs."""
    needs = {line.contender: line.value for line in lines}
    unit = lines[0].unit if lines else ""
    return json.dumps(
        {"workload": row.case.workload, "title": row.case.title, "per": row.case.unit, "unit": unit, "needs": needs}
    )


def _table(lines: list[Line]) -> list[str]:
    """Returns lines for the eye: how much less than plain, in per cent."""
    plain = {line.metric: line.value for line in lines if line.contender == "plain"}
    out = []
    for line in lines:
        named = ", ".join(f"{name} {value}" for name, value in line.parameters.items())
        less = ""
        if line.contender != "plain" and plain.get(line.metric):
            less = f"{100 * (1 - line.value / plain[line.metric]):7.1f} % less"
        part = line.metric.split("per ")[0]
        out.append(f"{line.workload:7} {named:50} {line.contender:15} {part:7}{line.value:11.1f} {line.unit} {less}")
    return out


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workload", default="all", help=f"all or some of {','.join(cases.WORKLOADS)}")
    parser.add_argument("--row", default="", metavar="TEXT", help="only rows with this text in what is printed of them")
    parser.add_argument("--lane", default="insn", choices=tuple(lanes.UNITS))
    parser.add_argument("--kernel", default="6.12", metavar="SERIES")
    parser.add_argument("--fs", default="tmpfs", choices=("tmpfs", "ext4"))
    parser.add_argument("--flags", default="calibrated", choices=("calibrated", "default"), help="of the kernel")
    parser.add_argument("--split", action="store_true", help="user and kernel instructions apart (lane insn)")
    parser.add_argument("--functions", action="store_true", help="with --split: the kernel's by function, too")
    parser.add_argument("--contenders", default="", help="some of them, with commas between; plain,COSY,...")
    parser.add_argument("--short", action="store_true", help="a selection: each workload, but not at each setting")
    parser.add_argument(
        "--beside",
        action="store_true",
        help="a few rows that need no explanation, each a line of JSON as soon as it is measured, all in one "
        "boot; unless said otherwise plain and COSY-FAST, once",
    )
    parser.add_argument("--runs", type=int, default=0, help="median over so many; 3")
    parser.add_argument("--part", type=int, default=1, metavar="N", help="an Nth of the work: for tests, no figures")
    parser.add_argument(
        "--shares", type=int, default=1, metavar="N", help="an Nth of the rows, all at night: for tests"
    )
    parser.add_argument("--json", type=Path, metavar="OUT", help="append the lines there")
    parser.add_argument("--statistics", action="store_true", help="print what the module counted in each row")
    parser.add_argument("--build", type=Path, default=HERE.parent / "build", help="where the programs were built")
    options = parser.parse_args()
    options.workloads = list(cases.WORKLOADS) if options.workload == "all" else options.workload.split(",")
    options.runs = options.runs or (1 if options.beside else 3)
    if options.beside:
        options.contenders = options.contenders or "plain,COSY-FAST"
    unknown = sorted(set(options.workloads) - set(cases.WORKLOADS))
    if unknown:
        parser.error(f"no such workload: {', '.join(unknown)}")
    if options.split and options.lane != "insn":
        parser.error("--split counts instructions: it needs --lane insn")
    if options.functions and not options.split:
        parser.error("--functions takes the kernel's instructions apart: it needs --split")
    return options


def main() -> int:
    options = _arguments()
    setup = Setup(
        lane=options.lane,
        kernel=options.kernel,
        fs=options.fs,
        flags=options.flags,
        split=options.split,
        functions=options.functions,
        runs=options.runs,
        statistics=options.statistics,
        part=options.part,
        programs=options.build.resolve() / "bench" / "guest",
    )
    contenders = options.contenders.split(",") if options.contenders else []
    rows = scale.share(_rows(options, setup, contenders), options.shares)
    if not rows:
        print("bench: nothing to measure: no row of these workloads fits", file=sys.stderr)
        return 1
    report = Report(setup, options.json, options.beside, len(rows))
    try:
        lanes.measure(rows, setup, report.row)
    except lanes.BenchError as error:
        report.complaints.append(str(error))
    for complaint in report.complaints:
        print(f"bench: {complaint}", file=sys.stderr)
    return 1 if report.complaints else 0


if __name__ == "__main__":
    sys.exit(main())
