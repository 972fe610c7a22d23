#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`pip install` from a clone builds a wheel, offline and without cosycc, which works by itself."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path

TREE = Path(__file__).resolve().parents[2]
USES = """
import cosy, os
assert sorted(entry.name for entry in cosy.scandir("/")) == sorted(os.listdir("/"))
assert [path for path, _, _ in cosy.walk("/etc")] == [path for path, _, _ in os.walk("/etc")]
assert cosy.stat_many(["/"])[0] == os.stat("/")
print(cosy.__file__)
"""


class Wheel(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="cosy-wheel-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name).resolve()

    def run_in(self, folder: Path, *command: str | Path, **environment: str) -> str:
        variables = {
            name: value
            for name, value in os.environ.items()
            if name not in ("COSY_BUILD", "COSY_BUNDLED", "PYTHONPATH", "LD_LIBRARY_PATH")
        }
        done = subprocess.run(
            [str(word) for word in command],
            cwd=folder,
            env=variables | environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.assertEqual(done.returncode, 0, done.stdout)
        return done.stdout

    def wheel(self, source: Path, **environment: str) -> Path:
        made = self.folder / "made"
        words = ["wheel", "--no-index", "--no-deps", "--no-build-isolation", "-w", made, source]
        self.run_in(self.folder, sys.executable, "-m", "pip", *words, **environment)
        (wheel,) = made.glob("*.whl")
        self.assertIn("-cp311-abi3-linux", wheel.name)
        names = zipfile.ZipFile(wheel).namelist()
        for name in ("__init__.py", "__init__.pyi", "_cosy.pyi", "py.typed", "_cosy.abi3.so", "_walk.py", "_copy.py"):
            self.assertIn(f"cosy/{name}", names)
        return wheel

    def uses(self, wheel: Path, **environment: str) -> None:
        """Installs a wheel, and uses it by each Python that is here."""
        installed = self.folder / "installed"
        shutil.rmtree(installed, ignore_errors=True)
        words = ["install", "--no-index", "--no-deps", "--target", installed, wheel]
        self.run_in(self.folder, sys.executable, "-m", "pip", *words)
        pythons = {sys.executable} | {path for n in range(11, 16) if (path := shutil.which(f"python3.{n}"))}
        for python in sorted(pythons):
            if subprocess.run([python, "-c", ""], capture_output=True).returncode:
                continue  # a wrapper of a version manager's, without that version
            printed = self.run_in(self.folder, python, "-c", USES, PYTHONPATH=str(installed), **environment)
            self.assertEqual(printed.strip(), str(installed / "cosy/__init__.py"))

    def clone(self) -> Path:
        clone = self.folder / "clone"
        ignored = shutil.ignore_patterns("build", "*.egg-info", "__pycache__", "*.so")
        for name in ("python", "lib", "core", "include"):
            shutil.copytree(TREE / name, clone / name, ignore=ignored)
        return clone

    def test_bundled(self) -> None:
        """Nothing of Cosy's is installed: the library's sources are compiled."""
        wheel = self.wheel(self.clone() / "python", PKG_CONFIG_LIBDIR="/nonexistent")
        self.uses(wheel)
        # It exports nothing besides its entry, so that it can share a process with an installed libcosy.
        zipfile.ZipFile(wheel).extract("cosy/_cosy.abi3.so", self.folder)
        symbols = self.run_in(self.folder, "nm", "-D", "--defined-only", "cosy/_cosy.abi3.so").split("\n")
        self.assertEqual([line.split()[-1] for line in symbols if line], ["PyInit__cosy"])
        needed = self.run_in(self.folder, "readelf", "-d", "cosy/_cosy.abi3.so")
        self.assertNotIn("libcosy", needed)
        self.assertNotIn("libstdc++", needed)

    def test_installed(self) -> None:
        """pkg-config finds a library, outside the folders that the dynamic linker searches."""
        prefix = self.folder / "a prefix"
        build = Path(os.environ["COSY_BUILD"])
        shutil.copytree(TREE / "include/cosy", prefix / "include/cosy")
        (prefix / "lib/pkgconfig").mkdir(parents=True)
        for path in (build / "lib").glob("libcosy.so*"):
            shutil.copy(path, prefix / "lib", follow_symlinks=False)
        template = (TREE / "lib/cosy.pc.in").read_text()
        for name, value in (
            ("CMAKE_INSTALL_PREFIX", str(prefix)),
            ("CMAKE_INSTALL_INCLUDEDIR", "include"),
            ("CMAKE_INSTALL_LIBDIR", "lib"),
            ("PROJECT_VERSION", "0.1.0"),
        ):
            template = template.replace(f"@{name}@", value)
        (prefix / "lib/pkgconfig/cosy.pc").write_text(template)
        clone = self.folder / "clone"
        shutil.copytree(TREE / "python", clone, ignore=shutil.ignore_patterns("build", "*.egg-info", "__pycache__"))
        wheel = self.wheel(clone, PKG_CONFIG_PATH=str(prefix / "lib/pkgconfig"))
        zipfile.ZipFile(wheel).extract("cosy/_cosy.abi3.so", self.folder)
        needed = self.run_in(self.folder, "readelf", "-d", "cosy/_cosy.abi3.so")
        self.assertIn("libcosy.so.0", needed)
        self.assertIn(f"[{prefix}/lib]", needed)
        self.uses(wheel)

    def test_without_library(self) -> None:
        """A package alone, without a library, says what is missing."""
        alone = self.folder / "alone"
        shutil.copytree(TREE / "python", alone, ignore=shutil.ignore_patterns("build", "*.egg-info"))
        done = subprocess.run(
            [sys.executable, "setup.py", "-q", "build_ext", "--build-lib", "x", "--build-temp", "y"],
            cwd=alone,
            env={"PATH": os.environ["PATH"], "PKG_CONFIG_LIBDIR": "/nonexistent"},
            capture_output=True,
            text=True,
        )
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("libcosy was not found: install libcosy-dev", done.stderr)


if __name__ == "__main__":
    unittest.main()
