# SPDX-License-Identifier: MIT
"""Finds what a dynamically linked file needs besides itself."""

from __future__ import annotations

import functools
import re
import struct
import subprocess
from pathlib import Path

import cache

_LOADER = "/lib64/ld-linux-x86-64.so.2"
# Folders in which every x86-64 loader of Debian looks without being told.
_DEFAULT = {f"{top}{sub}" for top in ("/lib", "/usr/lib") for sub in ("", "/x86_64-linux-gnu")}
_PT_DYNAMIC, _PT_INTERP, _X86_64 = 2, 3, 62


def _interpreter(data: bytes) -> str | None:
    """Returns the interpreter a file asks for; "" for a bare shared object, None for any other file."""
    if data[:5] != b"\x7fELF\x02" or len(data) < 64:
        return None
    machine, _, _, offset = struct.unpack_from("<HIQQ", data, 18)
    if machine != _X86_64:
        return None
    size, count = struct.unpack_from("<HH", data, 54)
    dynamic = False
    for index in range(count):
        kind, _, start, _, _, length = struct.unpack_from("<IIQQQQ", data, offset + index * size)
        if kind == _PT_INTERP:
            return data[start : start + length].rstrip(b"\0").decode()
        dynamic |= kind == _PT_DYNAMIC
    return "" if dynamic else None


@functools.cache
def _listed(loader: str, path: str) -> tuple[list[str], list[str]]:
    """Asks the loader.  Returns the libraries that it finds, and the names that it does not."""
    done = subprocess.run([loader, "--list", path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if "statically linked" in done.stdout:
        return [], []
    found = re.findall(r"^\t(?:\S+ => )?(/\S+) \(0x", done.stdout, re.M)
    missing = re.findall(r"(\S+) => not found", done.stdout)
    if done.returncode and not missing:
        raise cache.SetupError(f"{path}: what it links cannot be listed: {done.stdout.strip()}")
    return found, missing


def needs(path: Path, data: bytes) -> tuple[list[str], set[str]]:
    """The files that `path` needs to run, by absolute path, and the folders to
    put into LD_LIBRARY_PATH because a moved copy would not find them itself."""
    interpreter = _interpreter(data)
    if interpreter is None:
        return [], set()
    found, missing = _listed(interpreter or _LOADER, str(path.absolute()))
    if missing:
        raise cache.SetupError(f"{path} needs {', '.join(missing)}, not found on this host")
    files = ([interpreter] if interpreter else []) + found
    # glibc opens libgcc_s by itself for pthread_exit and pthread_cancel.
    for name in found:
        unwinder = Path(name).parent / "libgcc_s.so.1"
        if name.endswith("/libc.so.6") and unwinder.exists():
            files.append(str(unwinder))
    folders = {str(Path(name).parent) for name in found} - _DEFAULT - {"/lib64"}
    if b"$ORIGIN" not in data:
        # Absolute run paths still hold in the guest; ld.so.conf and
        # LD_LIBRARY_PATH of this host do not.
        folders = {folder for folder in folders if folder.encode() not in data}
    return files, folders
