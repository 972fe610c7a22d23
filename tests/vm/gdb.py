# SPDX-License-Identifier: MIT
"""Has gdb look into a guest: its symbols, and the commands that connect.

The packages of Debian's kernels hold no symbols. init.sh writes /proc/kallsyms to a disk, reports where
sections of cosy.ko are, and waits for a line before it runs the command.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import cache

SOCKET, SCRIPT, SYMBOLS = "gdb.socket", "gdb.script", "gdb.symbols"
_SIZE = 32 << 20  # bytes; of the disk
_TEXT = 0xFFFFFFFF81000000  # where the kernel's code begins without KASLR


def arguments(scratch: Path) -> list[str]:
    """Returns QEMU's arguments."""
    command = ["-chardev", f"socket,path={scratch}/{SOCKET},server=on,wait=off,id=gdb", "-gdb", "chardev:gdb"]
    command += ["-drive", f"file={scratch}/{SYMBOLS},format=raw,if=none,id=symbols,cache=unsafe"]
    return [*command, "-device", "virtio-blk-pci,drive=symbols,serial=cosy-symbols,addr=1d"]


class Stub:
    """Tells the user how to connect, once the guest waits."""

    def __init__(self, scratch: Path, module: Path | None) -> None:
        self._scratch = scratch
        self._module = module
        self._told = False
        with open(scratch / SYMBOLS, "wb") as stream:
            stream.truncate(_SIZE)

    def poll(self) -> None:
        """Writes gdb's commands when the guest is ready for them.  Called often."""
        reports = self._scratch / "reports"
        if self._told or not reports.exists() or "gdb 1\n" not in (text := reports.read_text().replace("\r", "")):
            return
        self._told = True
        commands = ["set confirm off", "set pagination off", *self._kernel(), *self._cosy(text)]
        commands.append(f"target remote {self._scratch}/{SOCKET}")
        script = self._scratch / SCRIPT
        script.write_text("\n".join(commands) + "\n")
        print(f"vm: the guest waits.  In another terminal: gdb -x {script}", file=sys.stderr)
        print("vm: then press Enter here to run the command", file=sys.stderr, flush=True)

    def _kernel(self) -> list[str]:
        """Makes a file of the kernel's functions, at their addresses, without code."""
        listed = (self._scratch / SYMBOLS).read_bytes().rstrip(b"\0").decode()
        found = re.findall(r"^([0-9a-f]{16}) [tT] (?!__pfx_)([\w.]+)$", listed, re.M)
        symbols = {name: int(address, 16) for address, name in found if int(address, 16) >= _TEXT}
        if not symbols:
            return []
        size = max(symbols.values()) - _TEXT + 4096
        lines = ['.section .text,"ax",@nobits', "start:", f".skip {size}"]
        for name, address in symbols.items():
            lines.append(f'.type "{name}", @function; "{name}" = start + {address - _TEXT}')
        source, object_, linked = (self._scratch / f"kernel.{ending}" for ending in ("s", "o", "symbols"))
        source.write_text("\n".join(lines) + "\n")
        cache.run(["as", "-o", object_, source], "assembling the kernel's symbols")
        cache.run(["ld", f"-Ttext={_TEXT:#x}", "-e", "0", "-o", linked, object_], "linking the kernel's symbols")
        return [f"file {linked}"]

    def _cosy(self, reports: str) -> list[str]:
        sections = re.findall(r"^section (\S+) (0x[0-9a-f]+)$", reports, re.M)
        if not sections or not self._module:
            return []
        return [f"add-symbol-file {self._module} " + " ".join(f"-s {name} {address}" for name, address in sections)]
