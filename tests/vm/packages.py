# SPDX-License-Identifier: MIT
"""Fetches Debian packages of which a test wants a file, and unpacks them into the cache, not installed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import apt as apt_
import cache


def _version(name: str) -> tuple[apt_.Apt, str]:
    """Returns the apt that has the newest version of a package, and its number."""
    for make in (apt_.host, apt_.private):
        apt = make()
        version = apt.show(name).get("Version")
        if version:
            return apt, version
    raise cache.SetupError(f"package {name} is in no suite of this host's mirrors")


def unpacked(name: str) -> Path:
    """Returns the folder with all files of a package."""
    with cache.locked(f"package-{name}"):
        apt, version = _version(name)
        target = cache.directory("packages") / f"{name}_{version.replace(':', '%')}"
        if target.is_dir():
            return target
        print(f"vm: fetching package {name} {version}", file=sys.stderr)
        with tempfile.TemporaryDirectory(dir=cache.directory("tmp")) as folder:
            work = Path(folder)
            apt.download({name: version}, work)
            for package in work.glob("*.deb"):
                cache.run(["dpkg-deb", "-x", package, work / "root"], f"unpacking {package.name}")
            os.rename(work / "root", target)
    return target


def _installed(name: str) -> bool:
    status = subprocess.run(["dpkg-query", "-W", "-f", "${db:Status-Abbrev}", name], capture_output=True, text=True)
    return status.stdout.startswith("ii")


def libraries(*names: str) -> list[Path]:
    """Returns folders with the libraries that these packages need and this host has not installed."""
    found: dict[str, list[Path]] = {}
    asked = list(names)
    while asked:
        package = asked.pop()
        apt, _ = _version(package)
        for name in re.findall(r"(?:^|, )(lib[^ ,|:]+)", apt.show(package).get("Depends", "")):
            if name not in found and not _installed(name):
                found[name] = sorted({library.parent for library in unpacked(name).rglob("lib*.so.*")})
                asked.append(name)
    return [folder for folders in found.values() for folder in folders]
