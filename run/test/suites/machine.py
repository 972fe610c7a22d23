#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs other projects' test suites under `cosy run --metadata` in virtual machines, and compares test by test.

    machine.py --build build [--kernel 6.12] [--fs tmpfs] [--short] [SUITE...]

Tests of suites.py and walkers.py that query many files: each runs plainly and under
`cosy run --metadata`, and what each test said must be the same, pass or not.  What differs is run three
times more, both ways, and counts if it differs each time.  The machine has the programs of this Debian,
whose packages are unpacked once, and a copy of the suite.  --short runs a few of the tests, which take
minutes.

Exit status 1: a test differs, a suite told of none, or no call was served.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import suites
import walkers

_HERE = Path(__file__).resolve().parent
_TREE = _HERE.parents[2]
sys.path.insert(0, str(_TREE / "tests/vm"))

import apt  # noqa: E402
import cache  # noqa: E402
import toolchain  # noqa: E402

# What the suites' tests call; python3 is a suite's own program.
_PACKAGES = (
    *("base-files", "base-passwd", "bash", "coreutils", "dash", "debianutils", "diffutils", "findutils", "gawk"),
    *("grep", "gzip", "hostname", "libpython3-stdlib", "perl", "procps", "python3", "sed", "tar", "util-linux"),
    *("media-types", "tzdata", "zlib1g"),
    *walkers.PACKAGES,
)
_SUITES = {**{name: suites.SUITES[name] for name in ("git", "python")}, **walkers.SUITES}
_TIMES = 3
_LIMIT = 6 * 3600  # seconds that a machine may take


# Scripts that list units, as Suite.all: those that query many files, and a few of them.
_UNITS = {
    "git": {
        "all": "cd t && ls t0[0-4]*.sh t1[0-4]*.sh t2*.sh t3[0-2]*.sh t7[0-35]*.sh",
        "short": "cd t && ls t2107-*.sh t2200-*.sh t7300-*.sh",
    },
    "python": {
        "all": "printf 'test_%s\\n' compileall filecmp fileinput glob import largefile mailbox os pathlib posix "
        "py_compile shutil tarfile tempfile zipfile zipimport",
        "short": "printf 'test_%s\\n' filecmp glob",
    },
    **{name: {"all": walkers.SUITES[name].all, "short": short} for name, short in walkers.SHORT.items()},
}


def _release() -> str:
    return platform.freedesktop_os_release()["VERSION_CODENAME"]


def _python_packages() -> tuple[str, ...]:
    """Returns the package of the tests of Debian's own Python, which need not be the one that runs this."""
    version = subprocess.run(
        ["/usr/bin/python3", "-c", "import sys; print('%d.%d' % sys.version_info[:2])"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()
    return (f"libpython{version}-testsuite",)


def _root() -> Path:
    """Returns a folder of unpacked packages, which is made if it is not there."""
    release = _release()
    packages = ",".join((*_PACKAGES, *_python_packages()))
    root = cache.directory("suites") / f"root-{release}-{hashlib.sha256(packages.encode()).hexdigest()[:8]}"
    if root.exists():
        return root
    archive, security = apt.mirrors()
    signed = f"[signed-by={apt.KEYRING}] " if apt.KEYRING.exists() else ""
    partial = root.with_name(f"{root.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    command = ["mmdebstrap", "--variant=extract", f"--include={packages}", *toolchain.apt_settings(), release, partial]
    sources = [f"deb {signed}{archive} {release} main", f"deb {signed}{security} {release}-security main"]
    cache.run([*command, *sources], f"unpacking the programs of {release}")
    # Links that the packages' scripts make, but none has run.
    (partial / "usr/bin/awk").symlink_to("gawk")
    for name in ("passwd", "group"):
        shutil.copy(partial / f"usr/share/base-passwd/{name}.master", partial / f"etc/{name}")
    partial.rename(root)
    return root


def _copy(source: Path, to: Path) -> None:
    """Copies a suite, without what it was built from."""
    shutil.copytree(source, to, symlinks=True, ignore=shutil.ignore_patterns("*.o", "*.a", ".git"))


@contextlib.contextmanager
def _staged(name: str, units: list[str], build: Path) -> Iterator[Path]:
    """Makes what the machine's disk has: programs, the suite where it was built, cosy, and what is to run."""
    folder = suites.prepare(name, _SUITES[name], cache.directory("suites"))
    with tempfile.TemporaryDirectory(dir=cache.directory("tmp")) as temporary:
        stage = Path(temporary, "root")
        cache.run(["cp", "-a", "--reflink=auto", _root(), stage], "copying the programs")
        _copy(folder, stage / folder.relative_to("/"))
        for part in ("bin/cosy", "lib/cosy/libcosy-run-metadata.so"):
            to = stage / "cosy" / part
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(build / part, to)
        (stage / "cosy/units").write_text("".join(f"{unit}\n" for unit in units))
        (stage / "cosy/unit").write_text(f"cd {folder}\n{_SUITES[name].unit}\n")
        shutil.copy(_HERE / "machine.sh", stage / "cosy")
        yield stage


class _Told:
    """What a machine told of each unit's tests, by the way, and how many calls were served."""

    def __init__(self, output: str) -> None:
        self.served = 0
        self.plain: dict[str, dict[str, str]] = {}
        self.metadata: dict[str, dict[str, str]] = {}
        tests: dict[str, str] = {}
        for line in output.splitlines():
            if found := re.fullmatch(r"unit (plain|metadata) (.*)", line):
                tests = vars(self)[found[1]].setdefault(found[2], {})
            elif found := re.fullmatch(r"test (.+?): (.*)", line):
                tests[found[1]] = found[2]
            elif found := re.fullmatch(r"cosy: metadata: (\d+) calls served,.*", line):
                self.served += int(found[1])

    def differences(self) -> dict[str, dict[str, str]]:
        """Returns what differs in each unit, by test."""
        return {
            unit: left for unit, plain in self.plain.items() if (left := suites.differences(plain, self.metadata[unit]))
        }


def _run(name: str, units: list[str], options: argparse.Namespace) -> _Told:
    """Runs units of a suite in a machine, in both ways."""
    with _staged(name, units, options.build) as stage:
        command = [sys.executable, _TREE / "tests/vm/vm.py", "run", "--kernel", options.kernel, "--smp", "2"]
        command += ["--mem", "1500", "--append=cosy.metadata=1", "--timeout", str(_LIMIT), "--disk", stage]
        command += ["--put", _HERE / "machine_begin.sh", "--", "sh", "/t/machine_begin.sh", options.fs]
        ended = subprocess.run(command, text=True, errors="replace", capture_output=True)
    if ended.returncode:
        print("\n".join((ended.stdout + ended.stderr).splitlines()[-50:]), flush=True)
        raise SystemExit(f"machine: {name}: the machine's status is {ended.returncode}")
    return _Told(ended.stdout)


def _suite_run(name: str, options: argparse.Namespace) -> bool:
    """Runs one suite; returns whether nothing differs and calls were served."""
    start = time.monotonic()
    folder = suites.prepare(name, _SUITES[name], cache.directory("suites"))
    units = suites.script_run(_UNITS[name]["short" if options.short else "all"], folder).split()
    told = _run(name, units, options)
    left = told.differences()
    found = sum(map(len, left.values()))
    for _ in range(_TIMES):
        if not left:
            break
        again = _run(name, list(left), options).differences()
        left = {unit: {test: said for test, said in left[unit].items() if test in again.get(unit, {})} for unit in left}
        left = {unit: tests for unit, tests in left.items() if tests}
    for unit, tests in left.items():
        for test, said in tests.items():
            print(f"FAIL {name}, {unit}: {test}: {said}", flush=True)
    count, lasting = sum(map(len, told.plain.values())), sum(map(len, left.values()))
    passed = sum(said.lower() in ("ok", "pass") for tests in told.plain.values() for said in tests.values())
    print(
        f"{name}, {options.kernel}, {options.fs}: {count} tests in {len(units)} files, {passed} of which pass, "
        f"{told.served} calls served; {lasting} differ, {found - lasting} by chance "
        f"({time.monotonic() - start:.0f} s)",
        flush=True,
    )
    return count > 0 and told.served > 0 and not left


def main() -> int:
    """Does what the module's text says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--kernel", default="6.12")
    parser.add_argument("--fs", choices=("tmpfs", "ext4"), default="tmpfs", help="where the tests' own files are")
    parser.add_argument("--short", action="store_true", help="a few of the tests")
    parser.add_argument("suites", nargs="*", metavar="SUITE", help=f"of {', '.join(_UNITS)}; all unless named")
    options = parser.parse_args()
    for name in options.suites:
        if name not in _UNITS:
            parser.error(f"there is no suite {name}: {', '.join(_UNITS)}")
    options.build = options.build.resolve()
    return 0 if all([_suite_run(name, options) for name in options.suites or _UNITS]) else 1


if __name__ == "__main__":
    sys.exit(main())
