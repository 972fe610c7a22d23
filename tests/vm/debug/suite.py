#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the tests that need cosy.ko in a kernel that watches over itself.

    suite.py --build build [--sanitizer kasan] [--planted] [NAME...]

They are those of ctest's list, a machine each (listed.py); sequences of the module's fuzzer; and
kmemleak in machines of its own, whose programs are those of what lives long.
Each machine gets a line: passed or not, and how long it took; its kernel's log is kept in the build,
tests/vm/debug/SANITIZER/NAME.log.  Passed means that its programs passed
and that the kernel's log has no report (klog.py).  Of KCSAN's reports those count in which a function
of cosy.ko is one of the two that race.
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
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import listed

_VM = Path(__file__).resolve().parents[1]
_TREE = _VM.parents[1]
_GUEST = "tests/vm/guest/guest"
_SKIPPED = 77
_LIMIT = 7200  # seconds for a machine
_PLANTED_LIMIT = 1200  # for one with a bug, which may hang behind its report
# Machines that are run before the others.
_FIRST = ("failing", "holding", "guest")
# Programs that make contexts, programs, buffers, kept code, views, parcels and ports, and end in any way.
# Under kmemleak scan_tree_change takes more than ten minutes, of one without.
_LASTING = [
    *("kmod_device", "kmod_front", "kmod_cache", "fork", "many", "hostile_fd", "hostile_quota", "hostile_race"),
    *("fast_list", "fast_below", "fast_missing", "fast_next", "fast_path", "view", "move_parcel", "move_port"),
    *("hostile_port", "unload"),
]
# Of guest programs: under which sanitizer one is left out, and the cause as far as it is known.
_LEFT_OUT = {
    "kasan": {"account": "17 MB more stay in use; presumably KASAN's quarantine, which was not tested"},
    "kcsan": {},
}


@dataclass(frozen=True)
class Machine:
    """One boot: what it is called, and what vm.py or the fuzzer is told."""

    name: str
    options: list[str]


def _programs(build: Path, names: list[str]) -> Machine:
    """Returns a machine with these guest programs."""
    put = [word for path in (build / _GUEST, _VM / "guest/suite.sh") for word in ("--put", str(path))]
    return Machine("programs", ["--smp", "2", *put, "--", "sh", "/t/suite.sh", "/t/guest", *names])


def _leaks(name: str, machine: Machine) -> Machine:
    """Returns the machine, in which kmemleak looks for what its programs have left."""
    inside = machine.options.index("--")
    options = [*machine.options[:inside], "--put", str(_VM / "debug/leaks.sh"), "--append=kmemleak=on"]
    return Machine(name, [*options, "--", "sh", "/t/leaks.sh", *machine.options[inside + 1 :]])


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


def _machines(build: Path, sanitizer: str, machines: dict[str, list[str]]) -> list[Machine]:
    found = [Machine(name, options) for name, options in machines.items()]
    found.sort(key=lambda machine: machine.name not in _FIRST)
    found.append(Machine("fuzz", []))
    if sanitizer == "kasan":
        found.append(_leaks("leaks", _programs(build, _LASTING)))
        # Watchers live as long as their processes, their slots as long as the watchers.
        found += [_leaks(f"leaks-{machine.name}", machine) for machine in found if machine.name == "watch"]
    return found


class Runner:
    """Boots machines of one kernel."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._options = options
        self._kernel = f"{options.kernel}-{options.sanitizer}"

    def _vm(self, machine: Machine, tree: Path, limit: int) -> list[str]:
        inside = machine.options.index("--")
        options, command = machine.options[:inside], machine.options[inside:]
        left_out = "\\|".join(_LEFT_OUT[self._options.sanitizer])
        # What is said last counts.  It is all slower there, and has less memory to itself.
        options += ["--timeout", str(limit), "--mem", "1536", "--tree", str(tree), "--env", "LIMIT=1800"]
        options += ["--append=cosy.max_missed=0", "--env", "COSY_TIER=always", "--env", f"LEFT_OUT={left_out}"]
        options += ["--env", f"SAME_ROUNDS={self._options.rounds}", "--env", f"RACE_STEPS={4 * self._options.rounds}"]
        options += ["--env", f"WATCH_ROUNDS={2 * self._options.rounds}"]
        logs = self._options.build / f"tests/vm/debug/{self._options.sanitizer}"
        logs.mkdir(parents=True, exist_ok=True)
        options += ["--log", str(logs / f"{machine.name}.log")]
        return [str(_VM / "vm.py"), "run", "--kernel", self._kernel, *options, *command]

    def _fuzz(self, tree: Path) -> list[str]:
        options = ["--build", str(self._options.build), "--kernel", self._kernel, "--tree", str(tree)]
        options += ["--corpus", str(_TREE / "tests/fuzz/corpus/module.txt"), "--seed", "10", "--sequences", "300"]
        return [str(_VM / "fuzz/fuzz.py"), *options]

    def run(self, machine: Machine, tree: Path, limit: int = _LIMIT) -> tuple[bool, str]:
        """Whether all was well within `limit` seconds, and what was said."""
        command = self._vm(machine, tree, limit) if machine.options else self._fuzz(tree)
        ended = subprocess.run(
            [sys.executable, "-B", *command],
            text=True,
            errors="replace",
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        return ended.returncode in (0, _SKIPPED), ended.stdout


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


def _is_noticed(bug: Planted, runner: Runner, build: Path) -> tuple[bool, str]:
    machine = _programs(build, bug.programs)
    if bug.leaks:
        machine = _leaks("leaks", machine)
    with tempfile.TemporaryDirectory(prefix="cosy-planted-") as name:
        _plant(bug, Path(name))
        said = runner.run(machine, Path(name), _PLANTED_LIMIT)[1]
    return bug.report in said, f"no report says {bug.report}:\n{said}"


def _failed(jobs: Sequence[Machine | Planted], options: argparse.Namespace) -> int:
    """Runs machines, or looks for planted bugs.  Returns how many failed, or were not reported."""
    runner = Runner(options)
    failed = 0
    for job in jobs:
        start = time.monotonic()
        if isinstance(job, Planted):
            failed += not _tell(f"planted: {job.name}", *_is_noticed(job, runner, options.build), start)
        elif job.name in listed.LEFT_OUT:
            print(f"skipped {job.name}: {listed.LEFT_OUT[job.name]}", flush=True)
        else:
            failed += not _tell(job.name, *runner.run(job, _TREE), start)
    return failed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, required=True, help="where user space is built")
    parser.add_argument("--kernel", default="6.12", metavar="SERIES")
    parser.add_argument("--sanitizer", default="kasan", choices=("kasan", "kcsan"))
    parser.add_argument(
        "--rounds", type=int, default=16, help="of `same`, a quarter of the steps of `race`, half of watch.sh's"
    )
    parser.add_argument("--planted", action="store_true", help="only whether planted bugs are reported")
    parser.add_argument("names", nargs="*", metavar="NAME", help="of machines, or planted bugs; otherwise all")
    options = parser.parse_args()
    options.build = options.build.resolve()
    jobs: Sequence[Machine | Planted]
    if options.planted:
        jobs = [bug for bug in PLANTED if bug.sanitizer == options.sanitizer]
    else:
        machines, without = listed.machines(options.build, "6.12")
        jobs = _machines(options.build, options.sanitizer, machines)
        for name, reason in without.items() if not options.names else ():
            print(f"skipped test {name}: {reason}", flush=True)
    unknown = set(options.names) - {job.name for job in jobs}
    if unknown:
        parser.error(f"no {', '.join(sorted(unknown))}; there are: {', '.join(job.name for job in jobs)}")
    for name, reason in _LEFT_OUT[options.sanitizer].items():
        print(f"skipped program {name}: {reason}", flush=True)
    return 1 if _failed([job for job in jobs if not options.names or job.name in options.names], options) else 0


if __name__ == "__main__":
    sys.exit(main())
