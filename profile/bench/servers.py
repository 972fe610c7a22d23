#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What `cosy profile` finds in squid and PostgreSQL by itself, and whether what it predicts is so.

    profile/bench/servers.py --build build [--rounds 15] [--only squid] [--docs docs/measured]

Each server runs under the load of run/bench/servers.py while it is recorded.  Then servers that
nobody records take turns under the same load: two plain ones, which shows what the machine alone
makes of a difference, and one for each way that was predicted.  Writes docs/measured/servers.md.
What was measured is kept in build/profile/servers, so that one
server alone can be measured again.  The status says whether every answer was right, never how much anything saves.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import Any

TOP = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / "run/bench"), str(TOP / "bench")]

import servers  # noqa: E402  (run/bench/ is no package)
import versions  # noqa: E402
from installed import Installed, install  # noqa: E402
from lines import spread  # noqa: E402
from report import narrow, table  # noqa: E402

Kind = type[servers.Postgres] | type[servers.Squid]
Json = dict[str, Any]
KINDS: tuple[tuple[Kind, str], ...] = ((servers.Squid, "squid"), (servers.Postgres, "PostgreSQL"))
WAYS = {"cosy run": ["run", "--"], "relax=trunc": ["run", "--relax=trunc", "--"]}
MAX_NOISE = 4  # per cent
DEAREST = 6  # of a server's calls and loops


def _below(pid: int) -> list[int]:
    """A process and all that descends from it."""
    found = [pid]
    for one in found:
        for listed in Path(f"/proc/{one}/task").glob("*/children"):
            found += map(int, listed.read_text().split())
    return found


def _record(kind: Kind, build: Path, root: Path) -> tuple[Json, int]:
    """What `cosy profile` says of the running server, and how many requests that were."""
    one = kind(root, "recorded", [])
    began, done, report = (root / f"{kind.__name__}.{name}" for name in ("began", "done", "json"))
    load = f"touch {began}; until [ -e {done} ]; do sleep 0.05; done"
    with servers._server(one.command, kind.user, one.directory, one.port) as server:
        one.prepare()
        one.load(kind.warm_up)
        # Those that served the warm-up are gone then.
        time.sleep(2)
        pids = ",".join(map(str, _below(server.pid)))
        command = [build / "bin/cosy", "profile", "--load", load, "--json", report, "-p", pids]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as profile:
            for _ in range(600):
                if began.exists() or profile.poll() is not None:
                    break
                time.sleep(0.1)
            made, state = one.load(kind.amount)
            done.touch()
            text, _ = profile.communicate(timeout=120)
        if profile.returncode or not began.exists():
            raise RuntimeError(f"cosy profile: status {profile.returncode}")
    print(f"{kind.__name__}: {made} {kind.unit}s, {state.strip()}\n{text}")
    said: Json = json.loads(report.read_text())
    said["text"] = text
    return said, made


def _compare(kind: Kind, cosy: Installed, root: Path, rounds: int) -> tuple[dict[str, list[float]], list[str]]:
    """Us of processor time for each request, by contender and round; and what was wrong."""
    contenders = {"plain": [], "plain again": []} | {name: [cosy.command, *words] for name, words in WAYS.items()}
    took: dict[str, list[float]] = {name: [] for name in contenders}
    wrong = []
    with ExitStack() as stack:
        running = []
        for name, prefix in contenders.items():
            one = kind(root, name.replace(" ", "-"), prefix)
            server = stack.enter_context(servers._server(one.command, kind.user, one.directory, one.port))
            one.prepare()
            one.load(kind.warm_up)
            running.append((name, one, server))
        for turn in range(rounds):
            states = set()
            for name, one, server in running[:: -1 if turn % 2 else 1]:
                used = servers._cpu(server.pid)
                done, state = one.load(kind.amount)
                # A backend that has ended is counted when its parent has waited for it.
                time.sleep(0.1)
                took[name].append(1e6 * (servers._cpu(server.pid) - used) / max(done, 1))
                states.add(state)
            if len(states) != 1:
                wrong.append(f"{kind.__name__}: answers differ: {sorted(states)}")
    return took, wrong


# --- The document ----------------------------------------------------------------------------------


def _share(part: float, whole: float) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "-"


def _calls(report: Json, requests: int) -> str:
    calls: Counter[str] = Counter()
    kernel: Counter[str] = Counter()
    slept: Counter[str] = Counter()
    for site in report["sites"]:
        calls[site["call"]] += site["calls"]
        kernel[site["call"]] += site["kernel_ns"]
        slept[site["call"]] += site["slept"]
    return table(
        ("call", "for each", "of the calls", "of the kernel's time", "slept"),
        (
            (
                name,
                f"{calls[name] / requests:.2f}",
                _share(calls[name], report["calls"]),
                _share(kernel[name], report["kernel_ns"]),
                _share(slept[name], calls[name]),
            )
            for name, _ in kernel.most_common(DEAREST)
        ),
    )


def _loops(report: Json) -> str:
    rows = sorted(report["rows"], key=lambda row: -row["kernel_ns"])[:DEAREST]
    return table(
        ("loop", "of the calls", "of the kernel's time"),
        (
            (
                f"`{row['sequence']}`",
                _share(row["calls"], report["calls"]),
                _share(row["kernel_ns"], report["kernel_ns"]),
            )
            for row in rows
            if len(row["sequence"]) < 120
        ),
    )


def _sessions(report: Json) -> list[str]:
    """Files that are opened, only written, and closed: what the paper saw with the naked eye."""
    whole = [
        one
        for one in report["sessions"]
        if one["of"] == "file" and "write" in one["sequence"] and "read" not in one["sequence"]
    ]
    times, calls = (sum(one[key] for one in whole) for key in ("times", "calls"))
    if not times:
        return []
    return [f"Open-write-close: {times:,} files, {calls:,} calls, {_share(calls, report['calls'])} of all.", ""]


def _findings(report: Json, cpu: float) -> str:
    shown = [one for one in report["findings"] if one["way"] != "nothing"]
    shown += [one for one in report["findings"] if one["way"] == "nothing" and len(one["title"]) < 120][:DEAREST]
    return table(
        ("way", "finding", "saves"),
        (
            (
                one["way"],
                one["title"],
                "{:.1f} to {:.1f} %".format(*(100 * one["saves_ns"][at] / cpu for at in (0, 2)))
                if one["way"] != "nothing"
                else one["why"],
            )
            for one in shown
        ),
    )


def _predicted(report: Json, way: str, cpu: float) -> str:
    """A range in per cent of the processor time; none where it is not advised."""
    found = [one["saves_ns"] for one in report["findings"] if one["way"] == way]
    return "{:.1f} to {:.1f} %".format(*(100 * found[0][at] / cpu for at in (0, 2))) if found else "not advised"


def _measured(report: Json, took: dict[str, list[float]], cpu: float) -> str:
    rows = []
    for name, values in took.items():
        parts = [100 * (1 - one / plain) for one, plain in zip(values, took["plain"], strict=True)]
        quarters = statistics.quantiles(parts, n=4) if len(parts) > 1 else [parts[0], 0, parts[0]]
        rows.append(
            (
                name,
                f"{statistics.median(values):.1f} us",
                f"{100 * spread(values):.0f} %",
                _predicted(report, name, cpu) if name in WAYS else "",
                ""
                if name == "plain"
                else f"{statistics.median(parts):.1f} %, half of all {quarters[0]:.1f} to {quarters[2]:.1f}",
            )
        )
    return table(("", "median", "spread", "predicted to save", "measured"), rows)


def _useless(report: Json, call: str) -> tuple[int, int]:
    """How many of the calls of one kind could be left out, of how many."""
    sites = [site for site in report["sites"] if site["call"] == call]
    return sum(site["useless"] for site in sites), sum(site["calls"] for site in sites)


def _kernel(report: Json, call: str, of: str) -> str:
    took = sum(site["kernel_ns"] for site in report["sites"] if site["call"] == call and site["of"] == of)
    return _share(took, report["kernel_ns"])


def _then_and_now(name: str, report: Json) -> list[str]:
    """What the paper says of a server, and what is found by itself."""
    seeks, waits = _useless(report, "lseek"), _useless(report, "epoll_wait")
    if name == "squid":
        rows = [
            (
                "open-write-close: many occurrences; its share not known for want of a profiler of several processes",
                " ".join(_sessions(report)).strip() or "none",
            ),
            ("-", f"lseek: {seeks[0]:,} of {seeks[1]:,} go where the file already is"),
            ("-", f"epoll_wait: {waits[0]:,} of {waits[1]:,} do not sleep"),
            ("-", f"writes to sockets: {_kernel(report, 'write', 'socket')} of the kernel's time"),
        ]
    else:
        empty = sum(site["errors"] for site in report["sites"] if site["call"] == "recvfrom")
        rows = [
            (
                "no data: it has several processes",
                f"{report['processes']} processes, {report['lost']} of {report['calls']:,} calls lost",
            ),
            ("-", f"recvfrom: {empty:,} find nothing"),
            ("-", f"writes to sockets: {_kernel(report, 'sendto', 'socket')} of the kernel's time"),
        ]
    return [table(("the paper", "found now"), rows)]


def _noise(took: dict[str, list[float]]) -> list[str]:
    parts = [100 * (1 - one / plain) for one, plain in zip(took["plain again"], took["plain"], strict=True)]
    quarters = statistics.quantiles(parts, n=4)
    if quarters[2] - quarters[0] < MAX_NOISE:
        return []
    return [
        "Half of the time two plain servers differ by so much that no prediction above is confirmed or refuted.",
        "",
    ]


def _section(name: str, unit: str, kept: Json) -> list[str]:
    report, requests, took = kept["report"], kept["requests"], kept["took"]
    cpu = report["kernel_ns"] + report["user_ns"]
    useless = sum(site["useless"] for site in report["sites"])
    backend = next((line for line in report["text"].splitlines() if "recorded by" in line), "").strip()
    return [
        f"## {name}",
        "",
        f"{kept['version']}. {requests:,} {unit}s: {report['calls']:,} calls ({report['calls'] / requests:.1f} for "
        f"each), {report['processes']} processes, {_share(report['kernel_ns'], cpu)} of the processor time in calls, "
        f"{_share(report['in_loops'], report['calls'])} of the calls in loops, {_share(useless, report['calls'])} of "
        f"them useless, {report['lost']} lost; {backend}.",
        "",
        f"Recording added {report['added_ns']:,} ns to a call while it was calibrated; for each {unit} that would be "
        f"{_share(report['added_ns'] * report['calls'] / requests / 1000, statistics.median(took['plain']))} more "
        "processor time.",
        "",
        *_then_and_now(name, report),
        _calls(report, requests),
        "The dearest loops:",
        "",
        _loops(report),
        "What it says, in its own words, and in per cent of the processor time:",
        "",
        _findings(report, cpu),
        f"Processor time for each {unit}, nobody recording, {len(took['plain'])} rounds:",
        "",
        _measured(report, took, cpu),
        *_noise(took),
    ]


INTRODUCTION = """# Two servers

What "Poking holes" (§4.1, §4.2) looked for in squid and PostgreSQL by strace and the naked eye,
found by [`cosy profile`](../use/profiling.md): `make bench-servers` writes this.

Loads are those of [cosy run](cosy-run.md#servers), on the loopback. *Predicted* is what `cosy
profile` said of the recorded server. *Measured* is what the same server took under the same load
when nobody recorded it, in turn with a plain one, in each round less than that one's; *plain again*
is a second plain one, so what it "saves" is the machine's noise. That is what `--verify --load`
does, but of servers that keep running, so that starting them does not count.

`relax=trunc` is advised for files that the recording shows to have contents when they are opened
with O_TRUNC. Most of those that squid makes under this load are new: then nothing is truncated and
nothing saved.
"""


def _measure(kind: Kind, build: Path, rounds: int) -> tuple[Json, list[str]]:
    with tempfile.TemporaryDirectory() as made:
        root = Path(made)
        root.chmod(0o755)
        cosy = install(build, root / "cosy")
        report, requests = _record(kind, build, root)
        took, wrong = _compare(kind, cosy, root, rounds)
    return {"version": kind.version(), "report": report, "requests": requests, "took": took}, wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=TOP / "build")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--only", choices=[name for _, name in KINDS], help="measure one of them again")
    parser.add_argument("--written", action="store_true", help="measure nothing, write what was measured last")
    parser.add_argument("--docs", type=Path, default=TOP / "docs/measured")
    options = parser.parse_args()
    if os.geteuid():
        print("bench: only root can start servers as their own users", file=sys.stderr)
        return 1
    out = [INTRODUCTION, f"On {versions.machine('native')}.", ""]
    wrong = []
    for kind, name in KINDS:
        path = options.build / f"profile/servers-{name}.json"
        if options.only in (None, name) and not options.written:
            if kind.missing():
                wrong.append(kind.missing())
                continue
            kept, bad = _measure(kind, options.build, options.rounds)
            wrong += bad
            path.write_text(json.dumps(kept))
        if path.exists():
            out += _section(name, kind.unit, json.loads(path.read_text()))
    if not wrong:
        (options.docs / "servers.md").write_text(narrow("\n".join(out).rstrip()))
    for what in wrong:
        print(f"bench: {what}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
