#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""cosy.scandir has os.scandir's results and errors."""

from __future__ import annotations

import errno
import gc
import os
import pickle
import random
import shutil
import subprocess
import sys
import threading
import time
import unittest
import warnings
from pathlib import Path
from typing import Any

import cosy
import trees
from trees import FolderTest, described

INCLUDE = Path(__file__).resolve().parents[2] / "include"
LONG_NAMES = r"""
#include <string.h>
#include <cosy/files.h>

int cosy_scan_next(struct cosy_scan *scan, const struct cosy_dir_entry **entry)
{
	static const size_t lengths[] = {1, 255, 256, 765, 1024};
	static struct cosy_dir_entry made = {.depth = 1, .type = 8};
	static char name[4097];
	static int next;

	(void)scan;
	made.name_length = next < 5 ? lengths[next] : next < 25 ? 4095 : 4096;
	next++;
	memset(name, 'n', made.name_length);
	name[made.name_length] = 0;
	made.name = name;
	*entry = &made;
	return 1;
}
"""


class Scandir(FolderTest):
    def both(self, path: Any = None, **options: Any) -> None:
        found = []
        for scandir in (os.scandir, cosy.scandir):
            more = options if scandir is cosy.scandir else {}
            with scandir(*([] if path is None else [path]), **more) as entries:
                found.append(sorted((described(entry, self) for entry in entries), key=repr))
        self.assertEqual(found[0], found[1])

    def test_every_kind(self) -> None:
        trees.fill(self.folder)
        relative = os.path.relpath(self.folder, self.folder.parent)
        for options in ({}, {"stat": False}):
            self.both(self.folder, **options)
            self.both(str(self.folder), **options)
            self.both(str(self.folder) + "/", **options)
            self.both(os.fsencode(self.folder), **options)
            self.both(b".", **options)
            self.both("dir", **options)
            self.both(f"../{relative}/", **options)
            self.both(**options)

    def test_after_the_end(self) -> None:
        trees.fill(self.folder)
        lists = []
        for scandir in (os.scandir, cosy.scandir):
            entries = list(scandir(str(self.folder)))
            lists.append(sorted((described(entry, self) for entry in entries), key=repr))
        self.assertEqual(lists[0], lists[1])

    def test_descriptor(self) -> None:
        trees.fill(self.folder)
        fd = os.open(self.folder, os.O_RDONLY)
        self.addCleanup(os.close, fd)
        for stat in (True, False):
            self.both(fd, stat=stat)
            # The position is where it was.
            self.both(fd, stat=stat)
        entries = [list(scandir(fd)) for scandir in (os.scandir, cosy.scandir)]
        told = [sorted((described(entry, self) for entry in part), key=repr) for part in entries]
        self.assertEqual(told[0], told[1])

    def test_many(self) -> None:
        for i in range(3000):
            (self.folder / f"{i:0{1 + i % 120}d}").touch()
        self.both(self.folder)

    def test_proc(self) -> None:
        names = [{entry.name for entry in scandir("/proc/self")} for scandir in (os.scandir, cosy.scandir)]
        self.assertEqual(names[0], names[1])
        for entry in cosy.scandir("/proc/self/fd"):
            self.assertTrue(entry.is_symlink())

    def test_errors(self) -> None:
        trees.fill(self.folder)
        with open("file") as plain:
            wrong = ["missing", b"missing", Path("missing"), "file", "link-dangling", "link-loop", "fifo", "", b""]
            wrong += ["nul\0", b"nul\0", 3.5, object(), [], plain.fileno(), 99999, 1 << 40, "x" * 5000, "\udcff"]
            for path in wrong:
                with self.subTest(path):
                    self.assertEqual(self.outcome(os.scandir, path), self.outcome(cosy.scandir, path))
        self.assertEqual(self.outcome(cosy.scandir, ".", 1), TypeError)
        self.assertEqual(self.outcome(cosy.scandir, paths="."), TypeError)

    def test_unreadable(self) -> None:
        Path("closed").mkdir(mode=0o000)
        Path("listed").mkdir()
        Path("listed/x").touch()
        Path("listed").chmod(0o444)
        os.chown("listed", trees.NOBODY, -1) if not os.geteuid() else None
        with trees.as_nobody():
            self.assertEqual(self.outcome(os.scandir, "closed"), self.outcome(cosy.scandir, "closed"))
            self.assertEqual(self.outcome(cosy.scandir, "closed")[0], PermissionError)
            self.both("listed")
        Path("listed").chmod(0o755)

    def test_descriptor_of_closed_folder(self) -> None:
        # Listing an open directory takes no permission to open it again.
        Path("dir").mkdir()
        Path("dir/x").touch()
        fd = os.open("dir", os.O_RDONLY)
        self.addCleanup(os.close, fd)
        for mode in (0o444, 0o000):
            os.chmod("dir", mode)
            with trees.as_nobody():
                self.both(fd)
                self.both(fd, stat=False)
                self.assertEqual(self.outcome(os.scandir, "dir/x"), self.outcome(cosy.scandir, "dir/x"))
        os.chmod("dir", 0o755)

    def test_long_names(self) -> None:
        # File systems in user space may have longer names than others. The library stands in for one.
        if not shutil.which("cc") or not INCLUDE.is_dir():
            self.skipTest("needs a C compiler and the library's headers")
        Path("long.c").write_text(LONG_NAMES)
        subprocess.run(["cc", "-shared", "-fPIC", f"-I{INCLUDE}", "-o", "long.so", "long.c"], check=True)
        program = """if True:
            import cosy
            entries = cosy.scandir("dir", stat=False)
            for length in (1, 255, 256, 765, 1024, *[4095] * 20):
                entry = next(entries)
                assert entry.name == "n" * length, (length, len(entry.name))
                assert entry.path == "dir/" + entry.name
            try:
                next(entries)
            except OSError as error:
                print(error.errno)
        """
        Path("dir").mkdir()
        environment = {**os.environ, "LD_PRELOAD": str(self.folder / "long.so")}
        done = subprocess.run([sys.executable, "-c", program], env=environment, stdout=subprocess.PIPE, check=True)
        self.assertEqual(int(done.stdout), errno.EIO)

    def test_changed_meanwhile(self) -> None:
        for name in ("gone", "other"):
            Path(name).touch()
        for stat in (False, True):
            entries = {entry.name: entry for entry in cosy.scandir(".", stat=stat)}
            theirs = {entry.name: entry for entry in os.scandir(".")}
            os.unlink("gone")
            if stat and self.in_kernel():
                entries["gone"].stat()
            else:
                for each in (theirs, entries):
                    self.assertRaises(FileNotFoundError, each["gone"].stat)
                self.assertEqual(
                    self.outcome(entries["gone"].stat),
                    self.outcome(theirs["gone"].stat),
                )
            Path("gone").touch()

    def in_kernel(self) -> bool:
        return cosy.native_reason() is None

    def test_same_object(self) -> None:
        trees.fill(self.folder)
        for entry in cosy.scandir(self.folder):
            self.assertIs(entry.name, entry.name)
            self.assertIs(entry.path, entry.path)
            self.assertIs(entry.stat(follow_symlinks=False), entry.stat(follow_symlinks=False))
            self.assertIs(entry.lstat(), entry.stat(follow_symlinks=False))
            self.assertRaises(TypeError, lambda entry=entry: entry.stat(follow=False))
            self.assertRaises(TypeError, lambda entry=entry: entry.stat(follow_symlinks=False, more=1))
            self.assertRaises(TypeError, lambda entry=entry: entry.stat(False, follow_symlinks=False))

    def test_attributes_outlive(self) -> None:
        # In the kernel they lie in the memory of their entry, and may be dropped and asked for again.
        for i in range(300):
            Path(f"file-{i}").write_bytes(b"x" * i)
        kept = {}
        with cosy.scandir(".") as entries:
            for entry in entries:
                sizes = [entry.stat(follow_symlinks=False).st_size for _ in range(3)]
                first, second = entry.stat(), entry.stat(follow_symlinks=False)
                self.assertIs(first, second)
                del first
                kept[entry.name] = second
                self.assertEqual(sizes, [second.st_size] * 3)
                del entry, second
        gc.collect()
        self.assertEqual({name: st.st_size for name, st in kept.items()}, {f"file-{i}": i for i in range(300)})

    def test_iterator(self) -> None:
        trees.fill(self.folder)
        before = trees.open_descriptors()
        entries = cosy.scandir(self.folder)
        self.assertIs(iter(entries), entries)
        next(entries)
        entries.close()
        entries.close()
        self.assertRaises(StopIteration, next, entries)
        self.assertEqual(trees.open_descriptors(), before)
        with cosy.scandir(self.folder) as entries:
            first = next(entries)
        self.assertEqual(trees.open_descriptors(), before)
        first.stat(follow_symlinks=False)
        self.assertEqual(list(entries), [])

    def test_resource_warning(self) -> None:
        trees.fill(self.folder)
        before = trees.open_descriptors()
        for scandir in (os.scandir, cosy.scandir):
            entries = scandir(self.folder)
            next(entries)
            with self.assertWarnsRegex(ResourceWarning, "unclosed scandir iterator <"):
                del entries
                gc.collect()
        self.assertEqual(trees.open_descriptors(), before)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            list(cosy.scandir(self.folder))

    def test_kept_by_a_warning(self) -> None:
        # A recorded warning refers to the iterator, which is closed from then on.
        trees.fill(self.folder)
        before = trees.open_descriptors()
        for scandir in (os.scandir, cosy.scandir):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                entries = scandir(self.folder)
                next(entries)
                del entries
                gc.collect()
            kept = caught.pop().source
            self.assertEqual(list(kept), [])
            self.assertRaises(StopIteration, next, kept)
            with kept:
                kept.close()
            self.assertEqual(list(kept), [])
            del kept
        self.assertEqual(trees.open_descriptors(), before)

    def test_names(self) -> None:
        for name in ("b", "a", "c"):
            Path(name).touch()
        entries = list(cosy.scandir("."))
        self.assertEqual([entry.name for entry in sorted(entries)], ["a", "b", "c"])
        self.assertIn("a", entries)
        self.assertNotIn("d", entries)
        self.assertNotIn(b"a", entries)
        self.assertEqual({entry: 1 for entry in entries}["a"], 1)
        self.assertEqual(sorted([*entries, "bb"])[2], "bb")
        again = list(cosy.scandir("."))
        self.assertNotEqual(sorted(entries), sorted(again))
        self.assertNotEqual(entries[0], 1)

    def test_not_made(self) -> None:
        Path("a").touch()
        entry = next(iter(list(cosy.scandir("."))))
        self.assertRaises(TypeError, cosy.DirEntry)
        self.assertRaises(TypeError, cosy.StatResult)
        self.assertRaises(TypeError, cosy.ScandirIterator)
        self.assertRaises(TypeError, pickle.dumps, entry)
        self.assertRaises(TypeError, entry.stat, False)
        self.assertRaises(TypeError, entry.stat, follow=False)
        self.assertRaises(TypeError, entry.stat, follow_symlinks=False, follow=False)
        self.assertRaises(TypeError, entry.stat, follow=False, follow_symlinks=False)
        entry.stat(**{"".join(["follow_", "symlinks"]): False})
        self.assertRaises(AttributeError, setattr, entry, "name", "b")
        self.assertFalse(entry.is_junction())
        self.assertEqual(cosy.DirEntry[str].__args__, (str,))

    def test_audited(self) -> None:
        seen = []
        sys.addaudithook(lambda event, args: seen.append((event, args)) if event.startswith("os.") else None)
        cosy.scandir(".").close()
        self.assertEqual(seen, [("os.scandir", (".",))])

    def test_threads(self) -> None:
        for i in range(400):
            (self.folder / f"{i:040d}").touch()
        for _ in range(trees.steps(20)):
            entries = cosy.scandir(self.folder)
            taken: list[list[str]] = [[] for _ in range(4)]

            def take(names: list[str], entries: Any = entries) -> None:
                for entry in entries:
                    entry.stat()
                    names.append(entry.name)

            threads = [threading.Thread(target=take, args=(part,)) for part in taken]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual(sorted(sum(taken, [])), sorted(os.listdir(self.folder)))

    def test_closed_by_another_thread(self) -> None:
        for i in range(400):
            (self.folder / f"{i:040d}").touch()
        for i in range(trees.steps(40)):
            entries = cosy.scandir(self.folder)
            kept = []

            def take(entries: Any = entries, kept: list[Any] = kept) -> None:
                for entry in entries:
                    kept.append(entry)
                    self.assertEqual(entry.stat().st_size, 0)

            thread = threading.Thread(target=take)
            thread.start()
            while len(kept) < i and thread.is_alive():
                time.sleep(0)
            entries.close()
            thread.join()
            self.assertRaises(StopIteration, next, entries)

    def test_random(self) -> None:
        chance = random.Random(1)
        trees.grow(self.folder, chance, trees.steps(800))
        for path, _, _ in os.walk(self.folder):
            self.both(path, stat=chance.random() < 0.5)


class Attributes(FolderTest):
    def test_as_os(self) -> None:
        trees.fill(self.folder)
        for entry in cosy.scandir(self.folder):
            ours, theirs = entry.stat(follow_symlinks=False), os.lstat(entry.path)
            self.assertEqual(trees.seen(ours), trees.seen(theirs))
            self.assertIs(type(ours.as_os()), os.stat_result)
            self.assertEqual(repr(ours.as_os()), repr(theirs))
            self.assertEqual(trees.seen(ours.as_os()), trees.seen(theirs))
            self.assertEqual(ours, theirs)
            self.assertEqual(theirs, ours)
            self.assertEqual(hash(ours), hash(theirs))
            self.assertEqual(trees.seen(pickle.loads(pickle.dumps(ours))), trees.seen(theirs))
            self.assertEqual(ours, cosy.stat_many([entry.path], follow_symlinks=False)[0])
            self.assertIn(repr(theirs), repr(ours))

    def test_sequence(self) -> None:
        ours, theirs = cosy.stat_many(["."])[0], os.stat(".")
        self.assertEqual(len(ours), len(theirs))
        for index in (*range(-11, 11), slice(None), slice(1, 9, 3), slice(None, None, -1)):
            self.assertEqual(self.item(ours, index), self.item(theirs, index))
        self.assertEqual(tuple(ours), tuple(theirs))
        self.assertEqual(ours[6:7], (ours.st_size,))
        self.assertNotEqual(ours, 1)
        self.assertNotEqual(ours, (1, 2))
        self.assertLess(ours, (1 << 40,))
        self.assertRaises(TypeError, lambda: ours < 1)
        self.assertRaises(TypeError, lambda: ours["a"])
        self.assertRaises(AttributeError, setattr, ours, "st_size", 1)

    def item(self, value: Any, index: Any) -> Any:
        try:
            return value[index]
        except IndexError:
            return IndexError

    def test_times(self) -> None:
        Path("a").touch()
        for ns in (0, 1, -1, 999_999_999, 1_000_000_000, -999_999_999, 2**62, -(2**61), 4_102_444_800_123_456_789):
            os.utime("a", ns=(ns, ns))
            self.assertEqual(trees.seen(cosy.stat_many(["a"])[0]), trees.seen(os.stat("a")))
            self.assertEqual(trees.seen(list(cosy.scandir("."))[0].stat()), trees.seen(os.stat("a")))


if __name__ == "__main__":
    unittest.main()
