# SPDX-License-Identifier: MIT
"""Writes C: blocks and their variables, and expressions whose value C defines.

Arithmetic is done without sign and then converted, indexes are reduced, and texts end with a NUL at the end of
their buffer at the latest.  Expressions change nothing, so the order in which they are evaluated does not matter.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator
from dataclasses import dataclass, field

TYPES = ("i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64")
CONSTANTS = ("0", "1", "2", "3", "5", "7", "9", "15", "31", "64", "100", "127", "128", "255", "4096", "65535", "-1")
CONSTANTS += (
    "-2",
    "-100",
    "0x7fffffff",
    "(i32)0x80000000",
    "0xffffffffu",
    "0x123456789abcdefL",
    "LONG_MIN",
    "LONG_MAX",
)
WORDS = ("", "a", "x=1", "alpha", "beta gamma", "-17", "0x1f,42", "077 99", " 12 34 ", "/usr/lib/x", "k: v; w: u")
WORDS += (
    "The quick brown fox",
    "aaaaaaab",
    "Zz09_-",
    "2147483648",
    "99999999999999999999",
    "one,two,,three",
    "abcabcabd",
)
# The files that mixed.h makes, and some that it does not make.
NAMES = ("a", "bb", "sub", "sub/c", "sub/deep", "sub/deep/d", "sub/deep/f1", "empty", "link", "dangling", "loop", "way")
NAMES += (
    "way/c",
    "new",
    "sub/new",
    "empty/x",
    "missing/x",
    "a/x",
    "",
    ".",
    "sub/deep/../c",
    "./sub//deep/./d",
    "link/x",
)
FOLDERS = ("sub", "sub/deep", "empty", "way", ".", "missing", "a", "new")


@dataclass
class Scope:
    """What the statements of a block may use."""

    numbers: list[str] = field(default_factory=list)  # what may be assigned
    fixed: list[str] = field(default_factory=list)  # numbers that may not
    buffers: list[tuple[str, int]] = field(default_factory=list)  # arrays of char that hold a NUL at their end
    arrays: list[tuple[str, int]] = field(default_factory=list)  # of i32
    records: list[str] = field(default_factory=list)
    blocks: list[str] = field(default_factory=list)  # u8 *NAME with u32 NAME_n, or NULL
    texts: list[str] = field(default_factory=list)  # char *, of the heap
    read_only: list[str] = field(default_factory=list)  # const char *
    files: list[str] = field(default_factory=list)  # descriptors, or -1
    lists: list[str] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)  # ahead of here, which goto may go to


class Writer:
    """Writes one function."""

    def __init__(self, rng: random.Random, scope: Scope, turns: Iterator[int]) -> None:
        self.rng = rng
        self.turns = turns
        self.scope = copy.deepcopy(scope)
        self.lines: list[str] = []
        self.indent = 1
        self.names = 0
        self.loops = 0
        self.pure: list[str] = []  # functions of two numbers that change nothing

    def turn(self, count: int) -> int:
        """A number below `count`, each in turn: a few programs have all of them."""
        return next(self.turns) % count

    def chance(self, percent: int) -> bool:
        return self.rng.randrange(100) < percent

    def line(self, text: str) -> None:
        self.lines.append("\t" * self.indent + text)

    def name(self, prefix: str) -> str:
        self.names += 1
        if f"{prefix}{self.names}" in TYPES:
            self.names += 1
        return f"{prefix}{self.names}"

    def open(self, head: str) -> Scope:
        self.line(f"{head} {{".lstrip())
        self.indent += 1
        outer = self.scope
        self.scope = copy.deepcopy(outer)
        return outer

    def close(self, outer: Scope, tail: str = "") -> None:
        self.scope = outer
        self.indent -= 1
        self.line("}" + tail)

    # --- Expressions ---------------------------------------------------------

    def leaf(self) -> str:
        r, s = self.rng, self.scope
        kind = r.randrange(12)
        if kind <= 1:
            return r.choice(CONSTANTS)
        if kind == 2 and s.arrays:
            name, count = r.choice(s.arrays)
            return f"{name}[(u32){self.plain()} % {count}]"
        if kind == 3 and s.buffers:
            name, size = r.choice(s.buffers)
            return f"(u8){name}[(u32){self.plain()} % {size}]"
        if kind == 4 and s.blocks:
            name = r.choice(s.blocks)
            return f"({name} ? {name}[(u32){self.plain()} % {name}_n] : 3)"
        return self.plain()

    def plain(self) -> str:
        return self.rng.choice(self.scope.numbers + self.scope.fixed)

    def number(self, depth: int = 2) -> str:
        """An integer of any type, in parentheses where they are needed."""
        r = self.rng
        if depth == 0 or self.chance(25):
            return self.leaf()
        to = r.choice(TYPES)
        a, b = self.number(depth - 1), self.number(depth - 1)
        kind = r.randrange(12)
        if kind <= 4:
            return f"({to})((u64)({a}) {r.choice('+-*&|^')} (u64)({b}))"
        if kind == 5:
            sign = "signed" if r.randrange(2) else "unsigned"
            return f"({to}){r.choice(['divide', 'rest'])}_{sign}({a}, {b})"
        if kind == 6:
            return f"({to})((u64)({a}) << (({b}) & 63))"
        if kind == 7:
            bits = min(int(to[1:]), 32) - 1
            return f"(({to})({a}) >> (({b}) & {bits}))"
        if kind == 8:
            return f"({self.condition(depth - 1)} ? {a} : {b})"
        if kind == 9:
            return f"({to})({r.choice(['~', '-', '!'])}(u64)({a}))"
        if kind == 10 and self.pure:
            return f"({to}){r.choice(self.pure)}({a}, {b})"
        return f"({a} {r.choice(['<', '>', '==', '!=', '<=', '>='])} {b})"

    def below(self, count: int | str) -> str:
        return f"(u32)({self.number(1)}) % {count}"

    def condition(self, depth: int = 1) -> str:
        r, s = self.rng, self.scope
        kind = r.randrange(14)
        a = self.number(depth)
        if kind <= 3:
            return f"({a} {r.choice(['<', '>', '==', '!='])} {self.leaf()})"
        if kind == 4:
            return f"(({a}) & {r.randrange(1, 16)})"
        if kind == 5:
            return f"(getppid() {r.choice('><')} 0)"
        if kind == 6 and s.files:
            return f"({r.choice(s.files)} {r.choice(['>=', '<'])} 0)"
        if kind == 7 and depth:
            return f"({self.condition(depth - 1)} {r.choice(['&&', '||'])} {self.condition(depth - 1)})"
        if kind == 8:
            call = r.choice(["strcmp", "strcasecmp"])
            return f"({call}({self.text()[0]}, {self.text()[0]}) {r.choice(['<', '==', '>='])} 0)"
        if kind == 9:
            return (
                f"({r.choice(['strstr', 'strpbrk'])}({self.text()[0]}, {self.text()[0]}) {r.choice(['!=', '=='])} NULL)"
            )
        if kind == 10:
            return f"(access({self.path()}, {r.choice(['F_OK', 'R_OK', 'W_OK'])}) == 0)"
        return f"((u32)({a}) % {r.randrange(2, 6)} == {r.randrange(3)})"

    def text(self, other_than: str = "") -> tuple[str, int]:
        """A text, not in the buffer other_than, and how many bytes there are at least, its NUL among them."""
        r, s = self.rng, self.scope
        buffers = [b for b in s.buffers if b[0] != other_than]
        kind = r.randrange(10)
        if kind <= 4 and buffers:
            name, size = r.choice(buffers)
            at = r.randrange(4) if self.chance(20) else 0
            return (f"{name} + {at}" if at else name), size - at
        texts = [t for t in s.texts + s.read_only if t != other_than]
        if kind <= 6 and texts:
            return r.choice(texts), 1
        word = r.choice(WORDS)
        return f'"{word}"', len(word) + 1

    def path(self) -> str:
        r, s = self.rng, self.scope
        # Whatever these hold, the path stays in the program's folder.
        if s.read_only and self.chance(20):
            return f"inside({r.choice(s.read_only)})"
        if s.buffers and self.chance(10):
            return f"inside({r.choice(s.buffers)[0]})"
        return f'"{r.choice(NAMES)}"'

    # --- Where results go ----------------------------------------------------

    def target(self) -> str:
        r, s = self.rng, self.scope
        if s.arrays and self.chance(15):
            name, count = r.choice(s.arrays)
            return f"{name}[{self.below(count)}]"
        return r.choice(s.numbers)

    def into(self, value: str) -> None:
        """Makes some variable depend on a value."""
        target = self.rng.choice(self.scope.numbers)
        form = self.rng.randrange(4)
        if form == 0:
            self.line(f"{target} = {value};")
        elif form == 1:
            self.line(f"{target} ^= {value};")
        else:
            self.line(f"{target} = mix({target}, {value});")

    def result(self, call: str) -> None:
        """A call that returns -1 and errno, or a result to look at."""
        self.line(f"r = {call};")
        self.into("r < 0 ? errno * 3 : r")

    def success(self, call: str) -> None:
        """A call that returns -1 and errno, or a descriptor."""
        self.line(f"r = {call};")
        self.into("r < 0 ? errno * 5 : 1")
