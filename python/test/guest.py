#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Puts together what the tests need in a virtual machine: Python, those of its modules, the package.

guest.py PACKAGES FOLDER makes FOLDER, which is /t/python there; PACKAGES is where the package is.
"""

from __future__ import annotations

import contextlib
import importlib
import shutil
import sys
import sysconfig
from pathlib import Path

HERE = Path(__file__).resolve().parent
# Imported when they are used; the last ones depend on Python's version.
LATER = (
    "encodings.idna",
    "encodings.ascii",
    "encodings.latin_1",
    "unittest.mock",
    "pickle",
    "hashlib",
    "copy",
    "json",
    "heapq",
)
LATER += ("_interpreters", "_xxsubinterpreters")


def main() -> None:
    packages, folder = (Path(word) for word in sys.argv[1:])
    shutil.rmtree(folder, ignore_errors=True)
    name = f"python{sys.version_info.major}.{sys.version_info.minor}"
    library = folder / "lib" / name
    sys.path[:0] = [str(HERE), str(packages)]
    for module in [*LATER, *(path.stem for path in HERE.glob("test_*.py") if path.stem != "test_wheel")]:
        with contextlib.suppress(ImportError if module.startswith("_") else ()):
            importlib.import_module(module)
    # PYTHONHOME names the folder in which these are found.
    homes = [Path(sysconfig.get_path(key)).resolve() for key in ("stdlib", "platstdlib")]
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None)
        home = next((home for home in homes if file and home in Path(file).resolve().parents), None)
        if not file or not home:
            continue
        target = library / Path(file).resolve().relative_to(home)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, target)
    (library / "lib-dynload").mkdir(exist_ok=True)
    shutil.copytree(packages / "cosy", folder / "packages/cosy", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "test").mkdir()
    for path in HERE.glob("*.*"):
        shutil.copy(path, folder / "test")
    shutil.copy(HERE.parents[1] / "docs/use/python.md", folder / "test")
    shutil.copy(Path(sys.executable).resolve(), folder / "python3")


if __name__ == "__main__":
    main()
