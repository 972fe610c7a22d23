#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Whether what `cosy profile` predicts of regions is so: programs recorded, marked as advised, and measured.

    profile/bench/regions.py --build build [--kernel 6.12] [--fs tmpfs|ext4] [--only NAME,...] [--docs docs/measured]

Each program of regions.list is built from its plain source and recorded in a virtual machine, built again with the
loop of its best finding marked by -fcosy-suggest, or by the operation that is named, and both are run, in a machine
whose clock counts instructions.  Where no region is advised,
the loop that takes most is marked all the same, and its own range is what was predicted.  Writes a section of
docs/measured/predictions.md.  The status says whether every program could be recorded and measured, never how
much anything saves.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from answers import HERE, TOP, Answer, judged, percent, section_write, table, versions

SOURCES = HERE / "regions"
HEADING = "Regions"
TOLERANCE = 0.04  # parts of the whole by which two measurements differ in any case: profile/verify/verify.c
FILE_SYSTEMS = {"tmpfs": "/tmp/work", "ext4": "/mnt/work"}


class RegionsFault(Exception):
    """One printable reason why there is no result."""


@dataclass
class Said:
    """What a machine printed of one program."""

    took: list[int] = field(default_factory=list)  # us, plain and marked
    runs: int = 0  # of compounds
    differs: bool = False
    report: dict = field(default_factory=dict)
    text: list[str] = field(default_factory=list)


@dataclass
class Loop:
    """The finding that is tried."""

    finding: dict
    advised: bool

    @property
    def by_name(self) -> bool:
        return "cosy_scan_" in self.finding["do"]

    @property
    def line(self) -> str:
        place = self.finding["place"] or {}
        return f"{place['file']}:{place['line']}" if place.get("line") else ""


def inputs(folder: Path) -> None:
    """Makes the files that the programs read, the same each time."""
    some = random.Random(1)
    words = ["".join(some.choices("abcdefghijklmnopqrstuvwxyz", k=some.randint(1, 9))) for _ in range(500)]
    lines = (" ".join(some.choices(words, k=some.randint(3, 12))) + "\n" for _ in iter(int, 1))
    text = ""
    while len(text) < 1 << 20:
        text += next(lines)
    (folder / "text").write_text(text[: 1 << 20])
    (folder / "short").write_text(text[: 200 << 10])
    (folder / "index").write_text("".join(f"{2 * i:07} value{i % 100:02}\n" for i in range(20000)))
    (folder / "records").write_bytes(bytes(4096 * 128))
    for name in ("conf", "tree"):
        (folder / name).mkdir()
    for number in range(64):
        settings = "".join(f"{some.choice(words)} = {some.choice(words)}\n" for _ in range(some.randint(10, 60)))
        (folder / "conf" / f"{number}.conf").write_text(f"# settings\n{settings}")
    for number in range(500):
        (folder / "tree" / f"name-{number}").write_text(f"{number}\n")
    (folder / "names").write_text("".join(f"name-{number}\n" for number in range(500)))
    (folder / "links").mkdir()
    for number in range(64):
        (folder / "links" / f"{number}").symlink_to(f"../conf/{number}.conf")
    orders = (f"{some.randrange(4000) * 3:08}{some.randrange(10000):08}" for _ in range(40000))
    (folder / "customers").write_text("".join(f"{number * 6:08}{'':55}\n" for number in range(2000)))
    (folder / "orders").write_text("".join(f"{order:63}\n" for order in orders))


def compile_program(build: Path, program: str, to: Path, *options: str) -> str:
    """Compiles a program; returns the compiler's remarks.  Raises RegionsFault where it fails."""
    headers = (f"-I{TOP}/include", f"-I{TOP}/include/uapi")
    done = subprocess.run(
        [build / "bin/cosycc", "-std=gnu11", "-D_GNU_SOURCE", "-O2", "-g", *headers, *options, "-o", to]
        + [SOURCES / f"{program}.c"],
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise RegionsFault(f"{program}: {done.stderr}")
    return done.stderr


def machine(options: argparse.Namespace, scratch: Path, what: str) -> dict[str, Said]:
    """Runs regions.sh in a virtual machine; returns what it printed of each program."""
    put = [options.build / "profile" / name for name in ("cosy-profile", "cosy-observe")]
    put += [HERE / "regions.sh", *(scratch / name for name in ("regions.list", "inputs", "plain", "marked"))]
    command = [sys.executable, "-B", TOP / "tests/vm/vm.py", "run", "--kernel", options.kernel, "--icount"]
    command += ["--mem", "1024", "--timeout", "5400"]
    if options.fs == "ext4":
        (scratch / "disk").mkdir(exist_ok=True)
        command += ["--disk", scratch / "disk"]
    for path in put:
        command += ["--put", path]
    command += ["--", "sh", "/t/regions.sh", what, FILE_SYSTEMS[options.fs]]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, errors="replace")
    said = said_by(process.stdout)
    if process.wait():
        raise RegionsFault(f"the virtual machine ended with status {process.returncode}")
    return said


def said_by(lines: Iterable[str]) -> dict[str, Said]:
    """Reads what regions.sh prints."""
    found: dict[str, Said] = {}
    one, report = Said(), []
    for line in lines:
        mark = re.match(r"@ (\w+) ?(.*)", line)
        if not mark:
            report.append(line)
            continue
        if mark[1] in ("program", "end") and report:
            one.report = json.loads("".join(report))
        if mark[1] == "program":
            one, report = found.setdefault(mark[2], Said()), []
            print(f"  {mark[2]}", file=sys.stderr, flush=True)
        elif mark[1] == "text":
            one.text.append(mark[2])
        elif mark[1] == "differs":
            one.differs = True
        elif mark[1] == "runs":
            one.runs = int(mark[2])
        elif mark[1] == "took":
            one.took.append(int(mark[2]))
    return found


def loop_of(report: dict) -> Loop | None:
    """Returns the best region, or the loop that takes most of those with a line."""
    for finding in report["findings"]:
        if finding["way"] == "region" and finding["row"]:
            return Loop(finding, True)
    for finding in report["findings"]:
        if finding["way"] == "nothing" and finding["row"] and Loop(finding, False).line:
            return Loop(finding, False)
    return None


def mark(build: Path, program: str, loop: Loop, to: Path) -> str:
    """Builds the program as it is advised; returns why it cannot be, or nothing."""
    if loop.by_name:
        compile_program(build, program, to, "-DBY_NAME", "-fcosy-force", "-Werror=cosy")
        return ""
    if not loop.line:
        return "its line is unknown"
    remarks = compile_program(build, program, to, f"-fcosy-suggest={loop.line}", "-Rcosy")
    if "region compiled" in remarks:
        return ""
    to.unlink()
    why = re.search(r"stays native: (.*) \[", remarks)
    return why[1] if why else "the compiler marks nothing there"


def answer_of(name: str, command: str, loop: Loop, report: dict, said: Said) -> Answer:
    """Sets what was measured beside what was predicted of the loop."""
    if len(said.took) != 2 or said.differs:
        raise RegionsFault(f"{command}: {'other output' if said.differs else 'not measured'}: {said.text}")
    plain, marked = said.took
    low, _, high = (part / 1000 / plain for part in loop.finding["saves_ns"])
    measured = 1 - marked / plain
    return Answer(
        name,
        command,
        report["calls"],
        percent(low),
        percent(high),
        percent(measured),
        0,
        low - TOLERANCE <= measured <= high + TOLERANCE,
        plain / 1000,
        loop.advised,
    )


def document(answers: list[tuple[Answer, Loop, Said]], left: list[str], options: argparse.Namespace) -> list[str]:
    rows = [
        [
            f"`{one.command}`",
            loop.finding["title"].split(",")[0].replace("|", ""),
            f"{one.calls:,}",
            f"{one.plain_ms:,.0f} M",
            f"{one.low} to {one.high} %" if one.advised else f"not advised ({one.low} to {one.high} %)",
            f"{one.measured} %" + ("" if said.runs else ", native"),
            "in" if one.within else "**out**",
        ]
        for one, loop, said in answers
    ]
    paragraphs = [
        "What it said that a region would save, and what it saved: `make bench-predictions` writes this, too. The "
        "programs (`profile/bench/regions/`) are whole processes, compiled plain, recorded by fentry, compiled again "
        "with the best region's loop marked by `-fcosy-suggest` or by the operation that is named, and compared. Where "
        "none is advised, the loop that takes most is marked all the same: the range is then that of its own saving. "
        "Per cent fewer instructions, start-up included, in millions; *native*: the region did not go into the kernel. "
        "Programs with a pipe depend on how often the kernel switches to the other end, which no prediction has.",
        "The model was last mended with copy to filter in view, when calls of pipes, of a file's end and of names from "
        "the root got what the compiler's calls take beyond hand-written ones.",
        "It had seen none of tail to adler when they were first measured: 9 of the 9 that the compiler marked were in "
        "the range, and the compiler left 4 native. With stamps in view, a stat of several names after a call that is "
        "not by name then became one that the specialised version leaves alone; with links in view, all calls by paths "
        "earn the kernel as the compiler counts them.",
        f"{versions.machine('insn')}, Linux {options.kernel}, {options.fs}.",
        table(["program", "loop", "calls", "plain", "predicted", "measured", ""], rows).strip(),
        judged([one for one, _, _ in answers]),
    ]
    return paragraphs + ([f"The compiler left these native, for the reason given: {'; '.join(left)}."] if left else [])


def programs(only: set[str]) -> dict[str, str]:
    lines = (line.split(":", 1) for line in (HERE / "regions.list").read_text().splitlines() if line[:1].isalpha())
    return {name: command.strip() for name, command in lines if not only or name in only}


def record(options: argparse.Namespace, scratch: Path) -> dict[str, dict]:
    """Records the programs; returns what is said of each."""
    if options.said and options.said.exists():
        return json.loads(options.said.read_text())
    print("recording", file=sys.stderr)
    reports = {name: said.report for name, said in machine(options, scratch, "record").items()}
    if options.said:
        options.said.write_text(json.dumps(reports))
    return reports


def measure(options: argparse.Namespace, scratch: Path) -> int:
    """Records, marks and measures all of them; returns the status."""
    wanted = programs(set(options.only.split(",")) - {""})
    for name in ("inputs", "plain", "marked"):
        (scratch / name).mkdir()
    inputs(scratch / "inputs")
    (scratch / "regions.list").write_text("".join(f"{name}: {command}\n" for name, command in wanted.items()))
    for program in {"took", *(command.split()[0] for command in wanted.values())}:
        compile_program(options.build, program, scratch / "plain" / program, "-fno-cosy")
    reports = record(options, scratch)
    loops: dict[str, Loop] = {}
    refused: dict[str, str] = {}
    for name, command in wanted.items():
        loop = loop_of(reports[name])
        if not loop:
            refused[name] = "no loop of it has a line"
            continue
        why = mark(options.build, command.split()[0], loop, scratch / "marked" / name)
        if why:
            refused[name] = why
        else:
            loops[name] = loop
    print("measuring", file=sys.stderr)
    measured = machine(options, scratch, "measure")
    answers = []
    for name, loop in loops.items():
        said = measured.get(name, Said())
        answers.append((answer_of(name, wanted[name], loop, reports[name], said), loop, said))
        print(answers[-1][0], loop.finding["why"] or loop.finding["do"], said.runs, flush=True)
    left = [f"{name}: {why}" for name, why in refused.items()]
    for line in left:
        print(f"not marked: {line}", file=sys.stderr)
    if not options.only and options.fs == "tmpfs":
        section_write(options.docs, HEADING, document(answers, left, options))
    return 0 if answers else 1


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=TOP / "build")
    parser.add_argument("--kernel", default="6.12", metavar="SERIES")
    parser.add_argument("--fs", default="tmpfs", choices=tuple(FILE_SYSTEMS))
    parser.add_argument("--only", default="", metavar="NAME,...")
    parser.add_argument("--said", type=Path, metavar="FILE", help="take what was said from there, or keep it there")
    parser.add_argument("--docs", type=Path, default=TOP / "docs/measured")
    options = parser.parse_args()
    options.build = options.build.resolve()
    with tempfile.TemporaryDirectory(prefix="cosy-regions-") as name:
        try:
            return measure(options, Path(name))
        except RegionsFault as error:
            print(f"regions: {error}", file=sys.stderr)
            return 1


if __name__ == "__main__":
    sys.exit(main())
