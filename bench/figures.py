# SPDX-License-Identifier: MIT
"""Fills in measured figures in prose: placeholders get their values from the lines when a document is written.

    {db:looks at nothing, megabytes 4, processes 1:plain}
    {4*getpid:calls 2:COSY-FAST - 4*getpid:calls 4:COSY-FAST}

WORKLOAD:ROW:CONTENDER, with the row's parameters as the tables name them, on tmpfs; or a sum or
difference of such, each times a whole number.  A figure that was not measured is an error.
"""

from __future__ import annotations

import re
from collections.abc import Callable

_TERM = re.compile(r"\s*([+-]?)\s*(?:(\d+)\*)?([\w-]+):([^:{}]*):([\w-]+)")

# Returns the value of a contender in the row of a workload, or nothing.
LookUp = Callable[[str, str, str], float | None]


class FigureError(Exception):
    """A placeholder that cannot be filled."""


def _value(text: str, look_up: LookUp) -> float:
    total, at = 0.0, 0
    while at < len(text):
        found = _TERM.match(text, at)
        if not found or (at and not found[1]):
            raise FigureError(f"{{{text}}}: not WORKLOAD:ROW:CONTENDER, nor a sum of such")
        sign, factor, workload, row, contender = found.groups()
        value = look_up(workload, row, contender)
        if value is None:
            raise FigureError(f"{{{text}}}: {workload}:{row}:{contender} was not measured")
        total += (-1 if sign == "-" else 1) * int(factor or 1) * value
        at = found.end()
    return total


def fill(text: str, look_up: LookUp, show: Callable[[float], str]) -> str:
    """Returns the text with every placeholder replaced by its figure."""
    return re.sub(r"\{([^{}]*)\}", lambda found: show(_value(found[1], look_up)), text)
