# SPDX-License-Identifier: MIT
"""Makes what bench/metadata.py goes over: trees of files, repositories of git, a build with nothing to do."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

COMMANDS = 500  # of the build
WORDS = (
    *("main", "util", "config", "README", "index", "parse", "table", "string", "test_case", "buffer", "list_head"),
    *("network", "device-driver", "io", "x"),
)
ENDS = (".c", ".h", ".py", ".txt", ".md", ".json", ".o", "")


@dataclass(frozen=True)
class Shape:
    """How many directories one directory of each level has, and about how many files each has."""

    below: tuple[int, ...]
    files: int


# By how many files there are.
SHAPES = {
    "60": Shape((3, 2), 6),
    "303": Shape((5, 6), 8),
    "585": Shape((8, 7), 9),
    "28427": Shape((15, 13, 16), 9),
}


class _Random:
    """The usual linear congruences: the same trees everywhere."""

    def __init__(self) -> None:
        self._state = 1

    def below(self, limit: int) -> int:
        self._state = (self._state * 1103515245 + 12345) & 0xFFFFFFFF
        return (self._state >> 16 & 0x7FFF) % limit


def _fill(folder: Path, count: int, random: _Random) -> None:
    text = bytes(97 + i % 26 for i in range(4096))
    for _ in range(count // 2 + random.below(count + 1)):
        name = f"{WORDS[random.below(len(WORDS))]}{random.below(10000)}{ENDS[random.below(len(ENDS))]}"
        size = 100 + random.below(3000) if random.below(20) else 0
        (folder / name).write_bytes(text[:size])
        if not random.below(100) and not (folder / f"link{size}").is_symlink():
            (folder / f"link{size}").symlink_to("main")


def _folder(folder: Path, below: tuple[int, ...], files: int, random: _Random) -> None:
    folder.mkdir()
    _fill(folder, files, random)
    for number in range(below[0] if below else 0):
        _folder(folder / f"{WORDS[number % len(WORDS)]}-{number}", below[1:], files, random)


def tree_make(folder: Path, tree: str) -> None:
    """Makes the tree of this name in a new folder."""
    _folder(folder, SHAPES[tree].below, SHAPES[tree].files, _Random())


def counts(folder: Path) -> tuple[int, int]:
    """Returns how many directories and files are in a tree."""
    walked = list(os.walk(folder))
    return len(walked), sum(len(files) for *_, files in walked)


def _repository_make(git: Path, tree: Path) -> None:
    command = ["git", "-c", "user.name=a", "-c", "user.email=a@b", f"--git-dir={git}", f"--work-tree={tree}"]
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null", "HOME": "/"}
    for arguments in (["init", "-q"], ["add", "."], ["commit", "-qm", "all"], ["repack", "-qad"], ["prune-packed"]):
        subprocess.run([*command, *arguments], check=True, env=environment, stdout=subprocess.DEVNULL)
    shutil.rmtree(git / "hooks", ignore_errors=True)


def _build_make(folder: Path) -> None:
    """Makes a build of COMMANDS targets, whose commands are those of ninja and of make alike."""
    folder.mkdir()
    names = [f"part{number}" for number in range(COMMANDS)]
    for name in names:
        (folder / f"{name}.c").write_text("int x;\n")
    rules = "".join(f"build {name}.o: empty {name}.c\n" for name in names)
    (folder / "build.ninja").write_text(f"rule empty\n  command = : >$out\n{rules}")
    made = "".join(f"{name}.o: {name}.c\n\t: >$@\n" for name in names)
    (folder / "Makefile").write_text(f"MAKEFLAGS += -r\nall: {' '.join(f'{name}.o' for name in names)}\n{made}")


def _python_make(folder: Path) -> None:
    """Makes a folder of what python3 needs to start, compiled."""
    command = ["/usr/bin/python3", "-c", "import os; print(os.__file__)"]
    source = Path(subprocess.check_output(command, text=True).strip())
    library = folder / "lib" / source.parent.name
    library.mkdir(parents=True)
    for file in source.parent.glob("*.py"):
        shutil.copy(file, library)
    for package in ("encodings", "collections", "importlib", "re"):
        if (source.parent / package).is_dir():
            shutil.copytree(source.parent / package, library / package, ignore=shutil.ignore_patterns("__pycache__"))
    (library / "lib-dynload").mkdir()
    # By the interpreter that will read it; times do not count, because they change in the machine.
    command = ["/usr/bin/python3", "-m", "compileall", "-qq", "--invalidation-mode", "unchecked-hash", str(library)]
    subprocess.run(command, check=True)


def all_of(scratch: Path) -> Iterator[Path]:
    """Returns what make() may have made."""
    yield from sorted(scratch.glob("tree-*"))
    yield from sorted(scratch.glob("git-*"))
    yield from (scratch / name for name in ("built", "python"))


def make(scratch: Path, trees: Iterable[str], git: bool) -> None:
    """Makes all."""
    for tree in trees:
        tree_make(scratch / f"tree-{tree}", tree)
        if git:
            _repository_make(scratch / f"git-{tree}", scratch / f"tree-{tree}")
    _build_make(scratch / "built")
    _python_make(scratch / "python")
