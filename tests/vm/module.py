# SPDX-License-Identifier: MIT
"""Builds cosy.ko from a tree for a kernel."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import cache
from cache import SetupError
from kernels import Kernel

# The module's sources; installed and staged side by side.
PARTS = ("kmod", "core", "include")
# Type information for the kernel's BPF verifier, which we do not use, would need pahole.
NO_BTF = ("CONFIG_DEBUG_INFO_BTF_MODULES=",)
# A step of the kernel's make: its name in capitals, and a file.
_STEP = re.compile(r"  [A-Z]{2,}[A-Z0-9 ]* (?:\[M\]  ?)?\S+$")
_SUFFIXES = {".c", ".h", ".S", ".def", ".mk"}


def sources(tree: Path) -> dict[str, bytes]:
    """Returns the module's sources by path relative to the tree."""
    found: dict[str, bytes] = {}
    for part in PARTS:
        for path in sorted((tree / part).rglob("*")):
            name = path.relative_to(tree)
            wanted = path.suffix in _SUFFIXES or path.name in ("Kbuild", "Makefile")
            if wanted and path.is_file() and not {"tests", "test"} & set(name.parts):
                found[str(name)] = path.read_bytes()
    if "kmod/Kbuild" not in found:
        raise SetupError(f"{tree}/kmod/Kbuild is missing; --no-module runs without the module")
    return found


def build(kernel: Kernel, tree: Path = cache.TREE, check: bool = False) -> Path:
    """Returns cosy.ko for a kernel, built unless these very sources have been.

    With `check` everything is compiled again under sparse and W=1, and what they
    say is printed.
    """
    files = sources(tree)
    digest = hashlib.sha256(kernel.root.name.encode())
    for name, data in files.items():
        digest.update(f"{name}\0{len(data)}\0".encode() + data)
    built = cache.directory("modules") / f"{kernel.release}-{digest.hexdigest()[:16]}.ko"
    if built.exists() and not check:
        os.utime(built)
        return built
    # One stage for each tree and kernel, so that make compiles only what changed.
    place = hashlib.sha256(str(tree).encode()).hexdigest()[:8]
    name = f"{kernel.release}-{place}{'-check' if check else ''}"
    with cache.locked(f"stage-{name}"):
        stage = cache.directory("stages", name)
        _stage(files, stage, anew=check)
        os.utime(stage)
        arguments = [
            *kernel.make(),
            f"M={stage}/kmod",
            f"-j{os.cpu_count() or 1}",
            *NO_BTF,
            *kernel.module_flags,
        ]
        if check:
            arguments += ["C=2", "W=1"]
        said = _make([*arguments, "modules"], f"building cosy.ko for {kernel.release}", check)
        if check or "warning:" in said:
            print(said.replace(f"{stage}/", ""), end="", file=sys.stderr)
        partial = built.with_suffix(f".{os.getpid()}")
        shutil.copyfile(stage / "kmod/cosy.ko", partial)
        os.rename(partial, built)
    cache.prune(cache.directory("modules"), keep=16)
    cache.prune(cache.directory("stages"), keep=4)
    return built


def stripped(built: Path) -> Path:
    """Returns a module without debug information: what a guest loads, 0.95 MB rather than 26.5."""
    small = built.with_suffix(".stripped")
    if not small.exists():
        partial = built.with_suffix(f".stripped.{os.getpid()}")
        cache.run(["strip", "--strip-debug", "-o", partial, built], f"stripping {built.name}")
        os.rename(partial, small)
    os.utime(small)
    return small


def build_other(kernel: Kernel, folder: Path, to: Path, tree: Path = cache.TREE) -> Path:
    """Builds the module of a folder that has a Kbuild, for a kernel, in `to`.  cosy.ko's headers are in its cosy/."""
    place = to / folder.name
    shutil.copytree(folder, place, ignore=shutil.ignore_patterns("*.ko", "*.o"))
    for name, data in sources(tree).items():
        if name.endswith(".h"):
            (place / "cosy" / name).parent.mkdir(parents=True, exist_ok=True)
            (place / "cosy" / name).write_bytes(data)
    arguments = [*kernel.make(to), f"M={place}", "-s", *NO_BTF, "modules"]
    cache.run(arguments, f"building the module of {folder.name}/ for {kernel.release}")
    return next(place.glob("*.ko"))


def _make(arguments: list[str | Path], what: str, check: bool) -> str:
    """Runs make.  Returns what it says besides its steps.  On a terminal shows how many files are compiled."""
    if check or not sys.stderr.isatty():
        return cache.run([*arguments, "-s"], what)
    said, steps = "", 0
    with subprocess.Popen(
        arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as make:
        assert make.stdout
        for line in make.stdout:
            if _STEP.match(line):
                steps += line.lstrip().startswith(("CC", "AS"))
                print(f"\rvm: {what}: {steps} files compiled", end="", file=sys.stderr, flush=True)
            elif not line.startswith("make"):
                said += line
    if steps:
        print(file=sys.stderr)
    if make.returncode:
        raise SetupError(f"{what} failed: exit status {make.returncode}\n{said}")
    return said


def _stage(files: dict[str, bytes], stage: Path, anew: bool) -> None:
    """Makes a stage hold exactly these sources; unchanged ones keep their time."""
    manifest = stage / "staged"
    if anew:
        shutil.rmtree(stage)
    elif manifest.exists():
        for name in set(manifest.read_text().splitlines()) - set(files):
            (stage / name).unlink(missing_ok=True)
    for name, data in files.items():
        path = stage / name
        if not path.exists() or path.read_bytes() != data:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
    manifest.write_text("\n".join(files))
