#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures this machine's own programs under `cosy run --metadata`, and writes docs/measured/windows.md.

    bench/metadata.py --build build --json FILE [--kernels 6.12,7.3] [--fs tmpfs,ext4] [--trees 60,303,585,28427]
    bench/metadata.py --json FILE --page
    bench/metadata.py --build build --short

The virtual machine's clock counts instructions: a row is a whole process, start included, with the
library preloaded and without. A program that is not installed here is left out. Prints each row, and
at the end those that cost more with the library. --page writes the page from the lines of FILE.

On ext4-again the kernel forgets the trees after they were made, and a program reads them again. So the
cached names are in the order in which programs ask, as in a tree that was made before the machine was
started. On ext4 they are in the order in which they were made.

Exit status 1: a run failed, its output was not that of the others, or, in a run of all rows with more
than 500 files, no call was served.
"""

from __future__ import annotations

import argparse
import json
import platform
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import counted
import metadata_files
import report

WAYS = ("plain", "with")
LIBRARY = "libcosy-run-metadata.so"
# What `cosy run` sets; the library is there as it is in each program that a program under `cosy run` starts.
WITH = (f"LD_PRELOAD=/t/run/lib/cosy/{LIBRARY}", "COSY_RUN_POLICY=")
WALK = (
    "import os\nn = 0\nfor root, _, files in os.walk('.'):\n"
    "    for name in files:\n        n += os.lstat(os.path.join(root, name)).st_size\nprint(n)"
)
GIT = "git --git-dir=../git-{tree}"
COMMANDS = metadata_files.COMMANDS
PLACES = {"tmpfs": "/tmp/rows", "ext4": "/mnt/rows", "ext4-again": "/mnt/rows"}
LARGE = 10000  # files of a tree in which a program runs less often


@dataclass(frozen=True)
class Program:
    """A command line, of which {tree} is the tree's name, and what it is expected to save on tmpfs and ext4."""

    name: str
    command: str
    goals: tuple[int, ...] = ()  # per cent of 28,427 files
    place: str = "tree-{tree}"
    tool: str = ""  # the file of /usr/bin, unless it is the command's first word
    alone: bool = False  # it does not go over a tree: measured once
    small: bool = False  # in small trees alone
    waits: bool = False  # all of its processes sleep at times: the processor's time counts, not the clock's


PROGRAMS = (
    Program("true", "true", alone=True, place="."),
    Program("cosy run true", "cosy run --metadata -- true", alone=True, place=".", tool="true"),
    Program("find -size", "find . -size +1k", (30, 22)),
    Program("du -s", "du -s .", (33, 25)),
    Program("ls -sR", "ls -sR .", (28, 23)),
    Program("ls -lR", "ls -lR .", (22, 18)),
    Program("tar cf /dev/null", "tar cf /dev/null .", (32, 28)),
    Program("tar cf -", "tar cf - .", small=True),
    Program("python os.walk, lstat", f"python3 -S -c {shlex.quote(WALK)}", (13, 11)),
    Program("rsync -n", "rsync -an --out-format=%n . /tmp/nothing/", (8, 7), waits=True),
    Program("git status", f"{GIT} --work-tree=. status --short", (25, 22)),
    Program("git status, one thread", f"{GIT} --work-tree=. -c core.preloadIndex=false status --short"),
    Program("git diff", f"{GIT} --work-tree=. -c core.preloadIndex=false diff --stat", (33, 32)),
    Program(f"ninja, {COMMANDS} targets", "ninja", (10, 10), place="built", alone=True),
    Program(f"make, {COMMANDS} targets", "make", (10, 10), place="built", alone=True),
)


@dataclass
class Row:
    """A program in a tree, with what its runs took."""

    program: Program
    tree: str
    count: int  # of runs
    runs: dict[str, list[tuple[int, int, str]]] = field(default_factory=dict)  # cost, status, digest
    served: int = 0

    def complaint(self) -> str:
        """Returns why the row does not count, or nothing."""
        runs = [run for way in WAYS for run in self.runs.get(way, [])]
        if any(len(self.runs.get(way, [])) != self.count for way in WAYS):
            return "not all of its runs ended"
        if any(status for _, status, _ in runs):
            return "a run failed"
        if len({digest for *_, digest in runs}) != 1:
            return "its runs printed different things"
        return ""

    def cost(self, way: str) -> int:
        """Returns the least of the runs: some of them have work for others in them."""
        return min(cost for cost, *_ in self.runs[way])


def _count(tree: str) -> int:
    """Returns how many runs there are: the less a program does, the more of them differ by the places of its pages."""
    return 3 if tree and int(tree) > LARGE else 5


def _tool(program: Program) -> str:
    return program.tool or program.command.split()[0]


def _programs(options: argparse.Namespace) -> list[Program]:
    """Returns the programs that are wanted and installed here."""
    wanted = [program for program in PROGRAMS if re.search(options.row, program.name)]
    missing = sorted({_tool(program) for program in wanted if not Path("/usr/bin", _tool(program)).exists()})
    for tool in missing:
        print(f"metadata: there is no /usr/bin/{tool}, so its rows are left out", file=sys.stderr)
    return [program for program in wanted if _tool(program) not in missing]


def rows(programs: list[Program], options: argparse.Namespace) -> list[Row]:
    """Returns the rows of these programs."""
    found = []
    for program in programs:
        if program.place == "built" and options.short:
            continue
        trees = [""] if program.alone else options.trees.split(",")
        found += [Row(program, tree, _count(tree)) for tree in trees if not program.small or int(tree) <= LARGE]
    return found


def _script(found: list[Row], fs: str) -> str:
    """Returns the script that runs all; `@ ROW WAY` announces whose runs follow."""
    place = PLACES[fs]
    trees = sorted({row.tree for row in found if row.tree})
    lines = ["uname -r | sed 's/^/release /'"]
    lines += ['[ "$(cat /sys/module/cosy/parameters/metadata_state)" = on ] || exit 1']
    lines += ["mount -t tmpfs tmpfs /tmp", f"mkdir -p {place}; cd {place}"]
    lines += ["export HOME=/tmp LC_ALL=C PATH=/t/tools:/t/run/bin:$PATH PYTHONHOME=/t/python PYTHONDONTWRITEBYTECODE=1"]
    lines += ["echo 0 >/proc/sys/vm/dirty_writeback_centisecs"]
    for tree in trees:
        lines.append(f"cp -r /t/tree-{tree} .; [ ! -d /t/git-{tree} ] || cp -r /t/git-{tree} .")
    if any(row.program.place == "built" for row in found):
        lines.append("cp -r /t/built .; (cd built; ninja >/dev/null) || exit 1")
    # Files of an index must be older than it, and pages of a file must have been written.
    lines.append("sync; sleep 2")
    lines += [
        f"(cd tree-{tree}; git --git-dir=../git-{tree} --work-tree=. update-index -q --refresh; sync)"
        for tree in trees
        if any(row.tree == tree and row.program.command.startswith("git") for row in found)
    ]
    if fs == "ext4-again":
        lines.append("sync; echo 3 >/proc/sys/vm/drop_caches")
    for number, row in enumerate(found):
        place = row.program.place.format(tree=row.tree)
        command = shlex.split(row.program.command.format(tree=row.tree))
        # By its path: a search for it would count.
        starts_cosy = command[0] == "cosy"
        command[0] = "/t/run/bin/cosy" if starts_cosy else f"/t/tools/{command[0]}"
        plain, preloaded = command, [*WITH, *command]
        if starts_cosy:
            plain, preloaded = [f"/t/tools/{command[-1]}"], command
        runs = [("first", 1, plain), ("plain", row.count, plain), ("with", row.count, preloaded)]
        driver = ["/t/driver", "-p"] if row.program.waits else ["/t/driver"]
        for way, count, words in runs:
            lines.append(f"echo @ {number} {way}; cd {place}")
            lines.append(shlex.join([*driver, str(count), "", "", *words]))
            lines.append("cd - >/dev/null")
        if not starts_cosy:
            stats = shlex.join([*WITH, "COSY_RUN_STATS=9", *command])
            lines.append(f"(cd {place}; : >/tmp/stats; env {stats} 9>>/tmp/stats >/dev/null 2>&1)")
            lines.append("sed -n 's/^cosy: metadata: \\([0-9]*\\) calls.*/served \\1/p' /tmp/stats")
    return "\n".join(lines) + "\n"


def read(found: list[Row], output: Iterable[str]) -> str:
    """Gives a machine's lines to the rows; returns the kernel's release."""
    release, row, way = "", found[0], ""
    for line in output:
        words = line.split()
        if words[:1] == ["release"]:
            release = words[1]
        elif words[:1] == ["@"]:
            row, way = found[int(words[1])], words[2]
        elif re.fullmatch(r"run \d+ \d+ [0-9a-f]{16} \d+ \d+", line.strip()):
            row.runs.setdefault(way, []).append((int(words[1]), int(words[2]), words[3]))
        elif words[:1] == ["served"]:
            row.served += int(words[1])
        else:
            sys.stderr.write(line)
    return release


def measure(options: argparse.Namespace, programs: list[Program], kernel: str, fs: str, scratch: Path) -> list[dict]:
    """Runs all rows in one machine, and returns a line for each."""
    found = rows(programs, options)
    (scratch / f"rows-{fs}.sh").write_text(_script(found, fs))
    put = [options.build / "bench/runs/driver", scratch / f"rows-{fs}.sh", scratch / "tools", scratch / "run"]
    put += [path for path in metadata_files.all_of(scratch) if path.exists()]
    command = [sys.executable, "-B", str(counted.VM), "run", "--kernel", kernel, "--tree", str(options.tree)]
    command += ["--icount", "--timeout", "0", "--mem", "512" if options.short else "3072", "--append=cosy.metadata=1"]
    for path in put:
        command += ["--put", str(path)]
    if fs != "tmpfs":
        (scratch / "disk").mkdir(exist_ok=True)
        command += ["--disk", str(scratch / "disk")]
    with subprocess.Popen(
        [*command, "--", "sh", f"/t/rows-{fs}.sh"], stdout=subprocess.PIPE, text=True, errors="replace"
    ) as process:
        assert process.stdout
        release = read(found, process.stdout)
    if process.returncode:
        sys.exit(f"metadata: the machine ended with status {process.returncode}")
    lines = []
    for row in found:
        name = f"{row.program.name}{', ' * bool(row.tree)}{row.tree}"
        if complaint := row.complaint():
            print(f"FAIL {name}, Linux {release}, {fs}: {complaint}", flush=True)
            lines.append({"failed": name})
            continue
        line = {"row": row.program.name, "tree": row.tree, "fs": fs, "kernel": release, "served": row.served}
        if row.tree:
            line["folders"], line["files"] = metadata_files.counts(scratch / f"tree-{row.tree}")
        line |= {way: row.cost(way) for way in WAYS}
        print(f"Linux {release}, {fs}: {name}: {said(line)}", flush=True)
        lines.append(line)
    return lines


def less(line: dict) -> float:
    """Returns how many per cent less a program needs with the library."""
    return 100 * (1 - line["with"] / line["plain"])


def millions(line: dict, way: str) -> str:
    value = line[way] / 1e6
    return f"{value:,.1f}" if value >= 10 else f"{value:.2f}"


def saved(line: dict) -> str:
    return f"{less(line):.1f} %".replace("-0.0", "0.0")


def said(line: dict) -> str:
    served = f"; {line['served']} calls served" if line["served"] else ""
    return f"{millions(line, 'plain')} -> {millions(line, 'with')} million, saves {saved(line)}{served}"


def _series(line: dict) -> str:
    return ".".join(line["kernel"].split(".")[:2])


def _columns(lines: list[dict]) -> list[tuple[str, str]]:
    """Returns the file systems and kernels that were measured."""
    return sorted({(line["fs"], _series(line)) for line in lines}, key=lambda at: (at[0] != "tmpfs", at))


def tree_table(lines: list[dict], tree: str, goals: bool) -> str:
    """Returns a table of all programs in this tree."""
    columns = _columns(lines)
    head = ["command"]
    for fs, series in columns:
        head += [f"{fs.replace('-again', ' read again')}, {series}", "saves"]
    head += ["goals"] if goals else []
    body = []
    for program in PROGRAMS:
        cells = []
        for at in columns:
            some = [
                line
                for line in lines
                if (line["fs"], _series(line)) == at and (line["row"], line["tree"]) == (program.name, tree)
            ]
            line = some[-1] if some else None
            cells += [f"{millions(line, 'plain')} → {millions(line, 'with')}", saved(line)] if line else ["", ""]
        if any(cells):
            goal = " / ".join(map(str, program.goals)) + " %" if program.goals else ""
            body.append([f"`{program.name}`", *cells, *([goal] if goals else [])])
    return report.table(head, body)


def lost_table(lines: list[dict]) -> str:
    """Returns a table of the rows that cost more with the library, the worst first."""
    lost = sorted((line for line in lines if less(line) < 0), key=less)
    if not lost:
        return "Nowhere.\n"
    body = [[f"`{line['row']}`", line["tree"], line["fs"], _series(line), f"{-less(line):.1f} %"] for line in lost]
    return report.table(["command", "files", "on", "Linux", "costs more"], body)


def document(lines: list[dict]) -> str:
    """Returns the page."""
    trees = sorted({line["tree"] for line in lines if line["tree"]}, key=int, reverse=True)
    kernels = " and ".join(
        sorted({line["kernel"] for line in lines}, key=lambda name: [*map(int, name.split(".")[:2])])
    )
    parts = []
    for tree in trees:
        line = next(line for line in lines if line["tree"] == tree)
        heading = f"## {line['files']:,} files in {line['folders']:,} directories"
        parts += [heading, tree_table(lines, tree, tree == trees[0])]
    if any(not line["tree"] for line in lines):
        parts += ["## Programs without a tree", tree_table(lines, "", True)]
    release = platform.freedesktop_os_release()["PRETTY_NAME"]
    return counted.page(
        "Metadata windows",
        "What `cosy run --metadata` ([experimental](../inside/windows.md)) saves, and what it costs. Written by "
        "`make bench-metadata` from what `bench/metadata.py` measured.",
        f"{counted.machine(kernels)}. Millions of instructions of whole processes, start included: natively → with the "
        "library preloaded; the least of 5 runs, or of 3 in the largest tree. Outputs were equal in all runs. "
        f"Programs of {release}. *Goals*: what a prototype with a weaker guard saves on tmpfs and on ext4, or a "
        "little more.",
        *parts,
        "## Where it loses",
        "Every row that costs more with the library.",
        lost_table(lines),
        # Sections of the page.
        f"\n{report.remarks_of('metadata')}".replace("\n### ", "\n## ").strip(),
    )


def _newest(lines: Iterable[dict]) -> list[dict]:
    """Keeps the last line of each row."""
    return list({(line["row"], line["tree"], line["fs"], _series(line)): line for line in lines}.values())


def main() -> int:
    parser = counted.parser(__doc__)
    parser.add_argument("--kernels", default="", metavar="SERIES,...", help="in place of --kernel")
    parser.add_argument("--fs", default="tmpfs", metavar="TYPE,...", help="tmpfs, ext4, ext4-again")
    parser.add_argument("--trees", default="60,303,585,28427", metavar="FILES,...", help="files in each")
    parser.add_argument("--row", default="", metavar="PATTERN", help="only rows whose names match")
    parser.add_argument("--json", type=Path, metavar="FILE", help="append a line for each row")
    parser.add_argument("--page", action="store_true", help="write the page from that file's lines")
    parser.add_argument("--short", action="store_true", help="small trees")
    options = parser.parse_args()
    if options.page:
        lines = _newest(map(json.loads, options.json.read_text().splitlines()))
        (options.docs / "windows.md").write_text(document(lines))
        return 0
    if options.short:
        options.trees = "60,585"
    lines, programs = [], _programs(options)
    with tempfile.TemporaryDirectory(prefix="cosy-metadata-") as name:
        scratch = Path(name)
        (scratch / "tools").mkdir()
        for tool in sorted(set(map(_tool, programs))):
            (scratch / "tools" / tool).symlink_to(Path("/usr/bin", tool).resolve())
        for file, place in ((f"lib/cosy/{LIBRARY}", "run/lib/cosy"), ("bin/cosy", "run/bin")):
            (scratch / place).mkdir(parents=True)
            shutil.copy(options.build / file, scratch / place)
        metadata_files.make(scratch, options.trees.split(","), (scratch / "tools/git").exists())
        for kernel in (options.kernels or options.kernel).split(","):
            for fs in options.fs.split(","):
                lines += measure(options, programs, kernel, fs, scratch)
    measured = [line for line in lines if "failed" not in line]
    if options.json:
        with options.json.open("a") as file:
            file.writelines(json.dumps(line) + "\n" for line in measured)
    print("where it loses:\n" + lost_table(measured))
    unserved = [line for line in measured if line["tree"] and int(line["tree"]) > 500 and not line["served"]]
    for line in unserved if not options.row else []:
        print(f"FAIL {line['row']}, {line['tree']}: no call was served")
    return 1 if len(measured) < len(lines) or (unserved and not options.row) else 0


if __name__ == "__main__":
    sys.exit(main())
