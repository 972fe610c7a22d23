# SPDX-License-Identifier: MIT
"""Measures the Python package beside the standard library; bench/python.py runs this in a machine.

Prints one JSON line for each row: nanoseconds an entry, which are instructions where the clock counts them.
"""

from __future__ import annotations

import gc
import json
import os
import shutil
import sys
import time
from collections.abc import Callable
from typing import Any

import cosy

FOLDER, TREE, COPY = "/tmp/folder", "/tmp/tree", "/tmp/copy"
FILES = 2000
TOPS, SUBS, EACH = 10, 10, 20
IN_TREE = TOPS * SUBS * EACH
# Calls have to earn their place in the kernel first. A copy's are the same calls.
WARM, ROUNDS = 12, 2


def make() -> None:
    os.makedirs(FOLDER)
    for i in range(FILES):
        with open(f"{FOLDER}/file-{i:05d}", "wb") as stream:
            stream.truncate(i)
    for top in range(TOPS):
        for sub in range(SUBS):
            folder = f"{TREE}/dir{top}/sub{sub}"
            os.makedirs(folder)
            for i in range(EACH):
                with open(f"{folder}/file{i}.txt", "wb") as stream:
                    stream.write(b"x" * (100 * i))


def os_scandir_names() -> int:
    with os.scandir(FOLDER) as entries:
        return sum(len(entry.name) for entry in entries)


def cosy_scandir_names() -> int:
    with cosy.scandir(FOLDER, stat=False) as entries:
        return sum(len(entry.name) for entry in entries)


def os_scandir() -> int:
    total = 0
    with os.scandir(FOLDER) as entries:
        for entry in entries:
            total += entry.stat().st_size
    return total


def cosy_scandir() -> int:
    total = 0
    with cosy.scandir(FOLDER) as entries:
        for entry in entries:
            total += entry.stat().st_size
    return total


def cosy_scandir_as_os() -> int:
    total = 0
    with cosy.scandir(FOLDER) as entries:
        for entry in entries:
            total += entry.stat().as_os().st_size
    return total


def os_scandir_no_follow() -> int:
    total = 0
    with os.scandir(FOLDER) as entries:
        for entry in entries:
            total += entry.stat(follow_symlinks=False).st_size
    return total


def cosy_scandir_no_follow() -> int:
    total = 0
    with cosy.scandir(FOLDER) as entries:
        for entry in entries:
            total += entry.stat(follow_symlinks=False).st_size
    return total


def cosy_scandir_lstat() -> int:
    total = 0
    with cosy.scandir(FOLDER) as entries:
        for entry in entries:
            total += entry.lstat().st_size
    return total


def os_walk_names() -> int:
    return sum(len(name) for _, _, files in os.walk(TREE) for name in files)


def cosy_walk_names() -> int:
    return sum(len(name) for _, _, files in cosy.walk(TREE) for name in files)


def os_walk() -> int:
    total = 0
    for folder, _, files in os.walk(TREE):
        for name in files:
            total += os.lstat(os.path.join(folder, name)).st_size
    return total


def cosy_walk_no_follow() -> int:
    total = 0
    for _, _, files in cosy.walk(TREE, entries=True):
        for file in files:
            total += file.stat(follow_symlinks=False).st_size
    return total


def cosy_walk_lstat() -> int:
    total = 0
    for _, _, files in cosy.walk(TREE, entries=True):
        for file in files:
            total += file.lstat().st_size
    return total


def paths() -> list[str]:
    return [os.path.join(folder, name) for folder, _, files in os.walk(TREE) for name in files]


def os_stat() -> int:
    return sum(os.stat(path).st_size for path in PATHS)


def cosy_stat() -> int:
    return sum(st.st_size for st in cosy.stat_many(PATHS))


def os_read() -> int:
    total = 0
    for path in PATHS:
        with open(path, "rb") as stream:
            total += len(stream.read())
    return total


def os_read_unbuffered() -> int:
    total = 0
    for path in PATHS:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        total += len(os.read(fd, 65536))
        os.close(fd)
    return total


def cosy_read() -> int:
    return sum(map(len, cosy.read_files(PATHS)))


def os_copy() -> int:
    shutil.rmtree(COPY, ignore_errors=True)
    before = time.perf_counter_ns()
    shutil.copytree(TREE, COPY)
    return before


def cosy_copy() -> int:
    shutil.rmtree(COPY, ignore_errors=True)
    before = time.perf_counter_ns()
    cosy.copytree(TREE, COPY)
    return before


VERSION = {"python": ".".join(map(str, sys.version_info[:3]))}
# Row, what it replaces, what it is, entries.
ROWS: list[tuple[str, Callable[[], int], Callable[[], int], int]] = [
    ("scandir, names", os_scandir_names, cosy_scandir_names, FILES),
    ("scandir, stat()", os_scandir, cosy_scandir, FILES),
    ("scandir, stat(follow_symlinks=False)", os_scandir_no_follow, cosy_scandir_no_follow, FILES),
    ("scandir, lstat()", os_scandir_no_follow, cosy_scandir_lstat, FILES),
    ("scandir, stat().as_os()", os_scandir, cosy_scandir_as_os, FILES),
    ("walk, names", os_walk_names, cosy_walk_names, IN_TREE),
    ("walk, stat(follow_symlinks=False)", os_walk, cosy_walk_no_follow, IN_TREE),
    ("walk, lstat()", os_walk, cosy_walk_lstat, IN_TREE),
    ("stat_many", os_stat, cosy_stat, IN_TREE),
    ("read_files, for open().read()", os_read, cosy_read, IN_TREE),
    ("read_files, for os.open, os.read, os.close", os_read_unbuffered, cosy_read, IN_TREE),
    ("copytree", os_copy, cosy_copy, IN_TREE),
]


def measured(function: Callable[[], int], entries: int, warm: int) -> tuple[float, Any]:
    """Returns the best of some rounds for an entry, and the result to compare."""
    best, result = 0.0, None
    for turn in range(warm + ROUNDS):
        before = time.perf_counter_ns()
        result = function()
        after = time.perf_counter_ns()
        if function in (os_copy, cosy_copy):
            before, result = result, None  # removing the previous copy is not counted
        took = (after - before) / entries
        if turn >= warm and (not best or took < best):
            best = took
    return best, result


def main() -> None:
    wanted = sys.argv[2] if len(sys.argv) > 2 else ""
    for row, plain, ours, entries in ROWS:
        if wanted not in row:
            continue
        theirs, expected = measured(plain, entries, 1)
        mine, result = measured(ours, entries, 1 if ours is cosy_copy else WARM)
        assert result == expected, row
        print(json.dumps({"way": sys.argv[1], "row": row, "os": theirs, "cosy": mine} | VERSION), flush=True)


if __name__ == "__main__":
    if not os.path.isdir(FOLDER):
        make()
    PATHS = paths()
    gc.disable()
    main()
