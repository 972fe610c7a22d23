# SPDX-License-Identifier: MIT
"""Tells the versions, the machine, and the tree that is walked, of a measurement."""

from __future__ import annotations

import functools
import os
import platform
import re
import shutil
import subprocess
from pathlib import Path

_TOP = Path(__file__).resolve().parent.parent
_VM = _TOP / "tests" / "vm" / "vm.py"


def _output(*command: str | Path) -> str:
    """Returns a program's first line, or nothing if it cannot be run."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=_TOP)
    except FileNotFoundError:
        return ""
    return (done.stdout.splitlines() or [""])[0]


def _package(name: str) -> str:
    return _output("dpkg-query", "-W", "-f", "${Version}", name).removesuffix("\n")


@functools.cache
def contenders() -> dict[str, str]:
    """Returns the programs whose version is not the kernel's."""
    build = (_TOP / "CMakeLists.txt").read_text()
    project = re.search(r"project\(cosy VERSION (\S+)", build)
    llvm = re.search(r"^set\(COSY_LLVM (\d+)", build, re.M)
    commit = _output("git", "describe", "--always", "--dirty")
    ours = f"cosy {project[1] if project else '?'}{f' ({commit})' if commit else ''}"
    ring = f"liburing {_package('liburing-dev')}"
    tools = ", ".join(f"{name} {_package(name)}" for name in ("coreutils", "findutils", "grep", "tar"))
    libc = f"{os.confstr('CS_GNU_LIBC_VERSION')}, clang {_package(f'clang-{llvm[1]}') if llvm else '?'}"
    return {
        "plain": libc,
        "COSY": ours,
        "COSY-FAST": ours,
        "COSY-NAMED": ours,
        "io_uring": ring,
        "io_uring-linked": ring,
        "GNU": tools,
    }


def machine(lane: str) -> str:
    """Returns the processor, and the emulator if there is one."""
    model = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    host = f"{model[1] if model else platform.machine()}, {os.cpu_count()} processors"
    if lane == "native":
        return host
    return f"QEMU {'.'.join(map(str, emulator()))} TCG" + ("" if lane == "insn" else f" on {host}")


def emulator() -> tuple[int, ...]:
    """Returns QEMU's version."""
    found = re.search(r"version ([\d.]+\d)", _output("qemu-system-x86_64", "--version"))
    return tuple(map(int, found[1].split("."))) if found else ()


_LARGEST = 120 << 10  # bytes of a file of a tree
_LONGEST = 200  # ... of a path in it, so that any archive has room


def packages(target: Path, count: int) -> None:
    """Makes a tree of `count` files that packages of this machine have installed, in about a ninth as many folders."""
    made = 0
    for place in ("/usr/share", "/usr/include", "/usr/lib"):
        for folder, folders, names in os.walk(place):
            folders.sort()
            inside = target / Path(folder).relative_to("/usr")
            # Take few of each, so that there are many folders.
            for name in sorted(names)[: count // 100 + 12]:
                file = Path(folder, name)
                wanted = file.is_file() and not file.is_symlink() and file.stat().st_size <= _LARGEST
                if not wanted or len(str(inside.relative_to(target) / name)) > _LONGEST:
                    continue
                inside.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, inside / name)
                made += 1
                if made == count:
                    return


def tree(series: str) -> Path | None:
    """Returns a real source tree to walk: the kernel's own headers, which the machines need anyway."""
    root = _output("python3", "-B", _VM, "fetch", "--kernel", series)
    found = sorted(Path(root).glob("usr/src/linux-headers-*-common/include/linux")) if root else []
    return found[0] if found else None
