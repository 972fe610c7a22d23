# SPDX-License-Identifier: MIT
import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any, AnyStr, Literal, overload

from ._cosy import DirEntry as DirEntry
from ._cosy import ScandirIterator as ScandirIterator
from ._cosy import StatResult as StatResult
from ._cosy import native_reason as native_reason
from ._cosy import read_files as read_files
from ._cosy import scandir as scandir
from ._cosy import stat_many as stat_many

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

@overload
def walk(
    top: AnyStr | os.PathLike[AnyStr],
    topdown: bool = True,
    onerror: Callable[[OSError], object] | None = None,
    followlinks: bool = False,
    *,
    entries: Literal[False] = False,
) -> Iterator[tuple[AnyStr, list[AnyStr], list[AnyStr]]]: ...
@overload
def walk(
    top: AnyStr | os.PathLike[AnyStr],
    topdown: bool = True,
    onerror: Callable[[OSError], object] | None = None,
    followlinks: bool = False,
    *,
    entries: Literal[True],
) -> Iterator[tuple[AnyStr, list[DirEntry[AnyStr]], list[DirEntry[AnyStr]]]]: ...
def copytree(
    src: str | bytes | os.PathLike[Any],
    dst: str | bytes | os.PathLike[Any],
    symlinks: bool = False,
    ignore: Callable[[Any, list[str]], Iterable[str]] | None = None,
    copy_function: Callable[[str, str], object] = ...,
    ignore_dangling_symlinks: bool = False,
    dirs_exist_ok: bool = False,
) -> Any: ...
