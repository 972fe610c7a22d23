#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks names by their kind, by the rules of .clang-tidy and compiler/.clang-tidy.

naming.py --build BUILD [--all] [FILE...]: the C sources that BUILD compiles; with --all the C++ of
compiler/ as well, which takes minutes; or FILEs only.  BUILD keeps the list of correct sources, so only
sources that changed since, or whose headers did, are checked.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import llvm
import tree

CLANG_TIDY = f"clang-tidy-{llvm.version()}"
SKIPPED = 77
# Options of gcc's that clang does not know.
GCC_ONLY = re.compile(r"-f(?:no-)?(?:tree-|ipa-|conserve-stack)\S*|-W\S*")
# Generated files are missing before a build.
NOT_BUILT = "file not found"
AT_ONCE = 8
KEPT = "naming.txt"
INCLUDE = re.compile(rb"^\s*#\s*include\s*[<\"]([^>\"]+)", re.M)


def commands(build: Path, asked: list[Path], every: bool, top: Path = tree.TOP) -> list[dict[str, str]]:
    """The compile commands to check, one for each source, as clang takes them."""
    ret: dict[str, dict[str, str]] = {}
    for command in json.loads((build / "compile_commands.json").read_text()):
        path = Path(command["directory"], command["file"]).resolve()
        if not path.is_relative_to(top) or path.is_relative_to(build) or not path.exists():
            continue
        if path in asked if asked else path.suffix == ".c" or (every and path.is_relative_to(top / "compiler")):
            ret.setdefault(str(path), command | {"file": str(path), "command": GCC_ONLY.sub("", command["command"])})
    return list(ret.values())


def digests(chosen: list[dict[str, str]], top: Path = tree.TOP) -> dict[str, dict[str, str]]:
    """The commands by a digest of a source, its headers, the command and the rules."""
    rules = b"".join(path.read_bytes() for path in tree.files(".clang-tidy", "naming.py", top=top))
    headers: dict[str, list[Path]] = {}  # an include may mean any file of that name
    for path in tree.files("*.h", "*.def", "*.inc", "*.c", top=top):
        headers.setdefault(path.name, []).append(path)
    included: dict[Path, list[Path]] = {}
    contents: dict[Path, bytes] = {}

    def look(path: Path) -> list[Path]:
        if path not in included:
            contents[path] = path.read_bytes()
            names = {Path(os.fsdecode(name)).name for name in INCLUDE.findall(contents[path])}
            included[path] = [header for name in sorted(names) for header in headers.get(name, [])]
        return included[path]

    ret = {}
    for command in chosen:
        left, seen = [Path(command["file"])], {}
        while left:
            path = left.pop()
            if path not in seen:
                seen[path] = None
                left += look(path)
        text = b"".join(contents[path] for path in seen)
        ret[hashlib.sha256(rules + command["command"].encode() + text).hexdigest()] = command
    return ret


def check(chosen: list[dict[str, str]], kept: Path, top: Path = tree.TOP) -> list[str]:
    """Returns the faults.  `kept` has the digests of sources that were right."""
    units = digests(chosen, top)
    known = set(kept.read_text().split()) & set(units) if kept.exists() else set()
    found, whole = examine([command for digest, command in units.items() if digest not in known], top)
    # A fault may be in a header, so no source is known to be correct.
    kept.write_text("\n".join(sorted(known if found or not whole else units)))
    return found


def examine(chosen: list[dict[str, str]], top: Path = tree.TOP) -> tuple[list[str], bool]:
    """Returns names that are not as they should be, a line each, and whether all that is included was there."""
    names = sorted(command["file"] for command in chosen)
    with tempfile.TemporaryDirectory() as database:
        (Path(database) / "compile_commands.json").write_text(json.dumps(chosen))

        def look(some: list[str]) -> str:
            # Give the rules explicitly: a name made by a macro has no file, and so no folder's rules.
            # C has the kernel's names everywhere, also in compiler/.
            folders = [top] if some[0].endswith(".c") else Path(some[0]).parents
            rules = next(folder / ".clang-tidy" for folder in folders if (folder / ".clang-tidy").exists())
            arguments = [CLANG_TIDY, "--quiet", f"--config-file={rules}", "-p", database, *some]
            return subprocess.run(arguments, capture_output=True, text=True, check=False).stdout

        with ThreadPoolExecutor(os.cpu_count()) as pool:
            kinds = [[name for name in names if name.endswith(suffix)] for suffix in (".c", ".cpp")]
            parts = [kind[at : at + AT_ONCE] for kind in kinds for at in range(0, len(kind), AT_ONCE)]
            lines = [line for text in pool.map(look, parts) for line in text.splitlines()]
    found = {line.removeprefix(f"{top}/") for line in lines if ": error: " in line and NOT_BUILT not in line}
    return sorted(found), not any(NOT_BUILT in line for line in lines)


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
    build = options.build.resolve()
    chosen = commands(build, asked, options.all)
    return tree.verdict("naming", examine(chosen)[0] if asked else check(chosen, build / KEPT))


if __name__ == "__main__":
    sys.exit(main())
