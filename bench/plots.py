# SPDX-License-Identifier: MIT
"""Draws the plots of docs/measured/compounds.md: cost as the work grows, and everything at a glance."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib

matplotlib.use("svg")
# Fix the salt: else every run would change the files.
matplotlib.rcParams["svg.hashsalt"] = "cosy"
matplotlib.rcParams["svg.fonttype"] = "none"

import matplotlib.pyplot as plt  # noqa: E402
from svg import compact  # noqa: E402
from targets import TARGETS  # noqa: E402

if TYPE_CHECKING:
    from report import Results

_GROWTH = (
    ("getpid", "calls", {}, "getpid: calls in a region"),
    ("db", "megabytes", {"looks at": "nothing", "processes": 1}, "db: file, MB"),
    ("db", "processes", {"looks at": "nothing", "megabytes": 4}, "db: processes"),
    ("bonnie", "megabytes", {"phase": "fastread"}, "bonnie fastread: file, MB"),
    ("bonnie", "megabytes", {"phase": "rewrite"}, "bonnie rewrite: file, MB"),
    ("bonnie", "megabytes", {"phase": "fastwrite"}, "bonnie fastwrite: file, MB"),
    ("ls", "files", {"cache": "warm", "lines": "no"}, "ls: files"),
    ("grep", "kilobytes", {}, "grep: KB in files of 8 KB"),
    ("read1", "size", {}, "read1: bytes"),
)

_COLOURS = {
    "plain": "tab:gray",
    "COSY": "tab:blue",
    "COSY-FAST": "tab:orange",
    "COSY-NAMED": "tab:red",
    "io_uring": "tab:green",
    "io_uring-linked": "tab:olive",
    "mmap": "tab:purple",
    "GNU": "tab:brown",
}


def draw(results: Results, docs: Path) -> list[str]:
    """Writes the plots below docs.  Returns their names from there."""
    (docs / "plots").mkdir(exist_ok=True)
    insn = results.some(lane="insn", flags="calibrated", fs="tmpfs")
    return [_glance(results, docs), _growth(insn, docs)]


def _save(figure: plt.Figure, docs: Path, name: str) -> str:
    figure.tight_layout()
    path = docs / "plots" / name
    figure.savefig(path, metadata={"Date": None})
    path.write_text(compact(path.read_text()))
    plt.close(figure)
    return f"plots/{name}"


def _glance(results: Results, docs: Path) -> str:
    """Draws per cent less than plain calls, with the targets."""
    figure, axes = plt.subplots(figsize=(9, 6))
    insn = results.some(lane="insn", flags="calibrated")
    for at, target in enumerate(TARGETS):
        part = insn.some(workload=target.workload, parameters=target.parameters, fs=target.fs)
        plain, fast = part.value("plain"), part.fast()
        if plain is None or fast is None:
            continue
        axes.barh(at + 0.2, part.less("COSY") or 0, 0.38, color="tab:blue", label=None if at else "COSY")
        axes.barh(at - 0.2, 100 * (1 - fast / plain), 0.38, color="tab:orange", label=None if at else "COSY-FAST")
        if target.fast is not None:
            axes.plot([target.fast] * 2, [at - 0.4, at], "k-", label=None if at else "target of COSY-FAST")
    axes.set_yticks(range(len(TARGETS)), [target.label for target in TARGETS])
    axes.invert_yaxis()
    axes.set_xlim(-30, 100)
    axes.axvline(0, color="k", linewidth=0.8)
    axes.set_xlabel("instructions less than plain calls, per cent")
    axes.legend(loc="lower right")
    return _save(figure, docs, "targets.svg")


def _growth(insn: Results, docs: Path) -> str:
    """Draws instructions per operation as the work grows."""
    figure, grid = plt.subplots(3, 3, figsize=(12, 9))
    for (workload, name, fixed, title), axes in zip(_GROWTH, grid.flat, strict=True):
        part = [
            line
            for line in insn.some(workload=workload).lines
            if not line["metric"].startswith(("user ", "kernel "))
            and all(line["parameters"].get(key) == value for key, value in fixed.items())
        ]
        for contender in dict.fromkeys(line["contender"] for line in part):
            mine = [line for line in part if line["contender"] == contender]
            points = sorted((line["parameters"][name], line["value"]) for line in mine)
            axes.plot(*zip(*points, strict=True), marker=".", label=contender, color=_COLOURS.get(contender))
        axes.set_xscale("log", base=2)
        if workload == "read1":
            axes.set_yscale("log")
        else:
            axes.set_ylim(bottom=0)
        axes.set_title(title, fontsize=10)
        axes.legend(fontsize=7)
    figure.supylabel("instructions per operation (tmpfs)")
    return _save(figure, docs, "growth.svg")
