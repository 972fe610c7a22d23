# SPDX-License-Identifier: MIT
"""Unmodified programs with and without `cosy run`: CPU time and time on the clock, outputs compared.

Each program runs as a child of one under `cosy run` would: with the library preloaded.  The
command's own start, one exec more, is a row of its own.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from installed import Installed
from lines import Lines

PERL_BYTES = 'open F, "<", "small"; while (sysread F, $b, 1) { $n += ord $b } print $n'
PYTHON_BYTES = """
import os
fd = os.open("small", 0)
n = 0
while b := os.read(fd, 1):
    n += b[0]
print(n)"""
PYTHON_SEEK = """
f = open("text", "rb", 0)
x = 1
for i in range(50000):
    x = (x * 1103515245 + 12345) & 0x7fffffff
    f.seek(x % 15000 * 1024)
    x += f.read(1024)[0]
print(x)"""
PYTHON_MANY = """
import os
n = 0
for name in sorted(os.listdir("many")):
    with open("many/" + name, "rb") as f:
        n += len(f.read())
print(n)"""
SQL_INDEX = "pragma cache_size=10; select sum(length(v)) from t where k < 30000"
SQL_SEEK = (
    "pragma cache_size=10; with recursive c(i, r) as (select 1, 7 union all"
    " select i + 1, (r * 7919 + 13) % 100003 from c where i < 20000) select sum(length(v)) from c join t on t.k = c.r"
)


def _often(command: str) -> list[str]:
    """A shell's loop."""
    return ["sh", "-c", "for i in 1 2 3 4 5 6 7 8 9 10; do " + f"{command}; " * 10 + "done"]


PROGRAMS: dict[str, list[str]] = {
    "perl, 1 byte": ["perl", "-e", PERL_BYTES],
    "python, 1 byte": ["python3", "-S", "-c", PYTHON_BYTES],
    "python, seek + 1 KB": ["python3", "-S", "-c", PYTHON_SEEK],
    "dd bs=1": ["dd", "if=small", "bs=1", "status=none"],
    "dd bs=512": ["dd", "if=text", "bs=512", "status=none"],
    "dd bs=4k": ["dd", "if=text", "bs=4k", "status=none"],
    "dd bs=64k": ["dd", "if=text", "bs=64k", "status=none"],
    "bash, while read": ["bash", "-c", "n=0; while read -r l; do n=$((n + ${#l})); done <small; echo $n"],
    "sqlite3, random index reads": ["sqlite3", "-readonly", "t.db", SQL_SEEK],
    "sqlite3, a range by its index": ["sqlite3", "-readonly", "t.db", SQL_INDEX],
    "sqlite3, scan": ["sqlite3", "-readonly", "t.db", "select count(*), sum(length(v)) from t"],
    "wc -l": ["wc", "-l", "text"],
    "awk": ["awk", "{ n += NF } END { print n }", "text"],
    "sort": ["sort", "small"],
    "grep -c": ["grep", "-c", "77", "text"],
    "gzip -1": ["gzip", "-1", "-n", "-c", "text"],
    "cat": ["cat", "text"],
    "md5sum": ["md5sum", "text"],
    "cat, 2000 small files": ["sh", "-c", "cat many/*"],
    "python, 2000 small files": ["python3", "-S", "-c", PYTHON_MANY],
    "grep -r, 2000 small files": ["grep", "-rc", "words", "many"],
    "cat, 100 times": _often("/bin/cat many/1000 >/dev/null"),
    "cat, 100 times, --alone": _often("/bin/cat many/1000 >/dev/null"),
    "tail, 100 times": _often("/usr/bin/tail -n 3 many/1000 >/dev/null"),
    "cmp, 100 times": _often("/usr/bin/cmp many/1000 many/1000"),
    "true, 100 times": ["sh", "-c", "for i in 1 2 3 4 5 6 7 8 9 10; do " + "/bin/true; " * 10 + "done"],
}
# What `cosy run --alone` hands over.
RULES = {"cat, 100 times, --alone": "a1\t\n"}
# Not short enough for a test.
LONG = {"sqlite3, random index reads", "gzip -1", "awk"}


def write_files(directory: Path) -> None:
    line = "".join(f"{i} {i * 7919 % 10007} some words of text\n" for i in range(40000))
    (directory / "small").write_text(line[: 1 << 20])
    (directory / "text").write_text((line * 20)[: 16 << 20])
    (directory / "many").mkdir()
    for i in range(2000):
        (directory / "many" / str(i)).write_text(line[: i * 3])
    if shutil.which("sqlite3"):
        subprocess.run(
            ["sqlite3", "t.db"],
            input="create table t(k integer, v text);"
            "with recursive c(i) as (select 1 union all select i + 1 from c where i < 100000)"
            " insert into t select (i * 7919) % 100003, printf('value %d of many', i) from c;"
            "create index x on t(k);",
            text=True,
            check=True,
            cwd=directory,
        )


def run(command: list[str], directory: Path, preload: str, rules: str = "") -> tuple[float, float, str]:
    """CPU and clock in ms, and what the program put out, with its status."""
    environment = os.environ | ({"LD_PRELOAD": preload, "COSY_RUN_POLICY": rules} if preload else {})
    start = time.perf_counter()
    child = subprocess.Popen(command, cwd=directory, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert child.stdout
    said = hashlib.sha256(child.stdout.read()).hexdigest()
    child.stdout.close()
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    clock = time.perf_counter() - start
    return 1e3 * (used.ru_utime + used.ru_stime), 1e3 * clock, f"{child.returncode} {said}"


def _version(program: str) -> str:
    done = subprocess.run([program, "--version"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    first = [text for text in done.stdout.splitlines() if any(letter.isdigit() for letter in text)]
    return first[0].strip() if first and not done.returncode else ""


def measure(cosy: Installed, lines: Lines, directory: Path, rounds: int, short: bool) -> list[str]:
    """What was wrong: the programs whose output differed."""
    wrong = []
    write_files(directory)
    for name, words in PROGRAMS.items():
        program = shutil.which(words[0])
        if not program:
            print(f"bench: left out: {name}: {words[0]} is not installed", file=sys.stderr)
            continue
        if short and name in LONG:
            continue
        # A shim that looks for the real interpreter would be measured with it.
        command = [os.path.realpath(sys.executable) if words[0] == "python3" else program, *words[1:]]
        plain: list[tuple[float, float, str]] = []
        fast: list[tuple[float, float, str]] = []
        for turn in range(rounds + 1):
            contenders = [(plain, ""), (fast, cosy.library)]
            # Each is first as often as the other.
            for results, preload in contenders[:: 1 if turn % 2 else -1]:
                results.append(run(command, directory, preload, RULES.get(name, "")))
        if len({said for *_, said in plain + fast}) != 1:
            wrong.append(f"{name}: the output differs under cosy run")
        # The first ones only warm up.
        for at, metric in enumerate(("CPU", "clock")):
            values = [[float(result[at]) for result in results[1:]] for results in (plain, fast)]
            lines.pair("programs", {"program": name}, metric, "ms", *values, version=_version(command[0]))
    return wrong
