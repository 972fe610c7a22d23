#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs a command of this tree on another Debian: in a chroot that has it.

    release.py trixie -- make test

The chroot begins as bare as a fresh installation, with `make` and nothing else of what
the tree needs: the command installs that, as it would on any machine.  It is made once
and kept in the cache (see tests/vm/cache.py) with what was installed and built in it;
`--anew` makes it again.  The tree is copied to /root/cosy there, where no other user
gets: the copy has what the tree has now, committed or not, and keeps its own builds.

Packages come from the mirrors that this machine's own apt uses.  The command runs in
mount and process namespaces of its own, so nothing of it outlives it; its exit status is
this program's.  Needs root, or sudo.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "vm"))

import apt  # noqa: E402
import cache  # noqa: E402
import toolchain  # noqa: E402
from cache import SetupError  # noqa: E402

# The tree in the chroot.
PLACE = Path("root/cosy")
# Left out of every copy of the tree, wherever it lies.
LEFT_OUT = {".git", ".cache", "__pycache__", "Testing"}
# Builds, which have other compilers' objects; lib/builder is none.
BUILD = re.compile(r"build(-.*)?")
# The command's environment: these variables of this machine's, and BARE.
ENVIRONMENT = ("TERM", "COLUMNS", "LINES", "http_proxy", "https_proxy", "no_proxy")
BARE = {"HOME": "/root", "LANG": "C.UTF-8", "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}

# Runs as process 1 of the namespaces.  The shell waits for any process that loses its parent.
INSIDE = """
set -e
mount -t proc proc "$0/proc"
mount --rbind /sys "$0/sys"
mount --rbind /dev "$0/dev"
chroot "$0" /bin/sh -c 'cd "/$0" && "$@"' "$@"
exit $?
"""


def bootstrap(release: str, root: Path) -> None:
    """Makes a bare system of that release in `root`, which is there only when it is whole."""
    partial = root.with_suffix(".partial")
    shutil.rmtree(partial, ignore_errors=True)
    archive, security = apt.mirrors()
    signed = f"[signed-by={apt.KEYRING}] " if apt.KEYRING.exists() else ""
    print(f"release: making a bare {release} in {root}", flush=True)
    # Its mounts end with it, however it ends.
    cache.run(
        [
            "unshare",
            "--mount",
            "mmdebstrap",
            "--mode=root",
            "--variant=minbase",
            "--include=ca-certificates,make",
            *toolchain.apt_settings(),
            release,
            partial,
            f"deb {signed}{archive} {release} main",
            f"deb {signed}{archive} {release}-updates main",
            f"deb {signed}{security} {release}-security main",
        ],
        f"making a bare {release}",
    )
    partial.rename(root)


def tree_files(tree: Path) -> Iterator[str]:
    """Yields the tree's files, without builds and what those leave."""
    for folder, folders, files in os.walk(tree):
        folders[:] = [name for name in folders if name not in LEFT_OUT and not BUILD.fullmatch(name)]
        for name in files:
            if name != ".git" and not name.endswith((".o", ".ko")):
                yield os.path.relpath(os.path.join(folder, name), tree)


def tree_copy(tree: Path, to: Path) -> None:
    """Makes `to` hold these files; those that are the same keep their time, so builds go on."""
    to.mkdir(parents=True, exist_ok=True)
    to.parent.chmod(0o700)
    wanted = set(tree_files(tree))
    for name in sorted(wanted):
        source, target = tree / name, to / name
        if target.is_file() and not target.is_symlink() and target.read_bytes() == source.read_bytes():
            shutil.copymode(source, target)
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)
    for name in set(tree_files(to)) - wanted:
        (to / name).unlink()


def run(release: str, command: list[str], anew: bool) -> int:
    """Runs the command there.  Returns its exit status."""
    root = cache.directory("releases") / release
    with cache.locked(f"release-{release}"):
        if anew:
            shutil.rmtree(root, ignore_errors=True)
        if not root.exists():
            bootstrap(release, root)
        tree_copy(cache.TREE, root / PLACE)
        for name in ("resolv.conf", "hosts"):
            shutil.copy(f"/etc/{name}", root / "etc" / name)
        environment = {name: os.environ[name] for name in ENVIRONMENT if name in os.environ} | BARE
        # setpriv: should we be killed, they end, too.
        namespaces = ["setpriv", "--pdeathsig", "KILL", "unshare", "--mount", "--pid", "--fork", "--kill-child"]
        return subprocess.run(
            [*namespaces, "/bin/sh", "-c", INSIDE, str(root), str(PLACE), *command], env=environment
        ).returncode


def main() -> int:
    """Reads the arguments, and becomes root if that takes no more than sudo."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--anew", action="store_true", help="make the chroot again")
    parser.add_argument("release", choices=apt.RELEASES)
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()
    if os.geteuid():
        if not shutil.which("sudo"):
            raise SetupError("a chroot needs root, and there is no sudo")
        kept = cache.directory()
        os.execvp("sudo", ["sudo", f"COSY_CACHE={kept}", sys.executable, "-B", *sys.argv])
    return run(options.release, options.command, options.anew)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except SetupError as error:
        print(f"release: {error}", file=sys.stderr)
        sys.exit(126)
