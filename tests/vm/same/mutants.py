#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Breaks one guard of the module after the other, and shows which test notices.

    mutants.py --build build [--kernel 6.12] [--jobs 1] [--rounds 20] [NAME...]
    mutants.py --places		only whether each place is in the sources, once

Each mutant (mutant_list.py, mutants_*.py) is a copy of the module's sources with one place changed.  One machine
is booted for it and runs tests until one fails: first the one that the list names, then
those programs of the guest that its folder is about, which leave nothing to chance, and for calls
`same` for --rounds, and `race` for 4 times as many steps.
(`held`, `held_watch` and `held_turn` are tests/vm/holding's.)
Before any mutant, the module as it is has to pass all of these tests.

Exit status 1: the module as it is fails a test, a mutant was noticed by none, or its place is not in the sources.
"""

from __future__ import annotations

import argparse
import collections
import concurrent.futures
import queue
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from mutant import Mutant
from mutant_list import MUTANTS

_HERE = Path(__file__).resolve().parent
_TREE = _HERE.parents[2]
_HOLDING = _HERE.parent / "holding"
_FAILING = _HERE.parent / "failing"
_GUEST = _HERE.parent / "guest"
_PARTS = ("kmod", "core", "include")
# Programs of tests/vm/guest, the quickest first, by where the mutant is; `same` and `race` come after them.
_MOVED = ("move", "move_parcel", "move_port", "move_socket", "move_pin", "move_random", "move_stalled")
_WATCHED = (
    "filter",
    "filter_libc",
    "filter_share",
    "seccomp",
    "fast_resume",
    "handover",
    "scan_tree",
    "scan_tree_change",
)
_RUNS = (
    *("kmod_call", "kmod_leave", "kmod_memory", "kmod_access", "kmod_device", "kmod_front", "kmod_cache"),
    *("hostile_ioctl", "hostile_load", "hostile_state", "hostile_map", "hostile_fd", "hostile_leak", "hostile_quota"),
    *(
        "hostile_memlock",
        "hostile_race",
        "limit_time",
        "limit_raw",
        "limit_region",
        "fork",
        "kill",
        "seccomp",
        "filter",
    ),
)
_CALLS = (
    "fast_write",
    "view",
    "view_edges",
    "view_lend",
    "view_watched",
    "fast_read",
    "fast_path",
    "fast_missing",
    "fast_stat",
    "fast_statx",
    "fast_list",
    "fast_next",
    "fast_below",
    "fast_scan",
    "fast_watched",
    "scan_tree",
    "scan_tree_change",
    "fast_resume",
    "fast_ahead",
    "fast_marked",
    "fast_passed",
    "fast_shapes",
    "files",
    "deny",
)
_RANDOM = ("same", "race")
# Of metadata windows, which need the module's parameter.
_METADATA = ("watch_guard", "watch_calls", "watch_attack", "watch_threads", "watch_mounts", "watch_race")
# Tests that leave nothing that another one could use: a file system that has failed, a module that
# was loaded again; and ones on processors of their own, of which QEMU has these models.
_PROCESSORS = {"processor-MDS": "Skylake-Server", "processor-Retbleed": "EPYC", "processor-TSA": "EPYC-Milan"}
_ALONE = ("fast_failed", "types", *_PROCESSORS)
# Modules of the kernel for kinds of files and sockets, as in tests/vm/guest/CMakeLists.txt.
_KINDS = ("descriptors", "messages")
_KINDS_MODULES = (
    *("fuse", "tls", "gcm", "ctr", "sctp", "tipc"),
    *("algif_aead", "algif_hash", "algif_rng", "algif_skcipher"),
)
_STALL = 120  # seconds
_FEATURES = "^metadata_csum"  # of ext4: EXT4_IOC_SETVERSION is refused where inodes have checksums
_LAST_LINES = 200  # that are shown of a machine in which the module as it is failed


def _alone(mutant: Mutant) -> str:
    """Returns the test that has a machine to itself, or nothing."""
    return mutant.by if mutant.by in _ALONE else ""


def _tests_of(mutant: Mutant) -> list[str]:
    """Returns all tests that may notice, in the order in which they are asked."""
    if mutant.by in _ALONE:
        return [mutant.by]
    if mutant.file.startswith("kmod/move/"):
        tests = _MOVED
    elif mutant.file.startswith("kmod/watch/"):
        tests = _METADATA
    elif mutant.file == "kmod/run/filter.c":
        tests = _WATCHED
    elif not mutant.file.startswith(("kmod/fast/", "kmod/view/")):
        tests = _RUNS
    else:
        tests = _CALLS + (_RANDOM[::-1] if mutant.raced else _RANDOM)
    return [mutant.by] * bool(mutant.by) + [test for test in tests if test != mutant.by]


def _misplaced(mutant: Mutant) -> str:
    """Returns why the mutant cannot be made from today's sources, or nothing."""
    path = _TREE / mutant.file
    if not path.is_file():
        return f"there is no {mutant.file}"
    count = path.read_text().count(mutant.old)
    return "" if count == 1 else f"{mutant.file} has the place to change {count} times"


def _stage(mutant: Mutant, tree: Path) -> None:
    """Makes `tree` the mutant's."""
    for part in _PARTS:
        shutil.rmtree(tree / part, ignore_errors=True)
        shutil.copytree(_TREE / part, tree / part)
    path = tree / mutant.file
    path.write_text(path.read_text().replace(mutant.old, mutant.new))


@dataclass
class Result:
    """How the tests went on one module."""

    test: str  # the one that failed; empty: none
    why: str
    seconds: float
    output: str

    @property
    def unusable(self) -> bool:
        """There was no machine, so nothing was tested."""
        return bool(self.why) and not self.test


def _why(lines: list[str]) -> str:
    """Returns the line of a test's output that says why it failed."""
    for start in ("vm:", "FAIL", "plain:"):
        for line in lines:
            if line.startswith(start):
                return line[:110]
    return lines[-1][:110] if lines else "no output"


def _ask(options: argparse.Namespace, tree: Path, block: int, tests: list[str]) -> Result:
    """Boots the module of `tree`, and runs the tests until one fails: on ext4 of such blocks, or tmpfs where 0."""
    start = time.monotonic()
    limit = 600 + 10 * options.rounds + 30 * len(tests)
    arguments = [sys.executable, _HERE.parent / "vm.py", "run", "--kernel", options.kernel, "--smp", "2"]
    arguments += ["--tree", tree, "--timeout", str(limit), "--append=cosy.max_missed=0"]
    arguments += ["--boot"]  # no other machine has this module
    # A warning is a report already: what comes after it may hang.  A machine that stalls for minutes has hung:
    # one that shares its processors stalls for less.
    arguments += ["--append=panic_on_warn=1 sysctl.kernel.panic_on_rcu_stall=1"]
    arguments += [f"--append=rcupdate.rcu_cpu_stall_timeout={_STALL} watchdog_thresh={_STALL // 2}"]
    # Without it a region stays native until it has earned its place: then each test fails, mutant or not.
    rounds, steps = f"SAME_ROUNDS={options.rounds}", f"RACE_STEPS={4 * options.rounds}"
    for setting in ("COSY_TIER=always", rounds, steps, "SAME_SEED=1"):
        arguments += ["--env", setting]
    programs = options.build / "tests/vm"
    put = [programs / "same/same", programs / "same/race", programs / "guest/guest", _HERE / "mutants.sh"]
    if set(tests) & set(_METADATA):
        arguments += ["--append=cosy.metadata=1", "--load", "overlay"]
        put += [programs / "guest" / name for name in _METADATA]
    if {"held", "held_watch", "held_turn"} & set(tests):
        arguments += ["--module", _HOLDING]
        put += [programs / "holding" / name for name in ("held", "held_view", "held_watch", "held_turn")]
        put += [_HOLDING / "holding.sh"]
    if "types" in tests:
        arguments += ["--module", _FAILING]
        put += [programs / "failing/step", _FAILING / "failing.sh"]
    if tests[0] in _PROCESSORS:
        arguments += ["--cpu", _PROCESSORS[tests[0]]]
        put += [
            options.build / "bin/cosy",
            options.build / "command/cosy-inspect",
            _GUEST / "processor.sh",
            _GUEST / "suite.sh",
        ]
    if set(tests) & set(_KINDS):
        arguments += ["--env", "CHECK_KINDS=all"]
        ghash = ("ghash-generic",) if options.kernel in ("6.1", "6.12") else ()
        for module in (*_KINDS_MODULES, *ghash):
            arguments += ["--load", module]
    for path in put:
        arguments += ["--put", path]
    with tempfile.TemporaryDirectory() as empty:
        arguments += ["--disk", empty, "--disk-block", str(block), "--disk-features", _FEATURES] if block else []
        command = ["sh", "/t/mutants.sh", "disk" if block else "tmpfs", *tests]
        ended = subprocess.run([*arguments, "--", *command], text=True, errors="replace", capture_output=True)
    output = ended.stdout + ended.stderr
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    at = next((line[3:] for line in reversed(lines) if line.startswith("at ")), "")
    why = _why(lines) if ended.returncode else ""
    return Result(at if why else "", why, time.monotonic() - start, output)


class Run:
    """All mutants of one run: who noticed, and how far it is."""

    def __init__(self, options: argparse.Namespace, wanted: list[Mutant]) -> None:
        self._options = options
        self._wanted = wanted
        # One tree each for those that run beside each other, kept, so that only what changes is compiled.
        self._trees: queue.SimpleQueue[Path] = queue.SimpleQueue()
        for job in range(options.jobs):
            self._trees.put(options.build / f"mutants/{options.kernel}-{options.lane}{job}")
        self._results: dict[str, Result] = {}

    def _try(self, mutant: Mutant, tests: list[str]) -> Result:
        tree = self._trees.get()
        try:
            _stage(mutant, tree)
            result = _ask(self._options, tree, mutant.block, tests)
        finally:
            self._trees.put(tree)
        if self._options.verbose:
            print(result.output, flush=True)
        return result

    def control(self) -> bool:
        """Runs the tests on the module as it is: a test that fails there says nothing of a mutant."""
        sound = True
        for block, alone in sorted({(mutant.block, _alone(mutant)) for mutant in self._wanted}):
            same_machine = [mutant for mutant in self._wanted if (mutant.block, _alone(mutant)) == (block, alone)]
            tests = {test: None for mutant in same_machine for test in _tests_of(mutant)}
            ordered = sorted(tests, key=lambda test: test in _RANDOM)
            result = self._try(Mutant("unchanged", "kmod/main.c", "", "", disk=block > 0, disk_block=block), ordered)
            said = f"fails {result.test or 'to run'}: {result.why}" if result.why else f"passes {len(ordered)} tests"
            where = (f"ext4 of {block} bytes a block" if block else "tmpfs") + (f", {alone}" if alone else "")
            print(f"the module as it is, on {where}: {said} ({result.seconds:.0f} s)", flush=True)
            if result.why:
                # It cannot be had again where it came by chance.
                print("\n".join(result.output.splitlines()[-_LAST_LINES:]), flush=True)
            sound = sound and not result.why
        return sound

    def _verdict(self, mutant: Mutant) -> str:
        result = self._results[mutant.name]
        if result.unusable:
            return "NOT RUN"
        if result.test:
            return result.test
        return "harmless" if mutant.harmless else "out of reach" if mutant.out_of_reach else "NOT NOTICED"

    def mutants(self) -> None:
        """Tries each mutant, and says so as each ends."""
        # Mutants of one file follow each other: what they have in common is compiled once.
        ordered = sorted(self._wanted, key=lambda mutant: mutant.file)
        with concurrent.futures.ThreadPoolExecutor(self._options.jobs) as pool:
            futures = {pool.submit(self._try, mutant, _tests_of(mutant)): mutant for mutant in ordered}
            for done in concurrent.futures.as_completed(futures):
                mutant, result = futures[done], done.result()
                self._results[mutant.name] = result
                said = self._verdict(mutant)
                print(
                    f"[{len(self._results):3}/{len(ordered)}] {mutant.name}: {said} ({result.seconds:.0f} s)"
                    f" {result.why or mutant.harmless or mutant.out_of_reach}",
                    flush=True,
                )

    def summary(self) -> int:
        """Prints a table of all mutants.  Returns how many were noticed by no test."""
        kinds: collections.Counter[str] = collections.Counter()
        missed = 0
        print(f"\n{'mutant':20} {'file':28} {'noticed by':14} why")
        for mutant in self._wanted:
            result, verdict = self._results[mutant.name], self._verdict(mutant)
            why = result.why or mutant.harmless or mutant.out_of_reach
            changed = f" (the list says {mutant.by})" if mutant.by and mutant.by != verdict else ""
            print(f"{mutant.name:20} {mutant.file:28} {verdict:14} {why}{changed}")
            missed += verdict.startswith("NOT ")
            kinds["guest" if result.test and result.test not in _RANDOM else verdict] += 1
        print(
            f"\n{len(self._wanted)} mutants: {kinds['guest']} noticed by programs of tests/vm/guest, "
            f"{kinds['same']} by same, {kinds['race']} by race; {kinds['harmless']} harmless, "
            f"{kinds['out of reach']} out of reach, "
            f"{kinds['NOT NOTICED']} not noticed, {kinds['NOT RUN']} not run"
        )
        return missed


def _check_places(wanted: list[Mutant]) -> bool:
    reasons = {mutant.name: why for mutant in wanted if (why := _misplaced(mutant))}
    names = [mutant.name for mutant in wanted]
    reasons |= {name: "another one has this name" for name in names if names.count(name) > 1}
    for name, why in reasons.items():
        print(f"{name}: {why}")
    print(f"{len(wanted) - len(reasons)} of {len(wanted)} in place")
    return not reasons


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, help="where user space is built")
    parser.add_argument("--places", action="store_true", help="only look whether each place is in the sources, once")
    parser.add_argument("--kernel", default="6.12")
    parser.add_argument("--rounds", type=int, default=16, help="of `same`; a quarter of the steps of `race`")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="machines at once, of two processors each")
    parser.add_argument("--lane", default="", help="names this run's trees, where others run beside it")
    parser.add_argument("--no-control", action="store_true", help="without the module as it is, which passed just now")
    parser.add_argument("--verbose", action="store_true", help="show what the tests say")
    parser.add_argument("names", nargs="*", metavar="NAME")
    options = parser.parse_args()
    unknown = set(options.names) - {mutant.name for mutant in MUTANTS}
    if unknown:
        parser.error(f"no such mutant: {' '.join(sorted(unknown))}")
    wanted = [mutant for mutant in MUTANTS if not options.names or mutant.name in options.names]
    if not _check_places(wanted):
        return 1
    if options.places:
        return 0
    if not options.build:
        parser.error("--build is needed to run the tests")
    options.build = options.build.resolve()
    run = Run(options, wanted)
    if not options.no_control and not run.control():
        return 1
    run.mutants()
    return 1 if run.summary() else 0


if __name__ == "__main__":
    sys.exit(main())
