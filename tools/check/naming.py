#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks names by their kind, as .clang-tidy and compiler/.clang-tidy say.

naming.py --build BUILD [--all] [FILE...]: the C sources that BUILD compiles, in some ten seconds;
with --all the C++ of compiler/, too, which takes minutes; or FILEs only.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import tree

CLANG_TIDY = "clang-tidy-19"
SKIPPED = 77
# Options of gcc's that clang does not know.
GCC_ONLY = re.compile(r"-f(?:no-)?(?:tree-|ipa-|conserve-stack)\S*|-W\S*")
# Whatever is to be generated yet is not there before a build.
NOT_BUILT = "file not found"
AT_ONCE = 8


def commands(build: Path, asked: list[Path], every: bool, top: Path = tree.TOP) -> list[dict[str, str]]:
    """The compile commands to look at, one for each source, as clang takes them."""
    ret: dict[str, dict[str, str]] = {}
    for command in json.loads((build / "compile_commands.json").read_text()):
        path = Path(command["directory"], command["file"]).resolve()
        if not path.is_relative_to(top) or path.is_relative_to(build) or not path.exists():
            continue
        if path in asked if asked else path.suffix == ".c" or (every and path.is_relative_to(top / "compiler")):
            ret.setdefault(str(path), command | {"file": str(path), "command": GCC_ONLY.sub("", command["command"])})
    return list(ret.values())


def faults(chosen: list[dict[str, str]], top: Path = tree.TOP) -> Iterator[str]:
    """Names that are not as they should be, a line each."""
    names = sorted(command["file"] for command in chosen)
    with tempfile.TemporaryDirectory() as database:
        (Path(database) / "compile_commands.json").write_text(json.dumps(chosen))

        def look(some: list[str]) -> str:
            # Said outright: a name that a macro makes has no file, and so no rules of a folder.
            rules = next(
                folder / ".clang-tidy" for folder in Path(some[0]).parents if (folder / ".clang-tidy").exists()
            )
            arguments = [CLANG_TIDY, "--quiet", f"--config-file={rules}", "-p", database, *some]
            return subprocess.run(arguments, capture_output=True, text=True, check=False).stdout

        with ThreadPoolExecutor(os.cpu_count()) as pool:
            kinds = [[name for name in names if name.endswith(suffix)] for suffix in (".c", ".cpp")]
            parts = [kind[at : at + AT_ONCE] for kind in kinds for at in range(0, len(kind), AT_ONCE)]
            lines = [line for text in pool.map(look, parts) for line in text.splitlines()]
    yield from sorted({line.removeprefix(f"{top}/") for line in lines if ": error: " in line and NOT_BUILT not in line})


def main() -> int:
    """An exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--all", action="store_true", help="C++ as well")
    parser.add_argument("files", type=Path, nargs="*")
    options = parser.parse_args()
    if not shutil.which(CLANG_TIDY):
        print(f"{CLANG_TIDY} is not installed")
        return SKIPPED
    asked = [file.resolve() for file in options.files]
    return tree.verdict("naming", faults(commands(options.build.resolve(), asked, options.all)))


if __name__ == "__main__":
    sys.exit(main())
