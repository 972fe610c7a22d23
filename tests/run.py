#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Chooses tests, runs them by ctest, and reports what was skipped.

    run.py quick --build build	a fixed core, and the tests of the folders that changed
    run.py test --build build	all, except those labelled nightly or quick; `make test`
    run.py nightly --build build	all, under each kernel, with more steps

quick and test run what does not depend on the kernel (label any-kernel) under one kernel, which the
commit's hash chooses, and what is labelled own-folder only if its folder changed. quick leaves out what is
labelled long. COSY_SCALE is set to the first word: random
tests make more or fewer steps by it. COSY_TURN is a number by the commit's hash: it chooses the share of
long lists that this commit tests (tests/vm/scale.py).

A skip that tests/expected_skips.txt does not list is a failure. Exit status 1: something failed.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

TREE = Path(__file__).resolve().parents[1]
EXPECTED = TREE / "tests/expected_skips.txt"
SKIPPED = "SKIP_RETURN_CODE"

QUICK = 300  # seconds of a processor for `make quick`: two idle ones take less than three minutes
GUESS = 3  # seconds that a test takes that has not run yet

# What `make quick` runs in any case, by name or label.
CORE = (
    r"core/|lib/|profile/|command/|compiler-lit|constructs-O2|vm-constructs-|vm-harness-unit"
    r"|tests-choice|mutants-places|names$"
)
CORE_LABELS = {"check", "quick"}
# Tests of a folder, by the beginnings of their names; the longest path that fits counts.
FOLDERS = {
    "bench": r"bench-|vm-bench-",
    "command": r"vm-command-|install",
    "common": r"run/|cosyd/|vm-command-|install",
    "compiler": r"constructs-(O0|leave)|install",
    "cosyd": r"cosyd/|vm-cosyd-",
    "core": r"fuzz/|vm-random-|vm-fuzz-corpus",
    "docs": r"documents-",
    "examples": r"examples|documents-",
    "include": r"install|vm-lib-|vm-guest-(user-)?[67]",
    "kmod": r"vm-(module|guest|branches|extable|holding|lib|deny|processor)-",
    "kmod/watch": r"vm-(module|watch|holding|oracle)-",
    "lib": r"vm-lib-|fuzz/interp|install",
    "debian": r"packages-files",
    "packaging": r"install|packages-files",
    "run": r"run/|vm-run-|cosyd/|vm-cosyd-",
    "profile": r"fuzz/fold|vm-profile-",
    "rust": r"rust/",
    "tests/constructs": r"constructs-",
    "tests/fuzz": r"fuzz/|vm-random-",
    "tests/install": r"install",
    "tests/packages": r"packages-files",
    "tests/vm": r"vm-harness-|vm-lib-|vm-command-",
    "tests/vm/failing": r"vm-failing-",
    "tests/vm/fuzz": r"vm-fuzz-corpus",
    "tests/vm/guest": r"vm-guest-|vm-deny-|vm-processor-|guest-cancel",
    "tests/vm/holding": r"vm-holding-",
    "tests/vm/oracle": r"vm-oracle-",
    "tests/vm/same": r"vm-same-tmpfs|vm-race-tmpfs",
    "tools": r"install",
}


@dataclass
class Test:
    """A test of ctest's list."""

    number: int  # as ctest -I has it
    name: str
    labels: set[str] = field(default_factory=set)

    @property
    def kernel(self) -> str:
        """Returns the series that its name ends with, or ""."""
        found = re.search(r"-(\d+\.\d+)$", self.name)
        return found[1] if found else ""


def listed(build: Path) -> list[Test]:
    """Returns all tests."""
    command = ["ctest", "--test-dir", str(build), "--show-only=json-v1"]
    tests = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)["tests"]
    return [
        Test(number, test["name"], {label for p in test["properties"] if p["name"] == "LABELS" for label in p["value"]})
        for number, test in enumerate(tests, 1)
    ]


def _git(*words: str) -> str:
    """Returns what git says, or nothing outside of a repository."""
    try:
        done = subprocess.run(["git", "-C", str(TREE), *words], capture_output=True, text=True)
    except FileNotFoundError:
        return ""
    return done.stdout if done.returncode == 0 else ""


def turn(commit: str) -> int:
    """Returns a number by the commit's hash: what takes turns goes by it."""
    return int(commit[:8] or "0", 16)


def chosen_kernel(tests: list[Test], commit: str) -> str:
    """Returns the kernel for what does not depend on it."""
    kernels = sorted({test.kernel for test in tests if "any-kernel" in test.labels})
    return kernels[turn(commit) % len(kernels)] if kernels else ""


def changed_files() -> list[str]:
    """Returns the files that differ from what is on main, or else from the commit before, and those not committed."""
    head = _git("rev-parse", "HEAD").strip()
    base = _git("merge-base", "HEAD", "origin/main").strip()
    if not base or base == head:
        base = _git("rev-parse", "HEAD~1").strip()
    changed = _git("diff", "--name-only", base).splitlines() if base else []
    return sorted({*changed, *_git("ls-files", "--others", "--exclude-standard").splitlines()})


def changed_folders(files: list[str]) -> list[str]:
    """Returns which of FOLDERS files are in."""
    found = set()
    for file in files:
        fitting = [folder for folder in FOLDERS if file.startswith(f"{folder}/")]
        if fitting:
            found.add(max(fitting, key=len))
    return sorted(found)


def costs(build: Path) -> dict[str, float]:
    """Returns how many seconds tests took before, as ctest keeps it."""
    kept = build / "Testing/Temporary/CTestCostData.txt"
    rows = (line.split() for line in kept.read_text().splitlines()) if kept.exists() else ()
    return {row[0]: float(row[2]) for row in rows if len(row) == 3}


def within(tests: list[Test], cost: dict[str, float], seconds: float) -> list[Test]:
    """Returns as many of the tests as fit into a time, the quickest first."""
    chosen = []
    for test in sorted(tests, key=lambda test: cost.get(test.name, GUESS)):
        seconds -= cost.get(test.name, GUESS)
        if seconds >= 0:
            chosen.append(test)
    return chosen


def _is_of(test: Test, folders: list[str]) -> bool:
    """Returns whether a test is one of these folders'."""
    return any(re.match(FOLDERS[folder], test.name) for folder in folders)


def choose(tests: list[Test], scale: str, kernel: str, folders: list[str], cost: dict[str, float]) -> list[Test]:
    """Returns the tests that are run."""
    if scale == "nightly":
        return [test for test in tests if "quick" not in test.labels]
    left = [test for test in tests if "nightly" not in test.labels]
    left = [test for test in left if "any-kernel" not in test.labels or test.kernel == kernel]
    left = [test for test in left if "own-folder" not in test.labels or _is_of(test, folders)]
    if scale == "test":
        return [test for test in left if "quick" not in test.labels]
    # Of each machine one kernel is enough for a first answer.
    left = [test for test in left if test.kernel in ("", kernel) and "long" not in test.labels]
    core = [test for test in left if test.labels & CORE_LABELS or re.match(CORE, test.name)]
    changed = [test for test in left if test not in core and _is_of(test, folders)]
    return core + within(changed, cost, QUICK - sum(cost.get(test.name, GUESS) for test in core))


@dataclass(frozen=True)
class Skip:
    """A test, or a part of one (TEST/PART), that was skipped, and why."""

    name: str
    reason: str


def skips(test: str, skipped: bool, output: str) -> Iterator[Skip]:
    """Finds what was skipped in a test's output: all of it, programs of suite.sh, tests of Python's unittest."""
    parts = list(re.finditer(r"^skipped (\S+?): (?:SKIP: )?(.*)$", output, re.M))
    parts += re.finditer(r"^(\w+) .*\.\.\. skipped ['\"](.*)['\"]$", output, re.M)
    yield from (Skip(f"{test}/{part[1]}", part[2].strip()) for part in parts)
    if skipped and not parts:
        said = [line for line in output.splitlines() if line.strip()]
        reasons = [line for line in said if "skip" in line.lower()] or said or ["it does not say why"]
        yield Skip(test, re.sub(r"^SKIP: *", "", reasons[-1]).strip())


def found_skips(results: Path) -> list[Skip]:
    """Reads ctest's results."""
    found: list[Skip] = []
    for case in ElementTree.parse(results).getroot().iter("testcase"):
        message = (skipped := case.find("skipped")) is not None and SKIPPED in skipped.get("message", "")
        found += skips(case.get("name", ""), message, case.findtext("system-out") or "")
    return found


def expected(text: str, system: str) -> list[tuple[str, str]]:
    """Reads the list of expected skips.  Returns the patterns of names and the beginnings of reasons."""
    rows = [line.split(None, 2) for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return [(name, reason) for where, name, reason in rows if fnmatch.fnmatchcase(system, where)]


def is_expected(skip: Skip, known: list[tuple[str, str]]) -> bool:
    return any(fnmatch.fnmatchcase(skip.name, name) and reason in skip.reason for name, reason in known)


def _system() -> str:
    release = Path("/etc/os-release")
    found = re.search(r"^VERSION_CODENAME=(\w+)", release.read_text(), re.M) if release.exists() else None
    user = "root" if os.geteuid() == 0 else "user"
    return f"{found[1] if found else 'unknown'}-{user}"


def report_skips(results: Path) -> bool:
    """Prints what was skipped.  False if something was that is not in the list."""
    if not results.exists():
        return True
    system = _system()
    known = expected(EXPECTED.read_text(), system)
    unexpected = []
    for skip in found_skips(results):
        if is_expected(skip, known):
            print(f"skipped {skip.name}: {skip.reason}")
        else:
            unexpected.append(skip)
    for skip in unexpected:
        print(f"SKIPPED UNEXPECTEDLY on {system}: {skip.name}: {skip.reason}")
    return not unexpected


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scale", choices=("quick", "test", "nightly"))
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--only", default="", metavar="REGEX", help="tests of that name, whatever their labels")
    parser.add_argument("--list", action="store_true", help="only print which tests would run")
    options = parser.parse_args()
    build = options.build.resolve()
    tests = listed(build)
    commit = _git("rev-parse", "HEAD").strip()
    kernel = chosen_kernel(tests, commit)
    # Without git nobody knows what changed.
    folders = changed_folders(changed_files()) if commit or options.scale == "quick" else sorted(FOLDERS)
    chosen = choose(tests, options.scale, kernel, folders, costs(build))
    if options.only:
        chosen = [test for test in tests if re.search(options.only, test.name)]
    elif options.scale != "nightly" and kernel:
        print(f"tests: what does not depend on the kernel runs under {kernel} (commit {commit[:8]})")
    if options.scale == "quick":
        print(f"tests: the core, and tests of {', '.join(folders) or 'no other folder'}")
    if options.list:
        print("\n".join(test.name for test in chosen))
        return 0
    if not chosen:
        print("tests: none of that name", file=sys.stderr)
        return 1
    results = build / "Testing/results.xml"
    results.unlink(missing_ok=True)
    command = ["ctest", "--test-dir", str(build), "--output-on-failure", "-j", str(options.jobs)]
    command += ["-I", ",".join(["0", "0", "0", *(str(test.number) for test in chosen)])]
    command += ["--output-junit", str(results), "--test-output-size-passed", str(1 << 20)]
    sys.stdout.flush()
    settings = {"COSY_SCALE": options.scale, "COSY_TURN": str(turn(commit))}
    status = subprocess.run(command, env=os.environ | settings).returncode
    return 1 if not report_skips(results) or status else 0


if __name__ == "__main__":
    sys.exit(main())
