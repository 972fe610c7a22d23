# SPDX-License-Identifier: MIT
"""What a mutant of the module is: one guard that is broken, and the test that is to notice."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Mutant:
    """One place of one file, changed."""

    name: str
    file: str
    old: str
    new: str
    by: str = ""  # the test that is to notice
    disk: bool = False  # it shows on ext4 rather than tmpfs
    disk_block: int = 4096  # of that ext4
    raced: bool = False  # only what happens at the same time shows it
    harmless: str = ""  # why no result changes
    out_of_reach: str = ""  # why no test can make what would show it

    @property
    def block(self) -> int:
        """The bytes of a block of the file system that it shows on; 0: tmpfs."""
        return self.disk_block if self.disk else 0
