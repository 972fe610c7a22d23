#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""programs.py COSY [ROUNDS]: unmodified programs with and without `cosy run`.

In turns; the medians of CPU time (user and system, with exec), and the median of the
ratios of neighbours, greater than 1 where `cosy run` is faster.  Output is compared.
Each program is run as a child of one that runs under `cosy run`: the command's own
start, one exec more, is in the last row only.
"""

import hashlib
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

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
SQL_INDEX = "pragma cache_size=10; select sum(length(v)) from t where k < 30000"

PROGRAMS: dict[str, list[str]] = {
    "perl, 1 byte": ["perl", "-e", PERL_BYTES],
    "python, 1 byte": ["python3", "-S", "-c", PYTHON_BYTES],
    "python, seek + 1 KB": ["python3", "-S", "-c", PYTHON_SEEK],
    "dd bs=1": ["dd", "if=small", "bs=1", "status=none"],
    "dd bs=512": ["dd", "if=text", "bs=512", "status=none"],
    "dd bs=4k": ["dd", "if=text", "bs=4k", "status=none"],
    "bash while read": ["bash", "-c", 'n=0; while read -r l; do n=$((n + ${#l})); done <small; echo $n'],
    "sqlite3, index": ["sqlite3", "-readonly", "t.db", SQL_INDEX],
    "sqlite3, scan": ["sqlite3", "-readonly", "t.db", "select count(*), sum(length(v)) from t"],
    "wc -l": ["wc", "-l", "text"],
    "awk": ["awk", "{ n += NF } END { print n }", "text"],
    "sort": ["sort", "small"],
    "grep -c": ["grep", "-c", "77", "text"],
    "gzip -1": ["gzip", "-1", "-n", "-c", "text"],
    "md5sum": ["md5sum", "text"],
    "cat": ["cat", "text"],
    "cat, 2000 small files": ["sh", "-c", "cat many/*"],
    "true": ["true"],
    "cosy run true": ["true"],
}


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


def run(command: list[str], directory: str, preload: str = "") -> tuple[float, str]:
    """CPU seconds, and what the program put out."""
    environment = os.environ | {"LD_PRELOAD": preload} if preload else None
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, cwd=directory, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return spent, f"{done.returncode} {hashlib.sha256(done.stdout).hexdigest()}"


def main() -> int:
    cosy = os.path.abspath(sys.argv[1])
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 11
    different = 0
    said = subprocess.run([cosy, "run", "sh", "-c", "echo $LD_PRELOAD"], stdout=subprocess.PIPE, text=True, check=True)
    library = said.stdout.strip()
    with tempfile.TemporaryDirectory() as directory:
        write_files(Path(directory))
        print(f"{'':24}{'plain':>10} {'cosy run':>10}")
        for name, command in PROGRAMS.items():
            program = shutil.which(command[0])
            if not program:
                continue
            # A shim that looks for the real interpreter would be measured with it.
            command = [os.path.realpath(sys.executable) if command[0] == "python3" else program, *command[1:]]
            wrapped = [cosy, "run", *command] if name.startswith("cosy run") else command
            plain, fast = [], []
            for _ in range(rounds):
                (was, want), (now, got) = run(command, directory), run(wrapped, directory, library)
                plain.append(was)
                fast.append(now)
                different += want != got
            ratio = statistics.median(a / b for a, b in zip(plain, fast))
            print(
                f"{name:24}{statistics.median(plain) * 1e3:7.1f} ms {statistics.median(fast) * 1e3:7.1f} ms {ratio:6.2f} x",
                flush=True,
            )
    print(f"{different} outputs differ")
    return different != 0


if __name__ == "__main__":
    sys.exit(main())
