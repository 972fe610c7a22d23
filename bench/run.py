#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures Cosy against plain calls and against the peers a user has.

    bench/run.py --workload db --kernel 6.12 --fs ext4 --json db.jsonl
    bench/run.py --workload all --contenders VAN,COSY-FAST,sendfile

Writes one JSON line for each contender at each setting of the parameters and prints
a table.  Lanes:

    insn    a virtual machine whose clock counts instructions: repeats, whatever the
            host does besides.  Claims rest on this one.
    wall    the same machine with a clock: real time of an emulated processor.
    native  this machine, where the kernel module is not needed: plain calls and peers.

All contenders of a row run in turn in one boot, several times over; a value is the
median, per operation, with what a process takes to start subtracted (bench.h).
Programs come from `make`: build/bench/guest/CONTENDER/PROGRAM.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shlex
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

import cases
import versions
from cases import Case

HERE = Path(__file__).resolve().parent
VM = HERE.parent / "tests" / "vm" / "vm.py"
# What Debian's kernels do by themselves; vm.py's --icount switches it off (tests/vm/qemu.py).
DEFAULT_PARAMETERS = (
    "init_on_alloc=1 randomize_kstack_offset=on hardened_usercopy=on "
    "lsm=landlock,lockdown,yama,loadpin,safesetid,integrity,apparmor,selinux,smack,tomoyo,bpf"
)
UNITS = {"insn": "instructions", "wall": "ns", "native": "ns"}
TOOLS = ("cp", "du", "grep", "ls")  # of the host, that guests are given
NEEDS_MODULE = ("COSY", "COSY-FAST")


class BenchError(Exception):
    """One printable reason why there is no result."""


@dataclass
class Setup:
    """Where it is measured."""

    lane: str
    kernel: str  # series, in a virtual machine
    fs: str
    flags: str  # calibrated, default
    runs: int
    build: Path
    statistics: bool = False


@dataclass
class Cell:
    """A contender at one row, with what it printed each time."""

    case: Case
    contender: str
    program: Path  # relative to the guest's programs
    costs: list[float] = field(default_factory=list)
    answers: set[str] = field(default_factory=set)
    not_in_kernel: bool = False


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
    flags: str
    machine: str
    metric: str
    value: float
    unit: str
    runs: int
    spread: float  # (largest - smallest) / median


def _cells(rows: Iterable[Case], setup: Setup, wanted: list[str]) -> tuple[list[Cell], list[str]]:
    """What can be measured, and the reasons why the rest cannot."""
    cells, left_out = [], []
    for case in rows:
        for contender in case.contenders:
            if wanted and contender not in wanted:
                continue
            program = Path(contender, case.program)
            if setup.lane == "native" and contender in NEEDS_MODULE and not os.path.exists("/dev/cosy"):
                reason = f"{contender}: cosy.ko is not loaded on this machine"
            elif not (setup.build / program).exists():
                reason = f"{program}: not built"
            else:
                cells.append(Cell(case, contender, program))
                continue
            if reason not in left_out:
                left_out.append(reason)
    return cells, left_out


def _script(cells: list[Cell], setup: Setup, directory: str, programs: str) -> str:
    """The shell script that runs everything; `@ N` announces the cell whose result follows."""
    lines = [
        "ulimit -n 4096",
        f"mkdir -p {directory}",
        "echo 0 >/proc/sys/vm/dirty_writeback_centisecs" if setup.lane != "native" else "",
        "uname -r | sed 's/^/release /'",
    ]
    place = {number: f"{directory}/{cell.case.program}" for number, cell in enumerate(cells)}
    for row in _rows(cells):
        program = place[row[0]]
        lines.append(f"mkdir -p {program}")
        if cells[row[0]].case.program == "walk":
            lines.append(f"[ -d {program}/tree ] || cp -r {programs}/../tree {program}/tree")
        for _ in range(cells[row[0]].case.runs or setup.runs):
            for number in row:
                lines.append(f"echo @ {number}")
                lines.append(_command(cells[number], program, programs))
        last = row[-1] + 1
        if last == len(cells) or place[last] != program:
            lines.append(f"rm -rf {program}")
    if setup.statistics:
        lines.append("cat /sys/kernel/debug/cosy/stats")
    return "\n".join(lines) + "\n"


def _rows(cells: list[Cell]) -> Iterator[list[int]]:
    """The numbers of the cells of each case."""
    row: list[int] = []
    for number, cell in enumerate(cells):
        if row and cells[row[0]].case is not cell.case:
            yield row
            row = []
        row.append(number)
    if row:
        yield row


def _command(cell: Cell, directory: str, programs: str) -> str:
    case = cell.case
    environment = "COSY_STATS=1 " + ("COSY_FAST=0 " if cell.contender == "COSY" else "")
    options = [f"{name}={value}" for name, value in (case.parameters | case.settings).items()]
    options.append(f"tools={programs}/../tools")
    words = [f"{programs}/{cell.program}", directory, str(case.small), str(case.large), *options]
    return environment + shlex.join(words) + " 2>&1"


def _measure(cells: list[Cell], setup: Setup, tree: Path | None) -> str:
    """Runs the script where the lane says; fills the cells; the kernel's release."""
    with tempfile.TemporaryDirectory(prefix="cosy-bench-") as name:
        scratch = Path(name)
        script = scratch / "bench.sh"
        if setup.lane == "native":
            where = Path(os.environ.get("TMPDIR", "/tmp")) if setup.fs == "tmpfs" else HERE
            script.write_text(_script(cells, setup, f"{scratch}/work", str(setup.build)))
            print(f"native: files are in {where}", file=sys.stderr)
            command = ["sh", str(script)]
        else:
            (scratch / "disk").mkdir()
            script.write_text(
                _script(cells, setup, "/mnt/bench" if setup.fs == "ext4" else "/tmp/bench", "/t/guest")
            )
            command = [sys.executable, "-B", str(VM), "run", "--kernel", setup.kernel, "--timeout", "5400"]
            (scratch / "tools").mkdir()
            for tool in TOOLS:
                (scratch / "tools" / tool).symlink_to(Path("/usr/bin", tool).resolve())
            command += ["--put", str(scratch / "tools")]
            command += ["--mem", "1536", "--put", str(setup.build), "--put", str(script)]
            command += ["--icount"] if setup.lane == "insn" else ["--smp", "2"]
            if setup.flags == "default":
                command += ["--append", DEFAULT_PARAMETERS]
            if tree and any(cell.case.program == "walk" for cell in cells):
                (scratch / "tree").symlink_to(tree)
                command += ["--put", str(scratch / "tree")]
            if setup.fs == "ext4":
                command += ["--disk", str(scratch / "disk")]
            command += ["--", "sh", "/t/bench.sh"]
        return _read(cells, command)


def _read(cells: list[Cell], command: list[str]) -> str:
    """Runs a command, and takes its output to the cells."""
    release, current, text = platform.release(), None, []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, errors="replace") as process:
        assert process.stdout
        for line in process.stdout:
            words = line.split()
            if words[:1] == ["release"]:
                release = words[1]
            elif words[:1] == ["@"]:
                current = cells[int(words[1])]
            elif words[:1] == ["result"] and current:
                small, small_cost, large, large_cost = map(int, words[1:5])
                operations = (large - small) * current.case.per
                current.costs.append((large_cost - small_cost) / operations)
                current.answers.add(words[5])
            elif current and line.startswith("cosy: stats:"):
                counts = dict(re.findall(r"(\w+)=(\d+)", line))
                current.not_in_kernel |= counts["native"] != "0" or counts["interp_calls"] != "0"
            else:
                text.append(line)
    sys.stderr.writelines(text)
    if process.returncode:
        raise BenchError(f"{shlex.join(command[:8])} ...: exit status {process.returncode}")
    return release


def _check(cells: list[Cell]) -> tuple[list[Cell], list[str]]:
    """The cells that count; why others do not: the same work must have been done, and ours in the kernel."""
    good, complaints = [], []
    for row in _rows(cells):
        plain = cells[row[0]].answers
        for cell in (cells[number] for number in row):
            reason = ""
            if not cell.costs:
                reason = "no result"
            elif cell.contender != "GNU" and cell.answers != plain:
                reason = f"not the work that {cells[row[0]].contender} did: {cell.answers}, {plain}"
            elif cell.contender in NEEDS_MODULE and cell.not_in_kernel:
                reason = "not all of it ran in the kernel"
            if reason:
                complaints.append(f"{cell.program} {cell.case.parameters}: {reason}")
            else:
                good.append(cell)
    return good, complaints


def _lines(cells: list[Cell], setup: Setup, release: str) -> list[Line]:
    machine = versions.machine(setup.lane)
    found = versions.contenders(setup.build)
    lines = []
    for cell in cells:
        value = statistics.median(cell.costs)
        spread = (max(cell.costs) - min(cell.costs)) / value if value else 0.0
        lines.append(
            Line(
                workload=cell.case.workload,
                parameters=cell.case.parameters,
                contender=cell.contender,
                version=found.get(cell.contender, f"Linux {release}"),
                lane=setup.lane,
                kernel=release,
                fs=setup.fs,
                flags=setup.flags if setup.lane != "native" else "the machine's own",
                machine=machine,
                metric=f"per {cell.case.unit}",
                value=round(value, 2),
                unit=UNITS[setup.lane],
                runs=len(cell.costs),
                spread=round(spread, 4),
            )
        )
    return lines


def _table(lines: list[Line]) -> str:
    """The lines for the eye: rows of parameters, less than VAN in per cent."""
    out = []
    plain = {(line.workload, str(line.parameters)): line.value for line in lines if line.contender == "VAN"}
    for line in lines:
        named = ", ".join(f"{name} {value}" for name, value in line.parameters.items())
        base = plain.get((line.workload, str(line.parameters)))
        less = f"{100 * (1 - line.value / base):6.1f} % less" if base and line.contender != "VAN" else ""
        out.append(f"{line.workload:7} {named:58} {line.contender:16} {line.value:12.1f} {line.unit} {less}")
    return "\n".join(out)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workload", default="all", help=f"all or some of {','.join(cases.WORKLOADS)}")
    parser.add_argument("--lane", default="insn", choices=tuple(UNITS))
    parser.add_argument("--kernel", default="6.12", metavar="SERIES")
    parser.add_argument("--fs", default="tmpfs", choices=("tmpfs", "ext4"))
    parser.add_argument("--flags", default="calibrated", choices=("calibrated", "default"), help="of the kernel")
    parser.add_argument("--contenders", default="", help="some of them, with commas between; VAN,COSY,...")
    parser.add_argument("--short", action="store_true", help="a selection that takes less than a minute")
    parser.add_argument("--runs", type=int, default=3, help="median over so many")
    parser.add_argument("--json", type=Path, metavar="OUT", help="append the lines there")
    parser.add_argument("--statistics", action="store_true", help="print the module's counters at the end")
    parser.add_argument("--build", type=Path, default=HERE.parent / "build", help="where the programs were built")
    return parser.parse_args()


def main() -> int:
    options = _arguments()
    workloads = cases.WORKLOADS if options.workload == "all" else options.workload.split(",")
    setup = Setup(
        lane=options.lane,
        kernel=options.kernel,
        fs=options.fs,
        flags=options.flags,
        runs=options.runs,
        build=options.build.resolve() / "bench" / "guest",
        statistics=options.statistics,
    )
    try:
        unknown = set(workloads) - set(cases.WORKLOADS)
        if unknown:
            raise BenchError(f"no such workload: {', '.join(sorted(unknown))}")
        rows = [case for name in workloads for case in cases.cases(name) if setup.fs in case.file_systems]
        rows = [case for case in rows if case.short or not options.short]
        cells, left_out = _cells(rows, setup, options.contenders.split(",") if options.contenders else [])
        for reason in left_out:
            print(f"bench: left out: {reason}", file=sys.stderr)
        if not cells:
            raise BenchError("nothing to measure")
        release = _measure(cells, setup, versions.tree(setup.kernel))
        good, complaints = _check(cells)
        lines = _lines(good, setup, release)
    except BenchError as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    print(_table(lines))
    if options.json:
        with open(options.json, "a") as out:
            out.writelines(json.dumps(asdict(line)) + "\n" for line in lines)
    for complaint in complaints:
        print(f"bench: {complaint}", file=sys.stderr)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
