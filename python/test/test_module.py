#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The module as a whole: what it exports, forks, further interpreters, and that the kernel is used."""

from __future__ import annotations

import ast
import importlib
import inspect
import os
import re
import subprocess
import sys
import unittest
from pathlib import Path
from typing import Any

import cosy
import trees
from trees import FolderTest

IN_INTERPRETER = """
import cosy, os
assert sorted(e.name for e in cosy.scandir("/")) == sorted(os.listdir("/"))
assert cosy.stat_many(["/"])[0] == os.stat("/")
assert len(list(cosy.walk("/proc/self/fdinfo"))) == 1
"""


# Scans, walks, examines and reads until the default settings have the kernel do it.
USES_ALL = """
import cosy, os
names = os.listdir(".")
for turn in range(60):
    assert sorted(e.name for e in cosy.scandir(".") if e.stat().st_size == 7) == sorted(names)
    assert sum(len(files) for _, _, files in cosy.walk(".", entries=True)) == len(names)
    assert {st.st_size for st in cosy.stat_many(names)} == {7}
    assert set(cosy.read_files(names)) == {b"content"}
"""


class Module(FolderTest):
    def test_exports(self) -> None:
        for name in cosy.__all__:
            self.assertTrue(getattr(cosy, name).__doc__, name)
        self.assertIn("stat=True", str(inspect.signature(cosy.scandir)))
        for function in (cosy.stat_many, cosy.read_files, cosy.native_reason):
            inspect.signature(function)

    def test_stubs(self) -> None:
        """The stubs declare what there is, with the same parameters."""
        stubs = Path(cosy.__file__).with_name("_cosy.pyi")
        for node in ast.parse(stubs.read_text()).body:
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("copy_") and node.name != "tree":
                declared = [a.arg for a in [*node.args.args, *node.args.kwonlyargs]]
                self.assertEqual(declared, list(inspect.signature(getattr(cosy._cosy, node.name)).parameters))
            elif isinstance(node, ast.ClassDef) and hasattr(cosy, node.name):
                members = {n.name for n in node.body if isinstance(n, ast.FunctionDef)}
                actual = set(vars(getattr(cosy, node.name)))
                public = {name for name in actual if not name.startswith("_")}
                self.assertEqual({name for name in members if not name.startswith("_")}, public, node.name)
                self.assertLessEqual({"__class_getitem__"} & actual, members)

    def test_native_reason(self) -> None:
        reason = cosy.native_reason()
        expected = os.environ.get("COSY_TEST_KERNEL")
        if expected:
            self.assertEqual(reason is None, expected == "yes", reason)
        self.assertTrue(reason is None or (reason and "\n" not in reason))

    def test_default_settings(self) -> None:
        """The kernel is used without a setting, and whatever is set the results are the same."""
        for i in range(300):
            Path(str(i)).write_bytes(b"content")
        usual = {name: value for name, value in os.environ.items() if name != "COSY_TIER"}
        for settings in ({}, {"COSY_TIER": "always"}, {"COSY_MODE": "native"}, {"COSY_MODE": "interp"}):
            done = subprocess.run(
                [sys.executable, "-c", USES_ALL],
                env=usual | settings | {"COSY_STATS": "1"},
                stderr=subprocess.PIPE,
                text=True,
            )
            self.assertEqual(done.returncode, 0, done.stderr)
            runs = re.search(r" runs=(\d+)", done.stderr)
            if cosy.native_reason() is None and "COSY_MODE" not in settings:
                self.assertTrue(runs and int(runs[1]) > 60, done.stderr)

    def test_fork(self) -> None:
        trees.fill(self.folder)
        expected = sorted(os.listdir("."))
        entries = cosy.scandir(".")
        first = next(entries)
        child = os.fork()
        if not child:
            status = 1
            try:
                names = sorted([first.name, *(entry.name for entry in entries)])
                again = sorted(entry.name for entry in cosy.scandir("."))
                status = 0 if names == again == expected else 2
            finally:
                os._exit(status)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        entries.close()

    def interpreters(self) -> Any:
        for name in ("_interpreters", "_xxsubinterpreters"):
            try:
                return importlib.import_module(name)
            except ImportError:
                continue
        self.skipTest("this Python has no module for further interpreters")

    def test_interpreters(self) -> None:
        module = self.interpreters()
        for _ in range(3):
            # From 3.12 on this one has a GIL of its own.
            made = module.create()
            paths = f"import sys; sys.path[:] = {sys.path!r}\n"
            result = module.run_string(made, paths + IN_INTERPRETER)
            self.assertIsNone(result, result)
            module.destroy(made)
        self.assertTrue(list(cosy.scandir("/")))

    def test_version(self) -> None:
        """The package has the project's version."""
        project = Path(__file__).resolve().parents[2] / "CMakeLists.txt"
        if not project.exists():
            self.skipTest("the source tree is not here")
        version = re.search(r"project\(cosy VERSION (\S+)", project.read_text())
        package = (project.parent / "python/pyproject.toml").read_text()
        assert version
        self.assertIn(f'\nversion = "{version[1]}"\n', package)


if __name__ == "__main__":
    unittest.main()
