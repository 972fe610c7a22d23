#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Whether what `cosy profile` predicts of `cosy run` is so: programs recorded, then measured.

    profile/bench/predictions.py --build build [--rounds 9] [--only NAME,...] [--docs docs/measured]

Each program of predictions.list is recorded once and then run in turn as it is and under `cosy run`, without
a tracer (`cosy profile --verify`).  Where `cosy run` is not advised nothing is predicted to be saved, and
what it then saves or costs is shown all the same.  Writes a section of docs/measured/predictions.md.  The status says
whether every program could be recorded and measured, never how much anything saves.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from answers import HERE, TOP, Answer, judged, percent, section_write, table, versions

HEADING = "`cosy run`"


def inputs(folder: Path) -> None:
    """Makes the files that the programs read: text of 24 MB, short lines, a tree of small ones, an archive."""
    sources = sorted(path for path in Path("/usr/include").rglob("*.h") if path.is_file())
    text = bytearray()
    for path in sources:
        text += path.read_bytes()
        if len(text) > 24 << 20:
            break
    (folder / "text").write_bytes(bytes(text))
    (folder / "other").write_bytes(bytes(text) + b"\n")
    (folder / "lines").write_text("".join(f"{i * 2654435761 % 1000003}\tname {i}\n" for i in range(200000)))
    tree = folder / "tree"
    for number, path in enumerate(sources[:6000]):
        to = tree / f"{number % 100}"
        to.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, to / f"{number}.h")
    (folder / "read.tcl").write_text(
        "set f [open text rb]\nfconfigure $f -buffering none -buffersize 64\n"
        "set n 0\nwhile {![eof $f]} {incr n [string length [read $f 50]]}\nputs $n\n"
    )
    (folder / "man.1").write_text(".TH A 1\n" + ".SH NAME\na \\- b\n" * 400)
    subprocess.run(["tar", "-C", str(folder), "-cf", str(folder / "tree.tar"), "tree"], check=True)
    subprocess.run(["git", "init", "-q", str(tree)], check=True)
    subprocess.run(["git", "-C", str(tree), "add", "-A"], check=True)


def programs(only: set[str]) -> list[tuple[str, str]]:
    """Returns name and command of each line of predictions.list that can be run here; says which cannot."""
    found = []
    for line in (HERE / "predictions.list").read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        name, command = (part.strip() for part in line.split(":", 1))
        if only and name not in only:
            continue
        program = command.split()[0]
        if shutil.which(program):
            found.append((name, command))
        else:
            print(f"{name}: skipped, {program} is not installed", file=sys.stderr)
    return found


def ask(cosy: Path, name: str, command: str, rounds: int, folder: Path) -> Answer:
    """Records, predicts and measures one program.  Raises RuntimeError where that fails."""
    report = folder / "said.json"
    done = subprocess.run(
        [cosy, "profile", f"--verify={rounds}", "--json", report, "--", "sh", "-c", f"exec {command}"],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
    )
    if done.returncode not in (0, 1) or not report.exists():
        raise RuntimeError(f"{name}: status {done.returncode}\n{done.stderr[-2000:]}")
    said = json.loads(report.read_text())
    report.unlink()
    verified = said.get("verified")
    if not verified:
        raise RuntimeError(f"{name}: nothing was verified\n{done.stderr[-2000:]}")
    low, high = (percent(part) for part in verified["predicted"])
    return Answer(
        name,
        command,
        said["calls"],
        low,
        high,
        percent(verified["measured"]),
        percent(verified["noise"]),
        verified["in"],
        verified["plain_ns"] / 1e6,
        any(finding["way"] == "cosy run" for finding in said["findings"]),
    )


def document(answers: list[Answer], rounds: int) -> list[str]:
    """Returns the section's paragraphs."""
    rows = [
        [
            f"`{one.command}`",
            f"{one.calls:,}",
            f"{one.plain_ms:,.0f} ms",
            f"{one.low} to {one.high} %" if one.advised else "not advised",
            f"{one.measured} %, +-{one.noise}",
            "in" if one.within else "**out**",
        ]
        for one in answers
    ]
    return [
        "What [`cosy profile`](../use/profiling.md) said that `cosy run` would save, and what it saved: "
        "`make bench-predictions` writes this. The model was last mended with perl, tclsh, cmp, tar tf, dd bs=100 and "
        "the first two of python3 in view; it had seen none of the others. Per cent less processor time, "
        f"start-up included; medians of {rounds} runs each, in turn, without a tracer; behind +- the middle half of "
        "the rounds. A measurement is *in* when it lies in the predicted range give or take four points and that "
        "noise. Where `cosy run` is not advised it was measured all the same, against a prediction of nothing.",
        f"On {versions.machine('native')}.",
        table(["program", "calls", "plain", "predicted", "measured", ""], rows).strip(),
        judged(answers),
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=TOP / "build")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--only", default="", metavar="NAME,...")
    parser.add_argument("--docs", type=Path, default=TOP / "docs/measured")
    options = parser.parse_args()
    cosy = (options.build / "bin/cosy").resolve()
    answers, failed = [], 0
    with tempfile.TemporaryDirectory(prefix="cosy-predictions-") as name:
        folder = Path(name)
        inputs(folder)
        for title, command in programs(set(options.only.split(",")) - {""}):
            try:
                answers.append(ask(cosy, title, command, options.rounds, folder))
                print(answers[-1], flush=True)
            except RuntimeError as error:
                print(error, file=sys.stderr)
                failed += 1
    if not options.only:
        section_write(options.docs, HEADING, document(answers, options.rounds))
    return 1 if failed or not answers else 0


if __name__ == "__main__":
    sys.exit(main())
