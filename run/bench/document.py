#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes docs/measured/cosy-run.md of what measure.py wrote: document.py LINES [--docs DIR]"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass
from pathlib import Path

from lines import COSY, PLAIN, RATIO, TOP
from report import Results, narrow, number, table

# Synthetix (SOSP 1995), table 3: HP-UX's read, and the specialised one, in cycles.
TABLE_3 = {1: (3540, 979), 8192: (7039, 5220), 65536: (39733, 35043)}
# §5.1: a one-byte read specialised as far as it goes, and the C library's getc.
READC, GETC = 65, 38
# §4.2: open, ordinary and specialised.  §4.3: a guard.  §4.4: replugging, nobody inside.
OPEN = (5227, 5582)
GUARD, REPLUG = 11, 535

PER_CALL = f"{RATIO}, per call"


@dataclass(frozen=True)
class Target:
    """How many times faster, at least."""

    label: str
    least: float
    workload: str
    metric: str
    parameters: dict[str, str | int]


def _read(name: str, size: int, least: float) -> Target:
    label = f"read, {_bytes(size)}, {name}"
    return Target(label, least, name, PER_CALL, {"row": name, "size": size})


def _program(name: str, least: float) -> Target:
    return Target(name, least, "programs", f"{RATIO}, CPU", {"program": name})


def _bytes(size: int) -> str:
    return f"{size} B" if size < 1024 else f"{size // 1024} KB"


TARGETS = (
    _read("hot", 1, 40),
    _read("hot", 512, 15),
    _read("hot", 8192, 4),
    _read("hot", 65536, 1.5),
    _read("once over", 1, 40),
    _read("once over", 8192, 1.2),
    Target("open, read 4 KB, close", 0.98, "reads per open", PER_CALL, {"row": "1", "size": 4096}),
    _program("perl, 1 byte", 4),
    _program("python, 1 byte", 4),
    _program("sqlite3, random index reads", 2),
)
# Nothing may be slower than that, and an exec may cost so many us more.
NEVER_BELOW = 0.97
MAX_PER_EXEC = 10
# squid's open-write-close under --relax=trunc, on every file system measured.
MIN_RELAXED = 1.4


def _faster(row: Results, contender: str = COSY, metric: str = PER_CALL) -> float | None:
    return row.some(metric=metric).value(contender)


def _times(value: float | None) -> str:
    if value is None:
        return "-"
    text = f"{value:.1f}" if value >= 10 else f"{value:.2f}"
    return f"**{text}**" if value < NEVER_BELOW else text


def _rows(results: Results, workload: str) -> list[tuple[dict[str, str | int], Results]]:
    part = results.some(workload=workload)
    return [(row.lines[0]["parameters"], row) for row in part.rows()]


def _cost(row: Results, contender: str) -> str:
    return number(row.some(metric="per call").value(contender))


def _table_3(results: Results) -> str:
    rows = []
    for workload in ("hot", "once over"):
        for parameters, row in _rows(results, workload):
            size = int(parameters["size"])
            theirs = TABLE_3.get(size) if workload == "hot" else None
            rows.append(
                [
                    f"{workload}, {_bytes(size)}",
                    _cost(row, PLAIN),
                    _cost(row, COSY),
                    _times(_faster(row)),
                    *([f"{theirs[0]:,}", f"{theirs[1]:,}", f"{theirs[0] / theirs[1]:.2f}"] if theirs else ["", "", ""]),
                ]
            )
    return table(["", "read, ns", "cosy run, ns", "x", "HP-UX read, cycles", "is_read, cycles", "x"], rows)


def _getc(results: Results) -> str:
    names = [str(parameters["row"]) for parameters, _ in _rows(results, "readc")]
    found = [row for _, row in _rows(results, "readc")]
    if not found:
        return ""
    rows = [["read, 1 B", _cost(found[0], PLAIN), f"{TABLE_3[1][0]:,}"]]
    rows.append(["the same under `cosy run`", _cost(found[0], COSY), f"{TABLE_3[1][1]} (is_read), {READC} (readc)"])
    rows += [
        [name, _cost(row, name), str(GETC) if name == "getc" else ""] for name, row in zip(names, found, strict=True)
    ]
    return table(["", "ns", "Synthetix, cycles"], rows)


def _compared(results: Results, workload: str, theirs: dict[str, str] | None = None) -> str:
    rows = []
    for parameters, row in _rows(results, workload):
        label = str(parameters["row"]) + (f", {_bytes(int(parameters['size']))}" if parameters["size"] else "")
        cells = [label, _cost(row, PLAIN), _cost(row, COSY), _times(_faster(row))]
        rows.append(cells + ([theirs.get(str(parameters["row"]), "")] if theirs is not None else []))
    head = ["", "plain, ns", "cosy run, ns", "x"] + (["Synthetix, cycles"] if theirs is not None else [])
    return table(head, rows)


def _relaxed(results: Results) -> str:
    rows = []
    for workload in ("relax=trunc", "relax=coalesce", "relax=reflink"):
        for parameters, row in _rows(results, workload):
            label = f"{workload}: {parameters['row']}, {_bytes(int(parameters['size']))}, {row.lines[0]['fs']}"
            rows.append([label, _cost(row, PLAIN), _cost(row, COSY), _times(_faster(row))])
    return table(["", "plain, ns", "cosy run, ns", "x"], rows)


def _break_even(results: Results) -> str:
    rows = []
    sizes = sorted({int(parameters["size"]) for parameters, _ in _rows(results, "reads per open")})
    for size in sizes:
        mine = [(int(p["row"]), _faster(row)) for p, row in _rows(results, "reads per open") if p["size"] == size]
        cells = [f"{reads}: {_times(faster)}" for reads, faster in sorted(mine)]
        gains = [reads for reads, faster in sorted(mine) if faster is not None and faster > 1]
        steady = [reads for reads in gains if all(f is None or f > 1 for r, f in mine if r >= reads)]
        rows.append([_bytes(size), "; ".join(cells), f"at most {steady[0]}" if steady else "not reached"])
    return table(["reads of", "reads per open: times faster", "pays from"], rows)


def _more(row: Results, contender: str) -> float | None:
    """How many us an exec takes more than the plain one: by the median of the ratios of neighbours."""
    plain, ratio = row.some(metric="per call").value(PLAIN), _faster(row, contender)
    return None if plain is None or not ratio else plain * (1 / ratio - 1) / 1000


def _exec(results: Results) -> str:
    rows = []
    for _, row in _rows(results, "exec"):
        for contender in (PLAIN, "an empty library", "libcosy-run.so", COSY):
            value, more = row.some(metric="per call").value(contender), _more(row, contender)
            if value is not None:
                name = "plain" if contender == PLAIN else contender
                rows.append([name, f"{value / 1000:.1f}", "" if more is None else f"{more:+.1f}"])
    return table(["preloaded", "us", "more"], rows)


def _metrics(results: Results, workload: str, key: str, metrics: list[tuple[str, str]]) -> str:
    rows = []
    for parameters, row in _rows(results, workload):
        cells = [str(parameters[key])]
        for metric, _ in metrics:
            of_it = row.some(metric=metric)
            if of_it.lines:
                cells += [number(of_it.value(PLAIN)), number(of_it.value(COSY))]
                cells.append(_times(_faster(row, metric=f"{RATIO}, {metric}")))
        rows.append(cells)
    head = [""]
    for metric, unit in metrics:
        head += [f"{metric}, {unit}", "cosy run", "x"]
    return table(head, rows)


def _servers(results: Results) -> str:
    rows = []
    for parameters, row in _rows(results, "servers"):
        for line in row.some(contender=PLAIN).lines:
            metric = line["metric"]
            cosy = row.some(metric=metric).value(COSY)
            ratio = _faster(row, metric=f"{RATIO}, {metric}")
            label = f"{parameters['server']}, {metric}"
            rows.append([label, f"{number(line['value'])} {line['unit']}", number(cosy), _times(ratio)])
    return table(["", "plain", "cosy run", "x"], rows)


def _losses(results: Results) -> str:
    """Every row that is slower under `cosy run`, the worst first."""
    lost = [
        line
        for line in results.some(contender=COSY).lines
        if line["metric"].startswith(RATIO) and line["value"] < 1 and line["workload"] != "exec"
    ]
    rows = []
    for line in sorted(lost, key=lambda line: float(line["value"])):
        named = ", ".join(str(value) for value in line["parameters"].values() if value)
        metric = line["metric"].removeprefix(f"{RATIO}, ")
        rows.append(
            [line["workload"], named, metric, _times(line["value"]), f"{line['spread']:.2f}" if line["spread"] else ""]
        )
    return table(["", "row", "of", "x", "spread"], rows) if rows else "Nowhere.\n"


def _targets(results: Results) -> str:
    rows = []
    for target in TARGETS:
        part = results.some(workload=target.workload, parameters=target.parameters, metric=target.metric)
        value = part.value(COSY)
        verdict = "not measured" if value is None else "reached" if round(value, 2) >= target.least else "**missed**"
        rows.append([target.label, f"{target.least:g}", _times(value), verdict])
    for parameters, row in _rows(results, "relax=trunc"):
        value, where = _faster(row), f"{_bytes(int(parameters['size']))}, {row.lines[0]['fs']}"
        verdict = "reached" if value is not None and value >= MIN_RELAXED else "**missed**"
        rows.append([f"open-write-close, --relax=trunc, {where}", f"{MIN_RELAXED:g}", _times(value), verdict])
    programs = [row.some(metric=f"{RATIO}, CPU").value(COSY) for _, row in _rows(results, "programs")]
    measured = [value for value in programs if value is not None]
    if measured:
        least = min(measured)
        verdict = "reached" if round(least, 2) >= NEVER_BELOW else "**missed**"
        rows.append(["the slowest of the programs, CPU", f"{NEVER_BELOW:g}", _times(least), verdict])
    for _, row in _rows(results, "exec"):
        more = _more(row, "libcosy-run.so")
        if more is not None:
            verdict = "reached" if more <= MAX_PER_EXEC else "**missed**"
            empty = _more(row, "an empty library")
            shown = f"{more:.1f}" + (f" (an empty library {empty:.1f})" if empty is not None else "")
            rows.append(["an exec, us more", f"at most {MAX_PER_EXEC}", shown, verdict])
    return table(["", "target", "measured", ""], rows)


def _single_calls(results: Results) -> list[str]:
    """The rows of single calls, in the order of Synthetix's sections."""
    guards = {name: str(GUARD) for name in ("readv", "dup + close")}
    return [
        "## Reads: Synthetix's table 3",
        "",
        "Hot: a file of 64 KB over and over. Once over: a file opened, read to its end, closed; "
        "1 B from 64 KB, 512 B from 1 MB, the others from 4 MB.",
        "",
        _table_3(results),
        "## readc and getc (§5.1)",
        "",
        "One byte by `read` under `cosy run` beside the C library's `getc`, which has its own buffer.",
        "",
        _getc(results),
        "## lseek and read",
        "",
        _compared(results, "lseek + read"),
        "## pread at random",
        "",
        "4 KB at random places, from a mapped window once it has been earned.",
        "",
        _compared(results, "pread"),
        "## open and close (§4.2)",
        "",
        _compared(results, "overhead", {"open": f"{OPEN[0]:,}, specialised {OPEN[1]:,}"}),
        "## Guards that are not triggered (§4.3)",
        "",
        "Calls that guards are put before, on descriptors that are not specialised.",
        "",
        _compared(results, "guard", guards),
        "## Replugging (§4.4)",
        "",
        "A call that breaks a guard of a specialised descriptor, against the same call without windows.",
        "",
        _compared(results, "replug", {"by readv": str(REPLUG)}),
        "## Break-even (§4.5)",
        "",
        "A file opened, so many reads, closed.",
        "",
        _break_even(results),
    ]


def document(results: Results) -> str:
    first = results.lines[0]
    versions = sorted({line["version"] for line in results.lines if line["contender"] == COSY})
    out = [
        "# Results: `cosy run`",
        "",
        "Written by `make bench-run` from the lines that `run/bench/measure.py` measured.",
        "",
        f"{first['machine']}, Linux {first['kernel']}, files on {first['fs']}; {', '.join(versions)}. "
        "On the machine itself, in one run, contenders in turn; a cost is the median of its rounds, "
        "x (times faster) the median of the ratios of neighbours, "
        f"spread the middle half of the rounds over the median. **Bold**: below {NEVER_BELOW}.",
        "",
        "Synthetix's figures are cycles of a PA7100 at 96 MHz under HP-UX 9.04, from the paper (SOSP 1995).",
        "",
        "## Targets",
        "",
        _targets(results),
        "## Where it loses",
        "",
        "Every row below 1, whether or not that was to be expected.",
        "",
        _losses(results),
        *_single_calls(results),
        "## Relaxed (Poking holes, §4.2)",
        "",
        "By the clock, under `cosy run --relax=trunc,coalesce,reflink`. "
        "The paper: squid's files rewritten in place, 2.3.",
        "",
        _relaxed(results),
        "## exec",
        "",
        "CPU time of `true`, from vfork to its end. `cosy run` itself is one exec more.",
        "",
        _exec(results),
        "## Programs",
        "",
        "Unmodified, outputs compared; the start of `cosy run` itself left out.",
        "",
        _metrics(results, "programs", "program", [("CPU", "ms"), ("clock", "ms")]),
    ]
    if results.some(workload="servers").lines:
        out += [
            "## Servers",
            "",
            "Two of each, one plain and one under `cosy run`, in turn, on the loopback. PostgreSQL: pgbench, nine "
            "look-ups to one update, 75 MB of data behind 4 MB of buffers. squid: a cache of 400 objects of 1 to 64 KB "
            "on disk alone; one request of ten is for something new. CPU is the server's.",
            "",
            _servers(results),
        ]
    return narrow("\n".join(out).rstrip())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("lines", type=Path)
    parser.add_argument("--docs", type=Path, default=TOP / "docs/measured")
    options = parser.parse_args()
    results = Results([json.loads(line) for line in options.lines.read_text().splitlines()])
    (options.docs / "cosy-run.md").write_text(document(results))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
