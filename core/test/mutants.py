#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Breaks one rule of the sandbox after the other, and looks whether its tests notice.

    mutants.py [--places] [FILE...]

Each mutant (mutants_sandbox.py, mutants_checks.py) is one file of core/ with one place changed; the
test of that file, which leaves nothing to chance, is built with it and must not pass.  One that
changes no result is said to be harmless, with the reason, and must pass.  Before any mutant, each
test has to pass with core/ as it is.  With --places only whether each place is in its file, once.
Exit status 1: one was not noticed, was harmful after all, or is not there any more.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import mutants_checks
import mutants_sandbox

_TREE = Path(__file__).resolve().parents[2]
_PARTS = ("core", "lib/test", "include/uapi")
_SANITIZE = ("-fsanitize=address,bounds", "-fno-sanitize-recover=bounds")
_FLAGS = ("-std=gnu11", "-w", "-D_GNU_SOURCE")
_MODEL = ("alu", "checker", "differential", "lint", "reference", "world")
_CODE = (
    "emit",
    "sandbox",
    "sandbox_alu",
    "sandbox_fetch",
    "sandbox_flow",
    "sandbox_live",
    "sandbox_mem",
    "sandbox_piece",
)
_SHAPE = ("ops", "reject", "validate")
# The files of core/ and core/test/ that a test needs.
_TESTS = {
    "container_test": ("container", "reject"),
    "ops_test": ("ops",),
    "sandbox_test": (*_CODE, *_SHAPE, *_MODEL, "verify"),
    "sandbox_fetch_test": (*_CODE, *_SHAPE, *_MODEL, "verify"),
    "sandbox_live_test": ("sandbox_live", *_SHAPE),
    "sandbox_rule_test": (*_CODE, *_SHAPE, *_MODEL, "verify"),
    "validate_test": _SHAPE,
    "verify_test": ("verify",),
}
_SANDBOX = ("sandbox_fetch_test", "sandbox_rule_test", "sandbox_test")
# The tests that are to notice what is changed in a file; what is not here is the sandbox's.
_NOTICE = {
    "container.c": ("container_test",),
    "ops.c": ("ops_test", "validate_test"),
    "ops.def": ("validate_test",),
    "reject.c": ("validate_test", "container_test"),
    "sandbox_live.c": ("sandbox_live_test", *_SANDBOX),
    "validate.c": ("validate_test",),
    "verify.c": ("verify_test",),
}

MUTANTS = {
    **mutants_sandbox.MUTANTS,
    **mutants_checks.MUTANTS,
    "ops.def": mutants_checks.denied_calls((_TREE / "core/ops.def").read_text()),
}


class Copy:
    """The sources in a place of their own, and what was compiled of them."""

    def __init__(self, place: Path) -> None:
        for part in _PARTS:
            shutil.copytree(_TREE / part, place / part)
        self._place = place
        self._flags = (*_FLAGS, *(f"-I{place / part}" for part in ("core", "core/test", *_PARTS[1:])))
        self._objects: dict[str, Path] = {}

    def _compile(self, stem: str) -> Path:
        source = self._place / "core" / f"{stem}.c"
        if not source.exists():
            source = self._place / "core/test" / f"{stem}.c"
        ret = self._place / f"{stem}.o"
        # The oracle looks at every access of what is emitted; the sanitizers look at core/ itself.
        how = ("-O2",) if stem in _MODEL else ("-O1", *_SANITIZE)
        subprocess.run(["cc", *self._flags, *how, "-c", source, "-o", ret], check=True)
        return ret

    def passes(self, test: str) -> bool:
        """Builds the test, of what is compiled already where it is, and runs it."""
        for stem in (test, *_TESTS[test]):
            if stem not in self._objects:
                self._objects[stem] = self._compile(stem)
        program = self._place / test
        objects = [self._objects[stem] for stem in (test, *_TESTS[test])]
        subprocess.run(["cc", *_SANITIZE, *objects, "-o", program], check=True)
        environment = os.environ | {"ASAN_OPTIONS": "detect_leaks=0"}
        # The first complaint is enough.
        with subprocess.Popen([program], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment) as run:
            timer = threading.Timer(60, run.kill)
            timer.start()
            complaint = run.stderr.read(1)
            if complaint:
                run.kill()
            run.wait()
            timer.cancel()
        return not complaint and run.returncode == 0

    def change(self, name: str, text: str) -> None:
        """Writes a file of core/ anew, and forgets what was compiled of it."""
        (self._place / "core" / name).write_text(text)
        if name.endswith(".c"):
            self._objects.pop(Path(name).stem, None)
        else:
            self._objects.clear()


def _tests(name: str) -> tuple[str, ...]:
    return _NOTICE.get(name, _SANDBOX)


def _is_noticed(copy: Copy, name: str, text: str, changed: str) -> bool:
    copy.change(name, changed)
    try:
        return not all(copy.passes(test) for test in _tests(name))
    finally:
        copy.change(name, text)


def _misplaced(name: str, text: str, old: str) -> bool:
    count = text.count(old)
    if count != 1:
        print(f"{name}: {old!r} is there {count} times")
    return count != 1


def _look(chosen: dict[str, list[tuple[str, ...]]]) -> int:
    """Looks only whether each place is there.  Returns how many are not."""
    return sum(
        _misplaced(name, (_TREE / "core" / name).read_text(), old)
        for name, places in chosen.items()
        for old, *_ in places
    )


def _break(chosen: dict[str, list[tuple[str, ...]]], copy: Copy) -> int:
    """Tries each mutant.  Returns how many are not as they should be."""
    wrong = 0
    for name, places in chosen.items():
        text = (_TREE / "core" / name).read_text()
        for old, new, *reason in places:
            if _misplaced(name, text, old):
                wrong += 1
            elif _is_noticed(copy, name, text, text.replace(old, new)) == bool(reason):
                what = "a test notices what was harmless," if reason else "no test notices"
                print(f"{name}: {what} a change of {old!r} to {new!r}", flush=True)
                wrong += 1
            elif reason:
                print(f"{name}: harmless, a change of {old!r} to {new!r}: {reason[0]}", flush=True)
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--places", action="store_true", help="only look whether each place is in its file, once")
    parser.add_argument("files", nargs="*", metavar="FILE", help="of core/; otherwise all")
    options = parser.parse_args()
    chosen = {name: places for name, places in MUTANTS.items() if not options.files or name in options.files}
    count = sum(len(places) for places in chosen.values())
    if options.places:
        wrong = _look(chosen)
        print(f"{count - wrong} of {count} in place")
        return 1 if wrong else 0
    with tempfile.TemporaryDirectory(prefix="cosy-mutant-") as directory:
        copy = Copy(Path(directory))
        for test in sorted({test for name in chosen for test in _tests(name)}):
            if not copy.passes(test):
                print(f"{test} fails with core/ as it is")
                return 1
        wrong = _break(chosen, copy)
    harmless = sum(len(mutant) > 2 for places in chosen.values() for mutant in places)
    print(f"{count - wrong} of {count} as they should be: {harmless} harmless, the others noticed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
