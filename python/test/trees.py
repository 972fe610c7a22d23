# SPDX-License-Identifier: MIT
"""Folders for the tests: every kind of entry, names that are not UTF-8, random trees."""

from __future__ import annotations

import contextlib
import os
import random
import socket
import stat
import tempfile
import time
import unittest
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

NOBODY = 65534


class FolderTest(unittest.TestCase):
    """A test in an empty folder, which is also the current one."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="cosy-python-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name).resolve()
        os.chmod(self.folder, 0o755)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder)

    def outcome(self, function: Callable[..., Any], *args: Any, **options: Any) -> Any:
        """Returns a function's result, or type, number and names of its exception."""
        try:
            return function(*args, **options)
        except OSError as error:
            return type(error), error.errno, error.strerror, error.filename, error.filename2
        except (TypeError, ValueError, OverflowError) as error:
            return type(error)


def steps(wanted: int) -> int:
    """Returns how many steps a random test takes, as COSY_SCALE asks for (tests/scale.h)."""
    return max(1, int(wanted * {"quick": 1 / 8, "nightly": 16}.get(os.environ.get("COSY_SCALE", "test"), 1)))


def fill(folder: Path) -> None:
    """Makes an entry of every kind that any user can make."""
    (folder / "file").write_bytes(b"contents")
    (folder / "empty").touch()
    (folder / "dir").mkdir()
    (folder / "dir/inside").write_bytes(b"x" * 5000)
    (folder / "mode").touch()
    (folder / "mode").chmod(0o6741)
    os.link(folder / "file", folder / "hard")
    os.symlink("file", folder / "link-file")
    os.symlink("dir", folder / "link-dir")
    os.symlink("nowhere", folder / "link-dangling")
    os.symlink("link-loop", folder / "link-loop")
    os.mkfifo(folder / "fifo")
    with contextlib.closing(socket.socket(socket.AF_UNIX)) as unix:
        unix.bind(os.path.relpath(folder / "socket"))
    with open(os.fsencode(folder) + b"/not-\xff-utf8", "wb") as stream:
        stream.write(b"y")
    (folder / "\u00fcn\u00efcode \u2603").touch()
    (folder / ("l" * 255)).touch()
    (folder / "new\nline").touch()
    (folder / ".hidden").touch()
    for link in folder.glob("link-*"):
        # Following a link sets its time of access, unless that is later than its other times.
        os.utime(link, ns=(time.time_ns() + 10**12, time.time_ns()), follow_symlinks=False)
    os.utime(folder / "empty", ns=(1_234_567_890_123_456_789, -1_987_654_321))


def grow(folder: Path, chance: random.Random, entries: int) -> None:
    """Makes a random tree of directories, files and links, some of them in a loop."""
    folders = [folder]
    for i in range(entries):
        parent = chance.choice(folders)
        kind = chance.random()
        path = parent / f"{'abc'[i % 3]}{i}"
        if kind < 0.3:
            path.mkdir()
            folders.append(path)
        elif kind < 0.8:
            path.write_bytes(b"z" * chance.randrange(3000))
        else:
            os.symlink(os.path.relpath(chance.choice([*folders, path, parent / "a0"]), parent), path)


def described(entry: Any, test: FolderTest) -> tuple[Any, ...]:
    """Returns all that an entry tells."""
    told: list[Any] = [entry.name, entry.path, os.fspath(entry), entry.inode(), repr(entry)]
    for follow in (True, False):
        for method in (entry.is_dir, entry.is_file, entry.stat):
            told.append(test.outcome(lambda method=method, follow=follow: seen(method(follow_symlinks=follow))))
    told.append(entry.is_symlink())
    for method in (entry.is_dir, entry.is_file, entry.stat):
        told.append(test.outcome(lambda method=method: seen(method())))
    return tuple(told)


FIELDS = [name for name in dir(os.stat_result) if name.startswith("st_")]


def seen(value: Any) -> Any:
    """Returns what a program sees of a value: all members of attributes."""
    if isinstance(value, bool):
        return value
    return [getattr(value, name) for name in FIELDS], list(value)


@contextlib.contextmanager
def as_nobody() -> Iterator[None]:
    """Gives up root's rights for a while. Another user has none."""
    if os.geteuid():
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


def open_descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


def mode(path: Any) -> int:
    return stat.S_IMODE(os.lstat(path).st_mode)
