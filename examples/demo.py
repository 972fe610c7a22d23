#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The demo, in three steps.

1. An unmodified program under `cosy run`, on this machine: no module, no privilege.
2. What people's programs do all day: plain calls, io_uring and compounds side by side, instructions
   counted by a virtual machine's clock.
3. A real tree of files, copied by the plain and by the compound build of copy.c.

Step 3 runs on this machine when `cosy doctor` says that a compound would run here, else in
virtual machines: one whose clock counts instructions, one for wall time. Each step fails
unless what came out is the same, byte by byte.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
VM = HERE.parent / "tests" / "vm" / "vm.py"
BENCH = HERE.parent / "bench" / "run.py"
FEWEST = 1000  # files in the tree, so that start-up does not count

# Step 1: a program that reads byte by byte, as much as takes a second.
BYTES = 2 << 20
PERL = 'open F, "<", shift or die; while (sysread F, $b, 1) { $n += ord $b } print $n'
ROUNDS = 3


class DemoError(Exception):
    """One printable reason why there is no demo."""


@dataclass
class Outcome:
    """The output of demo-guest.sh."""

    files: int = 0
    bytes: int = 0
    ns: dict[str, int] = field(default_factory=dict)  # of the timed round, by build
    stats: dict[str, int] = field(default_factory=dict)  # libcosy's, of the compound build
    calls: int = 0  # all system calls of the plain build
    same: set[str] = field(default_factory=set)

    @staticmethod
    def parse(text: str) -> Outcome:
        out = Outcome()
        for line in text.splitlines():
            words = line.split()
            if words[:1] == ["timed"] and len(words) == 8:
                out.files, out.bytes = int(words[3]), int(words[5])
                out.ns[words[1]] = int(words[7])
            elif words[:1] == ["calls"]:
                out.calls = int(words[1])
            elif words[:1] == ["same"]:
                out.same.add(words[1])
            elif words[:1] == ["stats"]:
                out.stats |= {k: int(v) for k, v in re.findall(r"([a-z_]+)[ =:]+(\d+)", line[6:])}
        if out.same != {"plain", "cosy"} or set(out.ns) != {"plain", "cosy"}:
            raise DemoError(f"the copies were not made or differ:\n{text}")
        return out


def cpu_seconds(command: list[str]) -> tuple[float, str]:
    """Returns the processor time of a command and its children, and what it printed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise DemoError(f"{' '.join(command)} ended with status {done.returncode}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout


def unmodified(build: Path) -> None:
    """Runs step 1: perl reads a file byte by byte, as it is and under `cosy run`, in turn."""
    cosy, perl = build / "bin" / "cosy", shutil.which("perl")
    if not perl:
        raise DemoError("perl is not installed")
    with tempfile.TemporaryDirectory(prefix="cosy-demo-") as name:
        file = Path(name) / "bytes"
        file.write_bytes(random.Random(1).randbytes(BYTES))
        plain = [perl, "-e", PERL, str(file)]
        times: dict[bool, list[float]] = {False: [], True: []}
        said: set[str] = set()
        for _ in range(ROUNDS):
            for under in times:
                seconds, output = cpu_seconds([str(cosy), "run", "--", *plain] if under else plain)
                times[under].append(seconds)
                said.add(output)
    if len(said) != 1:
        raise DemoError(f"perl printed something else under cosy run: {sorted(said)}")
    before, after = statistics.median(times[False]), statistics.median(times[True])
    print(
        f"  perl -e '{PERL}'\n"
        f"  as it is       {before:6.2f} s of processor time\n"
        f"  cosy run       {after:6.2f} s   ({before / after:.1f} times less, {BYTES:,} reads of one byte, same sum)"
    )


def known(build: Path, kernel: str) -> None:
    """Runs step 2: rows of the benchmark that need no explanation, each printed as soon as it is measured."""
    command = [
        sys.executable,
        "-B",
        str(BENCH),
        "--beside",
        "--build",
        str(build),
        "--kernel",
        kernel,
        "--contenders",
        "plain,io_uring,io_uring-linked,COSY-FAST",
    ]
    print(f"  {'instructions':40}{'per':8}{'plain C':>11}{'io_uring':>12}{'compound':>11}", flush=True)
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as bench:
        assert bench.stdout
        for text in bench.stdout:
            row = json.loads(text)
            needs, per = row["needs"], row["per"].split()[0]
            ring = min((value for name, value in needs.items() if name.startswith("io_uring")), default=None)
            values = [needs.get("plain"), ring, needs.get("COSY-FAST")]
            cells = "".join(f"{'-' if value is None else f'{value:,.0f}':>11} " for value in values)
            less = f"   {100 * (1 - values[2] / values[0]):.0f} % less" if values[0] and values[2] else ""
            print(f"  {row['title']:40}{per:8}{cells}{less}", flush=True)
    if bench.returncode != 0:
        raise DemoError(f"{' '.join(command)} ended with status {bench.returncode}")


def real_tree(into: Path) -> None:
    """Makes a tree of real files: the headers of the kernel that the virtual machine runs."""
    found = subprocess.run([sys.executable, VM, "fetch", "--kernel", "6.12"], stdout=subprocess.PIPE, text=True)
    root = Path(found.stdout.strip()) if found.returncode == 0 else Path("/usr")
    for source in [*root.glob("usr/src/linux-headers-*-common/include/linux"), root / "include"]:
        if source.is_dir() and sum(p.is_file() for p in source.rglob("*")) >= FEWEST:
            shutil.copytree(source, into, symlinks=True)
            return
    raise DemoError(f"no tree of {FEWEST} files under {root}")


def stage(build: Path, into: Path) -> None:
    for kind in ("plain", "cosy"):
        program = build / "examples" / kind / "copy"
        if not program.is_file():
            raise DemoError(f"{program} is missing: build first")
        shutil.copy2(program, into / f"{kind}-copy")
    shutil.copy2(HERE / "demo-guest.sh", into)
    if strace := shutil.which("strace"):
        shutil.copy2(strace, into / "strace")
    real_tree(into / "tree")


def run(command: list[str], **options: object) -> Outcome:
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, **options)  # type: ignore[call-overload]
    if done.returncode != 0:
        raise DemoError(f"{' '.join(map(str, command))} ended with status {done.returncode}:\n{done.stdout}")
    return Outcome.parse(done.stdout)


def in_vm(folder: Path, kernel: str, *options: str) -> Outcome:
    script = f"cd /t/{folder.name} && ./demo-guest.sh /tmp/out"
    return run(
        [
            sys.executable,
            str(VM),
            "run",
            "--kernel",
            kernel,
            "--mem",
            "1024",
            "--put",
            str(folder),
            *options,
            "--",
            "sh",
            "-c",
            script,
        ]
    )


def report(counted: Outcome | None, timed: Outcome) -> None:
    one = counted or timed
    files = one.files
    kernel = one.stats["kernel_calls"]
    interp, twins, runs = one.stats["interp_calls"], one.stats["native"], one.stats["runs"]
    rows: list[tuple[str, str, str]] = []

    def row(name: str, plain: float, cosy: float, unit: str = "") -> None:
        less = 100 * (1 - cosy / plain)
        change = f"{less:.1f} % less" if less >= 0 else f"{-less:.1f} % more"
        rows.append((name, f"{plain:,.1f}{unit}", f"{cosy:,.1f}{unit}   {change}"))

    if one.calls:
        # Every call of a region that ran in the kernel is one crossing less; every RUN is one more.
        row("system calls that cross into the kernel", one.calls / files, (one.calls - kernel + runs) / files)
    if counted:
        row("instructions", counted.ns["plain"] / files, counted.ns["cosy"] / files)
    row("wall time", timed.ns["plain"] / files / 1000, timed.ns["cosy"] / files / 1000, " us")

    print(f"\n{files} files, {one.bytes} bytes: every byte the same in both copies\n")
    print(f"{'per file':42}{'plain C':>16}   compound")
    for name, plain, cosy in rows:
        print(f"{name:42}{plain:>16}   {cosy}")
    made = kernel + interp
    print(
        "\nMost of a file's cost is creating it, which a compound does not change; what is saved is the crossings.\n"
        "docs/measured/costs.md has the break-even."
    )
    print(
        f"\nOf the {made} system calls of the regions {kernel} were made in the kernel; "
        f"{100 * interp / made:.2f} % of them and {twins} regions stayed native."
    )


def copies(build: Path, kernel: str, here: bool) -> None:
    """Runs step 3: copies a real tree."""
    with tempfile.TemporaryDirectory(prefix="cosy-demo-") as name:
        folder = Path(name)
        stage(build, folder)
        if here:
            report(None, run(["sh", "./demo-guest.sh", str(folder / "out")], cwd=folder))
        else:
            print("  counting instructions ...", flush=True)
            counted = in_vm(folder, kernel, "--icount")
            print("  by the clock ...", flush=True)
            report(counted, in_vm(folder, kernel))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=HERE.parent / "build", help="the build tree")
    parser.add_argument("--kernel", default="6.12", help="series of the virtual machine's kernel")
    options = parser.parse_args()
    doctor = subprocess.run([options.build / "bin" / "cosy", "doctor"], capture_output=True)
    here = doctor.returncode == 0
    where = "on this machine" if here else f"in a virtual machine with Debian's {options.kernel} kernel"
    try:
        print("1/3  an unmodified program, here, without module or privilege", flush=True)
        unmodified(options.build)
        print(f"\n2/3  marked programs, in a virtual machine with Debian's {options.kernel} kernel", flush=True)
        known(options.build, options.kernel)
        print(f"\n3/3  a tree of files, copied by either build, {where}", flush=True)
        copies(options.build, options.kernel, here)
    except DemoError as error:
        print(f"demo: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
