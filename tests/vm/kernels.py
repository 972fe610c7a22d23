# SPDX-License-Identifier: MIT
"""Debian cloud kernels: the newest of a series, fetched, unpacked and ready to build against."""

from __future__ import annotations

import functools
import os
import re
import shutil
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import apt as apt_
import cache
import instrumented
import toolchain
from cache import SetupError

# File in the root of a kernel that is built by a later release's compiler: its name.
_COMPILER = "compiler"


@dataclass(frozen=True)
class Kernel:
    """An unpacked kernel."""

    release: str  # as uname -r says
    root: Path  # its packages, unpacked
    module_flags: tuple[str, ...] = ()  # for make, when cosy.ko is built
    parameters: tuple[str, ...] = ()  # at each boot, unless one of that name is given

    def parameters_with(self, given: list[str]) -> str:
        """Returns what the kernel is booted with, where `given` is asked for."""
        names = {word.split("=")[0] for words in given for word in words.split()}
        return " ".join([*(word for word in self.parameters if word.split("=")[0] not in names), *given])

    @property
    def image(self) -> Path:
        return self._first(f"boot/vmlinuz-{self.release}", f"usr/lib/modules/{self.release}/vmlinuz")

    @property
    def headers(self) -> Path:
        """Returns the folder that `make -C` wants for building a module."""
        return self.root / f"usr/src/linux-headers-{self.release}"

    @property
    def module_base(self) -> Path:
        """Returns the folder that depmod and modprobe call the base directory."""
        return self._first(f"lib/modules/{self.release}", f"usr/lib/modules/{self.release}").parents[2]

    def make(self, *places: Path) -> list[str | Path]:
        """Returns the command that builds a module; these folders are those it reads and writes."""
        note = self.root / _COMPILER
        before = toolchain.command(note.read_text(), *places) if note.exists() else []
        return [*before, "make", "-C", self.headers]

    def _first(self, *names: str) -> Path:
        for name in names:
            if (self.root / name).exists():
                return self.root / name
        raise SetupError(f"kernel {self.release}: none of {', '.join(names)} in its packages")


@dataclass(frozen=True)
class _Candidate:
    """A kernel release that an archive offers, with all that is needed of it."""

    release: str
    packages: dict[str, str]  # name -> version
    apt: apt_.Apt
    compiler: str = ""  # of a later release: see toolchain.py


def pattern(series: str) -> re.Pattern[str]:
    """Returns the pattern of the names of a series' image packages; group 1 is the release."""
    # 6.1.0-49-cloud-amd64 (bookworm's own) or 6.12.117+deb12-cloud-amd64
    # (trixie on, and rebuilt for bookworm), with or without +deb parts.
    number = re.escape(series)
    return re.compile(rf"linux-image-({number}\.\d+(?:-\d+)?(?:\+deb\d+(?:\.\d+)?)?(?:\+\d+)?-cloud-amd64)")


def release_key(release: str) -> list[int]:
    """Orders releases by age."""
    return [int(number) for number in re.findall(r"\d+", release)]


def _depends(fields: dict[str, str], pattern: str) -> str:
    found = re.search(pattern, fields.get("Depends", ""))
    return found[0] if found else ""


def _candidate(release: str, apt: apt_.Apt) -> _Candidate | str:
    """Returns the packages to fetch for a release, or why it cannot be used."""
    image, headers = f"linux-image-{release}", f"linux-headers-{release}"
    fields = apt.show(headers)
    if not fields:
        return f"{headers} is not in the archive"
    names = [image, headers]
    for pattern in (r"linux-headers-\S+-common\S*", r"linux-kbuild-[^\s,]+"):
        name = _depends(fields, pattern)
        if not name:
            return f"{headers} depends on nothing like {pattern}"
        names.append(name)
    compiler = _depends(fields, r"gcc-\d+")
    needs_later = bool(compiler and not shutil.which(compiler))
    # From 7.x on the image is split.
    for part in ("linux-binary", "linux-modules", "linux-base"):
        if apt.show(f"{part}-{release}"):
            names.append(f"{part}-{release}")
    packages = {}
    for name in names:
        shown = apt.show(name)
        if "Version" not in shown:
            return f"{name} is not in the archive"
        packages[name] = shown["Version"]
        # The build's host programs come ready-built: they need our libc.
        wanted = re.search(r"libc6 \(>= ([^)]+)\)", shown.get("Depends", ""))
        if wanted and name.startswith("linux-kbuild"):
            needs_later |= apt_.newer(wanted[1], _libc_version())
    return _Candidate(release, packages, apt, compiler if needs_later else "")


@functools.cache
def _libc_version() -> str:
    out = cache.run(["dpkg-query", "-W", "-f", "${Version}", "libc6:amd64"], "asking for libc's version")
    return out.strip()


def _newest(series: str, apt: apt_.Apt, tried: list[str]) -> _Candidate | None:
    """Returns the newest usable release of a series; adds to `tried` why others are not."""
    names = apt.names(f"linux-image-{series}")
    releases = [m[1] for m in map(pattern(series).fullmatch, names) if m]
    if not releases:
        tried.append(f"{apt.name}: no package linux-image-{series}.*-cloud-amd64")
    for release in sorted(releases, key=release_key, reverse=True)[:3]:
        found = _candidate(release, apt)
        if isinstance(found, _Candidate):
            return found
        tried.append(f"{apt.name}: {release}: {found}")
    return None


def _cached(series: str) -> list[Kernel]:
    """Returns the unpacked kernels of a series, newest first."""
    folder = cache.directory("kernels")
    matching = [e.name for e in folder.iterdir() if pattern(series).fullmatch(f"linux-image-{e.name}")]
    return [Kernel(name, folder / name) for name in sorted(matching, key=release_key, reverse=True)]


def _unpack(candidate: _Candidate) -> Kernel:
    """Downloads and unpacks a release under its name, whole or not at all."""
    target = cache.directory("kernels") / candidate.release
    print(f"vm: fetching kernel {candidate.release}", file=sys.stderr)
    with tempfile.TemporaryDirectory(dir=cache.directory("tmp")) as name:
        work = Path(name)
        root = work / "root"
        root.mkdir()
        candidate.apt.download(candidate.packages, work)
        for package in sorted(work.glob("*.deb")):
            cache.run(["dpkg-deb", "-x", package, root], f"unpacking {package.name}")
            package.unlink()
        _relocate(root, target)
        if candidate.compiler:
            (root / _COMPILER).write_text(candidate.compiler)
        kernel = Kernel(candidate.release, root)
        _ = kernel.image, kernel.module_base
        if not kernel.headers.is_dir():
            raise SetupError(f"kernel {candidate.release}: its packages hold no {kernel.headers}")
        (kernel.module_base / "lib/modules" / candidate.release / "kernel").mkdir(exist_ok=True)
        cache.run(["depmod", "-b", kernel.module_base, candidate.release], "depmod")
        os.rename(root, target)
    return Kernel(candidate.release, target)


def _relocate(root: Path, target: Path) -> None:
    """Makes the headers' absolute references point to where they will lie."""
    source = root / "usr/src"
    for makefile in source.glob("*/Makefile"):
        if makefile.is_symlink():
            continue
        text = makefile.read_text()
        moved = re.sub(r"(?<![\w/])/usr/(src/linux-headers|lib/linux-kbuild)", rf"{target}/usr/\1", text)
        if moved != text:
            makefile.write_text(moved)
    for link in source.rglob("*"):
        if link.is_symlink() and os.readlink(link).startswith("/usr/"):
            goal = os.readlink(link)
            link.unlink()
            link.symlink_to(f"{target}{goal}")


def find(series: str) -> Kernel:
    """Returns the newest kernel of a series such as 6.12, fetched unless it is there.

    6.12-kasan and the like are built: see instrumented.py.
    """
    sanitizer = instrumented.split(series)[1]
    if sanitizer:
        return Kernel(*instrumented.find(series), instrumented.MODULE_FLAGS, instrumented.PARAMETERS[sanitizer])
    tried: list[str] = []
    with cache.locked(f"kernel-{series}"):
        remembered = _remembered(series)
        if remembered:
            return remembered
        for attempt in (_host, _host_updated, _private):
            try:
                candidate = attempt(series, tried)
                if candidate is None:
                    continue
                kernel = Kernel(candidate.release, cache.directory("kernels") / candidate.release)
                if not kernel.root.is_dir():
                    kernel = _unpack(candidate)
                _remember(series, kernel)
                return kernel
            except SetupError as error:
                tried.append(str(error).strip())
        for kernel in _cached(series):
            print(f"vm: using {kernel.release} from the cache: {'; '.join(tried)}", file=sys.stderr)
            return kernel
    raise SetupError(f"no kernel of series {series} could be had. Tried:\n  " + "\n  ".join(tried))


def _remembered(series: str) -> Kernel | None:
    """Returns the answer that was found with apt's present lists, which take seconds to read."""
    note = cache.directory("resolved") / series
    try:
        release, when = note.read_text().split()
    except (FileNotFoundError, ValueError):
        return None
    kernel = Kernel(release, cache.directory("kernels") / release)
    return kernel if when == _lists_state() and kernel.root.is_dir() else None


def _remember(series: str, kernel: Kernel) -> None:
    (cache.directory("resolved") / series).write_text(f"{kernel.release} {_lists_state()}")


def _lists_state() -> str:
    """Returns a value that changes whenever the lists of the host's apt do, and every day."""
    lists = Path("/var/lib/apt/lists")
    newest = max((entry.stat().st_mtime_ns for entry in (lists, *lists.glob("*Packages*"))), default=0)
    return f"{newest}-{int(time.time() // 86400)}"


def _host(series: str, tried: list[str]) -> _Candidate | None:
    return _newest(series, apt_.host(), tried)


def _host_updated(series: str, tried: list[str]) -> _Candidate | None:
    """Updates the host's lists, which may be older than its mirror: kernels move within a day."""
    apt = apt_.host()
    if not apt.can_update:
        tried.append("apt-get update: only root may")
        return None
    with cache.locked("apt-update"):
        apt.update()
    apt.name = "apt, lists updated"
    return _newest(series, apt, tried)


def _private(series: str, tried: list[str]) -> _Candidate | None:
    return _newest(series, apt_.private(), tried)
