# SPDX-License-Identifier: MIT
"""A disk image that holds a copy of a folder, made without mounting anything."""

from __future__ import annotations

import os
from pathlib import Path

import cache
from cache import SetupError

_SPARE = 256 << 20  # bytes free at least, for what the guest writes


TYPES = ("ext4", "btrfs")


def make(source: Path, image: Path, kind: str, block: int = 4096, features: str = "") -> Path:
    """Writes an image of that kind of file system, of blocks of so many bytes, with a copy of `source`.

    `features` are of ext4, as mke2fs -O takes them.
    """
    if not source.is_dir():
        raise SetupError(f"--disk {source}: no such folder")
    used = files = 0
    for folder, _, names in os.walk(source):
        files += 1 + len(names)
        for name in names:
            used += (os.lstat(os.path.join(folder, name)).st_size + 4095) & ~4095
    size = used + used // 4 + files * 512 + _SPARE
    # The image is sparse: only what is written takes room on the host.
    with open(image, "wb") as stream:
        stream.truncate(size)
    if kind == "btrfs":
        command = ["mkfs.btrfs", "-q", "--rootdir", str(source), str(image)]
    else:
        # Left to itself mke2fs gives so small a disk blocks of 1,024 bytes, which larger ones never have.
        command = ["mke2fs", "-q", "-F", "-t", "ext4", "-b", str(block), "-N", str(files + 65536)]
        # The folder's owner on this host means nothing in the guest.
        command += ["-E", "root_owner=0:0,lazy_itable_init=1", "-d", str(source)]
        command += [*(["-O", features] if features else []), str(image)]
    cache.run(command, f"making a disk of {source}")
    return image
