#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures the first runs of programs by one user: whole processes, marked and plain.

    bench/runs.py --kernel 6.12 --workload programs --row "du.*tree 500"
    bench/runs.py --kernel 6.12 --cases DIRECTORY
    bench/runs.py --kernel 7.3 --workload process --row records --size 6600
    bench/runs.py --workload packages --files 500,5000 --fs ext4 --count 3

The virtual machine's clock counts instructions. Each program runs --count times plain, after one
run that does not count, and then as often marked, by the default settings, and the module knows
nothing of it before. Prints for each program the instructions of plain, and marked to plain: each
run, the third one alone, and the sum. A thread of the kernel compiles for later runs: each run begins
when that thread is idle. "background" is all of its work, in plain runs; its work during a run also
counts in the run, and its work after a run in the sum.

--reread is for trees on ext4: as after a start of the machine, the kernel's caches then have the names of
a directory in the order in which the program's first run, which does not count, asked for them.

Packages are other projects' programs: Debian's sources, built as they are and with the marks of
packages/marks.py. A run that could not be, since a package is not to be had, ends with status 77.

A directory of cases has, for each, NAME.c or NAME.cpp, and NAME.sh; NAME.sh DIRECTORY makes the program's input
and prints its arguments. A case whose input is changed by the program says "prepare it again".
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import cases
import lanes
from packages import build as packages

HERE = Path(__file__).resolve().parent
TREE = HERE.parent
CONTENDERS = ("plain", "COSY-FAST")
# What bench/workloads/programs.c gives the equivalents beside the tree.
WORDS = {"grep": ["specification"]}


@dataclass
class Row:
    """A program, with what its runs took."""

    name: str
    program: str  # below the contenders' directories
    arguments: list[str]
    prepare: str = ""  # before each run
    check: str = ""  # after each run: what it prints counts as output
    waits: bool = False  # all of its processes sleep at times: the processor's time counts, not the clock's
    # cost, status, digest, and the costs of the background during it and after it
    runs: dict[str, list[tuple[int, int, str, int, int]]] = field(default_factory=dict)

    def complaint(self, count: int) -> str:
        """Returns why the row does not count, or nothing."""
        ways = [self.runs.get(contender, []) for contender in CONTENDERS]
        if any(len(way) != count for way in ways):
            return "not all of its runs ended"
        if any(status for way in ways for _, status, *_ in way):
            return "a run failed"
        if len({digest for way in ways for _, _, digest, *_ in way}) != 1:
            return "its runs printed different things"
        return ""

    def line(self) -> str:
        """Returns marked to plain as a row of a table: each run to plain's median, and sum to sum.

        In a few runs of either the kernel works for others, which the median leaves out.
        """
        plain, marked = ([cost for cost, *_ in self.runs[contender]] for contender in CONTENDERS)
        background = sum(during + after for *_, during, after in self.runs[CONTENDERS[1]])
        later = sum(after for *_, after in self.runs[CONTENDERS[1]])
        base = sorted(plain)[len(plain) // 2]
        third = f"{marked[2] / base:.3f}" if len(marked) > 2 else ""
        each = " ".join(f"{cost / base:.3f}" for cost in marked)
        total = (sum(marked) + later) / sum(plain)
        return f"| {self.name} | {base / 1e6:.2f} | {third} | {total:.3f} | {background / base:.3f} | {each} |"


def benchmark_rows(options: argparse.Namespace) -> list[Row]:
    """Returns the rows of bench/cases.py that are whole processes."""
    rows = []
    for case in (case for name in options.workload.split(",") for case in cases.cases(name)):
        if not re.search(options.row, case.name()):
            continue
        if case.program == "process":
            program = str(case.parameters["program"])
            count = str(options.size or case.settings["count"])
            name = f"{program} {count}"
            arguments = [".", count]
            if any(row.name == name for row in rows):
                continue
        else:
            program = str(case.settings["program"])
            tree = str(case.parameters["tree"])
            name = f"{case.parameters['command']}, {tree} files"
            arguments = [*WORDS.get(program, []), f"tree-{tree}"]
        rows.append(Row(name, f"{case.program}-{program}", arguments))
    return rows


def _regroup(tree: Path, size: int) -> None:
    """Puts the files of a tree into folders of `size` files each."""
    old = sorted(tree.iterdir())
    for number, file in enumerate(sorted(path for path in tree.rglob("*") if path.is_file())):
        folder = tree / f"folder-{number // size:04}"
        folder.mkdir(exist_ok=True)
        file.rename(folder / f"{number % size:03}-{file.name}"[:250])
    for folder in old:
        shutil.rmtree(folder)


def _package_rows(options: argparse.Namespace, scratch: Path) -> list[Row]:
    """Builds the packages of the rows that are wanted, and makes their input."""
    jobs = [job for job in packages.JOBS if re.search(options.row, job.name)]
    folders = {
        name: packages.build(name, options.cache / "bench-packages", options.build.resolve() / "bin/cosycc")
        for name in sorted({job.package for job in jobs})
    }
    rows = []
    for count in options.files.split(","):
        tree = scratch / f"tree-{count}"
        if any(job.input != "lines" for job in jobs):
            lanes.tree_make(tree, count)
            if options.folder:
                _regroup(tree, options.folder)
        made: dict[str, str] = {}
        for job in jobs:
            git = folders["git"][0] / "git" if "git" in folders else None
            if job.input not in made:
                made[job.input] = packages.input_make(job.input, count, scratch, tree, git)
            program = f"package-{job.program}"
            for contender, folder in zip(CONTENDERS, folders[job.package], strict=True):
                link = scratch / contender / program
                link.parent.mkdir(exist_ok=True)
                if not link.is_symlink():
                    link.symlink_to(folder / packages.marks.PACKAGES[job.package].programs[job.program])
            arguments = [argument.format(n=count) for argument in job.arguments]
            prepare = "; ".join(filter(None, (made[job.input], job.prepare.replace("{n}", count))))
            check = job.check.replace("{n}", count)
            rows.append(Row(f"{job.name}, {count}", program, arguments, prepare, check, job.waits))
    return rows


def _compile(options: argparse.Namespace, source: Path, scratch: Path) -> None:
    """Compiles a case both ways."""
    for contender, off in (("plain", ["-DCOSY_OFF", "-fno-cosy"]), ("COSY-FAST", [])):
        (scratch / contender).mkdir(exist_ok=True)
        out = scratch / contender / f"case-{source.stem}"
        driver = "cosyc++" if source.suffix == ".cpp" else "cosycc"
        compiler = [options.build / "bin" / driver, "-O2", f"-I{TREE / 'include'}", f"-I{TREE / 'include/uapi'}"]
        subprocess.run([*map(str, compiler), *off, str(source), "-o", str(out)], check=True)


def _cases(options: argparse.Namespace, scratch: Path) -> list[Row]:
    """Compiles the cases of a directory and makes their input, which machines get as one archive each."""
    rows = []
    for source in sorted([*options.cases.glob("*.c"), *options.cases.glob("*.cpp")]):
        if not re.search(options.row, source.stem):
            continue
        _compile(options, source, scratch)
        script = source.with_suffix(".sh")
        place = scratch / "made" / source.stem
        done = subprocess.run(["bash", str(script), str(place)], check=True, stdout=subprocess.PIPE, text=True)
        archive = scratch / f"{source.stem}.tar"
        subprocess.run(["tar", "cf", str(archive), "-C", str(place), "."], check=True)
        inside = f"/tmp/runs/{source.stem}"
        unpack = f"rm -rf {inside}; mkdir -p {inside}; tar xf /t/{archive.name} -C {inside}"
        changes = "prepare again" in script.read_text()
        arguments = done.stdout.replace(str(place), inside).split()
        rows.append(
            Row(
                source.stem,
                f"case-{source.stem}",
                arguments,
                unpack if changes else f"[ -d {inside} ] || {{ {unpack}; }}",
            )
        )
    return rows


def _script(rows: list[Row], count: int, place: str, reread: bool = False) -> str:
    """Returns the script that runs all; `@ ROW CONTENDER` announces whose runs follow."""
    lines = [f"mount -t tmpfs tmpfs /tmp; mkdir -p {place}; cd {place}; uname -r | sed 's/^/release /'"]
    # git reads the user's settings.
    lines += ["export HOME=/tmp"]
    # What bench/process reads, as process.c makes it.
    log = 'BEGIN { for (i = 0; i < 8000; i++) printf "%c %06d a line of a log, with words in\\n", 97 + i * 7 % 26, i }'
    lines += [f"awk {shlex.quote(log)} >log", "for i in /t/tree-*; do [ -d $i ] && cp -r $i .; done"]
    lines += ["echo 0 >/proc/sys/vm/dirty_writeback_centisecs"]
    for number, row in enumerate(rows):
        if reread:
            lines.append(f"( {row.prepare or 'true'} ); sync; echo 2 >/proc/sys/vm/drop_caches")
        # The first run finds the kernel's caches empty, so it does not count.
        for contender, times in (("first", 1), *((contender, count) for contender in CONTENDERS)):
            program = f"/t/{'plain' if contender == 'first' else contender}/{row.program}"
            lines.append(f"echo @ {number} {contender}")
            driver = ["/t/driver", "-p"] if row.waits else ["/t/driver"]
            lines.append(shlex.join([*driver, str(times), row.prepare, row.check, program, *row.arguments]))
    return "\n".join(lines) + "\n"


def _read(rows: list[Row], command: list[str]) -> str:
    """Runs a command and gives its lines to the rows; returns the kernel's release."""
    runs: list[tuple[int, int, str, int, int]] = []
    release = ""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, errors="replace") as process:
        assert process.stdout
        for line in process.stdout:
            words = line.split()
            if words[:1] == ["release"]:
                release = words[1]
            elif words[:1] == ["@"]:
                runs = rows[int(words[1])].runs.setdefault(words[2], [])
            elif words[:1] == ["run"] and re.fullmatch(r"run \d+ \d+ [0-9a-f]{16} \d+ \d+", line.strip()):
                runs.append((int(words[1]), int(words[2]), words[3], int(words[4]), int(words[5])))
            else:
                sys.stderr.write(line)
    if process.returncode:
        raise lanes.BenchError(f"{shlex.join(command[:6])} ...: exit status {process.returncode}")
    return release


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernel", default="6.12", metavar="SERIES")
    parser.add_argument("--workload", default="programs", help="packages, or programs, process, or both with a comma")
    parser.add_argument("--cases", type=Path, metavar="DIRECTORY", help="these programs instead")
    parser.add_argument("--row", default="", metavar="PATTERN", help="only rows whose names match")
    parser.add_argument("--size", type=int, metavar="N", help="of each program of process, in place of its own")
    parser.add_argument("--count", type=int, default=10, metavar="N", help="runs of each; 10")
    parser.add_argument("--files", default="500,5000,30000", help="of packages, several with commas between")
    parser.add_argument("--folder", type=int, metavar="N", help="of packages: regroup the files, N in a folder")
    parser.add_argument("--reread", action="store_true", help="the kernel forgets all names before a program's runs")
    parser.add_argument("--fs", default="tmpfs", choices=("tmpfs", "ext4"), help="that the files are on")
    parser.add_argument(
        "--cache",
        type=Path,
        default=Path(os.environ.get("COSY_CACHE") or Path.home() / ".cache/cosy"),
        metavar="DIR",
        help="where packages stay",
    )
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="in the programs' environment")
    parser.add_argument("--build", type=Path, default=TREE / "build", metavar="DIR")
    parser.add_argument("--tree", type=Path, default=TREE, metavar="DIR", help="where cosy.ko's sources are")
    return parser.parse_args()


def main() -> int:
    options = _arguments()
    with tempfile.TemporaryDirectory(prefix="cosy-runs-") as name:
        scratch = Path(name)
        if options.cases:
            rows = _cases(options, scratch)
        elif options.workload == "packages":
            try:
                rows = _package_rows(options, scratch)
            except packages.BuildError as error:
                print(f"runs: {error}", file=sys.stderr)
                return 77
        else:
            rows = benchmark_rows(options)
            for size in {row.arguments[-1] for row in rows if row.arguments[-1].startswith("tree-")}:
                lanes.tree_make(scratch / size, size.removeprefix("tree-"))
        if not rows:
            print("runs: no such row", file=sys.stderr)
            return 1
        guest = options.build.resolve() / "bench/guest"
        for contender in CONTENDERS:
            (scratch / contender).mkdir(exist_ok=True)
            for row in rows:
                if not (scratch / contender / row.program).exists():
                    os.symlink(guest / contender / row.program, scratch / contender / row.program)
        place = "/mnt/runs" if options.fs == "ext4" else "/tmp/runs"
        (scratch / "runs.sh").write_text(_script(rows, options.count, place, options.reread))
        put = [options.build / "bench/runs/driver", *(scratch / entry for entry in CONTENDERS), scratch / "runs.sh"]
        for pattern in ("tree-*", "*.tar", "names-*", "lines-*", "read.sh"):
            put += sorted(scratch.glob(pattern))
        command = [sys.executable, "-B", str(TREE / "tests/vm/vm.py"), "run", "--kernel", options.kernel]
        command += ["--tree", str(options.tree), "--icount", "--timeout", "5400"]
        command += ["--mem", "3072" if options.workload == "packages" else "1536"]
        for path in put:
            command += ["--put", str(path)]
        if options.fs == "ext4":
            (scratch / "disk").mkdir()
            command += ["--disk", str(scratch / "disk")]
        settings = " ".join(map(shlex.quote, options.set))
        try:
            release = _read(rows, [*command, "--", "sh", "-c", f"{settings} sh /t/runs.sh"])
        except lanes.BenchError as error:
            print(f"runs: {error}", file=sys.stderr)
            release = ""
    print(f"Linux {release}, {options.fs}, {options.count} runs of one user")
    print("| program | plain, million | third run | sum | background | each run |")
    print("| --- | --: | --: | --: | --: | --- |")
    bad = 0
    for row in rows:
        complaint = row.complaint(options.count)
        bad += bool(complaint)
        print(f"runs: {row.name}: {complaint}" if complaint else row.line())
    return 1 if bad or not release else 0


if __name__ == "__main__":
    sys.exit(main())
