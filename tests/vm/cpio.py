# SPDX-License-Identifier: MIT
"""Writes an initramfs: the newc format of cpio, reproducibly."""

from __future__ import annotations

import stat
from typing import BinaryIO

# Permissions do not matter: the guest has only what we put there.
DIRECTORY, FILE, SYMLINK = stat.S_IFDIR, stat.S_IFREG, stat.S_IFLNK


class Archive:
    """An archive under construction; it makes parents of a path as needed."""

    def __init__(self, out: BinaryIO) -> None:
        self._out = out
        self._inode = 1
        self._written: set[str] = set()
        self.size = 0

    def __contains__(self, path: str) -> bool:
        return path.strip("/") in self._written

    def directory(self, path: str, mode: int = 0o755) -> None:
        self._entry(path, DIRECTORY | mode, b"")

    def file(self, path: str, data: bytes, mode: int = 0o644) -> None:
        self._entry(path, FILE | mode, data)

    def symlink(self, path: str, target: str) -> None:
        self._entry(path, SYMLINK | 0o777, target.encode())

    def close(self) -> None:
        self._raw("TRAILER!!!", 0, b"")
        self._pad(512)

    def _entry(self, path: str, mode: int, data: bytes) -> None:
        path = path.strip("/")
        if path in self._written:
            return
        parent = path.rpartition("/")[0]
        if parent and parent not in self._written:
            self.directory(parent)
        self._written.add(path)
        self._raw(path, mode, data)

    def _raw(self, name: str, mode: int, data: bytes) -> None:
        encoded = name.encode(errors="surrogateescape") + b"\0"
        links = 2 if stat.S_ISDIR(mode) else 1
        fields = [self._inode, mode, 0, 0, links, 0, len(data), 0, 0, 0, 0, len(encoded), 0]
        self._inode += 1
        self._put(b"070701" + b"".join(b"%08X" % field for field in fields) + encoded)
        self._pad(4)
        self._put(data)
        self._pad(4)

    def _put(self, data: bytes) -> None:
        self._out.write(data)
        self.size += len(data)

    def _pad(self, to: int) -> None:
        self._put(b"\0" * (-self.size % to))
