# SPDX-License-Identifier: MIT
"""Edits of a package's source, by which its marks are made.

Each names a text of the file that occurs there once.  A version of the package in which it does not
is reported, not guessed at.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


class MarkError(Exception):
    """An edit whose text is not in the file once."""


@dataclass(frozen=True)
class Edit:
    """Replaces `old` in `file` by `new`."""

    file: str  # from the package's folder
    old: str
    new: str


def apply(folder: Path, edits: tuple[Edit, ...]) -> None:
    """Makes the edits in an unpacked package; raises MarkError before it writes one that does not fit."""
    for edit in edits:
        path = folder / edit.file
        text = path.read_text()
        if text.count(edit.old) != 1:
            raise MarkError(f"{path}: {text.count(edit.old)} times instead of once: {edit.old!r}")
        path.write_text(text.replace(edit.old, edit.new))


def after(file: str, old: str, more: str) -> Edit:
    """Returns the edit that puts `more` after `old`."""
    return Edit(file, old, old + more)


def before(file: str, old: str, more: str) -> Edit:
    """Returns the edit that puts `more` before `old`."""
    return Edit(file, old, more + old)
