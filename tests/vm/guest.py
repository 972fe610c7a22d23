# SPDX-License-Identifier: MIT
"""The guest's file system.

The base is an initramfs of busybox, the kernel's modules, cosy.ko and init.sh: all that a machine has
when it is ready for a command. The files are an archive of what one run adds to it: the programs, their
libraries, the command and its settings. They are appended to the initramfs, or given to a machine that
is ready by a disk (snapshot.py).
"""

from __future__ import annotations

import lzma
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

import cache
import cpio
import elf
from cache import SetupError
from kernels import Kernel

_HERE = Path(__file__).resolve().parent
_WRITABLE = ("tmp", "t")  # by everybody
_COSY_GROUP = 901  # any number that is nobody else's in the guest

_PASSWD = "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/tmp:/bin/sh\n"
_GROUP = f"root:x:0:\ncosy:x:{_COSY_GROUP}:nobody\nnogroup:x:65534:\n"


@dataclass
class Guest:
    """A guest's contents and work."""

    kernel: Kernel
    command: list[str]
    module: Path | None = None  # cosy.ko
    user: str = "root"
    put: list[Path] = field(default_factory=list)
    strip: bool = False  # of debug information, what is put in
    disk: str = ""  # type of the file system on it
    load: list[str] = field(default_factory=list)  # of the kernel's own modules
    keep: bool = False  # leave cosy.ko loaded at the end
    settle: int = 0  # seconds of guest time before the command
    interactive: bool = False
    gdb: bool = False  # wait for it before the command
    by_disk: bool = False  # the files come by a disk, once the machine is ready
    environment: dict[str, str] = field(default_factory=dict)


class _Image:
    """An archive under construction, with the libraries its programs need."""

    def __init__(self, archive: cpio.Archive, strip: bool = False) -> None:
        self.archive = archive
        self.strip = strip
        self.folders: set[str] = set()  # for LD_LIBRARY_PATH

    def put(self, source: Path, target: str) -> None:
        """Adds a file, link or folder of the host, as `target`."""
        if source.is_symlink() and not source.exists():
            self.archive.symlink(target, os.readlink(source))
        elif source.is_dir():
            self.archive.directory(target, 0o777)
            for entry in sorted(source.iterdir()):
                if entry.is_symlink() and not os.path.isabs(os.readlink(entry)):
                    self.archive.symlink(f"{target}/{entry.name}", os.readlink(entry))
                else:
                    self.put(entry, f"{target}/{entry.name}")
        elif source.is_file():
            data = source.read_bytes()
            if self.strip and data[:4] == b"\x7fELF" and b".debug_info" in data:
                data = _stripped(source)
            self.archive.file(target, data, 0o755 if os.access(source, os.X_OK) else 0o644)
            self.libraries(source, data)
        # Sockets, pipes and devices have no content to copy.

    def libraries(self, source: Path, data: bytes) -> None:
        files, folders = elf.needs(source, data)
        self.folders |= folders
        for name in files:
            target = _merged(name)
            if target not in self.archive:
                content = Path(name).read_bytes()
                self.archive.file(target, content, 0o755)


def _stripped(program: Path) -> bytes:
    """Returns a program without debug information."""
    with tempfile.NamedTemporaryFile() as stream:
        cache.run(["strip", "--strip-debug", "-o", stream.name, program], f"stripping {program.name}")
        return Path(stream.name).read_bytes()


def _merged(path: str) -> str:
    """Returns a path as it is where /bin, /lib and the like are links into /usr."""
    return re.sub(r"^/(bin|sbin|lib|lib64)/", r"/usr/\1/", path)


def write_base(guest: Guest, out: BinaryIO) -> None:
    """Writes what a machine has when it is ready for a command."""
    archive = cpio.Archive(out)
    for name in ("bin", "sbin", "lib", "lib64"):
        archive.directory(f"usr/{name}")
        archive.symlink(name, f"usr/{name}")
    for name in ("proc", "sys", "dev", "mnt", "root", "run", "etc", "vm/modules"):
        archive.directory(name)
    for name in _WRITABLE:
        archive.directory(name, 0o1777)
    archive.file("etc/passwd", _PASSWD.encode())
    archive.file("etc/group", _GROUP.encode())
    archive.file("etc/hosts", b"127.0.0.1 localhost\n")
    archive.file("init", (_HERE / "init.sh").read_bytes(), 0o755)
    _busybox(_Image(archive))
    modules = _kernel_modules(guest, archive)
    if guest.module:
        archive.file("vm/cosy.ko", guest.module.read_bytes())
    settings = {"GUEST_MODULES": " ".join(modules), "COSY": "1" if guest.module else ""}
    archive.file("vm/machine", _settings(settings))
    archive.close()


def write_files(guest: Guest, out: BinaryIO) -> None:
    """Writes what one run adds to the base: its files, its command and its settings."""
    archive = cpio.Archive(out)
    image = _Image(archive, guest.strip)
    for name in _WRITABLE:
        archive.directory(name, 0o1777)
    for path in guest.put:
        if not path.exists():
            raise SetupError(f"--put {path}: no such file")
        target = f"t/{path.absolute().resolve().name if path.name in ('', '..') else path.name}"
        if target in archive:
            raise SetupError(f"--put {path}: another one of that name is put in too")
        image.put(path, target)
    archive.file("vm/command", _command(guest, image.folders).encode(), 0o755)
    archive.file("vm/config", _config(guest))
    archive.close()


def _busybox(image: _Image) -> None:
    busybox = shutil.which("busybox")
    if not busybox:
        raise SetupError("busybox is not installed")
    image.put(Path(busybox), "usr/bin/busybox")
    applets = cache.run([busybox, "--list"], "asking busybox what it can").split()
    if "su" not in applets:
        raise SetupError(f"{busybox} has no su, which the guest needs: install busybox-static, not busybox")
    for applet in applets:
        image.archive.symlink(f"usr/bin/{applet}", "busybox")


def _kernel_modules(guest: Guest, archive: cpio.Archive) -> list[str]:
    """Adds the modules that are asked for or that the disk needs.  Returns their files in loading order."""
    wanted = list(guest.load)
    if guest.disk or guest.by_disk or guest.gdb:
        wanted += ["virtio_pci", "virtio_blk"]
    if guest.disk:
        wanted.append(guest.disk)
    if not wanted:
        return []
    release, base = guest.kernel.release, guest.kernel.module_base
    plan = cache.run(
        ["modprobe", "-d", base, "-S", release, "-D", "-a", *wanted],
        f"asking modprobe for {', '.join(wanted)}",
    )
    names: list[str] = []
    for path in re.findall(r"^insmod (\S+)", plan, re.M):
        name = re.sub(r"\.ko.*", ".ko", os.path.basename(path))
        if name not in names:
            names.append(name)
            archive.file(f"vm/modules/{name}", _decompressed(Path(path)))
    return names


def _decompressed(path: Path) -> bytes:
    if path.suffix == ".xz":
        return lzma.decompress(path.read_bytes())
    if path.suffix == ".zst":
        return subprocess.run(["zstd", "-qdc", path], check=True, stdout=subprocess.PIPE).stdout
    return path.read_bytes()


def _command(guest: Guest, folders: set[str]) -> str:
    """Returns the script that becomes the command."""
    home = "/root" if guest.user == "root" else "/tmp"
    variables = {"PATH": "/t:/usr/bin", "HOME": home, "USER": guest.user, "TERM": os.environ.get("TERM", "linux")}
    library_path = [p for p in os.environ.get("LD_LIBRARY_PATH", "").split(":") if os.path.isabs(p)]
    library_path += sorted(folders - set(library_path))
    if library_path:
        variables["LD_LIBRARY_PATH"] = ":".join(library_path)
    variables |= guest.environment
    lines = ["#!/bin/sh", "cd /t"]
    lines += [f"export {name}={shlex.quote(value)}" for name, value in variables.items()]
    lines.append(f"exec {shlex.join(guest.command)}")
    return "\n".join(lines) + "\n"


def _config(guest: Guest) -> bytes:
    rows = columns = ""
    if guest.interactive and sys.stdin.isatty():
        size = os.get_terminal_size(0)
        rows, columns = str(size.lines), str(size.columns)
    return _settings(
        {
            "GUEST_USER": guest.user,
            "DISK_TYPE": guest.disk,
            "KEEP": "1" if guest.keep else "",
            "GDB": "1" if guest.gdb else "",
            "SETTLE": str(guest.settle or ""),
            "INTERACTIVE": "1" if guest.interactive else "",
            "ROWS": rows,
            "COLUMNS": columns,
        }
    )


def _settings(settings: dict[str, str]) -> bytes:
    """Returns shell assignments."""
    return "".join(f"{name}={shlex.quote(value)}\n" for name, value in settings.items()).encode()
