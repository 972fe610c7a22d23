# SPDX-License-Identifier: MIT
"""Runs programs by one shell script, in a virtual machine or here, whose output is the result."""

from __future__ import annotations

import os
import platform
import re
import shlex
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import functions
import split
import versions
from cases import Case

VM = Path(__file__).resolve().parent.parent / "tests" / "vm" / "vm.py"
UNITS = {"insn": "instructions", "wall": "ns", "native": "ns"}
NEEDS_MODULE = ("COSY", "COSY-FAST", "COSY-NAMED")
TOOLS = ("cp", "du", "find", "grep", "ls", "tar")  # of this machine, that guests are given

# Debian's kernels do this by themselves; vm.py --icount switches it off (tests/vm/qemu.py).
DEFAULT_PARAMETERS = (
    "init_on_alloc=1 randomize_kstack_offset=on hardened_usercopy=on "
    "lsm=landlock,lockdown,yama,loadpin,safesetid,integrity,apparmor,selinux,smack,tomoyo,bpf"
)

_CHANGES = 'NR == FNR { was[$1] = $2; next } $2 != was[$1] { printf " %s=%d", $1, $2 - was[$1] } END { print "" }'


class BenchError(Exception):
    """One printable reason why there is no result."""


@dataclass
class Setup:
    """The place and way of a measurement."""

    lane: str
    kernel: str  # series, in a virtual machine
    fs: str
    flags: str  # calibrated, default
    split: bool
    functions: bool  # the kernel's instructions by function, too; with split
    runs: int
    statistics: bool
    part: int  # so much less work than a figure needs
    programs: Path

    def cannot(self, contender: str, case: Case) -> str:
        """Returns why a contender cannot be measured, or nothing."""
        if self.lane == "native" and contender in NEEDS_MODULE and not os.path.exists("/dev/cosy"):
            return f"{contender}: cosy.ko is not loaded on this machine"
        if self.lane == "native" and case.settings.get("cold"):
            return f"{case.workload}, cold: would empty this machine's caches"
        if not (self.programs / contender / case.program).exists():
            return f"{contender}/{case.program}: not built"
        if self.split and contender == "GNU":
            return f"{contender}: its start cannot be told from its work by mode"
        return ""


@dataclass
class Cell:
    """A contender in a row, with what it printed each time."""

    contender: str
    costs: dict[str, list[float]] = field(default_factory=dict)  # of all; or apart: "user ", "kernel "
    answers: set[str] = field(default_factory=set)
    compared: str = ""  # how many bytes, and their digest (workloads/compare.h)
    differs: str = ""  # which byte first
    not_in_kernel: bool = False
    functions: Counter[str] = field(default_factory=Counter)  # of all operations, with Setup.functions
    operations: int = 0


@dataclass
class Row:
    """All contenders of a case."""

    case: Case
    cells: list[Cell] = field(default_factory=list)


def _script(rows: list[Row], setup: Setup, directory: str, programs: str, tree: str, trees: str) -> str:
    """Returns the script that runs all in directory.

    `@ ROW CELL` announces whose result follows, `row ROW` that it is complete.  programs holds the contenders,
    tree what walk goes over, trees/tree-SIZE what programs goes over.
    """
    lines = ["ulimit -n 4096", f"mkdir -p {directory}", "uname -r | sed 's/^/release /'"]
    lines += functions.SCRIPT if setup.functions else ()
    if setup.lane != "native":
        lines.append("echo 0 >/proc/sys/vm/dirty_writeback_centisecs")
    last = ""
    for number, row in enumerate(rows):
        place = f"{directory}/{row.case.program}"
        if place != last:
            lines += [f"rm -rf {last}"] if last else []
            lines.append(f"mkdir -p {place}")
            last = place
        if row.case.program == "walk":
            lines.append(f"[ -d {place}/tree ] || cp -r {tree} {place}/tree")
        if row.case.program == "programs":
            size = row.case.parameters["tree"]
            lines.append(f"[ -d {place}/{size} ] || cp -r {trees}/tree-{size} {place}/{size}")
        if setup.statistics:
            lines.append("cat /sys/kernel/debug/cosy/stats >/tmp/stats-before")
        for run in range(row.case.runs or setup.runs):
            # To compare once is enough; the module must count the work's calls alone.
            check = run == 0 and not setup.statistics
            for index, cell in enumerate(row.cells):
                command = _command(row.case, cell.contender, setup, place, programs, check)
                lines += [f"echo @ {number} {index}", command]
        lines.append(f"echo row {number}")
        if setup.statistics:
            lines.append(f"awk {shlex.quote(_CHANGES)} /tmp/stats-before /sys/kernel/debug/cosy/stats")
    lines.append(f"rm -rf {directory}")
    return "\n".join(lines) + "\n"


def _command(case: Case, contender: str, setup: Setup, place: str, programs: str, check: bool) -> str:
    # Under COSY_STATS a region that is native asks libcosy at each loop's head, which costs.
    environment = "" if case.natively else "COSY_STATS=1 COSY_TIER=always "
    environment += "COSY_FAST=0 " if contender == "COSY" else ""
    options = [f"{name}={value}" for name, value in (case.parameters | case.settings).items()]
    options += [] if setup.lane == "native" else ["tools=/t/tools"]
    options += ["split=1"] if setup.split else []
    options += [] if check else ["check=0"]
    large = case.small + -(-(case.large - case.small) // setup.part)
    words = [f"{programs}/{contender}/{case.program}", place, str(case.small), str(large), *options]
    return environment + shlex.join(words) + " 2>&1"


def measure(rows: list[Row], setup: Setup, done: Callable[[Row, str], None]) -> None:
    """Fills the cells of every row, and calls done with it and the kernel's release."""
    with tempfile.TemporaryDirectory(prefix="cosy-bench-") as name:
        scratch = Path(name)
        tree = versions.tree(setup.kernel) if any(row.case.program == "walk" for row in rows) else None
        _trees(rows, scratch)
        if setup.lane == "native":
            place = _native_directory(setup.fs)
            script = _script(
                rows, setup, f"{place}/cosy-bench.{os.getpid()}", str(setup.programs), str(tree), str(scratch)
            )
            (scratch / "bench.sh").write_text(script)
            command = ["sh", str(scratch / "bench.sh")]
        else:
            directory = "/mnt/bench" if setup.fs == "ext4" else "/tmp/bench"
            (scratch / "bench.sh").write_text(_script(rows, setup, directory, "/t/guest", "/t/tree", "/t"))
            command = _machine(setup, scratch, tree)
        parts = split.parts(scratch / "marks") if setup.split else None
        _read(rows, command, parts, done)


def tree_make(target: Path, size: str) -> None:
    """Makes a tree of installed files; size: small, large, or a number of files."""
    versions.packages(target, {"small": 300, "large": 30000}.get(size) or int(size))


def _trees(rows: list[Row], scratch: Path) -> None:
    """Makes scratch/tree-SIZE for each size that a row goes over."""
    for size in {str(row.case.parameters["tree"]) for row in rows if row.case.program == "programs"}:
        tree_make(scratch / f"tree-{size}", size)


def _native_directory(fs: str) -> str:
    """Returns a folder of this machine on that kind of file system."""
    for place in ("/dev/shm", "/tmp", os.getcwd()):
        done = subprocess.run(["stat", "-f", "-c", "%T", place], stdout=subprocess.PIPE, text=True)
        if done.stdout.strip().split("/")[0].replace("ext2", "ext4") == fs:
            return place
    raise BenchError(f"no folder on {fs} found on this machine: tried /dev/shm, /tmp and this one")


def _machine(setup: Setup, scratch: Path, tree: Path | None) -> list[str]:
    """Returns the command that runs scratch/bench.sh in a virtual machine."""
    command = [sys.executable, "-B", str(VM), "run", "--kernel", setup.kernel, "--timeout", "5400", "--mem", "1536"]
    command += ["--icount"] if setup.lane == "insn" else ["--smp", "2"]
    if setup.flags == "default":
        command += ["--append", DEFAULT_PARAMETERS]
    if setup.split:
        blocks = ",blocks=1" if setup.functions else ""
        command += ["--qemu", f"-plugin {split.build(scratch)},out={scratch}/marks{blocks}"]
    (scratch / "tools").mkdir()
    for tool in TOOLS:
        (scratch / "tools" / tool).symlink_to(Path("/usr/bin", tool).resolve())
    put = [setup.programs, scratch / "bench.sh", scratch / "tools"]
    if tree:
        (scratch / "tree").symlink_to(tree)
        put.append(scratch / "tree")
    put += sorted(scratch.glob("tree-*"))
    for path in put:
        command += ["--put", str(path)]
    if setup.fs == "ext4":
        (scratch / "disk").mkdir()
        command += ["--disk", str(scratch / "disk")]
    return [*command, "--", "sh", "/t/bench.sh"]


def _read(
    rows: list[Row], command: list[str], parts: Iterator[split.Part] | None, done: Callable[[Row, str], None]
) -> None:
    """Runs a command and gives its output to the rows."""
    release, case, cell = platform.release(), rows[0].case, rows[0].cells[0]
    symbols = functions.Symbols()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, errors="replace") as process:
        assert process.stdout
        for line in process.stdout:
            words = line.split()
            if words[:1] == ["release"]:
                release = words[1]
            elif words[:1] == ["@"]:
                row = rows[int(words[1])]
                case, cell = row.case, row.cells[int(words[2])]
            elif words[:1] == ["result"]:
                small, small_cost, large, large_cost = map(int, words[1:5])
                operations = (large - small) * case.per
                cell.answers.add(words[5])
                if parts:
                    part = split.between(parts)
                    cell.costs.setdefault("user ", []).append(part.user / operations)
                    cell.costs.setdefault("kernel ", []).append(part.kernel / operations)
                    cell.functions.update(functions.named(part.blocks, symbols))
                    cell.operations += operations
                else:
                    cell.costs.setdefault("", []).append((large_cost - small_cost) / operations)
            elif words[:1] == ["compared"]:
                cell.compared = " ".join(words[1:])
            elif words[:1] == ["differs"]:
                offset, got, wanted, *what = words[1:]
                cell.differs = cell.differs or f"byte {offset} of {' '.join(what)} is {got}, not {wanted}"
            elif line.startswith("cosy: stats:"):
                counts = dict(re.findall(r"(\w+)=(\d+)", line))
                cell.not_in_kernel |= counts["native"] != "0" or counts["interp_calls"] != "0"
            elif words[:1] == ["row"]:
                done(rows[int(words[1])], release)
            elif not symbols.line(words):
                sys.stderr.write(line)
    if process.returncode:
        raise BenchError(f"{shlex.join(command[:8])} ...: exit status {process.returncode}")
