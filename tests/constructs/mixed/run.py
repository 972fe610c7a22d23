#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Random programs that mix libc's functions with arithmetic, in regions: plain clang, the native twin, the compound.

Each program is a function with a region or two, variables, tables and functions of its own; program.py writes it.
Several are one source file, because that is compiled faster; each runs in a process and a folder of its own (mixed.h).
Their output, status and files must be equal: plain, in the twin, and in the interpreter from the start, or from the
second or third entry or iteration on.  Levels and -fcosy-force take turns.

A program that differs is kept in --work as a file of its own.  With --put the units also go into a folder, for
guest.sh in a virtual machine.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import datetime
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import program

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent.parent / "vm"))
import scale  # noqa: E402

SHORT = 60  # programs in `make test`
TIMEOUT = 600  # seconds for one unit: for what hangs, not for a busy machine
WAYS = (("native", "always"), ("interp", "always"), ("interp", "1"), ("interp", "2"))
# Levels of the compound and of plain clang.
LEVELS = (("O1", "O0"), ("O2", "O0"), ("O0", "O1"), ("O1 -fcosy-force", "O0"), ("Os -g", "O0"), ("O3", "O2"))
ENOUGH = 80  # per cent of regions that must become compounds, and of names that these must call

# What regions that became compounds call.
FUNCTIONS = """
opendir fdopendir readdir rewinddir telldir seekdir dirfd closedir scandir alphasort snprintf sprintf vsnprintf
strerror strtol strtoul strtoll strtoull atoi memccpy stpcpy stpncpy strlcpy strlcat strlen strnlen strcmp strncmp
strcasecmp strchr strrchr strchrnul strstr strcasestr strspn strcspn strpbrk strsep strtok_r strcpy strcat strncpy
strncat memcpy memmove memset memcmp memchr memrchr memmem qsort bsearch malloc calloc realloc reallocarray free strdup
strndup open openat creat read pread readv write pwrite writev lseek fstat stat lstat fstatat access faccessat
readlink readlinkat unlink unlinkat mkdir mkdirat rmdir rename renameat link symlink chmod fchmod truncate ftruncate
printf fprintf puts perror warn err errx exit abort
"""


# Calls and operations of compounds.
CALLS = """
call_out format strlen strchr strcmp memcpy memmove memset memcmp open openat creat close read pread64 readv write
pwrite64 writev lseek fstat stat lstat newfstatat access readlink getdents64 unlink mkdir rename
"""


@dataclass
class Found:
    """What came of some programs."""

    programs: int = 0
    regions: int = 0
    compiled: int = 0
    differed: list[str] = field(default_factory=list)
    reasons: Counter[str] = field(default_factory=Counter)  # why regions stay native
    functions: Counter[str] = field(default_factory=Counter)  # programs that call them in compounds
    calls: Counter[str] = field(default_factory=Counter)  # of the compounds
    counts: Counter[str] = field(default_factory=Counter)  # what libcosy counted

    def add(self, other: Found) -> None:
        self.programs += other.programs
        self.regions += other.regions
        self.compiled += other.compiled
        self.differed += other.differed
        self.reasons += other.reasons
        self.functions += other.functions
        self.calls += other.calls
        self.counts += other.counts


def execute(binary: Path, folder: Path, mode: str, tier: str, seeds: list[int]) -> tuple[str, str]:
    """Returns a unit's output, and what it wrote to standard error itself."""
    env = dict(os.environ, COSY_MODE=mode, COSY_TIER=tier, COSY_STATS="1", ASAN_OPTIONS="detect_leaks=0")
    command = [str(binary), str(folder), *map(str, seeds)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", env=env, timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        return "timed out", ""
    return f"{done.stdout}exit {done.returncode}\n", done.stderr


def by_program(output: str) -> dict[str, str]:
    parts = re.split(r"^== (\d+)\n", output, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def compiled_programs(source: str, said: str, found: Found) -> None:
    """Counts regions, and the functions of those programs that have compounds."""
    lines = source.splitlines()
    at = [i for i, line in enumerate(lines, 1) if line.startswith("/* --- Program")] + [len(lines)]
    compiled = {int(n) for n in re.findall(r":(\d+):\d+: remark: region compiled", said)}
    for first, last in zip(at, at[1:], strict=False):
        here = sum(first <= n < last for n in compiled)
        found.compiled += here
        if here:
            text = "\n".join(lines[first:last])
            found.functions.update({name for name in FUNCTIONS.split() if re.search(rf"\b{name}\b", text)})
    found.reasons.update(re.findall(r"stays native: (.*?)(?: \[|$)", said, re.MULTILINE))
    # Those of functions that nothing calls are neither.
    found.regions += len(compiled) + found.reasons.total()


def check(first: int, args: argparse.Namespace) -> Found:
    """Checks one unit of programs, whose seeds begin with `first`."""
    found = Found()
    count = min(args.unit, args.first + args.count - first)
    level, plain_level = LEVELS[first // args.unit % len(LEVELS)]
    name = f"mixed-{first}"
    source, plain, cosy = (args.work / f"{name}{suffix}" for suffix in (".c", "-plain", "-cosy"))
    text = program.unit(first, count)
    source.write_text(text)
    common = [f"-I{HERE}", str(source), "-fno-crash-diagnostics"]
    includes = [f"-I{path}" for path in args.include]
    # What C does not define would be a fault of program.py's.
    warnings = ["-Wno-everything", "-Werror=uninitialized", "-Werror=unsequenced"]
    command = [args.clang, "-DCOSY_OFF", *warnings, *includes, *common]
    subprocess.run([*command, f"-{plain_level}", "-o", str(plain)], check=True)
    flags = ["-w", "-Rcosy", *f"-{level}".split(), *args.link.split()]
    built = subprocess.run([args.cosycc, *flags, *common, "-o", str(cosy)], capture_output=True, text=True)
    found.programs = count
    if built.returncode:
        found.differed.append(
            f"seeds {first} to {first + count - 1} -{level}: does not compile\n{built.stderr[-2000:]}"
        )
        return found
    compiled_programs(text, built.stderr, found)
    if args.dis:
        listing = subprocess.run([args.dis, "dis", str(cosy)], capture_output=True, text=True, check=True).stdout
        found.calls.update(name.removeprefix("cosy_") for name in re.findall(r" call ([a-z]\w+)", listing))
    wrong: dict[str, list[str]] = {}
    with tempfile.TemporaryDirectory(dir=args.folder, prefix="cosy-mixed-") as folder:
        expected, _ = execute(plain, Path(folder), "auto", "always", [])
        for mode, tier in WAYS:
            got, said = execute(cosy, Path(folder), mode, tier, [])
            if (mode, tier) == ("interp", "always"):
                found.counts.update({k: int(n) for k, n in re.findall(r"(\w+)=(\d+)", said)})
            if got == expected:
                continue
            all_expected, all_got = by_program(expected), by_program(got)
            seeds = [s for s in all_expected if all_expected[s] != all_got.get(s)] or ["all"]
            for seed in seeds:
                wrong.setdefault(seed, []).append(f"{mode}, {tier}")
    for seed, ways in wrong.items():
        found.differed.append(f"seed {seed} -{level}: {'; '.join(ways)} differ from plain -{plain_level}")
        if seed != "all":
            (args.work / f"seed-{seed}.c").write_text(program.unit(int(seed), 1))
    if args.put:
        shutil.copy(plain, args.put / f"{name}.plain")
        shutil.copy(cosy, args.put / name)
    for path in (plain, cosy):
        path.unlink()
    source.unlink()
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--cosycc", required=True)
    parser.add_argument("--clang", required=True)
    parser.add_argument("--include", action="append", default=[], help="of cosy's headers, for plain clang")
    parser.add_argument("--dis", metavar="COSY", help="the cosy command, to look for calls in compounds")
    parser.add_argument("--work", required=True, type=Path, help="folder for sources and programs")
    parser.add_argument("--folder", default="/tmp", help="where the programs' own folders are made")
    parser.add_argument("--link", default="", help="for linking compounds with libcosy")
    parser.add_argument("--first", type=int, default=0, help="seed; default 1, at night one that the date chooses")
    parser.add_argument("--count", type=int, default=0, help=f"of programs; default {SHORT}, more at night")
    parser.add_argument("--unit", type=int, default=20, help="programs of one source file")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--put", type=Path, metavar="DIR", help="where units for a virtual machine go")
    args = parser.parse_args()
    # A test that is run again is to find the same; what the night found is repeated by --first.
    night = datetime.date.today().toordinal() * 1000 if scale.name() == "nightly" else 1
    args.first = args.first or night
    args.count = args.count or scale.steps(SHORT)
    print(f"from seed {args.first} on", flush=True)

    args.work.mkdir(parents=True, exist_ok=True)
    if args.put:
        shutil.rmtree(args.put, ignore_errors=True)
        args.put.mkdir(parents=True)
    all_ = Found()
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        firsts = range(args.first, args.first + args.count, args.unit)
        for number, found in enumerate(pool.map(lambda first: check(first, args), firsts), 1):
            all_.add(found)
            for text in found.differed:
                print(text, flush=True)
            if number % 20 == 0:
                print(f"... {all_.programs} programs, {len(all_.differed)} differ", flush=True)
    share = 100 * all_.compiled // max(1, all_.regions)
    print(f"{all_.programs - len(all_.differed)} of {all_.programs} programs equal")
    print(f"{all_.compiled} of {all_.regions} regions became compounds ({share} %); the interpreter made", end=" ")
    print(f"{all_.counts['interp_calls']} calls; {all_.counts['native']} entries were native")
    for reason, count in all_.reasons.most_common(8):
        print(f"{count:6} native: {reason}")
    missing = [name for name in FUNCTIONS.split() if not all_.functions[name]]
    missing += [f"call {name}" for name in CALLS.split() if args.dis and not all_.calls[name]]
    if missing:
        print(f"in no compound: {' '.join(missing)}")
    names = len(FUNCTIONS.split()) + len(CALLS.split())
    present = 100 * (names - len(missing)) // names
    return bool(all_.differed or share < ENOUGH or (all_.programs >= SHORT and present < ENOUGH))


if __name__ == "__main__":
    sys.exit(main())
