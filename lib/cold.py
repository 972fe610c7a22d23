#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Puts code and constants of an archive's members into the section cosy_cold, but for the members named,
of which only the functions go there that are declared cold.

    lib/cold.py --ar ar --objcopy objcopy build/lib/libcosy.a region.c start.c

Most programs never run most of libcosy.  When a page of a program is first touched, the kernel maps
those around it, too, and unmaps them at the end: hundreds of instructions for each.  cosycc has the
linker map cosy_cold apart (cosy_cold.ld), so only the programs that need it pay for it.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

SECTION = "cosy_cold"


def _sections(objcopy: str, member: Path) -> list[str]:
    """Returns the names of a member's sections of code and constants."""
    objdump = objcopy.replace("objcopy", "objdump")
    output = subprocess.run([objdump, "-h", str(member)], check=True, stdout=subprocess.PIPE, text=True).stdout
    names = [words[1] for words in map(str.split, output.splitlines()) if len(words) > 6 and words[0].isdigit()]
    return sorted({name for name in names if name.split(".")[1:2] in (["text"], ["rodata"])})


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ar", required=True)
    parser.add_argument("--objcopy", required=True)
    parser.add_argument("archive", type=Path)
    parser.add_argument("hot", nargs="*", help="sources whose code stays where it is")
    options = parser.parse_args()
    archive = options.archive.resolve()
    members = subprocess.run([options.ar, "t", str(archive)], check=True, stdout=subprocess.PIPE, text=True).stdout
    names = members.split()
    hot = {f"{name}.o" for name in options.hot}
    if len(set(names)) != len(names) or not hot <= set(names):
        print(f"cold.py: {archive}: two members of one name, or none of {sorted(hot - set(names))}", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory(prefix="cosy-cold-") as name:
        place = Path(name)
        subprocess.run([options.ar, "x", str(archive)], check=True, cwd=place)
        for member in sorted(names):
            # What the compiler takes for unlikely is cold in any member.
            sections = [
                section
                for section in _sections(options.objcopy, place / member)
                if member not in hot or section.startswith(".text.unlikely")
            ]
            renamed = [f"--rename-section={section}={SECTION}" for section in sections]
            subprocess.run([options.objcopy, *renamed, str(place / member)], check=True)
        archive.unlink()
        subprocess.run([options.ar, "rcsD", str(archive), *names], check=True, cwd=place)
    return 0


if __name__ == "__main__":
    sys.exit(main())
