#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes model.h, the numbers that advice is reckoned with, of what was measured: model.py OUTPUT

Of model.def the formulas of each class of calls, of model.txt those of single costs.  Both name
cells of the tables in docs/measured, as docs/measured/figures.txt does.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
TOP = HERE.parent.parent
sys.path.insert(0, str(TOP / "tools" / "check"))

import figures  # noqa: E402

CLASS = re.compile(r"^CLASS\((\w+),\s*(.*?)\)$", re.M | re.S)
STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')


def classes() -> list[tuple[str, list[str]]]:
    """The name, title and four formulas of each class."""
    text = re.sub(r"/\*.*?\*/", "", (HERE / "model.def").read_text(), flags=re.S)
    found = [(name, STRING.findall(rest)) for name, rest in CLASS.findall(text)]
    for name, strings in found:
        if len(strings) != 5:
            raise SystemExit(f"model.def: {name} has not a title and four formulas")
    return found


def costs() -> dict[str, str]:
    """The name and formula of each line of model.txt."""
    lines = (line for line in (HERE / "model.txt").read_text().splitlines() if line and not line.startswith("#"))
    return {name.strip(): formula.strip() for name, _, formula in (line.partition(":") for line in lines)}


def main() -> None:
    measured = figures.Figures(TOP)

    def value(formula: str) -> float:
        measured.formulas["asked"] = formula
        try:
            return measured.value("asked")
        except figures.FigureFault as fault:
            raise SystemExit(f"profile/advise: {formula}: {fault}") from fault

    lines = [
        "/* SPDX-License-Identifier: MIT */",
        "/* model.h - made by model.py of what docs/measured has; do not edit. */",
        "static const struct model_class model_classes[CLASSES] = {",
    ]
    named = costs()
    for name, (title, *formulas) in classes():
        numbers = [value(named.get(formula or "crossing", formula)) for formula in formulas]
        lines.append(f'	[CLASS_{name}] = {{"{title}", {", ".join(f"{n:.4f}" for n in numbers)}}},')
    lines += ["};", ""]
    lines += [f"static const double model_{name} = {value(formula):.4f};" for name, formula in named.items()]
    Path(sys.argv[1]).write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
