#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs what there is of guest programs in a kernel that watches over itself.

    suite.py --build build [--sanitizer kasan] [--planted] [NAME...]

Each machine gets a line: passed or not, and how long it took.  Passed means that its programs passed
and that the kernel's log has no report (klog.py).  Of KCSAN's reports those count in which a function
of cosy.ko is one of the two that race.
kmemleak is on in one machine only, whose programs are those of what lives long.
--planted builds modules with a bug in place of it, each of which a report has to show: without them
no reports would say nothing.  Exit status 1: something failed.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

_VM = Path(__file__).resolve().parents[1]
_TREE = _VM.parents[1]
# Parameters: kmemleak takes half of the time; KCSAN looks at one access of 4000 unless told.
# pci=noacpi: ACPI's interpreter takes up to half a minute for the table of interrupts there, and gives
# up after that; the disk has none then, and the guest waits for it for good.
_APPEND = {"kasan": "kmemleak=off kasan_multi_shot pci=noacpi", "kcsan": "kcsan.skip_watch=200 pci=noacpi"}
_APPEND_LEAKS = "kasan_multi_shot pci=noacpi"
# Programs that make contexts, programs, buffers, kept code, views, parcels and ports, and end in any way.
# Under kmemleak scan_tree_change takes more than ten minutes, of one without.
_LASTING = [
    *("kmod_device", "kmod_front", "kmod_cache", "fork", "many", "hostile_fd", "hostile_quota", "hostile_race"),
    *("fast_list", "fast_missing", "fast_next", "fast_path", "view", "move_parcel", "move_port"),
    *("hostile_port", "unload"),
]
# Programs that fail here: under which sanitizers, how, and the cause as far as it is known.
_LEFT_OUT = {
    "account": (("kasan",), "17 MB more stay in use; presumably KASAN's quarantine, which was not tested"),
}
_LAST = "unload"


@dataclass(frozen=True)
class Machine:
    """One boot and what runs in it."""

    name: str
    command: list[str]
    put: list[str]  # below the build
    files: list[str] = field(default_factory=list)  # below tests/vm
    options: list[str] = field(default_factory=list)
    disk: bool = False
    append: str = ""  # parameters, other than the sanitizer's


def _leaks(programs: list[str]) -> Machine:
    """Returns a machine in which kmemleak looks for what these programs have left."""
    command = ["sh", "/t/leaks.sh", "/t/guest", *programs]
    files = ["guest/suite.sh", "debug/leaks.sh"]
    return Machine("leaks", command, ["tests/vm/guest/guest"], files, ["--env", "LIMIT=600"], append=_APPEND_LEAKS)


@dataclass(frozen=True)
class Planted:
    """A bug in one place, the programs that come by, and what the report says."""

    name: str
    sanitizer: str
    file: str
    old: str
    new: str
    programs: list[str]
    report: str
    leaks: bool = False  # kmemleak reports it


PLANTED = [
    Planted(
        "used after it was freed",
        "kasan",
        "kmod/context.c",
        "\tkfree(context->spare_views);\n",
        "\tkfree(context);\n",
        ["kmod_device"],
        "BUG: KASAN: slab-use-after-free",
    ),
    Planted(
        "sleeps under a spinlock",
        "kasan",
        "kmod/load/program.c",
        "\txa_lock(&context->programs);\n\terror = ",
        "\txa_lock(&context->programs);\n\tmight_sleep();\n\terror = ",
        ["kmod_device"],
        "BUG: sleeping function called from invalid context",
    ),
    Planted(
        "a lock is kept",
        "kasan",
        "kmod/load/buffer.c",
        "\tmutex_unlock(&buffer->growing);\n",
        "",
        ["kmod_front"],
        "WARNING: lock held when returning to user space",
    ),
    Planted(
        "memory is lost",
        "kasan",
        "kmod/load/buffer.c",
        "\tkvfree(buffer->pages);\n",
        "",
        ["kmod_device"],
        "new suspected memory leaks",
        leaks=True,
    ),
    Planted(
        "a counter of all threads without atomic",
        "kcsan",
        "kmod/stats.h",
        "\tatomic64_add(amount, &context->count[counter]);\n",
        "\tcontext->count[counter].counter += amount;\n",
        ["many", "hostile_race"],
        "BUG: KCSAN: data-race",
    ),
]


def _left_out(sanitizer: str) -> dict[str, str]:
    return {name: reason for name, (where, reason) in _LEFT_OUT.items() if sanitizer in where}


def _machines(build: Path, sanitizer: str, seconds: int) -> list[Machine]:
    programs = sorted(path.name for path in (build / "tests/vm/guest/guest").iterdir())
    programs = [name for name in programs if name not in ("trace_target", _LAST)] + [_LAST]
    programs = [name for name in programs if name not in _left_out(sanitizer)]
    same = ["tests/vm/same/same", "tests/vm/same/race"]
    limits = ["--env", f"SAME_SECONDS={seconds}", "--env", "SAME_SEED=1"]

    def random(name: str, mount: str, disk: bool) -> Machine:
        options = ["--env", f"SAME_PROGRAM={name}", *limits]
        command = ["sh", "/t/guest.sh", mount, *(["strictatime"] if name == "same" else [])]
        return Machine(f"{name} on {mount}", command, same, ["same/guest.sh"], options, disk)

    return [
        Machine(
            "failing",
            ["sh", "/t/failing.sh"],
            ["tests/vm/failing/step"],
            ["failing/failing.sh"],
            ["--module", str(_VM / "failing")],
        ),
        Machine(
            "holding",
            ["sh", "/t/holding.sh"],
            ["tests/vm/holding/held"],
            ["holding/holding.sh"],
            ["--module", str(_VM / "holding")],
        ),
        Machine(
            "guest",
            ["sh", "/t/suite.sh", "/t/guest", *programs],
            ["tests/vm/guest/guest"],
            ["guest/suite.sh"],
            ["--env", "LIMIT=1800"],
        ),
        random("race", "tmpfs", False),
        random("same", "tmpfs", False),
        random("race", "disk", True),
        random("same", "disk", True),
        *([_leaks(_LASTING)] if sanitizer == "kasan" else []),
    ]


class Runner:
    """Boots machines of one kernel."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._options = options

    def run(self, machine: Machine, tree: Path) -> tuple[bool, str]:
        """Whether all was well, and what was said."""
        options = self._options
        with tempfile.TemporaryDirectory() as empty:
            arguments = [sys.executable, str(_VM / "vm.py"), "run", "--kernel", f"{options.kernel}-{options.sanitizer}"]
            arguments += ["--smp", "2", "--mem", "1536", "--tree", str(tree), "--timeout", "3600"]
            arguments += ["--append", machine.append or _APPEND[options.sanitizer], "--append=cosy.max_missed=0"]
            arguments += ["--env", "COSY_TIER=always", *machine.options]
            arguments += ["--disk", empty] if machine.disk else []
            for path in [options.build / name for name in machine.put] + [_VM / name for name in machine.files]:
                arguments += ["--put", str(path)]
            ended = subprocess.run(
                [*arguments, "--", *machine.command],
                text=True,
                errors="replace",
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
            )
        return ended.returncode == 0, ended.stdout


def _tell(name: str, good: bool, said: str, start: float) -> bool:
    print(f"{'ok     ' if good else 'FAILED '} {name} ({time.monotonic() - start:.0f} s)", flush=True)
    if not good:
        lines = [line for line in said.splitlines() if not line.startswith("ok ")]
        print("\n".join(f"\t{line}" for line in lines[-100:]), flush=True)
    return good


def _plant(bug: Planted, tree: Path) -> None:
    for part in ("kmod", "core", "include"):
        shutil.copytree(_TREE / part, tree / part)
    path = tree / bug.file
    text = path.read_text()
    if text.count(bug.old) != 1:
        raise SystemExit(f"{bug.name}: {bug.file} has the place to change {text.count(bug.old)} times")
    path.write_text(text.replace(bug.old, bug.new))


def _is_noticed(bug: Planted, runner: Runner) -> tuple[bool, str]:
    command = ["sh", "/t/suite.sh", "/t/guest", *bug.programs]
    machine = Machine(bug.name, command, ["tests/vm/guest/guest"], ["guest/suite.sh"])
    machine = _leaks(bug.programs) if bug.leaks else machine
    with tempfile.TemporaryDirectory(prefix="cosy-planted-") as name:
        _plant(bug, Path(name))
        said = runner.run(machine, Path(name))[1]
    return bug.report in said, f"no report says {bug.report}:\n{said}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, required=True, help="where user space is built")
    parser.add_argument("--kernel", default="6.12", metavar="SERIES")
    parser.add_argument("--sanitizer", default="kasan", choices=("kasan", "kcsan"))
    parser.add_argument("--seconds", type=int, default=60, help="for each machine of random programs")
    parser.add_argument("--planted", action="store_true", help="only whether planted bugs are reported")
    parser.add_argument("names", nargs="*", metavar="NAME", help="of machines, or planted bugs; otherwise all")
    options = parser.parse_args()
    runner = Runner(options)
    failed = 0
    for bug in PLANTED if options.planted else []:
        if bug.sanitizer == options.sanitizer and (not options.names or bug.name in options.names):
            start = time.monotonic()
            failed += not _tell(f"planted: {bug.name}", *_is_noticed(bug, runner), start)
    for machine in [] if options.planted else _machines(options.build, options.sanitizer, options.seconds):
        if not options.names or machine.name in options.names:
            start = time.monotonic()
            for name, reason in _left_out(options.sanitizer).items() if machine.name == "guest" else ():
                print(f"skipped {name}: {reason}", flush=True)
            failed += not _tell(machine.name, *runner.run(machine, _TREE), start)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
