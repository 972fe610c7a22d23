# SPDX-License-Identifier: MIT
"""Keeps fetched and built things, for runs in parallel, too."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

TREE = Path(__file__).resolve().parents[2]


class SetupError(Exception):
    """The machine could not be brought up; says why and what was tried."""


def directory(*parts: str) -> Path:
    """Returns a directory of the cache, made if it is missing.

    COSY_CACHE, else $XDG_CACHE_HOME/cosy, else ~/.cache/cosy.
    """
    root = os.environ.get("COSY_CACHE")
    if not root:
        base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
        root = os.path.join(base, "cosy")
    path = Path(root, *parts).absolute()
    path.mkdir(parents=True, exist_ok=True)
    return path


@contextlib.contextmanager
def locked(name: str) -> Iterator[None]:
    """Holds the cache's lock `name`; other processes wait for it."""
    with open(directory("locks") / name, "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def run(
    command: Sequence[str | Path],
    what: str,
    *,
    cwd: Path | None = None,
    env: dict[str, str] | None = None,
) -> str:
    """Runs a host program.  Returns its output, or raises a SetupError that shows it."""
    arguments = [str(word) for word in command]
    try:
        done = subprocess.run(
            arguments,
            cwd=cwd,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )
    except FileNotFoundError:
        raise SetupError(f"{what}: {arguments[0]} is not installed") from None
    if done.returncode:
        raise SetupError(f"{what} failed: {' '.join(arguments)}: exit status {done.returncode}\n{done.stdout}")
    return done.stdout


def prune(folder: Path, keep: int, days: float = 7) -> None:
    """Removes what has not been touched for `days`, except the `keep` newest."""
    entries = sorted(folder.iterdir(), key=lambda e: e.stat().st_mtime, reverse=True)
    for entry in entries[keep:]:
        if entry.stat().st_mtime < time.time() - days * 86400:
            if entry.is_dir():
                shutil.rmtree(entry, ignore_errors=True)
            else:
                entry.unlink(missing_ok=True)


def prune_to(folder: Path, limit: int) -> None:
    """Removes the oldest files of a folder until the others take at most `limit` bytes."""
    files = []
    for entry in folder.iterdir():
        with contextlib.suppress(FileNotFoundError):
            files.append((entry.stat().st_mtime, entry.stat().st_blocks * 512, entry))
    total = 0
    for _, size, entry in sorted(files, reverse=True):
        total += size
        if total > limit:
            entry.unlink(missing_ok=True)
