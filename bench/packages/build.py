# SPDX-License-Identifier: MIT
"""Builds other projects' programs as they are and with marks, and gives the jobs that runs.py measures.

Sources are Debian's, of the versions that its `apt-get source` gives.  They and what was built of
them stay in a folder for the next time.  A package is built by clang; then its marks are made in a
copy, where cosycc compiles the files that they change and links the programs.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from packages import marks

TREE = Path(__file__).resolve().parent.parent.parent
_SOURCE = TREE / "run" / "test" / "suites" / "source.sh"
_IDENTITY = ("-c", "user.name=bench", "-c", "user.email=bench@localhost", "-c", "commit.gpgsign=false")


class BuildError(Exception):
    """One printable reason why a package could not be had or built."""


@dataclass(frozen=True)
class Job:
    """A program's work over a number of files; {n} is the number."""

    name: str
    package: str
    program: str
    arguments: tuple[str, ...]
    input: str  # a kind that input_make knows; tree: nothing beside the tree
    prepare: str = ""  # a command of the shell before each run
    check: str = ""  # ... after each run: what it prints counts as output
    waits: bool = False  # its processes sleep at the same time, so the processor's time is measured


# A digest of what is below copied-{n}: names, modes, owners, contents.
_LISTED = (
    "find copied-{n} -exec stat -c '%n %a %u %g' {} + | sort | md5sum;"
    " find copied-{n} -type f -exec md5sum {} + | sort | md5sum"
)

JOBS = (
    Job("du -s", "coreutils", "du", ("-s", "tree-{n}"), "tree"),
    Job("find -size", "findutils", "find", ("tree-{n}", "-size", "+100k"), "tree"),
    Job("chmod -R", "coreutils", "chmod", ("-R", "u+w", "tree-{n}"), "tree"),
    Job("ls -lR", "coreutils", "ls", ("-lR", "tree-{n}"), "tree"),
    Job("wc -l", "coreutils", "wc", ("-l", "--files0-from=names-{n}"), "names"),
    Job("git status", "git", "git", ("-C", "git-{n}", "status", "--porcelain"), "git"),
    Job("git diff", "git", "git", ("-C", "git-{n}", "diff", "--stat"), "git"),
    Job("cp -r", "coreutils", "cp", ("-r", "tree-{n}", "copied-{n}"), "tree", "rm -rf copied-{n}", _LISTED),
    Job("tar c", "tar", "tar", ("c", "tree-{n}"), "tree"),
    Job(
        "rsync -n",
        "rsync",
        "rsync",
        ("-ain", "tree-{n}/", "same-{n}/"),
        "tree",
        "[ -d same-{n} ] || (cp -a tree-{n} same-{n}; touch same-{n}/*/*)",
        waits=True,
    ),
    Job("while read", "dash", "dash", ("read.sh", "lines-{n}"), "lines"),
)


def _run(command: list[str], folder: Path, log: Path, **environment: str) -> None:
    with log.open("ab") as file:
        done = subprocess.run(
            command, cwd=folder, env={**os.environ, **environment}, stdin=subprocess.DEVNULL, stdout=file, stderr=file
        )
    if done.returncode:
        raise BuildError(f"{folder.name}: {' '.join(command)[:80]}: exit status {done.returncode}; {log} says why")


def _fetched(name: str, cache: Path) -> Path:
    """Returns the unpacked source package."""
    place = cache / name
    place.mkdir(parents=True, exist_ok=True)
    if not (found := [entry for entry in place.glob(f"{name}-*") if entry.is_dir()]):
        _run(["sh", str(_SOURCE), name], place, place / "fetch.log")
        found = [entry for entry in place.glob(f"{name}-*") if entry.is_dir()]
    if len(found) != 1:
        raise BuildError(f"{name}: {len(found)} unpacked sources in {place}")
    return found[0]


def build(name: str, cache: Path, cosycc: Path) -> tuple[Path, Path]:
    """Returns the folders of a package built as it is, and with marks; raises BuildError."""
    package = marks.PACKAGES[name]
    jobs = {"JOBS": str(os.cpu_count() or 1)}
    source = _fetched(name, cache)
    plain, marked, log = cache / name / "plain", cache / name / "marked", cache / name / "build.log"
    if not all((plain / path).exists() for path in package.programs.values()):
        shutil.rmtree(plain, ignore_errors=True)
        shutil.copytree(source, plain, symlinks=True)
        _run(["bash", "-c", f"{{ {package.configure}; }} && {package.build}"], plain, log, CC="clang-19", **jobs)
    shutil.rmtree(marked, ignore_errors=True)
    # With the times of the files, by which make knows what to compile.
    subprocess.run(["cp", "-a", str(plain), str(marked)], check=True)
    try:
        marks.apply(marked, package.edits)
    except marks.MarkError as error:
        raise BuildError(str(error)) from error
    _run(["bash", "-c", package.build], marked, log, CC=f"{cosycc} -Rcosy", **jobs)
    return plain, marked


def input_make(kind: str, count: str, scratch: Path, tree: Path, git: Path | None) -> str:
    """Makes a job's input in scratch and returns the command that puts it into the working folder of the machine."""
    if kind == "git":
        target = scratch / f"git-{count}"
        shutil.copytree(tree, target, symlinks=True)
        for words in (["init", "-q", "--template="], ["add", "-A"], [*_IDENTITY, "commit", "-q", "-m", "files"]):
            subprocess.run([str(git), *words], cwd=target, check=True, env={**os.environ, "HOME": str(scratch)})
        # git writes the files of a tree in the order of its index, so tar is to do so as well.
        command = ["tar", "cf", str(scratch / f"{target.name}.tar"), "--sort=name", target.name]
        subprocess.run(command, cwd=scratch, check=True)
        shutil.rmtree(target)
        return f"[ -d {target.name} ] || tar xf /t/{target.name}.tar"
    if kind == "names":
        names = sorted(str(path.relative_to(tree.parent)) for path in tree.rglob("*") if path.is_file())
        (scratch / f"names-{count}").write_bytes(b"".join(name.encode() + b"\0" for name in names))
        return f"cp -u /t/names-{count} ."
    if kind == "lines":
        (scratch / f"lines-{count}").write_text("".join(f"{i} a line of a file\n" for i in range(int(count))))
        (scratch / "read.sh").write_text('while read -r n rest; do last=$n; done <"$1"\necho "$last" "$rest"\n')
        return f"cp -u /t/lines-{count} /t/read.sh ."
    return ""
