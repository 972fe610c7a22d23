# SPDX-License-Identifier: MIT
"""os.walk over the walk in C, which yields one directory after the other in the order of their entries."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from . import _cosy

OnError = Callable[[OSError], Any] | None
Step = tuple[Any, list[Any], list[Any]]


def walk(
    top: Any,
    topdown: bool = True,
    onerror: OnError = None,
    followlinks: bool = False,
    *,
    entries: bool = False,
) -> Iterator[Step]:
    """Go through the directory `top` and all directories below it.

    As os.walk. With entries=True the lists hold DirEntry objects in place of names. In the kernel the
    attributes of an entry come with its name:

        for folder, dirs, files in cosy.walk("/usr/share", entries=True):
            total += sum(file.lstat().st_size for file in files)

    An entry compares equal to its name, and sorts by it.
    """
    sys.audit("os.walk", top, topdown, onerror, followlinks)
    path = os.fspath(top)
    if topdown:
        yield from _down(path, onerror, followlinks, entries)
    elif followlinks:
        yield from _up_one_by_one(path, onerror, entries)
    else:
        yield from _reported(_open(path, bottom_up=True, entries=entries), onerror)


def _open(path: Any, **options: bool) -> Iterable[Any]:
    try:
        return _cosy.tree(path, **options)
    except OSError as error:
        return [error]


def _reported(steps: Iterable[Any], onerror: OnError) -> Iterator[Step]:
    """Yields what is no error, and reports the errors."""
    for step in steps:
        if isinstance(step, OSError):
            if onerror is not None:
                onerror(step)
        else:
            yield step


def _below(path: Any, dirs: list[Any], followlinks: bool) -> list[Any]:
    """Returns the paths of the directories to enter, the first one last."""
    paths = [item.path if isinstance(item, _cosy.DirEntry) else os.path.join(path, item) for item in dirs]
    paths.reverse()
    return paths if followlinks else [path for path in paths if not os.path.islink(path)]


def _down(top: Any, onerror: OnError, followlinks: bool, entries: bool) -> Iterator[Step]:
    # One walk serves as long as the caller leaves the order of directories alone. After that, and where
    # links are followed, each directory is listed by itself.
    one = followlinks
    pending: list[Any] = [top]  # walks to go on with, and paths; the last one is next
    while pending:
        steps = pending.pop()
        alone = one and isinstance(steps, (str, bytes))
        if isinstance(steps, (str, bytes)):
            steps = iter(_open(steps, one=one, entries=entries))
        for step in steps:
            if type(step) is tuple:
                yield step
                path, dirs, _ = step
                if not alone:
                    continue
            elif type(step) is list:
                pending.append(steps)
                one = True
            else:
                if onerror is not None:
                    onerror(step)
                continue
            pending += _below(path, dirs, followlinks)
            break


def _up_one_by_one(top: Any, onerror: OnError, entries: bool) -> Iterator[Step]:
    pending: list[Any] = [top]
    while pending:
        last = pending.pop()
        if type(last) is tuple:
            yield last
            continue
        for step in _reported(_open(last, one=True, entries=entries), onerror):
            pending += [step, *_below(step[0], step[1], True)]
            break
