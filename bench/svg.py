# SPDX-License-Identifier: MIT
"""Makes the plots of matplotlib small enough for a repository: nobody sees a millionth of a point."""

from __future__ import annotations

import re

DECIMALS = 1
# A group of shapes that says nothing about them.
GROUP = re.compile(r"<g>\s*((?:<(?:use|path|rect)\b[^>]*/>\s*)*)</g>\s*")


def compact(svg: str) -> str:
    """Returns the same picture: coordinates rounded, styles as classes, no notes and unused names."""
    svg = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->|<!DOCTYPE[^>]*>|<\?xml[^>]*>", "", svg, flags=re.S)
    svg = re.sub(r"-?\d+\.\d{2,}", lambda number: f"{round(float(number[0]), DECIMALS) + 0.0:g}", svg)
    used = set(re.findall(r"#([\w.-]+)", svg))
    svg = re.sub(r' id="([^"]*)"', lambda name: name[0] if name[1] in used else "", svg)
    svg = re.sub(r'\s*\n\s*(?=[MLQCz"])', " ", svg)
    svg = re.sub(r"\s*\n\s*", "\n", svg)
    while (fewer := GROUP.sub(r"\1", svg)) != svg:
        svg = fewer
    styles = {style: f"s{number}" for number, style in enumerate(dict.fromkeys(re.findall(r' style="([^"]*)"', svg)))}
    svg = re.sub(r' style="([^"]*)"', lambda style: f' class="{styles[style[1]]}"', svg)
    rules = "".join(f".{name}{{{style}}}\n" for style, name in styles.items())
    return svg.replace("</style>", f"\n{rules}</style>", 1).strip() + "\n"
