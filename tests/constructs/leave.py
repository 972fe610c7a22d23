#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Random programs with output in their regions, several ways, as run.py: on ways out, in loops and after them.

Their regions also format, log by functions of their own, take blocks of the heap, list a directory,
sort, recurse, and call by pointers.

Prints how many were equal and how many regions ended early.  A program that differs is kept in --work.
With --put those of the last level also go into a folder, for guest.sh in a virtual machine.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

TIMEOUT = 600  # seconds for one program: for what hangs, not for a busy machine
WAYS = (("native", "always"), ("interp", "always"), ("interp", "1"), ("interp", "2"))

HEAD = """#include <cosy/cosy.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef unsigned long num;
static num Global;
static int File;
static char Directory[] = "/tmp/cosy-leave-XXXXXX";

static void die(const char *what, num code)
{
	printf("%s: %s, %lu\\n", what, strerror(errno), code);
	exit((int)(code & 63));
}

static num tell(num value)
{
	printf("tell %lu\\n", value);
	return value * 3 + 1;
}

static num tell_some(num value)
{
	if (value & 4)
		printf("some %lu\\n", value);
	return value >> 1;
}

static num mix(num a, num b)
{
	return (a ^ (b << 7)) * 31 + (b >> 3) + (num)(getppid() > 0);
}

__attribute__((unused)) static void drop(num *value)
{
	Global = mix(Global, *value);
}

static num look(num at)
{
	char text[8] = "";

	if (pread(File, text, 1 + (at & 3), (off_t)(at & 63)) <= 0) {
		printf("nothing at %lu\\n", at & 63);
		return 0;
	}
	return (num)text[0] + (num)text[1];
}

static int step(num *sum, num at)
{
	__attribute__((cleanup(drop))) num kept = at;

	if (at % 5 == 3)
		return -1;
	*sum += look(at);
	kept += *sum;
	if (at % 7 == 4) {
		perror("step");
		return 1;
	}
	return 0;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a + 1, *(char *const *)b + 1);
}

static num sort(num seed)
{
	char **list = NULL, text[24];
	num sum = 0, room = 0, count = seed % 9;

	for (num i = 0; i < count; i++) {
		if (i == room) {
			room = room ? room * 2 : 2;
			list = realloc(list, room * sizeof(*list));
		}
		snprintf(text, sizeof(text), "%c%0*lu%s", (int)('a' + i), (int)(seed & 3), seed % (3 + i), i & 1 ? "" : "x");
		list[i] = strdup(text);
	}
	if (count)
		qsort(list, count, sizeof(*list), by_text);
	for (num i = 0; i < count; i++) {
		for (char *p = list[i]; *p; p++)
			sum = sum * 31 + (num)*p;
		free(list[i]);
	}
	free(list);
	return sum;
}

static num entries(num seed)
{
	DIR *dir = opendir(seed % 5 ? Directory : "/nonexistent");
	struct dirent *entry;
	num sum = seed & 3;

	if (!dir)
		return (num)errno;
	while ((entry = readdir(dir)))
		sum += strlen(entry->d_name) * (num)entry->d_name[0];
	if (seed & 4) {
		rewinddir(dir);
		sum += readdir(dir) != NULL;
	}
	closedir(dir);
	return sum;
}

static num add(num a, num b)
{
	return a + 3 * b;
}

static num first(num a, num b)
{
	(void)b;
	return a;
}

static num (*const Table[])(num, num) = {mix, add, first};
static num (*volatile Unknown)(num, num) = add;

struct methods {
	num (*join)(num, num);
	num (*one)(num);
};
static const struct methods Methods[] = {{mix, sort}, {first, entries}, {add, look}};

static num apply(const struct methods *m, num (*f)(num, num), num a, num b)
{
	return f(m->join(a, b), m->one(b));
}

/* Formats its arguments, as log functions do. */
static num note(num level, const char *format, ...)
{
	static char last[24];
	va_list list;
	num length;

	if (level % 5 == 0)
		return level;
	va_start(list, format);
	length = (num)vsnprintf(last, sizeof(last), format, list);
	va_end(list);
	return mix(length, (num)last[level % 4]);
}

/* Mostly returns at once, and sometimes tells. */
static num descend(num a, num b)
{
	char text[32];
	num sum;

	if (a % 3 == 0)
		return b;
	if (a % 64 == 7)
		printf("descend %lu\\n", b);
	snprintf(text, sizeof(text), "%lx/%-4lu", a, b % 100);
	sum = descend((a & 255) / 3, b + (num)text[0]) + descend((a & 255) / 5, b ^ a);
	return sum * 7 + (num)text[(a + b) & 3] + (num)(getppid() > 0);
}

static num count(num rounds)
{
	num sum = 0;

	for (num at = 0; at < (rounds & 15); at++) {
		int done = step(&sum, at * rounds);

		if (done < 0)
			break;
		if (done)
			continue;
		sum = mix(sum, at);
	}
	printf("count %lu\\n", sum);
	return sum;
}
"""

MAIN = """
/* Makes files in a directory, or removes them and it. */
static int make(const char *directory, int there)
{
	static const char *const names[] = {"one", "another", "c"};
	char path[64];

	for (int i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "%s/%s", directory, names[i]);
		if (there ? close(creat(path, 0600)) : unlink(path))
			return 1;
	}
	return there ? 0 : rmdir(directory);
}

int main(void)
{
	char text[] = "0123456789abcdefghijklmnopqrstuvwxyz";
	FILE *file = tmpfile();

	if (!file || fwrite(text, 1, sizeof(text) - 1, file) != sizeof(text) - 1 || fflush(file))
		return 1;
	File = fileno(file);
	if (!mkdtemp(Directory) || make(Directory, 1))
		return 1;
	for (num i = 0; i < CALLS; i++) {
		int status = 0;

		fflush(stdout);
		if (!fork()) {
			for (num j = 0; j < 3; j++)
				printf("= %lu\\n", Functions[i % FUNCTIONS](i / FUNCTIONS, i + j));
			return 0;
		}
		wait(&status);
		printf("%d\\n", status);
	}
	printf("%lu\\n", Global);
	return make(Directory, 0);
}
"""


class Function:
    """Writes one function with regions."""

    def __init__(self, rng: random.Random, name: str) -> None:
        self.rng = rng
        self.name = name
        self.lines: list[str] = []
        self.indent = 1
        self.names = 0
        self.numbers = ["n", "k"]  # variables in scope
        self.buffers: list[str] = []
        self.pointers: list[str] = []
        self.loops = 0
        self.fixed: set[str] = set()  # variables that count rounds
        self.labels: list[str] = []  # that a way out may go to
        self.budget = 0

    def line(self, text: str) -> None:
        self.lines.append("\t" * self.indent + text)

    def name_new(self, prefix: str) -> str:
        self.names += 1
        return f"{prefix}{self.names}"

    def chance(self, percent: int) -> bool:
        return self.rng.randrange(100) < percent

    def value(self, depth: int = 2) -> str:
        r = self.rng
        if depth == 0 or self.chance(30):
            if self.chance(25):
                return f"{r.randrange(9)}UL"
            if self.buffers + self.pointers and self.chance(35):
                return f"(num){r.choice(self.buffers + self.pointers)}[{r.choice(self.numbers)} & 7]"
            return r.choice(self.numbers)
        kind = r.randrange(8)
        a, b = self.value(depth - 1), self.value(depth - 1)
        if kind == 0:
            return f"({a} / ({b} % 7 + 1))"
        if kind == 1:
            return f"({a} << ({b} & 7))"
        if kind == 2:
            return f"{r.choice(['mix', 'mix', 'add', 'descend', 'Table[n % 3]', 'Unknown'])}({a}, {b})"
        if kind == 3:
            return f"({self.condition(depth - 1)} ? {a} : {b})"
        return f"({a} {r.choice('+-*^&|')} {b})"

    def condition(self, depth: int = 1) -> str:
        r = self.rng
        kind = r.randrange(5)
        if kind == 0:
            return f"getppid() {r.choice('><')} 0"
        if kind == 1:
            return f"({self.value(depth)} & {r.randrange(1, 8)})"
        if kind == 2:
            return f"({self.value(depth)} % {r.randrange(2, 6)} == {r.randrange(3)})"
        return f"{self.value(depth)} {r.choice(['<', '>', '==', '!='])} {r.choice(self.numbers + ['3', '6', '40'])}"

    def changed(self) -> str:
        return self.rng.choice([v for v in self.numbers if v not in self.fixed])

    def open_block(self, head: str) -> tuple[int, int, int]:
        self.line(f"{head} {{".lstrip())
        self.indent += 1
        return len(self.numbers), len(self.buffers), len(self.pointers)

    def close_block(self, scope: tuple[int, int, int], tail: str = "") -> None:
        del self.numbers[scope[0] :], self.buffers[scope[1] :], self.pointers[scope[2] :]
        self.indent -= 1
        self.line("}" + tail)

    def say(self) -> None:
        """Output, or what makes some."""
        r = self.rng
        kind = r.randrange(8)
        if kind == 0 and self.chance(40):
            self.line(f'die("{self.name_new("at")}", {self.value()});')
        elif kind == 1:
            self.line(f"{self.changed()} = tell({self.value()});")
        elif kind == 2:
            self.line(f"{self.changed()} += tell_some({self.value()});")
        elif kind == 3 and self.buffers + self.pointers:
            self.line(f'printf("%.8s\\n", {r.choice(self.buffers + self.pointers)});')
        elif kind == 4:
            self.line('printf("%s\\n", strerror(errno));')
        elif kind == 5:
            self.line(f'puts("{self.name_new("at")}");')
        else:
            self.line(f'printf("{self.name_new("at")} %lu %lu\\n", {self.value(1)}, {self.value(1)});')

    def leave(self) -> None:
        """A way out of all loops."""
        if self.labels and self.chance(50):
            self.line(f"goto {self.rng.choice(self.labels)};")
        else:
            self.line(f"return {self.value()};")

    def call(self) -> None:
        r = self.rng
        kind = r.randrange(13)
        into = self.changed()
        if kind >= 10:
            self.call_function(into)
        elif kind >= 7:
            self.line(f"{into} += {r.choice(['look', 'count', 'tell_some'])}({self.value(1)});")
        elif kind == 0:
            self.line(f"{into} = (num)lseek(File, (off_t)({self.value(1)} & 31), SEEK_SET);")
        elif kind == 1:
            path = r.choice(["/nonexistent/file", "/dev/null/file", "/"])
            self.line(f'{into} += (num)open("{path}", O_RDWR);')
        elif kind == 2:
            self.line(f"{into} += (num)close(-1);")
        elif kind <= 4 and self.buffers:
            target = r.choice(self.buffers + self.pointers)
            self.line(
                f"{into} += (num)pread(File, {target}, 1 + ({self.value(1)} & 7), (off_t)({self.value(1)} & 63));"
            )
        elif kind == 5 and self.buffers:
            self.line(f"{into} ^= (num)read(File, {r.choice(self.buffers)}, {r.randrange(1, 9)});")
        else:
            self.line(f"{into} += (num)(getppid() > 0);")

    def call_function(self, into: str) -> None:
        """A call of what is no system call alone."""
        r = self.rng
        kind = r.randrange(7)
        if kind == 6:
            form = r.choice(["%lu", "%lu %s", "%-6lx|%s|%c", "%.*s", "none"])
            given = {"%lu %s": ', "some text"', "%-6lx|%s|%c": ", \"a\", 'b'"}.get(form, "")
            given = {"%.*s": ', 3, "abcdef"', "none": ""}.get(form, f", {self.value(1)}{given}")
            self.line(f'{into} += note({self.value(1)}, "{form}"{given});')
        elif kind == 0 and self.buffers:
            target = r.choice(self.buffers)
            form = r.choice(["%lu", "%#lx", "%06lo", "%-9lu|", "%.3lu", "<%12lX>"])
            self.line(f'{into} += (num)snprintf({target}, 16, "{form}", {self.value(1)});')
        elif kind == 1:
            f = r.choice(["mix", "add", "first", "descend", "Table[k % 3]", "Unknown"])
            self.line(f"{into} = apply(&Methods[{self.value(1)} % 3], {f}, {self.value(1)}, {self.value(1)});")
        elif kind == 2:
            self.line(f"{into} ^= Methods[{self.value(1)} % 3].one({self.value(1)});")
        else:
            self.line(f"{into} += {r.choice(['sort', 'entries', 'sort'])}({self.value(1)});")

    def declare(self) -> None:
        r = self.rng
        kind = r.randrange(6)
        if kind == 5:
            new = self.name_new("h")
            self.line(f'char *{new} = strcpy(malloc({r.choice([16, 40, 600])}), "{r.choice(["", "xyz"])}abcdefgh");')
            self.pointers.append(new)
        elif kind <= 1:
            new = self.name_new("v")
            clean = "__attribute__((cleanup(drop))) " if self.chance(30) else ""
            self.line(f"{clean}num {new} = {self.value()};")
            self.numbers.append(new)
        elif kind <= 3:
            new = self.name_new("b")
            self.line(f'char {new}[16] = "{r.choice(["", "abcdefgh", "xyz", "1234567"])}";')
            self.buffers.append(new)
        elif len(self.buffers) > 1:
            new = self.name_new("p")
            a, b = r.sample(self.buffers, 2)
            self.line(f"char *{new} = {self.condition()} ? {a} : {b};")
            self.pointers.append(new)

    def statements(self, depth: int, late: bool, count: int) -> None:
        for _ in range(count):
            self.budget -= 1
            if self.budget < 0:
                return
            self.statement(depth, late)

    def statement(self, depth: int, late: bool) -> None:
        """Late: no loop of the region comes after."""
        r = self.rng
        kind = r.randrange(20)
        if kind <= 2:
            self.line(f"{self.changed()} {r.choice(['=', '+=', '^=', '-='])} {self.value()};")
        elif kind <= 5:
            self.call()
        elif kind <= 7 and (late or self.chance(5)):
            self.say()
        elif kind == 6 and self.chance(50):
            self.tell_and_go_on(depth)
        elif kind <= 8:
            self.declare()
        elif depth == 0:
            self.call()
        elif kind <= 11:
            scope = self.open_block(f"if ({self.condition()})")
            self.statements(depth - 1, late, r.randrange(1, 4))
            if self.chance(40):
                self.close_block(scope, " else {")
                self.indent += 1
                self.statements(depth - 1, late, r.randrange(1, 4))
            self.close_block(scope)
        elif kind <= 13:
            self.go_out()
        elif kind == 14 and self.loops:
            self.line(f"if ({self.condition()})")
            self.line(f"\t{r.choice(['break', 'continue'])};")
        elif kind <= 16:
            self.switch(depth, late)
        elif not late and self.loops < 3:
            self.loop(depth)
        else:
            self.call()

    def tell_and_go_on(self, depth: int) -> None:
        """Output in some rounds of a loop."""
        scope = self.open_block(f"if ({self.condition()})")
        self.statements(depth - 1 if depth else 0, False, self.rng.randrange(2))
        self.say()
        self.statements(0, False, self.rng.randrange(2))
        if self.loops and self.chance(50):
            self.line("continue;")
        self.close_block(scope)

    def go_out(self) -> None:
        scope = self.open_block(f"if ({self.condition()})")
        self.statements(0, False, self.rng.randrange(2))
        for _ in range(self.rng.randrange(3)):
            self.say()
        self.leave()
        self.close_block(scope)

    def switch(self, depth: int, late: bool) -> None:
        r = self.rng
        scope = self.open_block(f"switch ({self.value()} % 8)")
        cases = r.sample(range(8), r.randrange(2, 7))
        while cases:
            for _ in range(min(len(cases), r.choice([1, 1, 2, 3]))):
                self.line(f"case {cases.pop()}:")
            inner = self.open_block("")
            self.statements(depth - 1, late, r.randrange(1, 3))
            self.close_block(inner)
            self.line(r.choice(["break;", "break;", "/* fall through */;"]))
        if self.chance(50):
            self.line("default:")
            self.line(f"\t{self.changed()} += {self.value(1)};")
        self.close_block(scope)

    def loop(self, depth: int) -> None:
        r = self.rng
        i = self.name_new("i")
        rounds = r.choice([f"{r.randrange(1, 6)}", f"({self.value(1)} & 3)", f"({self.value(1)} % 6)"])
        scope = self.open_block(f"for (num {i} = 0, m{i} = {rounds}; {i} < m{i}; {i}++)")
        self.numbers.append(i)
        self.fixed.add(i)
        self.loops += 1
        self.statements(depth - 1, False, r.randrange(1, 6))
        self.loops -= 1
        self.close_block(scope)

    def region(self, end: str) -> None:
        r = self.rng
        out = self.name_new("out")
        self.line("COSY_START;")
        scope = len(self.numbers), len(self.buffers), len(self.pointers)
        for _ in range(r.randrange(4)):
            self.declare()
        self.labels = [out, end]
        self.budget = 40
        for _ in range(r.randrange(1, 3)):
            self.loop(3)
            inner = self.open_block("")
            self.statements(2, False, r.randrange(3))
            self.close_block(inner)
        # What is declared from here on is not there for those who jump.
        inner = self.open_block("")
        self.labels = [out, end]
        self.statements(2, not self.chance(15), r.randrange(3))
        self.close_block(inner)
        self.line(f"{out}:;")
        del self.numbers[scope[0] :], self.buffers[scope[1] :], self.pointers[scope[2] :]
        inner = self.open_block("")
        self.labels = [end]
        self.budget += 15
        self.statements(2, True, r.randrange(6))
        self.close_block(inner)
        self.line("COSY_END;")

    def write(self) -> str:
        r = self.rng
        around = self.chance(30)
        self.line(f"num a = {self.value()}, b = {self.value()}, c = 1;")
        self.numbers += ["a", "b", "c"]
        self.line('char text[16] = "text";')
        self.buffers.append("text")
        if around:
            self.line("for (num turn = 0; turn < 3; turn++) {")
            self.indent += 1
        for _ in range(r.choice([1, 1, 2])):
            end = self.name_new("end")
            if self.chance(50):
                self.line(f"if ({self.condition()}) {{")
                self.line(f'\tprintf("%lu\\n", {self.value()});')
                self.line(f"\tc = {self.value()};")
                self.line("}")
            self.region(end)
            self.line(f"{end}:")
            self.line(f"a += {self.value()};")
        if around:
            self.indent -= 1
            self.line("}")
        self.line('printf("%s %lu %lu %lu\\n", text, a, b, c);')
        self.line("return a ^ b ^ c;")
        return f"\nstatic num {self.name}(num n, num k)\n{{\n" + "\n".join(self.lines) + "\n}\n"


def program(seed: int) -> str:
    rng = random.Random(seed)
    names = [f"f{i}" for i in range(3)]
    bodies = "".join(Function(rng, name).write() for name in names)
    table = f"\nstatic num (*const Functions[])(num, num) = {{ {', '.join(names)} }};\n"
    main = MAIN.replace("CALLS", str(8 * len(names))).replace("FUNCTIONS", str(len(names)))
    return HEAD + bodies + table + main


def output(path: Path, mode: str, tier: str) -> str:
    env = dict(os.environ, COSY_MODE=mode, COSY_TIER=tier)
    try:
        done = subprocess.run([str(path)], capture_output=True, text=True, errors="replace", env=env, timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        return f"still running after {TIMEOUT} s"
    return f"{done.stdout}exit {done.returncode}"


def put(path: Path, to: Path, expected: str) -> None:
    """Gives a program to guest.sh, with what plain clang's printed."""
    shutil.copy(path, to)
    (to / f"{path.name}.in").write_text("")
    (to / f"{path.name}.out").write_text(f"{expected}\n")
    (to / f"{path.name}.kind").write_text("compiled\n")


def check(seed: int, args: argparse.Namespace) -> tuple[int, int, list[str]]:
    """Returns how many regions became compounds, how many calls these end before, and what was wrong."""
    source = args.work / f"leave-{seed}.c"
    source.write_text(program(seed))
    common = ["-w", str(source), "-fno-crash-diagnostics"]
    plain = args.work / f"leave-{seed}-plain"
    includes = [f"-I{path}" for path in args.include]
    subprocess.run([args.clang, "-DCOSY_OFF", "-O1", *includes, *common, "-o", str(plain)], check=True)
    expected = output(plain, "auto", "always")
    compiled = left = 0
    wrong = []
    for level in args.levels.split(","):
        path = args.work / f"leave-{seed}-{level}"
        flags = [f"-{level}", *(["-g"] if level == "Os" else []), *args.link.split()]
        built = subprocess.run(
            [args.cosycc, "-Rcosy", *flags, *common, "-o", str(path)], capture_output=True, text=True
        )
        if built.returncode:
            wrong.append(f"seed {seed} -{level}: does not compile\n{built.stderr[:2000]}")
            continue
        compiled += built.stderr.count("region compiled")
        left += built.stderr.count("the region ends before")
        for mode, tier in WAYS:
            if output(path, mode, tier) != expected:
                wrong.append(f"seed {seed} -{level}: {mode}, {tier} differs")
        if args.put and level == args.levels.split(",")[-1]:
            put(path, args.put, expected)
        path.unlink()
    plain.unlink()
    if not wrong:
        source.unlink()
    return compiled, left, wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--cosycc", required=True)
    parser.add_argument("--clang", required=True)
    parser.add_argument("--include", action="append", default=[], help="of cosy's headers, for plain clang")
    parser.add_argument("--work", required=True, type=Path, help="folder for the programs")
    parser.add_argument("--link", default="", help="for linking compounds with libcosy")
    parser.add_argument("--first", type=int, default=1, help="seed")
    parser.add_argument("--count", type=int, default=10, help="of seeds")
    parser.add_argument("--levels", default="O0,O1,O2,O3,Os")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--put", type=Path, metavar="DIR", help="where programs for a virtual machine go")
    args = parser.parse_args()

    args.work.mkdir(parents=True, exist_ok=True)
    if args.put:
        shutil.rmtree(args.put, ignore_errors=True)
        args.put.mkdir(parents=True)
    compiled = left = failures = 0
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        seeds = range(args.first, args.first + args.count)
        for more, calls, wrong in pool.map(lambda seed: check(seed, args), seeds):
            compiled += more
            left += calls
            failures += bool(wrong)
            for text in wrong:
                print(text, flush=True)
    print(f"{args.count - failures} of {args.count} equal: {compiled} compounds, {left} calls left to the host")
    return failures != 0 or not left


if __name__ == "__main__":
    sys.exit(main())
