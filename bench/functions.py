# SPDX-License-Identifier: MIT
"""Tells which functions of the kernel a row's instructions are in, by the blocks that split.c counts."""

from __future__ import annotations

import bisect
from collections import Counter

# What a guest prints before all rows: the kernel's functions and the modules' places, for Symbols.line.
SCRIPT = (
    'awk \'tolower($2) == "t" { print "symbol", $1, $3 }\' /proc/kallsyms',
    "awk '{ print \"module\", $6, $2, $1 }' /proc/modules",
)
_COMPOUND = "(compiled compounds)"
_MODULES = 0xFFFFFFFFC0000000  # modules and what the JIT makes lie above
_LEAST = 0.004  # of a row's instructions: functions below are added up


class Symbols:
    """The functions of a running kernel, by address."""

    def __init__(self) -> None:
        self._names: dict[int, str] = {}
        self._addresses: list[int] = []
        self._modules: list[tuple[int, int]] = []

    def line(self, words: list[str]) -> bool:
        """Takes a line of SCRIPT's, cut into words; False: it is none."""
        if words[:1] == ["symbol"] and len(words) == 3:
            self._names.setdefault(int(words[1], 16), words[2])
        elif words[:1] == ["module"] and len(words) == 4:
            start = int(words[1], 16)
            self._modules.append((start, start + int(words[2])))
        else:
            return False
        return True

    def name(self, address: int) -> str:
        """Returns the name of the function that an address lies in."""
        if address >= _MODULES and not any(start <= address < end for start, end in self._modules):
            return _COMPOUND
        if len(self._addresses) != len(self._names):
            self._addresses = sorted(self._names)
        at = bisect.bisect(self._addresses, address)
        return self._names[self._addresses[at - 1]] if at else "(no function)"


def named(blocks: Counter[int], symbols: Symbols) -> Counter[str]:
    """Adds up blocks by function."""
    functions: Counter[str] = Counter()
    for address, instructions in blocks.items():
        functions[symbols.name(address)] += instructions
    return functions


def table(functions: Counter[str], operations: int) -> list[str]:
    """Returns lines for the eye: instructions per operation of each function, most first."""
    total = sum(functions.values())
    lines, rest = [], 0
    for name, instructions in functions.most_common():
        if instructions < _LEAST * total:
            rest += instructions
        else:
            lines.append(_line(instructions, total, operations, name))
    return [*lines, _line(rest, total, operations, "(functions with less)")]


def _line(instructions: int, total: int, operations: int, name: str) -> str:
    return f"{instructions / operations:11.1f} {100 * instructions / max(total, 1):5.1f} %  {name}"
