#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""cosy.stat_many and cosy.read_files have the results of os.stat and open().read()."""

from __future__ import annotations

import errno
import os
import random
import signal
import sys
import threading
import unittest
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cosy
import trees
from trees import FolderTest


class StatMany(FolderTest):
    def both(self, paths: list[Any], **options: Any) -> None:
        for follow in (True, False):
            ours = cosy.stat_many(paths, follow_symlinks=follow, return_exceptions=True, **options)
            theirs = [self.outcome(self.plain, path, follow_symlinks=follow, **options) for path in paths]
            self.assertEqual([self.told(result) for result in ours], theirs)

    def plain(self, path: Any, **options: Any) -> Any:
        return trees.seen(os.stat(path, **options))

    def told(self, result: Any) -> Any:
        if isinstance(result, OSError):
            return type(result), result.errno, result.strerror, result.filename, result.filename2
        return trees.seen(result)

    def test_every_kind(self) -> None:
        trees.fill(self.folder)
        names = [*os.listdir("."), *os.listdir(b"."), *(Path(name) for name in os.listdir("."))]
        names += ["missing", b"missing", "file/x", "x" * 300, "/dev/null", "/", ".", "..", "dir/inside", ""]
        self.both(names)
        self.both([self.folder / name for name in os.listdir(".")])
        self.both([])

    def test_directory(self) -> None:
        trees.fill(self.folder)
        fd = os.open("dir", os.O_RDONLY)
        self.addCleanup(os.close, fd)
        self.both(["inside", "missing", "../file", "/etc/passwd"], dir_fd=fd)
        self.both(["inside", "missing", "/etc/passwd"], dir_fd=999)
        self.both(["file"], dir_fd=None)

    def test_many(self) -> None:
        for i in range(0, 1000, 3):
            Path(str(i)).touch()
        self.both([str(i) for i in range(1000)])

    def test_raises(self) -> None:
        Path("a").touch()
        with self.assertRaises(FileNotFoundError) as caught:
            cosy.stat_many(["a", "first", "second"])
        self.assertEqual(caught.exception.filename, "first")
        self.assertEqual(len(cosy.stat_many(iter(["a", "a"]))), 2)

    def test_arguments(self) -> None:
        for function in (cosy.stat_many, cosy.read_files):
            for wrong in ("name", b"name", 3, None, [3], [None], ["nul\0"], [object()]):
                self.assertIn(self.outcome(function, wrong), (TypeError, ValueError), wrong)
            self.assertEqual(self.outcome(function, [], "."), TypeError)
            self.assertEqual(self.outcome(function, [], dir_fd="x"), TypeError)
            self.assertEqual(self.outcome(function, [], dir_fd=1 << 40), OverflowError)
            self.assertEqual(function([]), [])

    def test_list_changed_meanwhile(self) -> None:
        Path("a").touch()

        class Naughty:
            def __fspath__(self) -> str:
                paths.clear()
                return "a"

        paths: list[Any] = [Naughty(), "a", "a"]
        self.assertEqual(len(cosy.stat_many(paths)), 3)

    def test_unreadable(self) -> None:
        Path("closed").mkdir(mode=0)
        Path("secret").touch(mode=0)
        with trees.as_nobody():
            self.both(["closed/x", "secret", "closed"])
            (error,) = cosy.read_files(["secret"], return_exceptions=True)
            self.assertEqual((type(error), error.filename), (PermissionError, "secret"))
        Path("closed").chmod(0o700)


class ReadFiles(FolderTest):
    def plain(self, path: Any) -> Any:
        try:
            with open(path, "rb", buffering=0) as stream:
                return stream.read()
        except OSError as error:
            return type(error), error.errno, error.strerror, error.filename

    def both(self, paths: list[Any]) -> None:
        told = []
        for result in cosy.read_files(paths, return_exceptions=True):
            if isinstance(result, OSError):
                result = (type(result), result.errno, result.strerror, result.filename)
            told.append(result)
        self.assertEqual(told, [self.plain(path) for path in paths])

    def test_every_kind(self) -> None:
        trees.fill(self.folder)
        names = [name for name in os.listdir(".") if name not in ("fifo", "socket")]
        self.both([*names, "missing", b"file", Path("file"), "/proc/self/mounts", "/dev/null", "dir/inside", "file/x"])
        self.both([os.fsencode(name) for name in names])

    def test_sizes(self) -> None:
        chance = random.Random(6)
        sizes = [0, 1, 4095, 4096, 4097, 65535, 65536, 65537, 1 << 20, (1 << 20) + 1, 3 << 20]
        sizes += [chance.randrange(9000) for _ in range(300)]
        for i, size in enumerate(sizes):
            Path(str(i)).write_bytes(chance.randbytes(size))
        paths = [str(i) for i in range(len(sizes))]
        self.both(paths)
        chance.shuffle(paths)
        self.both(paths + ["missing"] + paths[:50])

    def test_max_size(self) -> None:
        for size in (0, 9, 10, 11, 100000):
            Path(str(size)).write_bytes(b"x" * size)
        read = cosy.read_files(["0", "9", "10", "11", "100000"], max_size=10, return_exceptions=True)
        self.assertEqual(read[:3], [b"", b"x" * 9, b"x" * 10])
        self.assertEqual([error.errno for error in read[3:]], [errno.EFBIG] * 2)
        self.assertEqual(self.outcome(cosy.read_files, ["9"], max_size=0), ValueError)
        self.assertEqual(self.outcome(cosy.read_files, ["9"], max_size="x"), TypeError)
        self.assertEqual(cosy.read_files(["9"], max_size=None), [b"x" * 9])

    def test_raises(self) -> None:
        Path("a").write_bytes(b"a")
        with self.assertRaises(FileNotFoundError) as caught:
            cosy.read_files(["a", "first", "second"])
        self.assertEqual(caught.exception.filename, "first")
        before = trees.open_descriptors()
        cosy.read_files(["missing", "a"] * 100, return_exceptions=True)
        self.assertEqual(trees.open_descriptors(), before)

    def interrupted(self, paths: list[str], third: Callable[[], None]) -> Any:
        """Reads files while a timer interrupts; calls `third` at its third signal."""
        count = 0

        def handler(*_: Any) -> None:
            nonlocal count
            count += 1
            if count == 3:
                third()

        before = signal.signal(signal.SIGALRM, handler)
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
            return cosy.read_files(paths)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)

    def test_interrupted(self) -> None:
        # Each of these waits for ever where signals do not reach Python.
        class Interrupted(Exception):
            pass

        def stop() -> None:
            raise Interrupted

        Path("a").write_bytes(b"a" * 100000)
        os.mkfifo("fifo")
        before = trees.open_descriptors()
        # The open of a FIFO waits for a writer, then the read for its bytes.
        self.assertRaises(Interrupted, self.interrupted, ["a", "fifo", "a"], stop)
        writer = os.open("fifo", os.O_RDWR)
        self.assertRaises(Interrupted, self.interrupted, ["a", "fifo", "a"], stop)
        os.close(writer)
        self.assertEqual(trees.open_descriptors(), before)

    def test_interrupted_and_resumed(self) -> None:
        Path("a").write_bytes(b"a" * 100000)
        os.mkfifo("fifo")
        writer = threading.Thread(target=Path("fifo").write_bytes, args=(b"written",))
        read = self.interrupted(["a", "fifo", "a"], writer.start)
        writer.join()
        self.assertEqual(read, [b"a" * 100000, b"written", b"a" * 100000])

    def test_special(self) -> None:
        Path("a").write_bytes(b"a")
        self.assertEqual(cosy.read_files(["/dev/null", "a", "a", "/dev/null", "a"]), [b"", b"a", b"a", b"", b"a"])
        (error,) = cosy.read_files(["/dev/zero"], max_size=1 << 20, return_exceptions=True)
        self.assertEqual(error.errno, errno.EFBIG)

    def test_audited(self) -> None:
        Path("a").write_bytes(b"a")
        seen: list[Any] = []

        def hook(event: str, args: tuple[Any, ...]) -> None:
            if event == "open" and args[0] in ("a", b"a", "missing", "refused"):
                seen.append(args)
                if args[0] == "refused":
                    raise RuntimeError("refused")

        sys.addaudithook(hook)
        paths = ["a", b"a", Path("a"), "missing"]
        cosy.read_files(paths, return_exceptions=True)
        flags = os.O_RDONLY | os.O_CLOEXEC
        self.assertEqual(seen, [(os.fspath(path), None, flags) for path in paths])
        seen.clear()
        with self.assertRaisesRegex(RuntimeError, "refused"):
            cosy.read_files(["a", "refused", "a"], return_exceptions=True)
        self.assertEqual([args[0] for args in seen], ["a", "refused"])

    def test_directory(self) -> None:
        Path("dir").mkdir()
        Path("dir/a").write_bytes(b"a")
        fd = os.open("dir", os.O_RDONLY)
        self.addCleanup(os.close, fd)
        self.assertEqual(cosy.read_files(["a", "../dir/a"], dir_fd=fd), [b"a", b"a"])


if __name__ == "__main__":
    unittest.main()
