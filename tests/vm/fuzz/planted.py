#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Plants bugs in copies of the module, and shows that random sequences find them.

    planted.py --build build [--kernel 6.12] [--sequences N] [NAME...]

Without it that nothing was found would say nothing.  Exit status 1: one was not found, or its place
is not in the sources any more.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

_HERE = Path(__file__).resolve().parent
_TREE = _HERE.parents[2]


@dataclass(frozen=True)
class Bug:
    """One place of one file, changed."""

    name: str
    file: str
    old: str
    new: str


BUGS = [
    Bug(
        "resume-anywhere",
        "kmod/run/run.c",
        "\tif (argument->resume && !cosy_program_resumes(prog, argument->resume))\n\t\tresult = -EINVAL;\n\telse if",
        "\tif",
    ),
    Bug(
        "image-reference",
        "kmod/load/cache.c",
        "\tif (image) {\n\t\trefcount_inc(&image->references);\n",
        "\tif (image) {\n",
    ),
    Bug("program-reference", "kmod/run/run.c", "\tcosy_program_put(prog);\n\treturn result;\n", "\treturn result;\n"),
    Bug(
        "buffer-reference",
        "kmod/load/buffer.c",
        "\tif (vma->vm_mm == buffer->mm)\n\t\trefcount_inc(&buffer->references);\n",
        "\tif (vma->vm_mm == buffer->mm)\n\t\treturn;\n",
    ),
]


def _stage(bug: Bug, tree: Path) -> None:
    """Makes `tree` the module's sources with the bug in them."""
    for part in ("kmod", "core", "include"):
        shutil.rmtree(tree / part, ignore_errors=True)
        shutil.copytree(_TREE / part, tree / part)
    path = tree / bug.file
    text = path.read_text()
    if text.count(bug.old) != 1:
        raise SystemExit(f"{bug.name}: {bug.file} has the place to change {text.count(bug.old)} times")
    path.write_text(text.replace(bug.old, bug.new))


def _why(output: str) -> str:
    for start in ("vm:", "FAIL"):
        for line in output.splitlines():
            if line.startswith(start):
                return line[:150]
    return "?"


def _is_found(bug: Bug, options: argparse.Namespace, tree: Path) -> bool:
    _stage(bug, tree)
    start = time.monotonic()
    command = [sys.executable, _HERE / "fuzz.py", "--build", options.build, "--kernel", options.kernel]
    command += ["--tree", tree, "--sequences", str(options.sequences), "--timeout", "600"]
    ended = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    under_way = [line.split()[-1] for line in ended.stdout.splitlines() if line.startswith("# sequence ")]
    said = f"found: {_why(ended.stdout)}" if ended.returncode else "NOT FOUND"
    which = f"; under way: sequences {under_way[0]} to {under_way[-1]}" if under_way else ""
    print(f"{bug.name}: {said}{which} ({time.monotonic() - start:.0f} s)", flush=True)
    return ended.returncode not in (0, 77, 126)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--kernel", default="6.12")
    parser.add_argument("--sequences", type=int, default=2000)
    parser.add_argument("names", nargs="*", metavar="NAME")
    options = parser.parse_args()
    wanted = [bug for bug in BUGS if not options.names or bug.name in options.names]
    with tempfile.TemporaryDirectory(prefix="cosy-planted-") as tree:
        found = sum([_is_found(bug, options, Path(tree)) for bug in wanted])
    print(f"{found} of {len(wanted)} found")
    return 0 if found == len(wanted) else 1


if __name__ == "__main__":
    sys.exit(main())
