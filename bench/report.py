#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes docs/measured/compounds.md and its plots of what run.py wrote: report.py LINES [--docs DIR]"""

from __future__ import annotations

import argparse
import json
import re
import sys
import textwrap
from collections.abc import Iterable
from pathlib import Path

import cases
import figures
from targets import PAPERS, TARGETS, Target

HERE = Path(__file__).resolve().parent
COLUMNS = (
    "plain",
    "COSY",
    "COSY-FAST",
    "COSY-NAMED",
    "io_uring",
    "io_uring-linked",
    "sendfile",
    "copy_file_range",
    "splice",
    "mmap",
    "GNU",
)
OURS = COLUMNS[:4]
WIDTH = 100
FIRST = ("process", "programs")  # workloads whose operations are whole processes

Line = dict  # run.py's, read back


def row_name(line: Line) -> str:
    """Names a line's parameters."""
    return ", ".join(f"{name} {value}" for name, value in line["parameters"].items()) or line["metric"]


class Results:
    """The lines, by the fields that tell what they are about."""

    def __init__(self, lines: list[Line]) -> None:
        # Take the last one, so that a part can be measured again.
        self.by_key = {self._key(line): line for line in lines}
        self.lines = list(self.by_key.values())

    @staticmethod
    def _key(line: Line) -> str:
        names = ("workload", "parameters", "contender", "lane", "fs", "flags", "metric")
        return json.dumps([line[name] for name in names], sort_keys=True)

    def some(self, **wanted: object) -> Results:
        """Returns the lines whose fields are as wanted."""
        return Results([line for line in self.lines if all(line[name] == value for name, value in wanted.items())])

    def value(self, contender: str) -> float | None:
        """Returns the one value of a contender."""
        return next((line["value"] for line in self.lines if line["contender"] == contender), None)

    def look_up(self, workload: str, row: str, contender: str) -> float | None:
        """Returns the value that a placeholder of figures.py names: of the calibrated lines on tmpfs."""
        part = self.some(workload=workload, contender=contender, lane="insn", flags="calibrated", fs="tmpfs")
        part = Results([line for line in part.lines if line["metric"].startswith("per ") and row_name(line) == row])
        return part.value(contender)

    def less(self, contender: str) -> float | None:
        """Returns how much less than plain it is, in per cent."""
        plain, value = self.value("plain"), self.value(contender)
        return None if plain is None or value is None or not plain else 100 * (1 - value / plain)

    def fast(self) -> float | None:
        """Returns the better of the two builds with specialised calls."""
        found = [self.value(name) for name in OURS[2:]]
        return min((value for value in found if value is not None), default=None)

    def contenders(self) -> list[str]:
        present = {line["contender"] for line in self.lines}
        return [name for name in COLUMNS if name in present]

    def rows(self) -> list[Results]:
        """Returns one part for each file system and setting of the parameters, in the order measured."""
        seen: dict[str, list[Line]] = {}
        for line in self.lines:
            seen.setdefault(json.dumps([line["parameters"], line["fs"]]), []).append(line)
        return [Results(lines) for lines in seen.values()]


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{value:.0f} %"


def number(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}"


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    head = list(head)
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(row) + " |" for row in lines) + "\n"


def _target_row(target: Target, insn: Results) -> list[str]:
    part = insn.some(workload=target.workload, parameters=target.parameters, fs=target.fs)
    cosy, fast, named = (part.less(name) for name in OURS[1:])
    verdicts = []
    if target.cosy is not None and cosy is not None:
        verdicts.append("COSY reached" if round(cosy) >= target.cosy else "**COSY missed**")
    best = fast if target.named is not None else max((v for v in (fast, named) if v is not None), default=None)
    if target.fast is not None and best is not None:
        verdicts.append("COSY-FAST reached" if round(best) >= target.fast else "**COSY-FAST missed**")
    if target.named is not None and named is not None:
        verdicts.append("by name reached" if round(named) >= target.named else "**by name missed**")
    peer = part.value(target.below)
    if peer is not None and part.fast() is not None:
        less = part.fast() < peer
        verdicts.append(f"less than {target.below}" if less else f"**more than {target.below}**")
    shown = _percent(fast) + (f" (by name {_percent(named)})" if named is not None else "")
    return [
        target.label,
        _percent(target.cosy),
        _percent(cosy),
        _percent(target.fast) + (f" (by name {_percent(target.named)})" if target.named is not None else ""),
        shown,
        target.paper,
        ", ".join(verdicts) or "not measured",
    ]


def _named(part: Results) -> str:
    """Names the parameters of a row, for a table that is about one workload."""
    return row_name(part.lines[0])


def _workload_table(part: Results) -> str:
    names = part.contenders()
    rows = []
    for row in part.rows():
        values = {name: row.value(name) for name in names}
        least = min(value for value in values.values() if value is not None)
        cells = []
        for name in names:
            text = number(values[name])
            less = row.less(name)
            if less is not None and name != "plain":
                text += f" ({-less:+.0f} %)"
            cells.append(f"**{text}**" if values[name] == least else text)
        rows.append([_named(row), row.lines[0]["fs"], *cells])
    return table(["", "on", *names], rows)


def _losing(insn: Results) -> str:
    """Lists every row in which a peer needs less than COSY-FAST."""
    rows = []
    for row in (row for name in cases.WORKLOADS for row in insn.some(workload=name).rows()):
        fast = row.fast()
        peers = {name: row.value(name) for name in row.contenders() if name not in OURS[1:]}
        less = {name: value for name, value in peers.items() if value is not None and fast and value < fast}
        for name, value in sorted(less.items(), key=lambda item: item[1]):
            line = row.lines[0]
            rows.append([line["workload"], _named(row), line["fs"], name, number(value), number(fast)])
    if not rows:
        return "None.\n"
    return table(["workload", "row", "on", "contender", "needs", "COSY-FAST needs"], rows)


def _beside(insn: Results, other: Results, heading: str) -> str:
    """Shows the same rows under other kernel parameters."""
    rows = []
    for row in other.rows():
        line = row.lines[0]
        same = insn.some(workload=line["workload"], parameters=line["parameters"], fs=line["fs"])
        cells = [line["workload"], _named(row)]
        for part in (same, row):
            cells += [number(part.value("plain")), _percent(part.less("COSY")), _percent(part.less("COSY-FAST"))]
        rows.append(cells)
    head = ["workload", "row", "plain", "COSY", "COSY-FAST", f"{heading}: plain", "COSY", "COSY-FAST"]
    return table(head, rows)


def _split(part: Results) -> str:
    """Shows user and kernel instructions apart."""
    rows = []
    for row in part.rows():
        line = row.lines[0]
        cells = [line["workload"], _named(row)]
        for name in OURS[:3]:
            mine = [cell for cell in row.lines if cell["contender"] == name]
            values = {cell["metric"].split()[0]: cell["value"] for cell in mine}
            cells += [number(values.get("user")), number(values.get("kernel"))]
        rows.append(cells)
    head = [f"{name} {mode}" for name in OURS[:3] for mode in ("user", "kernel")]
    return table(["workload", "row", *head], rows)


def _spread(insn: Results) -> str:
    """Tells how far the runs of a value lie apart."""
    repeated = [line for line in insn.lines if line["runs"] > 1]
    if not repeated:
        return ""
    close = sum(line["spread"] < 0.02 for line in repeated)
    worst = max(repeated, key=lambda line: line["spread"])
    return (
        f"Of {len(repeated)} values measured more than once, {close} differ by less than 2 % from run to run; the most "
        f"by {100 * worst['spread']:.0f} % ({worst['workload']}, {worst['contender']}). "
        "Left out is what differs by more than it is."
    )


def remarks_of(section: str) -> str:
    """Returns the remark that bench/remarks.md has there."""
    text = (HERE / "remarks.md").read_text()
    for part in text.split("\n## ")[1:]:
        name, _, body = part.partition("\n")
        if name == section:
            return body.strip() + "\n"
    return ""


def remarks(section: str, results: Results) -> str:
    """Returns the same with its figures filled in, and its lines as long as they may be."""
    return wrapped(figures.fill(remarks_of(section), results.look_up, number))


def wrapped(text: str) -> str:
    """Breaks paragraphs and lists into lines of at most WIDTH columns."""

    def filled(item: str) -> str:
        indent = "  " if item.startswith("- ") else ""
        return textwrap.fill(
            " ".join(item.split()),
            WIDTH,
            subsequent_indent=indent,
            break_long_words=False,
            break_on_hyphens=False,
        )

    blocks = text.strip().split("\n\n")
    lines = "\n\n".join("\n".join(filled(item) for item in re.split(r"\n(?=- )", block)) for block in blocks)
    return lines + "\n" if lines else ""


def narrow(text: str) -> str:
    """Breaks the document's paragraphs into lines of at most WIDTH columns; a table's rows stay."""
    lines = text.splitlines()
    return "\n".join(wrapped(line)[:-1] if len(line) > WIDTH and line[0] not in "|!" else line for line in lines) + "\n"


def _lanes(results: Results) -> list[str]:
    """The lanes that are measured by the clock."""
    out = []
    for lane in ("wall", "native"):
        part = results.some(lane=lane)
        if part.lines:
            where = part.lines[0]
            out += [f"## Lane {lane}", "", f"Nanoseconds; {where['machine']}, Linux {where['kernel']}.", ""]
            out += [remarks(lane, results)]
            for name in cases.WORKLOADS:
                of_it = part.some(workload=name)
                if of_it.lines:
                    out += [f"{name}, per {of_it.lines[0]['metric'].removeprefix('per ')}:", "", _workload_table(of_it)]
    return out


def _workload(name: str, insn: Results, results: Results) -> list[str]:
    """Returns the section of a workload, if it was measured."""
    part = insn.some(workload=name)
    if not part.lines:
        return []
    unit = part.lines[0]["metric"].removeprefix("per ")
    head = ["", f"## {name}", "", f"Per {unit}. {PAPERS.get(name, '')}".strip()]
    return [*head, "", _workload_table(part), remarks(name, results)]


def document(results: Results, plots: list[str], others: str = "") -> str:
    """Returns the document; `others` is the section of kernels.py."""
    insn = results.some(lane="insn", flags="calibrated")
    insn = Results([line for line in insn.lines if not line["metric"].startswith(("user ", "kernel "))])
    split = Results([line for line in results.lines if line["metric"].startswith(("user ", "kernel "))])
    versions = {line["contender"]: line["version"] for line in insn.lines}
    first = insn.lines[0]
    out = ["# Results", "", "Written by `make bench` from the lines that `bench/run.py` measured.", ""]
    out += [
        f"Instructions per operation, counted by a virtual machine's clock ({first['machine']}, "
        f"Linux {first['kernel']}), processor and kernel parameters calibrated (tests/vm/qemu.py). "
        "Medians; what it takes to start is subtracted; all contenders of a row in one boot. "
        "In brackets: against plain calls. **Bold**: the least of a row.",
        "",
        "Counted instructions know no cache misses and no cost of a crossing beyond its instructions, "
        "so they understate what leaving out a crossing saves.",
        "",
        _spread(insn),
        "",
        remarks("reading", results),
        table(["contender", "what", "version"], [[n, _what(n), versions[n]] for n in COLUMNS if n in versions]),
    ]
    # Whole processes, start-up included, come before what is subtracted from it.
    for name in FIRST:
        out += _workload(name, insn, results)
    out += [
        "## Targets",
        "",
        "Per cent less than plain calls.",
        "",
        table(
            ["row", "COSY: target", "measured", "COSY-FAST: target", "measured", "the paper's", ""],
            [_target_row(target, insn) for target in TARGETS],
        ),
        "## Where a peer needs less",
        "",
        _losing(insn),
        remarks("loses", results),
    ]
    out += [f"![{Path(name).stem}]({name})" for name in plots]
    for name in cases.WORKLOADS:
        if name not in FIRST:
            out += _workload(name, insn, results)
    if split.lines:
        out += ["## User and kernel mode apart", "", remarks("split", results), _split(split)]
    default = results.some(lane="insn", flags="default")
    if default.lines:
        out += [
            "## The kernel's default parameters",
            "",
            remarks("default", results),
            _beside(insn, default, "default"),
        ]
    out += _lanes(results)
    text = narrow("\n".join(out).rstrip())
    lanes = text.find("\n## Lane ")
    others_at = len(text) if lanes < 0 else lanes + 1
    return text[:others_at] + (others + "\n" if others else "") + text[others_at:]


def _what(contender: str) -> str:
    return {
        "plain": "plain calls: the marked source with the marks off",
        "COSY": "the compound, every call made the ordinary way (`-fno-cosy-fast`)",
        "COSY-FAST": "the compound, from the same source",
        "COSY-NAMED": "a source that asks for operations by name (`<cosy/fast.h>`)",
        "io_uring": "requests in batches; registered files and buffers",
        "io_uring-linked": "requests that depend on each other, linked; the same registered",
        "GNU": "cp, du, grep, ls themselves",
        "mmap": "the file mapped and copied or looked at",
    }.get(contender, f"{contender}(2)")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("lines", type=Path)
    parser.add_argument("--docs", type=Path, default=HERE.parent / "docs/measured")
    options = parser.parse_args()
    results = Results([json.loads(line) for line in options.lines.read_text().splitlines()])
    # It uses this module.
    import kernels

    try:
        import plots
    except ImportError:
        print("report: no plots: python3-matplotlib is not installed", file=sys.stderr)
        drawn = sorted(f"plots/{path.name}" for path in (options.docs / "plots").glob("*.svg"))
    else:
        drawn = plots.draw(results, options.docs)
    try:
        text = document(results, drawn, kernels.section(kernels.read()))
    except figures.FigureError as error:
        print(f"report: bench/remarks.md: {error}", file=sys.stderr)
        return 1
    (options.docs / "compounds.md").write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
