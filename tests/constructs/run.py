#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Each construct several ways: plain clang, the native twin, the compound, and from one to the other in the middle.

A construct is a C or C++ program beside this file that prints what it computed.
The comments at its head say what is expected of its regions:

    // expect: compiled             every region becomes a compound
    // expect: native: TEXT         a region stays native, for a reason with TEXT
    // expect-O0: ...               the same, at that level only
    // expect with FLAG: ...        the same, under that flag of --flags only
    // flags: ...                   for the compiler
    // native with FLAG             under that flag of --flags or --link some regions stay native when they are run
    // guest: static                the virtual machine's program is linked statically
    // stdin: TEXT                  what the program reads

Outputs and exit statuses of all must be equal, and no compound may have been replaced by its twin.
With --put those of the last level also go into a folder, with what plain clang's programs print, for
guest.sh in a virtual machine.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "vm"))
import scale  # noqa: E402

# The constructs need not free what they allocate, and some ask for more memory than there is.
ASAN_OPTIONS = "detect_leaks=0:allocator_may_return_null=1"
TIMEOUT = 600  # seconds for one program: for what hangs, not for a busy machine
# The native twin; the compound; the twin until so many entries and rounds of loops.
WAYS = (("native", "always"), ("interp", "always"), ("interp", "1"), ("interp", "2"), ("interp", "3"))


@dataclass
class Construct:
    source: Path
    expect: dict[str, str] = field(default_factory=dict)  # by level or flag; "" for all
    flags: list[str] = field(default_factory=list)
    native_with: str = ""
    static: bool = False  # in the guest
    stdin: str = ""

    @property
    def name(self) -> str:
        return self.source.stem

    def expected(self, level: str, flags: list[str]) -> str:
        return next((self.expect[key] for key in (*flags, level) if key in self.expect), self.expect[""])


def read_construct(source: Path) -> Construct:
    construct = Construct(source)
    for line in source.read_text().splitlines():
        if not line.startswith("//"):
            break
        if m := re.match(r"// expect(?:-(O\w)| with (\S+))?: (.*)", line):
            construct.expect[m[1] or m[2] or ""] = m[3]
        elif m := re.match(r"// flags: (.*)", line):
            construct.flags = m[1].split()
        elif m := re.match(r"// native with (.*)", line):
            construct.native_with = m[1]
        elif line == "// guest: static":
            construct.static = True
        elif m := re.match(r"// stdin: (.*)", line):
            construct.stdin = m[1]
    if "" not in construct.expect:
        raise SystemExit(f"{source}: no '// expect:' line")
    return construct


def read_constructs(names: list[str]) -> list[Construct]:
    """Reads those named, or all.  Their programs are named after them: no two may share a name."""
    sources = sorted([*HERE.glob("*.c"), *HERE.glob("*.cpp")])
    stems = [s.stem for s in sources]
    if twice := sorted({s for s in stems if stems.count(s) > 1}):
        raise SystemExit(f"{HERE}: two constructs named {', '.join(twice)}")
    if unknown := sorted(set(names) - set(stems)):
        raise SystemExit(f"{HERE}: no construct named {', '.join(unknown)}")
    return [read_construct(s) for s in sources if not names or s.stem in names]


class Failed(Exception):
    """A construct is wrong; says how."""


def execute(command: list[str]) -> str:
    """Runs a compiler.  Returns what it said."""
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise Failed(f"{' '.join(command)}\n{done.stderr[:1500]}")
    return done.stderr


@dataclass
class Tools:
    cosycc: str
    clang: str
    include: list[str]
    work: Path
    flags: list[str]  # for every compilation
    link: list[str]  # for linking compounds

    def compile(self, construct: Construct, level: str, output: Path, cosy: bool, static: Path | None = None) -> str:
        """Compiles one way, and links it a second time as `static`, if wanted.  Returns what the compiler said."""
        cplusplus = construct.source.suffix == ".cpp"
        if cosy:
            command = [self.cosycc, *(["--driver-mode=g++"] if cplusplus else []), "-Rcosy"]
        else:
            command = [self.clang, *(["--driver-mode=g++"] if cplusplus else []), "-DCOSY_OFF"]
            command += [f"-I{path}" for path in self.include]
        command += [f"-{level}", "-fno-crash-diagnostics", *self.flags, *construct.flags]
        object_ = str(self.work / f"{output.name}-{'cosy' if cosy else 'plain'}.o")
        said = execute([*command, "-Wall", "-Wextra", "-c", str(construct.source), "-o", object_])
        link = [*command, *(self.link if cosy else []), object_]
        execute([*link, "-o", str(output)])
        if static:
            execute([*link, "-static", "-o", str(static)])
        return said


def run(program: Path, construct: Construct, mode: str, tier: str = "always") -> tuple[str, str]:
    """Returns the output with the exit status, and what the program said on stderr."""
    # One folder for each program: another level of the same construct may run beside it.
    folder = program.with_name(f"{program.name}.run")
    folder.mkdir(exist_ok=True)
    env = dict(os.environ, COSY_MODE=mode, COSY_TIER=tier, COSY_STATS="1", ASAN_OPTIONS=ASAN_OPTIONS)
    try:
        done = subprocess.run(
            [str(program.resolve())],
            cwd=folder,
            input=construct.stdin + "\n",
            capture_output=True,
            text=True,
            errors="replace",
            env=env,
            timeout=TIMEOUT,
        )
    except subprocess.TimeoutExpired as error:
        raise Failed(f"{mode}: still running after {TIMEOUT} s") from error
    return f"{done.stdout}exit {done.returncode}\n", done.stderr


def check_report(expected: str, said: str) -> None:
    compiled = "region compiled" in said
    if expected == "compiled":
        if not compiled or "stays native" in said:
            raise Failed(f"not compiled:\n{said}")
        return
    reason = expected.removeprefix("native: ")
    if not any("stays native" in line and reason in line for line in said.splitlines()):
        raise Failed(f"no region stays native for '{reason}':\n{said}")


def check_stats(tools: Tools, construct: Construct, said: str) -> None:
    line = re.search(r"^cosy: stats: (.*)$", said, re.MULTILINE)
    if not line:
        return  # the program ended before libcosy could count, as with _exit
    stats = dict(re.findall(r"(\w+)=(\d+)", line[1]))
    flag = construct.native_with
    if flag and any(given.startswith(flag) for given in [*tools.flags, *tools.link]):
        if stats["native"] == "0":
            raise Failed(f"the compound ran, though {flag} rules it out:\n{said}")
    elif stats["native"] != "0" or stats["regions"] == "0":
        raise Failed(f"the twin ran instead of the compound:\n{said}")


def check_level(tools: Tools, construct: Construct, level: str, guest: Path | None) -> None:
    plain = tools.work / f"{construct.name}-{level}-plain"
    cosy = tools.work / f"{construct.name}-{level}-cosy"
    tools.compile(construct, level, plain, False)
    static = guest / construct.name if guest and construct.static else None
    said = tools.compile(construct, level, cosy, True, static)
    report = construct.expected(level, tools.flags)
    check_report(report, said)
    expected, _ = run(plain, construct, "auto")
    if guest:
        if not static:
            shutil.copy(cosy, guest / construct.name)
        (guest / f"{construct.name}.out").write_text(expected)
        (guest / f"{construct.name}.in").write_text(construct.stdin + "\n")
        (guest / f"{construct.name}.kind").write_text("native\n" if "stays native" in said else "compiled\n")
    for mode, tier in WAYS:
        got, said = run(cosy, construct, mode, tier)
        if got != expected:
            raise Failed(f"{mode}, {tier} differs\n--- plain\n{expected}--- {mode}, {tier}\n{got}{said}")
        if mode == "interp" and tier == "always" and report == "compiled":
            check_stats(tools, construct, said)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--cosycc", required=True)
    parser.add_argument("--clang", required=True)
    parser.add_argument("--include", action="append", default=[], help="of cosy's headers, for plain clang")
    parser.add_argument("--work", required=True, type=Path, help="folder for the programs")
    parser.add_argument("--levels", default="O0,O2,O3")
    parser.add_argument("--flags", default="", help="for every compilation")
    parser.add_argument("--link", default="", help="for linking compounds with libcosy")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--put", type=Path, metavar="DIR", help="where programs for a virtual machine go")
    parser.add_argument("--shares", type=int, default=1, metavar="N", help="an Nth of the constructs, all at night")
    parser.add_argument("names", nargs="*", help="constructs; default all")
    args = parser.parse_args()

    constructs = scale.share(read_constructs(args.names), args.shares)
    tools = Tools(args.cosycc, args.clang, args.include, args.work, args.flags.split(), args.link.split())
    args.work.mkdir(parents=True, exist_ok=True)
    levels = args.levels.split(",")
    if args.put:
        # Nothing stays of a construct that is no more.
        shutil.rmtree(args.put, ignore_errors=True)
        args.put.mkdir(parents=True)

    failures = 0
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        jobs = {
            pool.submit(check_level, tools, c, level, args.put if level == levels[-1] else None): (c, level)
            for c in constructs
            for level in levels
        }
        for job in concurrent.futures.as_completed(jobs):
            construct, level = jobs[job]
            try:
                job.result()
            except Failed as error:
                failures += 1
                print(f"FAIL {construct.name} -{level}: {error}", flush=True)
    print(f"{len(jobs) - failures} of {len(jobs)} passed ({len(constructs)} constructs)")
    return failures != 0


if __name__ == "__main__":
    sys.exit(main())
