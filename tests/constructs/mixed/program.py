# SPDX-License-Identifier: MIT
"""Writes whole random programs: functions, variables and tables, and regions that use them."""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import shapes
from loops import Loops
from writer import TYPES, WORDS, Scope

# How often each kind of statement comes.  A program makes some kinds more often, and leaves some out.
KINDS = {
    "assign": 10,
    "open_file": 6,
    "close_file": 2,
    "read_file": 6,
    "write_file": 5,
    "examine_file": 7,
    "change_names": 6,
    "list_folder": 3,
    "scan_folder": 1,
    "copy_text": 5,
    "search_text": 5,
    "parse_text": 4,
    "format_text": 6,
    "change_block": 4,
    "change_heap_text": 2,
    "change_list": 4,
    "sort": 2,
    "call": 8,
    "call_by_pointer": 4,
    "branch": 8,
    "loop": 6,
    "switch": 3,
    "leave_loop": 3,
    "go": 2,
    "scan": 6,
    "transfer_numbers": 2,
    "keep_errno": 2,
    "shape": 6,
    "stream": 4,
    "again": 2,
    "tell": 3,
    "stop": 1,
}
SIMPLE = ("assign", "assign", "copy_text", "search_text", "format_text", "examine_file", "write_file", "leave_loop")
NESTED = ("branch", "loop", "switch", "again")


@dataclass
class Routine:
    """A function of the program: i64 NAME(i32 depth, T n, U k, const char *text, struct record *record)."""

    name: str
    types: tuple[str, str]
    takes_text: bool
    takes_record: bool
    recursive: bool = False


@dataclass
class Shared:
    """What the functions of one program have in common."""

    prefix: str
    scope: Scope
    weights: dict[str, int]
    turns: Iterator[int]
    size: float = 1  # of its functions
    routines: list[Routine] = field(default_factory=list)
    pure: list[str] = field(default_factory=list)
    tables: list[str] = field(default_factory=list)  # expressions of functions by pointer, of two numbers
    visitors: list[str] = field(default_factory=list)
    shapes: list[str] = field(default_factory=list)  # statements of shapes.py
    streams: list[str] = field(default_factory=list)  # DIR * that stay open


class Body(Loops):
    """Writes the statements of one function."""

    def __init__(self, rng: random.Random, shared: Shared) -> None:
        super().__init__(rng, shared.scope, shared.turns)
        self.shared = shared
        self.pure = shared.pure
        self.budget = 0
        self.own_texts: list[str] = []  # that no function changes
        self.leave = "return {};"  # how the function ends early
        self.depth = ""  # of the recursion, a variable
        self.routine: Routine | None = None

    # --- Statements ----------------------------------------------------------

    def statements(self, depth: int, count: int) -> None:
        for _ in range(count):
            if self.budget > 0:
                self.statement(depth)

    def statement(self, depth: int) -> None:
        self.budget -= 1
        weights = self.shared.weights
        kinds = [k for k in weights if depth or k not in NESTED]
        kind = self.rng.choices(kinds, [weights[k] for k in kinds])[0]
        if kind in NESTED:
            getattr(self, kind)(depth)
        else:
            getattr(self, kind)()

    def statement_simple(self) -> None:
        self.budget -= 1
        getattr(self, self.rng.choice(SIMPLE))()

    def assign(self) -> None:
        r, s = self.rng, self.scope
        kind = r.randrange(12)
        if kind == 0 and len(s.records) > 1:
            a, b = r.sample(s.records, 2)
            self.line(f"{a} = {b};")
        elif kind == 1 and s.records:
            record = r.choice(s.records)
            member = r.choice(["key", "tag", "low", "high", "value"])
            self.line(f"{record}.{member} = {self.number()};")
        elif kind == 2 and s.records:
            self.into(f"hash_record(&{r.choice(s.records)})")
        elif kind == 3 and s.arrays:
            name, count = r.choice(s.arrays)
            pointer = self.name("p")
            self.line(f"i32 *{pointer} = &{name}[{self.below(count)}];")
            self.line(f"*{pointer} = (i32)((u64)*{pointer} {r.choice('+-*^')} (u64)({self.number(1)}));")
        elif kind == 4 and s.arrays:
            name, count = r.choice(s.arrays)
            i = self.name("i")
            self.line(f"for (u32 {i} = 0; {i} < {count}; {i}++)")
            self.line(f"\t{name}[{i}] = (i32)((u64){name}[{i}] * {r.randrange(1, 9)} + {i});")
        else:
            self.line(f"{self.target()} = {self.number()};")

    def branch(self, depth: int) -> None:
        outer = self.open(f"if ({self.condition()})")
        self.statements(depth - 1, self.rng.randrange(1, 4))
        if self.chance(40):
            self.scope = outer
            self.indent -= 1
            outer = self.open("} else")
            self.statements(depth - 1, self.rng.randrange(1, 4))
        self.close(outer)

    def loop(self, depth: int) -> None:
        r = self.rng
        if self.loops >= 3:
            return self.assign()
        i = self.name("i")
        rounds = r.choice([f"{r.randrange(1, 7)}", f"{self.below(6)}", f"{self.below(6)}"])
        if self.loops == 0 and self.chance(20):
            rounds = f"{r.randrange(7, 30)}"
        kind = r.randrange(4)
        whole = self.open("")
        self.line(f"u32 {i} = 0, m{i} = {rounds};")
        if kind <= 1:
            outer = self.open(f"for (; {i} < m{i}; {i}++)")
        elif kind == 2:
            outer = self.open(f"while (m{i} > {i}++ && {self.condition()})")
        else:
            outer = self.open("do")
        self.scope.fixed.append(i)
        self.loops += 1
        self.statements(depth - 1, r.randrange(1, 5))
        self.loops -= 1
        self.close(outer, f" while (++{i} < m{i});" if kind == 3 else "")
        self.close(whole)

    def switch(self, depth: int) -> None:
        r = self.rng
        few = self.chance(60)
        values = r.sample(range(6), r.randrange(2, 6)) if few else r.sample([0, 1, 7, 40, 127, 255, 1000, -1, -5], 5)
        outer = self.open(f"switch ((i32)({self.number(1)}){' & 7' if few else ''})")
        while values:
            for _ in range(min(len(values), r.choice([1, 1, 2]))):
                self.line(f"case {values.pop()}:")
            inner = self.open("")
            loops, self.loops = self.loops, 0 if self.loops == 0 else self.loops
            self.statements(depth - 1, r.randrange(1, 3))
            self.loops = loops
            self.close(inner)
            self.line(r.choice(["break;", "break;", "/* fall through */;"]))
        if self.chance(60):
            self.line("default:")
            self.into(self.number(1))
        self.close(outer)

    def leave_loop(self) -> None:
        """In a switch a break ends that."""
        if self.loops:
            self.line(f"if ({self.condition()})")
            self.line(f"\t{self.rng.choice(['break', 'break', 'continue'])};")
        else:
            self.assign()

    def go(self) -> None:
        r = self.rng
        self.line(f"if ({self.condition()})")
        if self.scope.labels and self.chance(60):
            self.line(f"\tgoto {r.choice(self.scope.labels)};")
        else:
            self.line("\t" + self.leave.format(self.number()))

    def arguments(self, routine: Routine) -> str:
        r = self.rng
        depth = f"{self.depth} - 1" if self.depth else str(r.choice([1, 2, 2, 3, 4, 40]))
        given = [depth, f"({routine.types[0]})({self.number(1)})", f"({routine.types[1]})({self.number(1)})"]
        if routine.takes_text:
            given.append(
                r.choice([*self.own_texts, f'"{r.choice(WORDS)}"', f'"{r.choice(["a", "sub", "sub/c", "no"])}"'])
            )
        if routine.takes_record:
            given.append(f"&{r.choice(self.scope.records)}")
        return ", ".join(given)

    def call(self) -> None:
        r = self.rng
        routines = [x for x in self.shared.routines if self.scope.records or not x.takes_record]
        if self.routine and self.chance(40) and (self.scope.records or not self.routine.takes_record):
            routines = [self.routine]
        if not routines:
            return self.assign()
        routine = r.choice(routines)
        call = f"{routine.name}({self.arguments(routine)})"
        if self.chance(70):
            self.line(f"r = {call};")
            self.into("r")
        else:
            self.line(f"if ({call} {r.choice(['<', '>', '!='])} {self.leaf()})")
            self.into(self.number(1))

    def call_by_pointer(self) -> None:
        r, s = self.rng, self.scope
        shared = self.shared
        if shared.visitors and self.chance(40):
            sum_ = self.name("sum")
            outer = self.open("")
            self.line(f"i64 {sum_} = {self.number(1)};")
            visitor = r.choice(shared.visitors)
            text = r.choice([*self.own_texts, f'"{r.choice(WORDS)}"'])
            if s.arrays and self.chance(60):
                name, count = r.choice(s.arrays)
                self.line(f"r = {shared.prefix}_each({name}, {count}, {visitor}, &{sum_});")
            else:
                self.line(f"r = {visitor}(&{sum_}, {self.number(1)}, {text});")
            self.into(f"mix(r, {sum_})")
            self.close(outer)
        elif shared.tables:
            table = r.choice(shared.tables).replace("INDEX", self.number(1))
            self.line(f"r = {table}({self.number(1)}, {self.number(1)});")
            self.into("r")
        else:
            self.assign()

    def again(self, depth: int) -> None:
        """A way back, without a loop of C's."""
        if self.loops >= 2:
            return self.assign()
        label, tries = self.name("again"), self.name("tries")
        outer = self.open("")
        self.line(f"u32 {tries} = 0;")
        self.line(f"{label}:;")
        self.scope.fixed.append(tries)
        inner = self.open("")
        loops, self.loops = self.loops, 0
        self.statements(depth - 1, self.rng.randrange(1, 4))
        self.loops = loops
        self.close(inner)
        self.line(f"if ({tries}++ < {self.rng.randrange(1, 4)} && {self.condition()})")
        self.line(f"\tgoto {label};")
        self.close(outer)

    def shape(self) -> None:
        if not self.shared.shapes:
            return self.assign()
        self.line("r = 0;")
        call = self.rng.choice(self.shared.shapes)
        text = self.rng.choice([*self.own_texts, f'"{self.rng.choice(WORDS)}"'])
        number = f"(i64)({self.number(1)})"
        self.line(re.sub(r"\bN\b", lambda _: number, call).replace("TEXT", text))
        self.into("r")

    def stream(self) -> None:
        """Goes on in a folder that nothing changes, wherever it was opened."""
        r = self.rng
        if not self.shared.streams:
            return self.assign()
        stream = r.choice(self.shared.streams)
        entry = self.name("entry")
        outer = self.open("")
        self.line(f"struct dirent *{entry} = NULL;")
        self.line(f"if (!{stream})")
        fresh = 'fdopendir(open("fixed", O_RDONLY | O_DIRECTORY))' if self.chance(30) else 'opendir("fixed")'
        self.line(f"\t{stream} = {fresh};")
        self.line(f"else if ({self.condition(0)})")
        self.line(f"\tr = closedir({stream}), {stream} = NULL;")
        self.line("else")
        forms = ["rewinddir({0})", "seekdir({0}, telldir({0}))", "r = dirfd({0}) >= 0", "r = (i64)((u64)r + 2)"]
        self.line("\t" + forms[self.turn(4)].format(stream) + ";")
        loop = self.open(f"while ({stream} && ({entry} = readdir({stream})))" if self.chance(40) else f"if ({stream})")
        if "while" not in self.lines[-1]:
            self.line(f"{entry} = readdir({stream});")
        self.into(f"{entry} ? hash_bytes({entry}->d_name, strlen({entry}->d_name)) : 5")
        self.close(loop)
        self.close(outer)

    def tell(self) -> None:
        """Output, and reports of errors."""
        r = self.rng
        kind = self.turn(10)
        # Mostly where something failed.
        self.line(f"if ({self.condition(0)})" if self.chance(80) else "")
        if kind <= 2:
            self.line(f'\tprintf("{self.name("told")} " {self.format()});')
        elif kind == 3:
            self.line(f'\tfprintf(stderr, "mixed: " {self.format()});')
        elif kind == 4:
            self.line(f"\tperror({self.text()[0]});")
        elif kind == 5:
            self.line(f'\tputs("{self.name("told")}");')
        elif kind == 6:
            self.line(f'\tfprintf({r.choice(["stdout", "stderr"])}, "%s: %s\\n", {self.text()[0]}, strerror(errno));')
        elif kind == 7:
            self.line(f'\t{r.choice(["warn", "warnx"])}("{self.name("warned")} " {self.format()});')
        elif kind == 8:
            self.line(f"\t{self.shared.prefix}_log({r.randrange(4)}, {self.format()});")
        else:
            self.line(f"\tputchar('a' + {self.below(26)});")

    def stop(self) -> None:
        """The program ends here, rarely."""
        r = self.rng
        self.line(f"if ((u32)({self.number(1)}) % 64 == {r.randrange(64)})")
        calls = [f"exit({r.randrange(64)})", f'{self.shared.prefix}_die("{self.name("at")}", {self.number(1)})'] + [
            f'err({r.randrange(1, 64)}, "{self.name("at")} " {self.format()})',
            'errx(5, "gone")',
            "abort()",
        ]
        self.line(f"\t{calls[self.turn(len(calls))]};")


def declare(body: Body, count: int, outside: bool = False) -> None:
    """Variables of a function or of the region, initialised."""
    r, s = body.rng, body.scope
    for _ in range(count):
        kind = r.randrange(12)
        if kind <= 4:
            name = body.name("v")
            body.line(f"{r.choice(TYPES)} {name} = {body.number(1)};")
            s.numbers.append(name)
        elif kind <= 6:
            name, size = body.name("b"), r.choice([9, 16, 24, 40, 64, 96, 96, 700, 5000])
            word = r.choice([w for w in WORDS if len(w) < size])
            body.line(f'char {name}[{size}] = "{word}";')
            s.buffers.append((name, size))
            body.own_texts.append(name)
        elif kind == 7:
            name, count_ = body.name("x"), r.choice([3, 4, 7, 16])
            values = ", ".join(str(r.randrange(-50, 50)) for _ in range(r.randrange(1, count_)))
            body.line(f"i32 {name}[{count_}] = {{{values}}};")
            s.arrays.append((name, count_))
        elif kind == 8:
            name = body.name("w")
            body.line(
                f'struct record {name} = {{.key = {r.randrange(-9, 99)}, .name = "{r.choice(["a", "record", ""])}"}};'
            )
            s.records.append(name)
            s.numbers.append(f"{name}.value")
        elif kind == 9:
            name = body.name("fd")
            body.line(f"int {name} = -1;")
            s.files.append(name)
        elif kind == 10:
            name = body.name("h")
            body.line(f"u8 *{name} = {'NULL' if outside and body.chance(50) else 'calloc(16, 1)'};")
            body.line(f"u32 {name}_n = {name} ? 16 : 0;")
            s.blocks.append(name)
        else:
            name = body.name("s")
            body.line(f'char *{name} = strdup("{r.choice(WORDS)}");')
            s.texts.append(name)


def release(body: Body, scope: Scope, shared: Scope) -> None:
    """Gives back what a function's own variables hold."""
    for fd in scope.files:
        if fd not in shared.files:
            body.line(f"if ({fd} >= 0)")
            body.line(f"\tclose({fd});")
    for name in scope.blocks + scope.texts:
        if name not in shared.blocks + shared.texts:
            body.line(f"free({name});")


def pure_function(rng: random.Random, shared: Shared, name: str) -> str:
    body = Body(rng, shared)
    body.scope = Scope(numbers=["a", "b"])
    body.pure = list(shared.pure)
    to = rng.choice(TYPES)
    types = rng.choice(TYPES), rng.choice(TYPES)
    if rng.randrange(2):
        body.line(f"for (u32 i = 0; i < {rng.randrange(1, 6)}; i++)")
        body.line("\ta = mix(a, (i64)((u64)b + i));")
    for _ in range(rng.randrange(3)):
        body.line(f"if (({body.number(1)}) {rng.choice(['<', '>', '=='])} {body.leaf()})")
        body.line(f"\treturn {body.number(1)};")
    body.line(f"return {body.number(3)};")
    shared.pure.append(name)
    return f"static {to} {name}({types[0]} a, {types[1]} b)\n{{\n" + "\n".join(body.lines) + "\n}\n"


def routine(rng: random.Random, shared: Shared, name: str) -> str:
    body = Body(rng, shared)
    made = Routine(name, (rng.choice(TYPES), rng.choice(TYPES)), body.chance(50), body.chance(30), body.chance(50))
    head = f"i64 {name}(i32 depth, {made.types[0]} n, {made.types[1]} k"
    s = body.scope
    s.numbers += ["n", "k"]
    s.fixed.append("depth")
    if made.takes_text:
        head += ", const char *text"
        s.read_only.append("text")
        body.own_texts.append("text")
    if made.takes_record:
        head += ", struct record *record"
        s.records.append("(*record)")
        s.numbers += ["record->value", "record->key"]
    if body.chance(20):
        s.numbers.append("kept")
        body.line(f"static {rng.choice(TYPES)} kept = {rng.randrange(9)};")
    if made.recursive:
        body.routine, body.depth = made, "depth"
    body.line("i64 r = 0, result = 0;")
    body.line("struct stat st;")
    body.line("char *at;")
    declare(body, 1 + int(rng.randrange(5) * shared.size))
    body.line("")
    body.line("(void)st, (void)at;")
    body.line("if (depth <= 0 || Fuel == 0)")
    body.line(f"\treturn {body.number(1)};" if not (s.blocks or s.texts) else "\tgoto out;")
    body.line("Fuel--;")
    body.leave = "{{ result = {}; goto out; }}"
    body.budget = 1 + int(rng.randrange(2, 10) * shared.size)
    inside = body.chance(15)
    if inside:
        body.line("COSY_START;")
        whole = body.open("")
        body.leave = "return {};"
        body.statements(2, body.budget)
        body.close(whole)
        body.line("COSY_END;")
    else:
        body.statements(2, body.budget)
    body.line(f"result = {body.number()};")
    body.line("out:")
    release(body, s, shared.scope)
    body.line("return result;")
    shared.routines.append(made)
    inline = rng.choice(["", "", "", "__attribute__((noinline)) "])
    return f"static {inline}{head})\n{{\n" + "\n".join(body.lines) + "\n}\n"


def show_memory(body: Body, scope: Scope) -> None:
    """Prints what is in the scope's buffers, arrays and blocks."""
    for buffer, size in scope.buffers:
        body.line(f'show("{buffer}", hash_bytes({buffer}, {size}));')
    for array, count in scope.arrays:
        body.line(f'show("{array}", hash_bytes({array}, {count * 4}));')
    for block in scope.blocks:
        body.line(f'show("{block}", {block} ? hash_bytes({block}, {block}_n) : 1);')


def region(rng: random.Random, shared: Shared, name: str) -> str:
    body = Body(rng, shared)
    s = body.scope
    s.numbers += ["n", "k"]
    body.line("i64 r = 0;")
    body.line("struct stat st;")
    body.line("char *at;")
    declare(body, 2 + int(rng.randrange(2, 6) * shared.size), True)
    body.line("")
    body.line("(void)st, (void)at;")
    body.leave = "return {};"
    body.budget = rng.randrange(3)
    body.statements(1, body.budget)
    around = body.chance(25)
    if around:
        outer = body.open(f"for (u32 turn = 0; turn < {rng.randrange(2, 4)}; turn++)")
        body.scope.fixed.append("turn")
    body.line("COSY_START;")
    inner = body.open("")
    declare(body, int(rng.randrange(4) * shared.size))
    body.scope.labels = ["end", "after"]
    body.budget = 2 + int(rng.randrange(8, 24) * shared.size)
    while body.budget > 0:
        body.statement(3)
    release(body, body.scope, inner)
    body.close(inner)
    body.line("end:;")
    body.line("COSY_END;")
    if around:
        body.close(outer)
    body.line("after:")
    for number in s.numbers:
        body.line(f'show("{number}", {number});')
    show_memory(body, s)
    for text in s.texts:
        body.line(f'show("{text}", hash_bytes({text}, strlen({text})));')
    body.line(f"r = {body.number()};")
    release(body, s, shared.scope)
    body.line("return r;")
    types = rng.choice(TYPES), rng.choice(TYPES)
    return f"static i64 {name}({types[0]} n, {types[1]} k)\n{{\n" + "\n".join(body.lines) + "\n}\n"


def shared_functions(rng: random.Random, shared: Shared) -> str:
    """Functions of fixed forms: comparators, a filter, visitors, a log function, one that does not return."""
    p = shared.prefix
    key = rng.choice(["x->key", "x->key / 8", "(i8)x->key", "-(x->key / 2)", "x->value % 5", "x->key & 12"])
    other = key.replace("x->", "y->")
    logged = rng.choice(["puts(line);", 'fprintf(stderr, "%s\\n", line);', f"r_{p} += strlen(line) * 3;"])
    text = f"""
static int compare_numbers{p}(const void *a, const void *b)
{{
	i32 x = *(const i32 *)a, y = *(const i32 *)b;

	return {rng.choice(["(x > y) - (x < y)", "x < y ? 1 : x > y ? -1 : 0", "(x / 4 > y / 4) - (x / 4 < y / 4)"])};
}}

static int compare_records{p}(const void *a, const void *b)
{{
	const struct record *x = a, *y = b;

	return ({key} > {other}) - ({key} < {other});
}}

static int compare_texts{p}(const void *a, const void *b)
{{
	return {rng.choice(["strcmp", "strcasecmp"])}(*(char *const *)a, *(char *const *)b);
}}

static int visible{p}(const struct dirent *entry)
{{
	return entry->d_name[0] {rng.choice(["!= '.'", "!= 'f'", "> 'a'", "!= 0"])};
}}

static void {p}_die(const char *what, i64 code)
{{
	{rng.choice(["printf(", "fprintf(stderr, "])}"%s: %s, %ld\\n", what, strerror(errno), code);
	{rng.choice(["exit((int)(code & 63))", "exit(3)", "abort()"])};
}}

static void {p}_log(int level, const char *format, ...)
{{
	char line[48];
	va_list list;

	if (level == {rng.randrange(4)})
		return;
	va_start(list, format);
	r_{p} += vsnprintf(line, sizeof(line), format, list);
	va_end(list);
	{logged}
}}

static i64 {p}_each(i32 *numbers, u32 count, visitor *visit, i64 *sum)
{{
	i64 r = 0;

	for (u32 i = 0; i < count; i++) {{
		r = visit(sum, numbers[i], "{rng.choice(WORDS)}");
		if (r {rng.choice(["< -5", "== 3", "> 1000"])})
			break;
	}}
	return r;
}}
"""
    return text


def visitors(rng: random.Random, shared: Shared) -> str:
    p = shared.prefix
    text = ""
    names = [f"{p}_visit{i}" for i in range(rng.randrange(1, 4))]
    for name in names:
        body = Body(rng, shared)
        body.scope.numbers += ["*sum", "value"]
        body.scope.read_only.append("name")
        body.line("i64 r = 0;")
        body.line("struct stat st;")
        body.line("char *at;")
        body.line("")
        body.line("(void)st, (void)at;")
        body.budget = rng.randrange(1, 4)
        while body.budget > 0:
            body.statement_simple()
        body.line(f"return (i64)((u64)r + (u64)({body.number()}));")
        text += f"\nstatic i64 {name}(i64 *sum, i64 value, const char *name)\n{{\n" + "\n".join(body.lines) + "\n}\n"
    text += f"\nstatic visitor *const {p}_Visitors[] = {{{', '.join(names)}}};\n"
    text += f"static visitor *volatile {p}_Unknown = {names[0]};\n"
    shared.visitors = [*names, f"{p}_Visitors[{rng.randrange(len(names))}]", f"{p}_Unknown"]
    return text


def tables(rng: random.Random, shared: Shared) -> str:
    """Tables of functions, constant and set by the program."""
    p = shared.prefix
    text = ""
    names = [f"{p}_method{i}" for i in range(rng.randrange(2, 4))]
    for name in names:
        body = Body(rng, shared)
        body.scope.numbers += ["a", "b"]
        body.line("i64 r = 0;")
        body.line("struct stat st;")
        body.line("char *at;")
        body.line("")
        body.line("(void)st, (void)at;")
        body.budget = rng.randrange(0, 3)
        while body.budget > 0:
            body.statement_simple()
        body.line(f"return r ^ {body.number()};")
        text += f"\nstatic i64 {name}(i64 a, i64 b)\n{{\n" + "\n".join(body.lines) + "\n}\n"
    count = len(names)
    pairs = ", ".join(f'{{"{n[-1]}", {n}}}' for n in names)
    text += f"\nstatic i64 (*const {p}_Table[])(i64, i64) = {{{', '.join(names)}}};\n"
    text += f"static const struct {{ const char *name; i64 (*run)(i64, i64); }} {p}_Methods[] = {{{pairs}}};\n"
    text += f"static i64 (*{p}_Set)(i64, i64) = {names[0]};\n"
    text += f"static i64 (*volatile {p}_Any)(i64, i64) = {names[-1]};\n"
    shared.tables = [f"{p}_Table[(u32)(INDEX) % {count}]", f"{p}_Methods[(u32)(INDEX) % {count}].run"]
    shared.tables += [f"{p}_Set", f"{p}_Any", f"((INDEX) ? {names[0]} : {names[1]})"]
    return text


def variables(rng: random.Random, shared: Shared) -> str:
    p, s = shared.prefix, shared.scope
    text = f"static i64 r_{p};\n"
    if rng.randrange(2):
        words = ", ".join(f'"{word}"' for word in rng.sample(WORDS, 5))
        text += f"static const char *const {p}_Words[] = {{{words}}};\n"
        s.read_only.append(f"{p}_Words[(u32)r_{p} % 5]")
    s.numbers.append(f"r_{p}")
    for i in range(rng.randrange(1, 4)):
        name = f"{p}_G{i}"
        text += f"static {rng.choice(['', '', '', 'volatile '])}{rng.choice(TYPES)} {name} = {rng.randrange(100)};\n"
        s.numbers.append(name)
    if rng.randrange(2):
        text += f"static i32 {p}_A[9] = {{1, 2, 3}};\n"
        s.arrays.append((f"{p}_A", 9))
    if rng.randrange(2):
        text += f'static char {p}_B[40] = "global";\n'
        s.buffers.append((f"{p}_B", 40))
    if rng.randrange(2):
        text += f'static struct record {p}_R = {{7, 8, 9, 10, 11, "global"}};\n'
        s.records.append(f"{p}_R")
        s.buffers.append((f"{p}_R.name", 12))
    if rng.randrange(2):
        text += f"static u8 *{p}_H;\nstatic u32 {p}_H_n;\n"
        s.blocks.append(f"{p}_H")
    if rng.randrange(3):
        text += f"static struct node *{p}_L;\n"
        s.lists.append(f"{p}_L")
    if rng.randrange(3) == 0:
        text += f"static int {p}_F = -1;\n"
        s.files.append(f"{p}_F")
    return text


def program(seed: int) -> tuple[str, str]:
    """A program's source and the name of its function."""
    rng = random.Random(seed)
    weights = {kind: weight * rng.choice([0, 1, 1, 1, 3]) for kind, weight in KINDS.items()}
    weights["assign"] += 1
    weights["go"] = min(weights["go"], 2)
    p = f"p{seed}"
    # Most are small: what a program costs is to compile it, and two faults rarely need each other.
    shared = Shared(p, Scope(), weights, itertools.count(seed * 5), rng.choices([0.3, 0.6, 1], [75, 20, 5])[0])
    text = f"\n/* --- Program {seed} --- */\n\n" + variables(rng, shared)
    text += shared_functions(rng, shared) + "\n"
    for i in range(rng.randrange(3)):
        text += "\n" + pure_function(rng, shared, f"{p}_pure{i}")
    if weights["shape"]:
        made, shared.shapes = shapes.make(rng, p)
        text += made
    if weights["stream"]:
        shared.streams = [f"{p}_D"]
        text += f"\nstatic DIR *{p}_D;\n"
    if weights["call_by_pointer"]:
        text += visitors(rng, shared) + tables(rng, shared)
    for i in range(1 + int(rng.randrange(3) * shared.size) if weights["call"] else 0):
        text += "\n" + routine(rng, shared, f"{p}_f{i}")
    count = rng.choice([1, 1, 2]) if shared.size == 1 else 1
    for i in range(count):
        text += "\n" + region(rng, shared, f"{p}_region{i}")
    main = Body(rng, shared)
    main.line("i64 sum = 0;")
    main.line("")
    main.line('folder_fd = open(".", O_RDONLY | O_DIRECTORY);')
    if rng.randrange(3) == 0:
        main.line(f"setvbuf(stdout, NULL, {rng.choice(['_IOLBF', '_IONBF'])}, 0);")
    if shared.tables:
        main.line(f"{p}_Set = {p}_Table[1];")
    for i in range(rng.randrange(count, count + 3)):
        given = f"sum + {rng.randrange(99)}, {rng.choice(['-1', '0', '7', '1000000'])}"
        main.line(f"sum = mix(sum, {p}_region{i % count}({given}));")
    s = shared.scope
    for number in s.numbers:
        main.line(f'show("{number}", {number});')
    for record in s.records:
        main.line(f'show("{record}", hash_record(&{record}));')
    show_memory(main, s)
    for head in s.lists:
        main.line(f"show_nodes({head}, 0);")
    for stream in shared.streams:
        main.line(f"for (struct dirent *entry; {stream} && (entry = readdir({stream}));)")
        main.line("\tsum += hash_bytes(entry->d_name, strlen(entry->d_name));")
    if f"{p}_fold" in text:
        main.line(f"sum = mix(sum, {p}_fold({p}_T, {p}_xor, 3));")
    main.line("return sum;")
    text += f"\nstatic i64 {p}(void)\n{{\n" + "\n".join(main.lines) + "\n}\n"
    # Comparators and filters are named after their program.
    for name in ("compare_numbers", "compare_records", "compare_texts", "visible"):
        text = text.replace(name + p, name).replace(f"{name}", f"{p}_{name}")
    return text, p


def unit(first: int, count: int) -> str:
    """A source file of programs with the seeds from `first` on."""
    parts = [program(seed) for seed in range(first, first + count)]
    names = ", ".join(name for _, name in parts)
    text = '#include "mixed.h"\n\nstatic int folder_fd;\n' + "".join(source for source, _ in parts)
    text += f"\nstatic i64 (*const Programs[])(void) = {{{names}}};\n"
    text += "\nint main(int argc, char **argv)\n{\n"
    return text + f"\treturn run_programs(Programs, {count}, {first}, argc, argv);\n}}\n"
