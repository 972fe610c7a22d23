# SPDX-License-Identifier: MIT
"""shutil.copytree: trees of files and directories are copied in C, anything else by shutil."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import stat
import sys
from collections.abc import Callable
from typing import Any

from . import _cosy
from ._walk import walk

# Failures to list or set extended attributes that shutil ignores as well.
_NO_ATTRIBUTES = (errno.ENOTSUP, errno.ENODATA, errno.EINVAL)
_NOT_SET = (*_NO_ATTRIBUTES, errno.EPERM, errno.EACCES)


class _NotPlain(Exception):
    """There is something in the tree that shutil has rules of its own for."""


def copytree(
    src: Any,
    dst: Any,
    symlinks: bool = False,
    ignore: Callable[..., Any] | None = None,
    copy_function: Callable[..., Any] = shutil.copy2,
    ignore_dangling_symlinks: bool = False,
    dirs_exist_ok: bool = False,
) -> Any:
    """Copy the directory `src` and all below it to `dst`, and return `dst`.

    As shutil.copytree, which does the work itself where `ignore` or `copy_function` is given, `dst`
    exists, or the tree has links that are to be followed, special files, or unreadable directories.
    """
    whole = ignore is None and copy_function is shutil.copy2
    try:
        if not whole or not _is_new(src, dst):
            raise _NotPlain
        attributed = _attributed(src, symlinks)
    except _NotPlain:
        return shutil.copytree(
            src,
            dst,
            symlinks=symlinks,
            ignore=ignore,
            copy_function=copy_function,
            ignore_dangling_symlinks=ignore_dangling_symlinks,
            dirs_exist_ok=dirs_exist_ok,
        )
    sys.audit("shutil.copytree", src, dst)
    _make_parents(os.fspath(dst))
    failures = _cosy.copy_tree(src, dst)
    if failures and not os.path.lexists(dst):
        raise OSError(failures[0][1], os.strerror(failures[0][1]), os.fspath(dst))
    errors = [_failure(src, dst, path, number) for path, number in failures]
    for path, mode, names in attributed:
        try:
            _finish(path, _beside(src, dst, path), mode, names)
        except OSError as error:
            errors.append((path, _beside(src, dst, path), str(error)))
    if errors:
        raise shutil.Error(errors)
    return dst


def _is_new(src: Any, dst: Any) -> bool:
    """Returns whether `dst` is to be made, outside `src`."""
    source, target = os.fspath(src), os.fspath(dst)
    if type(source) is not type(target) or os.path.lexists(target):
        return False
    if _split(target)[1] in (".", "..", b".", b".."):
        return False  # such a path exists as soon as its parent does
    source, target = os.path.realpath(source), os.path.realpath(target)
    return os.path.commonpath([source, target]) != source


def _split(path: Any) -> tuple[Any, Any]:
    """Returns the parent and the name of a path, which may end in slashes."""
    parent, name = os.path.split(path)
    return (parent, name) if name else os.path.split(parent)


def _make_parents(path: Any) -> None:
    """Makes the directories that `path` is to be in, as os.makedirs does. Others may make them meanwhile."""
    parent, _ = _split(path)
    if parent and not os.path.exists(parent):
        # As for "missing/..", which exists once "missing" has been made.
        with contextlib.suppress(FileExistsError):
            os.makedirs(parent)


def _attributed(src: Any, symlinks: bool) -> list[tuple[Any, int, list[str]]]:
    """Returns path, mode and names of attributes of what needs more than contents, permissions and times."""

    def fail(error: OSError) -> None:
        raise _NotPlain from error

    found = []
    for path, dirs, files in walk(src, onerror=fail, entries=True):
        _note(found, path, os.stat(path).st_mode)
        for entry in files:
            mode = entry.stat(follow_symlinks=False).st_mode
            if not stat.S_ISREG(mode) and not (symlinks and stat.S_ISLNK(mode)):
                raise _NotPlain
            _note(found, entry.path, mode)
        for entry in dirs:
            if entry.is_symlink():
                if not symlinks:
                    raise _NotPlain
                _note(found, entry.path, stat.S_IFLNK)
    return found


def _note(found: list[tuple[Any, int, list[str]]], path: Any, mode: int) -> None:
    try:
        names = os.listxattr(path, follow_symlinks=False)
    except OSError as error:
        if error.errno not in _NO_ATTRIBUTES:
            raise _NotPlain from error
        names = []
    if names or (mode & (stat.S_ISUID | stat.S_ISGID | stat.S_ISVTX) and not stat.S_ISLNK(mode)):
        found.append((path, mode, names))


def _finish(path: Any, copy: Any, mode: int, names: list[str]) -> None:
    """Copies extended attributes, and the mode with its special bits."""
    link = stat.S_ISLNK(mode)
    if not link:
        # Setting an attribute takes permission to write.
        os.chmod(copy, stat.S_IMODE(mode) | stat.S_IWUSR)
    for name in names:
        try:
            os.setxattr(copy, name, os.getxattr(path, name, follow_symlinks=False), follow_symlinks=False)
        except OSError as error:
            if error.errno not in _NOT_SET:
                raise
    if not link:
        os.chmod(copy, stat.S_IMODE(mode))


def _beside(src: Any, dst: Any, path: Any) -> Any:
    """Returns where the copy of `path` is."""
    below = os.path.relpath(path, src)
    return os.fspath(dst) if below in (".", b".") else os.path.join(dst, below)


def _failure(src: Any, dst: Any, path: Any, number: int) -> tuple[Any, Any, str]:
    return path, _beside(src, dst, path), str(OSError(number, os.strerror(number), path))
