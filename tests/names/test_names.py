#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that a name is one thing in the whole tree.

Headers are compiled each alone, and all together in both orders, so any two of
them in either order: a name that means two things does not compile.  Structures
and functions that never meet in one program are compared by their definitions.
libcosy.a, which a program links whole, defines nothing that could be the
program's own.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import unittest
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

TREE = Path(__file__).resolve().parents[2]

# Folders of user space whose headers may be in one file.
HEADERS = ["include", "core", "lib", "command", "common"]
# Folders whose structures have one name each, and those whose functions have.
STRUCTURES = ["include", "core", "kmod", "lib", "run", "cosyd", "command", "common"]
FUNCTIONS = ["include", "core", "lib", "run", "cosyd", "command", "common"]

# <cosy/fast.h> and <cosy/move.h> have functions of the same names as the builder, and say so: one
# C file includes either.
ALTERNATIVES = [["include/cosy/fast.h", "include/cosy/move.h"], ["include/cosy/builder.h", "lib/builder/build.h"]]

# What the files that include it complete, by macros of their own.
COMPLETED = ["core/format.h", "core/scan_tree.h"]


class Settings:
    compiler = "cc"
    generated = Path()
    archive = Path()


def sources(folders: Iterable[str], *suffixes: str) -> list[Path]:
    """Returns the product's files: no tests, no benchmarks."""
    found = [path for folder in folders for path in (TREE / folder).rglob("*") if path.suffix in suffixes]
    return sorted(path for path in found if not {"test", "bench"} & set(path.relative_to(TREE).parts))


def compile_together(headers: Iterable[Path]) -> str:
    """Returns what the compiler says about one file that includes them; "" if nothing."""
    include = [f"-I{TREE / part}" for part in ("include", "include/uapi", "core", "lib", "command", "common")]
    done = subprocess.run(
        [Settings.compiler, "-x", "c", "-std=gnu11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror"]
        + ["-Wno-unused-function", "-fsyntax-only", *include, f"-I{Settings.generated}", "-"],
        input="".join(f'#include "{header}"\n' for header in headers) + "typedef int not_empty;\n",
        capture_output=True,
        text=True,
    )
    return done.stderr if done.returncode else ""


def without_comments(path: Path) -> str:
    return re.sub(r"/\*.*?\*/|//[^\n]*", " ", path.read_text(errors="replace"), flags=re.DOTALL)


def said_twice(places: dict[str, set[str]]) -> dict[str, list[str]]:
    return {name: sorted(where) for name, where in sorted(places.items()) if len(where) > 1}


def headers() -> list[Path]:
    return [header for header in sources(HEADERS, ".h") if str(header.relative_to(TREE)) not in COMPLETED]


class Headers(unittest.TestCase):
    def test_each_alone(self) -> None:
        for header in headers():
            with self.subTest(header=str(header.relative_to(TREE))):
                self.assertEqual(compile_together([header]), "")

    def test_all_together(self) -> None:
        for left_out in ALTERNATIVES:
            chosen = [header for header in headers() if str(header.relative_to(TREE)) not in left_out]
            for order in (chosen, chosen[::-1]):
                with self.subTest(without=left_out, first=order[0].name):
                    self.assertEqual(compile_together(order), "")


class Definitions(unittest.TestCase):
    def test_structures(self) -> None:
        places: dict[str, set[str]] = defaultdict(set)
        for path in sources(STRUCTURES, ".c", ".h"):
            for match in re.finditer(r"^(?:typedef )?(?:struct|union|enum) (\w+) \{", without_comments(path), re.M):
                places[match[1]].add(str(path.relative_to(TREE)))
        self.assertEqual(said_twice(places), {})
        self.assertGreater(len(places), 100)

    def test_functions(self) -> None:
        places: dict[str, set[str]] = defaultdict(set)
        for path in sources(FUNCTIONS, ".c", ".h"):
            text = without_comments(path)
            for match in re.finditer(r"^[a-z][\w *]*?\b(\w+)\([^;{}]*\)\s*\{", text, re.M):
                if path.suffix == ".c" and match[0].startswith("static"):
                    continue
                # A header that declares a function may have another form of it under an #if.
                if path.suffix == ".h" and re.search(rf"\b{match[1]}\([^;{{}}]*\)[^;{{}}]*;", text):
                    continue
                places[match[1]].add(str(path.relative_to(TREE)))
        places.pop("main")
        self.assertEqual(said_twice(places), {})
        self.assertGreater(len(places), 300)


class Archive(unittest.TestCase):
    def test_names_of_its_own(self) -> None:
        listed = set(re.findall(r"^\t\t(\w+);$", (TREE / "lib/libcosy.map").read_text(), re.M))
        of_core = {
            name for path in sources(["core"], ".h") for name in re.findall(r"\bco(?:sy|re)_\w+", path.read_text())
        }
        said = subprocess.run(
            ["nm", "-g", "--defined-only", Settings.archive], capture_output=True, text=True, check=True
        )
        defined = {
            words[2] for words in map(str.split, said.stdout.splitlines()) if len(words) == 3 and words[1] in "TDBRC"
        }
        self.assertGreater(len(defined), len(listed))
        self.assertEqual(sorted(n for n in defined - listed - of_core if not n.startswith("libcosy_")), [])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--compiler", default="cc")
    parser.add_argument("--generated", required=True, type=Path, help="folder with the generated <cosy/calls.h>")
    parser.add_argument("--archive", required=True, type=Path, help="libcosy.a")
    args = parser.parse_args()
    Settings.compiler, Settings.generated, Settings.archive = args.compiler, args.generated, args.archive
    return not unittest.main(argv=[sys.argv[0]], exit=False, verbosity=1).result.wasSuccessful()


if __name__ == "__main__":
    sys.exit(main())
