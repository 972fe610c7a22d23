#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""cosy.walk yields what os.walk yields, and with entries=True entries in place of names."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import unittest
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cosy
import trees
from trees import FolderTest

WAYS = [(down, links) for down in (True, False) for links in (False, True)]


def entry_walk(*args: Any) -> Any:
    return cosy.walk(*args, entries=True)


WALKS = (os.walk, cosy.walk, entry_walk)


def name_of(item: Any) -> Any:
    return item.name if isinstance(item, cosy.DirEntry) else item


# Changes a tree until it is killed: moves, removes and makes directories, puts links in their places.
CHANGER = """
import os, random, sys
chance = random.Random(int(sys.argv[1]))
while True:
    name, other = (f"moving/{chance.randrange(12)}" for _ in range(2))
    try:
        kind = chance.randrange(5)
        if kind == 0:
            os.makedirs(name + "/below/deeper")
            open(name + "/below/deeper/file", "w").close()
        elif kind == 1:
            os.rename(name, other + "/below/moved")
        elif kind == 2:
            os.symlink("../outside", name)
        elif kind == 3:
            os.unlink(name)
        else:
            for folder, dirs, files in os.walk(name, topdown=False):
                for file in files:
                    os.unlink(folder + "/" + file)
                os.rmdir(folder)
    except OSError:
        pass
"""


class Walk(FolderTest):
    def names(self, walk: Callable[..., Any], top: Any, down: bool, links: bool) -> tuple[list[Any], list[Any]]:
        errors: list[Any] = []

        def note(error: OSError) -> None:
            errors.append((type(error), error.errno, error.strerror, error.filename))

        steps = []
        for path, dirs, files in walk(top, down, note, links):
            for item in [*dirs, *files]:
                if walk is entry_walk:
                    self.assertIs(type(item), cosy.DirEntry)
                    self.assertEqual(item.path, os.path.join(path, item.name))
                else:
                    self.assertIs(type(item), type(path))
            steps.append((path, [name_of(item) for item in dirs], [name_of(item) for item in files]))
        return steps, errors

    def both(self, top: Any) -> None:
        for down, links in WAYS:
            for walk in (cosy.walk, entry_walk):
                with self.subTest(walk=walk.__name__, top=top, topdown=down, followlinks=links):
                    # The kernel counts the links of a path twice if it looks the path up again, because
                    # something was renamed meanwhile. A loop of links may then end early: ELOOP was seen so
                    # once in 560 walks of os.walk.
                    for _ in range(5 if links else 1):
                        expected = self.names(os.walk, top, down, links)
                        found = self.names(walk, top, down, links)
                        if found == expected:
                            break
                    self.assertEqual(found, expected)

    def test_every_kind(self) -> None:
        trees.fill(self.folder)
        os.makedirs("a/b/c/d")
        Path("a/b/x").touch()
        os.symlink("../..", "a/b/up")
        for top in (str(self.folder), os.fsencode(self.folder), self.folder, ".", "a/", "a/b/c/d", "link-dir", b"a"):
            self.both(top)

    def test_errors(self) -> None:
        trees.fill(self.folder)
        for top in ("missing", b"missing", "file", "link-dangling", "link-loop", ""):
            self.both(top)
        for wrong in (3, None, "nul\0", object()):
            self.assertEqual(
                self.outcome(lambda wrong=wrong: list(os.walk(wrong))),
                self.outcome(lambda wrong=wrong: list(cosy.walk(wrong))),
            )
        self.assertEqual(list(cosy.walk("missing")), [])

        def stop(error: OSError) -> None:
            raise error

        self.assertRaises(FileNotFoundError, list, cosy.walk("missing", onerror=stop))

    def test_unreadable(self) -> None:
        for name in ("open/a", "open/closed/b", "open/listed/c", "open/z"):
            os.makedirs(name)
        for name, mode in (("open/closed", 0o000), ("open/listed", 0o444)):
            Path(name).chmod(mode)
        with trees.as_nobody():
            self.both("open")
        for name in ("open/closed", "open/listed"):
            Path(name).chmod(0o755)

    def test_audited(self) -> None:
        for name in ("a/b/c", "a/d", "e"):
            os.makedirs(name)
        os.symlink("../e", "a/link")
        seen: list[Any] = []
        refused: list[str] = []

        def hook(event: str, args: tuple[Any, ...]) -> None:
            if event in ("os.walk", "os.scandir"):
                seen.append((event, *args))
                if args[0] in refused:
                    raise RuntimeError(args[0])

        sys.addaudithook(hook)
        for top in (".", b"a", Path("a"), "a/", "missing", "a/link"):
            for down, links in WAYS:
                events = []
                for walk in WALKS:
                    seen.clear()
                    list(walk(top, down, None, links))
                    events.append(list(seen))
                with self.subTest(top=top, topdown=down, followlinks=links):
                    self.assertEqual(events[1:], [events[0]] * 2)
        before = trees.open_descriptors()
        for place in (".", "./a/b"):
            refused[:] = [place]
            for down, links in WAYS:
                with self.assertRaisesRegex(RuntimeError, place):
                    list(cosy.walk(".", down, None, links))
        refused.clear()
        self.assertEqual(trees.open_descriptors(), before)

    def test_stat(self) -> None:
        trees.fill(self.folder)
        for _, dirs, files in cosy.walk(str(self.folder), entries=True):
            for entry in [*dirs, *files]:
                self.assertEqual(trees.seen(entry.stat(follow_symlinks=False)), trees.seen(os.lstat(entry.path)))
                ours = self.outcome(lambda entry=entry: trees.seen(entry.stat()))
                theirs = self.outcome(lambda entry=entry: trees.seen(os.stat(entry.path)))
                self.assertEqual(ours, theirs)

    def choose(self, choice: Callable[[list[str], random.Random], list[Any]], seed: int, add: bool = False) -> None:
        """Walks twice, and changes the lists of directories in the same way."""
        steps = []
        for walk in WALKS:
            chance = random.Random(seed)
            found = []
            for path, dirs, files in walk(str(self.folder)):
                names = [name_of(item) for item in dirs]
                found.append((path, names, [name_of(item) for item in files]))
                by_name = dict(zip(names, dirs, strict=True))
                dirs[:] = [by_name.get(name, name) for name in choice(list(names), chance)]
            steps.append(found)
        self.assertEqual(steps[1:], [steps[0]] * 2)

    def test_chosen(self) -> None:
        trees.grow(self.folder, random.Random(2), trees.steps(400))

        def some(names: list[str], chance: random.Random) -> list[str]:
            return [name for name in names if chance.random() < 0.7]

        def in_order(names: list[str], _: random.Random) -> list[str]:
            return sorted(names)

        def shuffled(names: list[str], chance: random.Random) -> list[str]:
            names = some(names, chance)
            if chance.random() < 0.2:
                chance.shuffle(names)
            return names

        def foreign(names: list[str], chance: random.Random) -> list[str]:
            return [*names, "missing", *names[:1]] if chance.random() < 0.1 else names

        for seed in range(trees.steps(16)):
            for choice in (some, in_order, shuffled, foreign):
                with self.subTest(seed=seed, choice=choice.__name__):
                    self.choose(choice, seed)
        self.choose(lambda names, chance: [], 0)

    def test_idioms(self) -> None:
        for name in ("a/.git/objects", "a/src", "b/.git", "b/lib/deep"):
            os.makedirs(name)
            Path(name, "file").touch()
        found = []
        for walk in WALKS:
            paths = []
            for path, dirs, files in walk(str(self.folder)):
                if ".git" in dirs:
                    dirs.remove(".git")
                dirs.sort()
                if "file" in files:
                    paths.append(path)
            found.append(paths)
        self.assertEqual(found[1:], [found[0]] * 2)
        self.assertEqual(len(found[0]), 2)

    def test_idioms_of_names(self) -> None:
        os.makedirs("a/b.d")
        for name in ("a/one.txt", "a/b.d/two.TXT", "three.c"):
            Path(name).touch()
        found = []
        for walk in (os.walk, cosy.walk):
            paths = []
            # A relative path: joined with it, a name is the file.
            for path, dirs, files in walk("."):
                dirs[:] = sorted(name for name in dirs if not name.startswith("."))
                paths += [os.path.join(path, name) for name in files if name.lower().endswith(".txt")]
                paths += [path + "/" + name.partition(".")[0] for name in dirs]
            found.append(paths)
        self.assertEqual(found[0], ["./a", "./a/one.txt", "./a/b", "./a/b.d/two.TXT"])
        self.assertEqual(found[1], found[0])

    def test_paths_in_list(self) -> None:
        os.makedirs("a/b")
        os.makedirs("c")
        found = []
        for walk in WALKS:
            paths = []
            for path, dirs, _ in walk("."):
                paths.append(path)
                dirs[:] = [Path(os.path.relpath(item, path)) if walk is entry_walk else Path(item) for item in dirs]
            found.append(sorted(paths))
        self.assertEqual(found[1:], [found[0]] * 2)

    def test_dropped(self) -> None:
        trees.grow(self.folder, random.Random(3), 60)
        expected = [path for path, _, _ in os.walk(str(self.folder))]
        for walk in (cosy.walk, entry_walk):
            found = []
            for step in walk(str(self.folder)):
                found.append(step[0])
                del step
            self.assertEqual(found, expected)

    def test_random(self) -> None:
        for seed in range(trees.steps(16)):
            folder = self.folder / str(seed)
            folder.mkdir()
            trees.grow(folder, random.Random(seed), 120)
            for down in (True, False):
                expected = self.names(os.walk, folder, down, False)
                for walk in (cosy.walk, entry_walk):
                    self.assertEqual(self.names(walk, folder, down, False), expected, seed)

    def test_links_in_loops(self) -> None:
        os.makedirs("a/b")
        os.symlink("../..", "a/b/up")
        self.both("a")

    def test_deep(self) -> None:
        # Deeper than Python's stack and than PATH_MAX; os.walk of Python 3.11 calls itself.
        depth = 3000
        fd = os.open(".", os.O_RDONLY)
        for _ in range(depth):
            os.mkdir("d", dir_fd=fd)
            below = os.open("d", os.O_RDONLY, dir_fd=fd)
            os.close(fd)
            fd = below
        os.close(fd)
        self.assertEqual(len(list(cosy.walk("d"))), depth)
        paths = [path for path, _, _ in cosy.walk("d", topdown=False, entries=True)]
        self.assertEqual(paths, ["/".join(["d"] * n) for n in range(depth, 0, -1)])
        for _ in range(depth):
            os.chdir("d")
        for _ in range(depth):
            os.chdir("..")
            os.rmdir("d")

    def test_descriptors(self) -> None:
        trees.grow(self.folder, random.Random(4), 100)
        before = trees.open_descriptors()
        steps = cosy.walk(str(self.folder))
        next(steps)
        steps.close()
        self.assertEqual(trees.open_descriptors(), before)
        list(cosy.walk(str(self.folder)))
        self.assertEqual(trees.open_descriptors(), before)

    def test_changed_below(self) -> None:
        for name in ("a", "b/gone", "b/kept", "c"):
            os.makedirs(name)
        errors: list[OSError] = []
        seen = []
        for path, _, _ in cosy.walk(".", onerror=errors.append):
            seen.append(path)
            if path == "./b":
                os.rmdir("b/gone")
        self.assertEqual(sorted(seen), [".", "./a", "./b", "./b/kept", "./c"])
        self.assertEqual([(type(e), e.filename) for e in errors], [(FileNotFoundError, "./b/gone")])

    def test_changed_meanwhile(self) -> None:
        for i in range(40):
            os.makedirs(f"still/{i}/below")
            Path(f"still/{i}/below/file").touch()
        Path("moving").mkdir()
        os.makedirs("outside/secret")
        still = sorted(os.path.join(path, name) for path, _, files in os.walk("still") for name in files)
        with subprocess.Popen([sys.executable, "-c", CHANGER, "5"]) as changer:
            try:
                for turn in range(trees.steps(100)):
                    errors: list[OSError] = []
                    found = []
                    for path, _, files in cosy.walk(
                        ".", topdown=bool(turn % 2), onerror=errors.append, entries=bool(turn // 2 % 2)
                    ):
                        self.assertFalse(path.startswith("./moving") and "secret" in path, path)
                        found += [os.path.normpath(os.path.join(path, name_of(item))) for item in files]
                    self.assertEqual(sorted(path for path in found if path.startswith("still")), still)
                    for error in errors:
                        self.assertTrue(error.filename.startswith(("./moving", "./outside")), error)
            finally:
                changer.kill()


if __name__ == "__main__":
    unittest.main()
