# SPDX-License-Identifier: MIT
"""Debian packages, through the host's own apt.

Kernels that the host's suites do not carry come through a private apt
configuration in the cache: other suites of the very mirrors that the host
already uses, with lists of its own, so it needs no privilege and leaves the
host's configuration alone.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import cache

# Releases that ship kernels Cosy supports.
RELEASES = ("bookworm", "trixie")
KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
LISTS_MAX_AGE = 12 * 3600.0  # seconds


class Apt:
    """An apt configuration: the host's, or the options of a private one."""

    def __init__(self, name: str, options: list[str], can_update: bool) -> None:
        self.name = name
        self.options = options
        self.can_update = can_update

    def _run(self, program: str, *arguments: str, cwd: Path | None = None) -> str:
        return cache.run([program, *self.options, *arguments], self.name, cwd=cwd)

    def names(self, prefix: str) -> list[str]:
        """Returns every known package whose name begins so."""
        return self._run("apt-cache", "pkgnames", prefix).split()

    def show(self, package: str) -> dict[str, str]:
        """Returns the fields of the newest version of a package; empty if it is unknown."""
        try:
            text = self._run("apt-cache", "show", "--no-all-versions", package)
        except cache.SetupError:
            return {}
        fields = re.findall(r"^([A-Z][\w-]*): (.*)$", text.split("\n\n")[0], re.M)
        return dict(fields)

    def update(self) -> None:
        """Fetches the lists of packages again."""
        self._run("apt-get", "-qq", "update")

    def download(self, packages: dict[str, str], folder: Path) -> None:
        """Fetches these versions (name -> version) of packages into a folder."""
        # name=version also keeps apt from reading '+' and '.' as a pattern.
        wanted = [f"{name}={version}" for name, version in packages.items()]
        if sys.stderr.isatty():  # a hundred megabytes: apt shows how far it is
            command = ["apt-get", *self.options, "download", *wanted]
            if subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=sys.stderr).returncode == 0:
                return
        self._run("apt-get", "-qq", "download", *wanted, cwd=folder)


def host() -> Apt:
    """Returns the host's own configuration."""
    return Apt("apt", ["-o", "APT::Sandbox::User=root"], os.geteuid() == 0)


def mirrors() -> tuple[str, str]:
    """Returns the host's mirrors of the archive and of its security updates."""
    lines = cache.run(
        ["apt-get", "indextargets", "--format", "$(SITE) $(RELEASE)", "Created-By: Packages"],
        "reading the mirrors of this host's apt",
    )
    archive = security = ""
    for line in lines.splitlines():
        site, _, suite = line.partition(" ")
        if suite.endswith("-security"):
            security = security or site
        elif site.rstrip("/").endswith("/debian"):
            archive = archive or site
    if not archive:
        raise cache.SetupError("this host's apt knows no Debian mirror (a source ending in /debian)")
    return archive, security or archive.rstrip("/") + "-security"


def private() -> Apt:
    """Returns a configuration with every suite of RELEASES from the host's mirrors, its lists up to date."""
    folder = cache.directory("apt")
    for sub in ("state/lists/partial", "cache/archives/partial"):
        cache.directory("apt", *sub.split("/"))
    archive, security = mirrors()
    signed = f"[signed-by={KEYRING}] " if KEYRING.exists() else ""
    sources = ""
    for release in RELEASES:
        sources += f"deb {signed}{archive} {release} main\n"
        sources += f"deb {signed}{archive} {release}-backports main\n"
        sources += f"deb {signed}{security} {release}-security main\n"
    options = []
    for setting in (
        f"Dir::State={folder}/state",
        f"Dir::Cache={folder}/cache",
        f"Dir::Etc::sourcelist={folder}/sources.list",
        "Dir::Etc::sourceparts=-",
        "Dir::Etc::preferencesparts=-",
        "Dir::State::status=/dev/null",
        "Acquire::Languages=none",
        "APT::Sandbox::User=root",
    ):
        options += ["-o", setting]
    apt = Apt("apt with further suites", options, True)
    with cache.locked("apt"):
        list_file, stamp = folder / "sources.list", folder / "updated"
        fresh = (
            list_file.exists()
            and list_file.read_text() == sources
            and stamp.exists()
            and time.time() - stamp.stat().st_mtime < LISTS_MAX_AGE
        )
        if not fresh:
            list_file.write_text(sources)
            apt.update()
            stamp.touch()
    return apt


def newer(one: str, other: str) -> bool:
    """Returns whether one Debian version is later than the other."""
    return subprocess.run(["dpkg", "--compare-versions", one, "gt", other]).returncode == 0
