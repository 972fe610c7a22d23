#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that no folder of sources has a circle of files.

A file uses the headers that it includes and the files that define the functions that it
calls. Files that use each other in a circle can only be read together. The circles that
are still there are in `circles.txt`, a file on each line: one that is no longer in a
circle is to be deleted from the list, and no file may be added.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import tree

CPLUSPLUS = "compiler/pass"
FOLDERS = ("kmod", "lib", "run", CPLUSPLUS)
SUFFIXES = {".c", ".h", ".S"}
KNOWN = Path(__file__).with_name("circles.txt")

_SKIPPED = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)
_DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n\\]|\\.|\\\n)*", re.MULTILINE)
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+"([^"]+)"', re.MULTILINE)
_NAME = re.compile(r"[A-Za-z_]\w*")
# NEXT is run/'s: a name in it is libc's function, not the one of run/ that stands before it.
_OTHER_NAMES = re.compile(r"\b(?:struct|union|enum)\s+\w+|(?:->|\.)\s*[A-Za-z_]\w*|\bNEXT\(\w+\)")
# A variable, a member or a parameter, which may have a function's name: `int signal`.
_VARIABLE = re.compile(r"\b(?!(?:return|else|goto|case|sizeof)\b)[A-Za-z_]\w*\s+\**([A-Za-z_]\w*)\s*(?=[,;)=\[:])")
_CALLED = re.compile(r"([A-Za-z_]\w*)\s*\(")
_TYPE = re.compile(r"\b(?:struct|union|enum)(?:\s+\w+)*\s*$")
_TRANSPARENT = re.compile(r"(?:\bnamespace\b[^;{}()=]*|\bextern\s*)$")
_FUNCTION = re.compile(
    r"([A-Za-z_]\w*)\s*\((?:[^(){};]|\((?:[^(){};]|\([^(){};]*\))*\))*\)\s*(?:const|override|noexcept|\s)*$"
)


class Source:
    """What a file includes, defines and uses."""

    def __init__(self, text: str, assembly: bool = False) -> None:
        self.includes = _INCLUDE.findall(text)
        self.defines: set[str] = set()
        self.uses: set[str] = set()
        if assembly:
            self.uses = set(_NAME.findall(_SKIPPED.sub(" ", text)))
            return
        text = _SKIPPED.sub(" ", text)
        for directive in _DIRECTIVE.findall(text):
            self.uses.update(_NAME.findall(directive.partition("define")[2]))
        self._walk(_DIRECTIVE.sub(" ", text))

    def _walk(self, text: str) -> None:
        """Splits the text into what stands outside of braces and what stands inside."""
        outside, inside, depth, start, is_type = "", "", 0, 0, False
        for match in re.finditer(r"[{};]", text):
            piece, sign = text[start : match.start()], match.group()
            start = match.end()
            if depth:
                inside += "" if is_type else piece + " "
                depth += {"{": 1, "}": -1, ";": 0}[sign]
                continue
            outside += piece
            if sign == "{":
                if not re.search(r"\bextern\s*$", outside):  # extern "C" {
                    depth = 1
                    is_type = bool(_TYPE.search(outside))
                    self._begin(outside)
                outside = ""
            elif sign == ";":
                _, equals, value = outside.partition("=")
                inside += value if equals else ""
                outside = ""
        inside = _OTHER_NAMES.sub(" ", inside)
        variables = set(_VARIABLE.findall(text))
        self.uses.update(set(_NAME.findall(inside)) - variables, _CALLED.findall(inside))

    def _begin(self, head: str) -> None:
        """Takes what stands before an opening brace."""
        if "=" in head:
            self.uses.update(_NAME.findall(head.partition("=")[2]))
        elif (function := _FUNCTION.search(head)) and not re.search(r"\bstatic\b", head):
            self.defines.add(function.group(1))


def graph(folder: Path) -> dict[str, set[str]]:
    """Returns for each file below a folder the files that it uses."""
    is_cpp = folder.as_posix().endswith(CPLUSPLUS)
    suffixes = SUFFIXES | {".cpp"} if is_cpp else SUFFIXES
    sources = {
        path.relative_to(folder).as_posix(): Source(path.read_text(), path.suffix == ".S")
        for path in sorted(folder.rglob("*"))
        if path.suffix in suffixes and "test" not in path.relative_to(folder).parts
    }
    owners: dict[str, set[str]] = {}
    for name, source in sources.items():
        for function in source.defines:
            owners.setdefault(function, set()).add(name)
    used: dict[str, set[str]] = {}
    for name, source in sources.items():
        here = Path(name).parent
        places = {(here / include).as_posix() for include in source.includes} | set(source.includes)
        found = {place for place in places if place in sources}
        # C++ has methods of one name in many files.  A header stands for the functions that it declares.
        if is_cpp:
            found |= {file for file in (place.removesuffix("h") + "cpp" for place in found) if file in sources}
        for function in () if is_cpp else source.uses:
            definers = owners.get(function, set())
            if len(definers) == 1:
                found |= definers
        # A header's inline functions may call their slow paths: both files are one noun.
        used[name] = {file for file in found if file.rpartition(".")[0] != name.rpartition(".")[0]}
        if not name.endswith(".h"):
            used[name] |= {file for file in found if file == f"{name.rpartition('.')[0]}.h"}
    return used


def circles(used: dict[str, set[str]]) -> Iterator[list[str]]:
    """Yields the strongly connected components of more than one file (Tarjan)."""
    number: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(file: str) -> None:
        number[file] = low[file] = len(number)
        stack.append(file)
        for other in sorted(used[file]):
            if other not in number:
                visit(other)
                low[file] = min(low[file], low[other])
            elif other in stack:
                low[file] = min(low[file], number[other])
        if low[file] == number[file]:
            at = stack.index(file)
            if len(stack) - at > 1:
                found.append(sorted(stack[at:]))
            del stack[at:]

    for file in sorted(used):
        if file not in number:
            visit(file)
    yield from found


def faults(top: Path, known: set[str]) -> Iterator[str]:
    """Yields files that are in an unknown circle, and known ones that are in no circle."""
    left = set(known)
    for folder in FOLDERS:
        used = graph(top / folder)
        for circle in circles(used):
            files = {f"{folder}/{file}" for file in circle}
            new = sorted(files - known)
            left -= files
            for file in new:
                uses = sorted(other for other in used[file.removeprefix(f"{folder}/")] if other in circle)
                yield f"{file} is in a circle of {len(circle)} files: it uses {', '.join(uses)}"
    for file in sorted(left):
        yield f"{file} is in no circle any more: delete it from {KNOWN.name}"


def main() -> int:
    known = {line for line in KNOWN.read_text().split("\n") if line and not line.startswith("#")}
    return tree.verdict("check-circles", faults(tree.TOP, known))


if __name__ == "__main__":
    sys.exit(main())
