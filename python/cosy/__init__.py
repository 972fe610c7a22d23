# SPDX-License-Identifier: MIT
"""Directories and many small files, in the kernel.

scandir() and walk() are os's, stat_many() and read_files() work on lists of paths, and copytree() is
shutil's.  Where Cosy's module is loaded and the process may use it, the system calls behind them are
made in the kernel, many in one crossing.  Elsewhere each is made as usual, with the same results, and
so are those of read_files() everywhere.
"""

from ._copy import copytree
from ._cosy import DirEntry, ScandirIterator, StatResult, native_reason, read_files, scandir, stat_many
from ._walk import walk

__all__ = [
    "DirEntry",
    "ScandirIterator",
    "StatResult",
    "copytree",
    "native_reason",
    "read_files",
    "scandir",
    "stat_many",
    "walk",
]
