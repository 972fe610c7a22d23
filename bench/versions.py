# SPDX-License-Identifier: MIT
"""Says what was measured, and on what: versions, the machine, the tree that is walked."""

from __future__ import annotations

import functools
import os
import platform
import re
import subprocess
from pathlib import Path

_TOP = Path(__file__).resolve().parent.parent
_VM = _TOP / "tests" / "vm" / "vm.py"


def _output(*command: str | Path) -> str:
    """A program's first line, or nothing when it cannot be run."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=_TOP)
    except FileNotFoundError:
        return ""
    return (done.stdout.splitlines() or [""])[0]


def _package(name: str) -> str:
    return _output("dpkg-query", "-W", "-f", "${Version}", name).removesuffix("\n")


@functools.cache
def contenders() -> dict[str, str]:
    """The programs whose version is not the kernel's."""
    project = re.search(r"project\(cosy VERSION (\S+)", (_TOP / "CMakeLists.txt").read_text())
    commit = _output("git", "describe", "--always", "--dirty")
    ours = f"cosy {project[1] if project else '?'}{f' ({commit})' if commit else ''}"
    ring = f"liburing {_package('liburing-dev')}"
    tools = f"coreutils {_package('coreutils')}, grep {_package('grep')}"
    libc = f"{os.confstr('CS_GNU_LIBC_VERSION')}, clang {_package('clang-19')}"
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
    """The processor, and the emulator where there is one."""
    model = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    host = f"{model[1] if model else platform.machine()}, {os.cpu_count()} processors"
    if lane == "native":
        return host
    return f"QEMU {'.'.join(map(str, emulator()))} TCG" + ("" if lane == "insn" else f" on {host}")


def emulator() -> tuple[int, ...]:
    """QEMU's version."""
    found = re.search(r"version ([\d.]+\d)", _output("qemu-system-x86_64", "--version"))
    return tuple(map(int, found[1].split("."))) if found else ()


def tree(series: str) -> Path | None:
    """A real source tree to walk: the kernel's own headers, which the machines need anyway."""
    root = _output("python3", "-B", _VM, "fetch", "--kernel", series)
    found = sorted(Path(root).glob("usr/src/linux-headers-*-common/include/linux")) if root else []
    return found[0] if found else None
