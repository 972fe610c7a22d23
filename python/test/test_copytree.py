#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""cosy.copytree makes the copy that shutil.copytree makes, with its errors."""

from __future__ import annotations

import os
import random
import shutil
import stat
import unittest
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import cosy
import trees
from trees import FolderTest


class Copytree(FolderTest):
    def listing(self, top: str) -> dict[str, Any]:
        """Returns what a copy has, by its path in the tree."""
        found: dict[str, Any] = {}
        paths = [top]
        for folder, dirs, files in os.walk(top):
            paths += [os.path.join(folder, name) for name in [*dirs, *files]]
        for path in paths:
            st = os.lstat(path)
            content: Any = None
            if stat.S_ISLNK(st.st_mode):
                content = os.readlink(path)
            elif stat.S_ISREG(st.st_mode):
                content = Path(path).read_bytes()
            names = [] if stat.S_ISLNK(st.st_mode) else os.listxattr(path)
            attributes = {name: os.getxattr(path, name) for name in names}
            found[os.path.relpath(path, top)] = (st.st_mode, st.st_mtime_ns, content, attributes)
        return found

    def both(self, source: Any, inside: bool = False, **options: Any) -> list[Any]:
        """Copies by both functions; returns the outcome, errors with the copy's name taken out."""
        results = []
        for copytree, name in ((shutil.copytree, "theirs"), (cosy.copytree, "ours")):
            target = f"{name}/to" if inside else name
            try:
                self.assertEqual(copytree(source, target, **options), target)
                outcome: Any = None
            except shutil.Error as error:
                outcome = sorted((str(s), str(d).replace(name, "copy", 1), why) for s, d, why in error.args[0])
            except OSError as error:
                outcome = (type(error), error.errno, str(error.filename).replace(name, "copy", 1))
            results.append((outcome, self.listing(target) if os.path.lexists(target) else None))
            shutil.rmtree(name, ignore_errors=True)
        self.maxDiff = 2000
        self.assertEqual(results[0], results[1])
        return results[1][0]

    def in_c(self, *args: Any, **options: Any) -> bool:
        """Returns whether a copy is made without shutil."""
        with mock.patch("shutil.copytree") as plain:
            cosy.copytree(*args, **options)
        return not plain.called

    def plain_tree(self) -> None:
        os.makedirs("tree/a/b/c")
        os.makedirs("tree/empty")
        for i, name in enumerate(("x", "a/y", "a/b/z", "a/b/c/\udcff")):
            Path("tree", name).write_bytes(b"content" * i * 1000)
        for i, (folder, _, files) in enumerate(os.walk("tree", topdown=False)):
            for name in files:
                os.chmod(os.path.join(folder, name), 0o640 + i)
                os.utime(os.path.join(folder, name), ns=(10**18 + i, 10**18 + 7 * i))
            os.chmod(folder, 0o750 + i)
            os.utime(folder, ns=(10**18 + i, 10**18 + 9 * i))

    def test_plain(self) -> None:
        self.plain_tree()
        self.assertIsNone(self.both("tree"))
        self.assertIsNone(self.both("tree/"))
        self.assertIsNone(self.both(Path("tree")))
        self.assertIsNone(self.both("tree", inside=True))
        self.assertTrue(self.in_c("tree", "copy"))

    def test_names_of_target(self) -> None:
        self.plain_tree()
        names = ["to/", "to//", "./to", "./to/", "p/q", "p/q/", "p//q//", "p/../x", "p/./x/", "p/.", "p/..", "p/q/.."]
        for name in [*names, ".", "..", "tree/", "tree/..", "x/p/q/.", "link/to", "link"]:
            results = []
            for copytree in (shutil.copytree, cosy.copytree):
                os.mkdir("work")
                os.chdir("work")
                os.symlink("nowhere", "link")
                try:
                    result: Any = copytree("../tree", name)
                except OSError as error:
                    result = type(error), error.errno
                results.append((result, sorted(os.path.join(f, n) for f, d, files in os.walk(".") for n in d + files)))
                os.chdir("..")
                shutil.rmtree("work")
                if name == ".." and os.path.isdir("a"):
                    shutil.rmtree("a")
            with self.subTest(name):
                self.assertEqual(results[0], results[1])
        for name in ("to/", "p/q/", "s/../x", "y//"):
            self.assertTrue(self.in_c("tree", name), name)

    def test_parents_made_meanwhile(self) -> None:
        # Between the look and the call, another process has made the parent.
        self.plain_tree()
        os.makedirs("p/q")
        with mock.patch("os.path.exists", return_value=False), mock.patch("os.path.lexists", return_value=False):
            self.assertTrue(self.in_c("tree", "p/q/to"))
        self.assertEqual(self.listing("p/q/to"), self.listing("tree"))

    def test_umask(self) -> None:
        self.plain_tree()
        before = os.umask(0o077)
        try:
            self.both("tree", inside=True)
        finally:
            os.umask(before)

    def test_links(self) -> None:
        self.plain_tree()
        os.symlink("../x", "tree/a/link")
        os.symlink("a", "tree/folder")
        for symlinks in (False, True):
            self.assertIsNone(self.both("tree", symlinks=symlinks))
        self.assertTrue(self.in_c("tree", "copy", symlinks=True))
        os.symlink("nowhere", "tree/a/dangling")
        self.assertIsNone(self.both("tree", symlinks=True))
        self.assertTrue(self.both("tree"))
        self.both("tree", ignore_dangling_symlinks=True)
        os.symlink("tree", "top")
        self.assertIsNone(self.both("top", symlinks=True))

    def test_modes(self) -> None:
        self.plain_tree()
        for name, mode in (("x", 0o6755), ("a/y", 0o0400), ("a", 0o3755), ("empty", 0o0555), ("a/b/z", 0o000)):
            os.chmod(Path("tree", name), mode)
        self.assertIsNone(self.both("tree")) if not os.geteuid() else None
        self.assertTrue(self.in_c("tree", "copy"))
        os.chmod("tree/empty", 0o755)
        os.chmod("copy/empty", 0o755)

    def test_extended_attributes(self) -> None:
        self.plain_tree()
        os.chmod("tree/x", 0o400)
        try:
            for name in ("x", "a", "."):
                os.setxattr(Path("tree", name), "user.cosy", name.encode())
        except OSError as error:
            self.skipTest(f"no extended attributes of users here: {error.strerror}")
        self.assertIsNone(self.both("tree"))
        cosy.copytree("tree", "copy")
        self.assertEqual(os.getxattr("copy/x", "user.cosy"), b"x")
        self.assertEqual(trees.mode("copy/x"), 0o400)

    def test_every_kind(self) -> None:
        Path("tree").mkdir()
        trees.fill(self.folder / "tree")
        os.unlink("tree/socket")
        for symlinks in (False, True):
            self.assertTrue(self.both("tree", symlinks=symlinks))

    def test_errors(self) -> None:
        self.plain_tree()
        Path("file").touch()
        for source in ("missing", "file", "", "tree/x/y"):
            self.assertTrue(self.both(source), source)
        for target in ("tree", "file"):
            self.assertEqual(self.outcome(shutil.copytree, "tree", target), self.outcome(cosy.copytree, "tree", target))
        self.assertEqual(self.outcome(cosy.copytree, "tree", b"x"), self.outcome(shutil.copytree, "tree", b"y"))
        for target in ("file/x", "missing/\0"):
            self.assertEqual(self.outcome(cosy.copytree, "tree", target), self.outcome(shutil.copytree, "tree", target))

    def test_into_itself(self) -> None:
        self.plain_tree()
        shutil.copytree("tree", "tree/theirs")
        theirs = self.listing("tree/theirs")
        shutil.rmtree("tree/theirs")
        cosy.copytree("tree", "tree/ours")
        self.assertEqual(list(self.listing("tree/ours")), list(theirs))

    def test_unreadable(self) -> None:
        self.plain_tree()
        Path("tree/a/y").chmod(0)
        Path("tree/closed").mkdir()
        os.chmod(".", 0o777)
        with trees.as_nobody():
            self.assertEqual(len(self.both("tree")), 1)
            Path("into").mkdir(mode=0o500)
            self.assertEqual(self.outcome(cosy.copytree, "tree", "into/x")[0], PermissionError)
            Path("into").chmod(0o700)
        Path("tree/closed").chmod(0)
        with trees.as_nobody():
            self.assertEqual(len(self.both("tree")), 2)

    def test_to_shutil(self) -> None:
        self.plain_tree()
        self.both("tree", ignore=shutil.ignore_patterns("b*"))
        self.both("tree", copy_function=lambda source, target: shutil.copy2(source, target))
        for copytree, name in ((shutil.copytree, "theirs"), (cosy.copytree, "ours")):
            copytree("tree/a", name)
            copytree("tree", name, dirs_exist_ok=True)
        self.assertEqual(self.listing("theirs"), self.listing("ours"))
        self.assertFalse(self.in_c("tree", "ours", dirs_exist_ok=True))

    def test_changed_meanwhile(self) -> None:
        self.plain_tree()
        copy: Callable[..., Any] = cosy._copy._cosy.copy_tree  # type: ignore[attr-defined]

        def remove_first(*args: Any) -> Any:
            os.unlink("tree/x")
            os.symlink("/etc/passwd", "tree/a/new")
            return copy(*args)

        with mock.patch.object(cosy._copy._cosy, "copy_tree", remove_first):  # type: ignore[attr-defined]
            cosy.copytree("tree", "copy")
        self.assertFalse(os.path.lexists("copy/x"))
        self.assertEqual(os.readlink("copy/a/new"), "/etc/passwd")

    def test_random(self) -> None:
        for seed in range(trees.steps(8)):
            Path("tree").mkdir()
            trees.grow(self.folder / "tree", random.Random(seed), 80)
            self.both("tree", symlinks=True)
            shutil.rmtree("tree")


if __name__ == "__main__":
    unittest.main()
