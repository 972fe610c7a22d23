#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs other projects' own test suites plainly and under `cosy run`, and compares test by test.

    suites.py --cosy build/bin/cosy --cache DIR [SUITE...]

Each suite runs plainly, under `cosy run`, and there with windows from the first read on.  What each
test said must be the same, pass or not.  Some of these tests fail by chance: what differs is run
up to three times more, both ways, and counts when it differs each time.  Sources are Debian's, of
the versions that its `apt-get source` gives; they are kept in DIR, built, for the next time.
Exit status 1: a test differs, or a suite told of none.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

_HERE = Path(__file__).resolve().parent
_TIMES = 3
_LIMIT = 3600  # seconds that one run of a suite may take
_PYTHON_TESTS = (
    "asyncio.test_events asyncio.test_subprocess bufio bz2 compileall context dbm faulthandler fcntl file fileinput "
    "fileio fork1 glob gzip import io largefile linecache lzma mailbox memoryview mimetypes mmap "
    "multiprocessing_fork os pathlib pickle popen posix pty py_compile runpy select shelve shutil signal sqlite3 "
    "subprocess tarfile tempfile thread threading tokenize wait4 zipfile zipimport"
)


@dataclass(frozen=True)
class Suite:
    """How a suite is built and run in its folder, by bash.  It says `test NAME: WHAT` of each test."""

    source: str  # Debian's source package; empty: installed packages have the tests
    build: str
    all: str  # the units of the suite, one a line: what can be run by itself
    unit: str  # runs the unit $1


SUITES = {
    "bash": Suite(
        source="bash",
        build="touch config.h; for name in recho zecho xcase printenv; do "
        "gcc -w -DHAVE_STRING_H -DHAVE_STDLIB_H -I. -Iinclude -o $name support/$name.c || exit; done",
        all="cd tests && ls run-[a-z]* | grep -vE '^run-(all|minimal|gprof)$'",
        unit='cd tests; PATH=$PWD/..:$PATH BUILD_DIR=$PWD/.. BASH_TSTOUT=$TMPDIR/out THIS_SH=/bin/bash sh "$1" '
        '>$TMPDIR/said 2>&1; echo "test $1: $? $(sed "s,$TMPDIR,,g" $TMPDIR/said | md5sum)"',
    ),
    "git": Suite(
        source="git",
        build="make -s -j2 CFLAGS=-O1 NO_CURL=1 NO_EXPAT=1 NO_OPENSSL=1 NO_TCLTK=1 NO_GETTEXT=1 NO_PYTHON=1",
        all="cd t && ls t0[0-4]*.sh t1[0-4]*.sh t3[2-9]*.sh t53*.sh",
        unit='cd t; sh "./$1" --root="$TMPDIR" 2>&1 | '
        'awk -v unit="$1" \'/^ok /{print "test " unit " " $2 ": ok"} /^not ok /{print "test " unit " " $3 ": not"}\'',
    ),
    "perl": Suite(
        source="perl",
        build="sh Configure -des -Doptimize=-O1 && make -s -j2 test_prep",
        all="cd t && ls io/*.t op/*.t lib/*.t ../lib/*.t",
        unit='cd t; ./perl -I../lib "$1" 2>&1 | '
        'awk -v unit="$1" \'/^ok /{print "test " unit " " $2 ": ok"} /^not ok /{print "test " unit " " $3 ": not"}\'',
    ),
    "python": Suite(
        source="",
        build="name=libpython$(/usr/bin/python3 -c 'import sys; print(\"%d.%d\" % sys.version_info[:2])')-testsuite; "
        "dpkg -s $name >/dev/null 2>&1 || apt-get install -qq --no-install-recommends $name",
        all=f"printf 'test_%s\\n' {_PYTHON_TESTS}",
        unit='cd "$TMPDIR"; /usr/bin/python3 -m test -v --timeout 300 "$1" 2>&1 | '
        "sed -nE 's/^\\w+ \\((test[^)]+)\\).* \\.\\.\\. (ok|FAIL|ERROR|skipped).*/test \\1: \\2/p'",
    ),
}


def script_run(script: str, folder: Path, argument: str = "", prefix: tuple[str, ...] = (), **environment: str) -> str:
    """Returns what a script of a suite's prints.  Interrupts are not ignored in it, as they are in background jobs."""
    ended = subprocess.run(
        [*prefix, "bash", "-c", script, "bash", argument],
        cwd=folder,
        env={**os.environ, "LC_ALL": "C", "TZ": "UTC", **environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        errors="replace",
        timeout=_LIMIT,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    return ended.stdout


def prepare(name: str, suite: Suite, cache: Path) -> Path:
    """Returns the suite's folder, which is made if it is not there."""
    folder = cache / name
    if (folder / ".built").exists():
        return folder
    shutil.rmtree(folder, ignore_errors=True)
    if suite.source:
        with tempfile.TemporaryDirectory(dir=cache) as temporary:
            subprocess.run([_HERE / "source.sh", suite.source], cwd=temporary, check=True, stdout=subprocess.DEVNULL)
            next(path for path in Path(temporary).iterdir() if path.is_dir()).rename(folder)
    else:
        folder.mkdir()
    subprocess.run(["bash", "-c", suite.build], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    (folder / ".built").touch()
    return folder


class Runs:
    """One suite, run in several ways."""

    def __init__(self, name: str, cosy: Path, cache: Path) -> None:
        self._suite = SUITES[name]
        self._folder = prepare(name, self._suite, cache)
        run = (str(cosy), "run", "--")
        self.ways = {"plain": ((), {}), "cosy run": (run, {}), "eager": (run, {"COSY_RUN_EAGER": "1"})}
        self.units = script_run(self._suite.all, self._folder).split()

    def told(self, way: str, unit: str) -> dict[str, str]:
        """Runs a unit; returns what became of each of its tests."""
        prefix, environment = self.ways[way]
        with tempfile.TemporaryDirectory() as home:
            out = script_run(self._suite.unit, self._folder, unit, prefix, TMPDIR=home, HOME=home, **environment)
        return dict(re.findall(r"^test (.+?): (.*)$", out, re.MULTILINE))


def differences(plain: dict[str, str], other: dict[str, str]) -> dict[str, str]:
    """Returns the tests of which two runs do not tell the same, and what they tell."""
    names = sorted(plain.keys() | other.keys())
    return {
        name: f"{plain.get(name, 'not run')}, then {other.get(name, 'not run')}"
        for name in names
        if plain.get(name) != other.get(name)
    }


def _run_suite(name: str, cosy: Path, cache: Path) -> bool:
    """Runs one suite; returns whether nothing differs."""
    start = time.monotonic()
    runs = Runs(name, cosy, cache)
    count = failed = chance = 0
    lasting: list[str] = []
    for unit in runs.units:
        plain = runs.told("plain", unit)
        count += len(plain)
        failed += sum(not said.startswith(("ok", "0 ", "skipped")) for said in plain.values())
        for way in list(runs.ways)[1:]:
            left = differences(plain, runs.told(way, unit))
            chance += len(left)
            for _ in range(_TIMES):
                if not left:
                    break
                again = differences(runs.told("plain", unit), runs.told(way, unit))
                left = {test: said for test, said in again.items() if test in left}
            chance -= len(left)
            lasting += [f"{way}: {test}: {said}" for test, said in left.items()]
    for line in lasting:
        print(f"FAIL {name}, {line}", flush=True)
    print(
        f"{name}: {count} tests in {len(runs.units)} files, {failed} of which fail by themselves; "
        f"{len(lasting)} differ, {chance} by chance ({time.monotonic() - start:.0f} s)",
        flush=True,
    )
    return count > 0 and not lasting


def main() -> int:
    """Does what the module's text says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cosy", type=Path, required=True)
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("suites", nargs="*", metavar="SUITE", help=f"of {', '.join(SUITES)}; all unless named")
    options = parser.parse_args()
    for name in options.suites:
        if name not in SUITES:
            parser.error(f"there is no suite {name}: {', '.join(SUITES)}")
    options.cache.mkdir(parents=True, exist_ok=True)
    cosy, cache = options.cosy.resolve(), options.cache.resolve()
    return 0 if all([_run_suite(name, cosy, cache) for name in options.suites or SUITES]) else 1


if __name__ == "__main__":
    sys.exit(main())
