# SPDX-License-Identifier: MIT
"""Kernels that watch over themselves: Debian's source, built with a configuration of debug/.

Series 6.12-kasan and 6.12-kcsan of kernels.find().  The source is the package linux-source-6.12;
it and what is built of it are kept in the cache, 1.7 and 1.5 GB.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import apt as apt_
import cache
from cache import SetupError

_FRAGMENTS = Path(__file__).resolve().parent / "debug"
SANITIZERS = ("kasan", "kcsan")
# UBSAN looks at the module only: the kernel's own reports are not ours, and its checks take time.
_KERNEL_FLAGS = ("UBSAN_SANITIZE=n",)
# Coverage of all of cosy.ko.
MODULE_FLAGS = ("KCOV_INSTRUMENT=y",)
# Parameters of each kernel: kmemleak takes half of the time; KCSAN looks at one access of 4000 unless told.
# pci=noacpi: ACPI's interpreter takes up to half a minute for the table of interrupts there, and gives
# up after that; the disk has none then, and the guest waits for it for good.
PARAMETERS = {
    "kasan": ("kmemleak=off", "kasan_multi_shot", "pci=noacpi"),
    "kcsan": ("kcsan.skip_watch=200", "pci=noacpi"),
}
_TOOLS = {"flex": "flex", "bison": "bison", "bc": "bc", "pahole": "dwarves", "xz": "xz-utils"}
_STEP = re.compile(r"  (CC|AS|LD|HOSTCC|AR|BTF) ")


def split(series: str) -> tuple[str, str]:
    """Splits 6.12-kasan into 6.12 and kasan; the latter is empty for a distribution's kernel."""
    base, _, sanitizer = series.partition("-")
    if sanitizer and sanitizer not in SANITIZERS:
        raise SetupError(f"kernel {series}: no configuration of that name; there are {', '.join(SANITIZERS)}")
    return base, sanitizer


def _source_package(series: str) -> tuple[apt_.Apt, str, str]:
    """Returns the apt that has the source, the package's name, and its version."""
    name = f"linux-source-{series}"
    for apt in (apt_.host(), apt_.private()):
        version = apt.show(name).get("Version")
        if version:
            return apt, name, version
    raise SetupError(f"no package {name} in this host's suites or in further ones of its mirrors")


def _source(series: str) -> Path:
    """Returns the unpacked source, fetched unless it is there."""
    apt, name, version = _source_package(series)
    target = cache.directory("sources") / f"{name}-{version.replace('~', '_')}"
    with cache.locked(f"source-{series}"):
        if target.is_dir():
            return target
        print(f"vm: fetching {name} {version}", file=sys.stderr)
        with tempfile.TemporaryDirectory(dir=cache.directory("tmp")) as folder:
            work = Path(folder)
            apt.download({name: version}, work)
            package = next(work.glob("*.deb"))
            cache.run(["dpkg-deb", "-x", package, work / "package"], f"unpacking {package.name}")
            archive = work / f"package/usr/src/{name}.tar.xz"
            cache.run(["tar", "-C", work, "-xf", archive], f"unpacking {archive.name}")
            os.rename(work / name, target)
    return target


def _fragment(sanitizer: str) -> str:
    return "".join((_FRAGMENTS / f"{part}.config").read_text() for part in ("common", sanitizer))


def _settings(fragment: str) -> list[str]:
    return [line for line in fragment.splitlines() if line.startswith(("CONFIG_", "# CONFIG_"))]


def _make(build: Path, source: Path, *arguments: str) -> list[str]:
    return ["make", "-C", str(source), f"O={build}", *_KERNEL_FLAGS, *arguments]


def _configure(build: Path, source: Path, fragment: str) -> None:
    wanted = build / "wanted.config"
    wanted.write_text(fragment)
    environment = os.environ | {"KCONFIG_ALLCONFIG": str(wanted)}
    cache.run(_make(build, source, "-s", "allnoconfig"), "configuring the kernel", env=environment)
    # Kconfig drops silently what it does not know, or forbids.
    got = set((build / ".config").read_text().splitlines())
    for setting in _settings(fragment):
        name = re.sub(r"^# | is not set$|=.*", "", setting)
        absent = f"# {name} is not set"
        off = setting == absent or setting.endswith("=n")
        if (off and any(line.startswith(f"{name}=") for line in got)) or (not off and setting not in got):
            raise SetupError(f"the kernel's configuration does not take {setting}")


def _compile(build: Path, source: Path, what: str) -> None:
    """Builds the kernel and shows how far it is: on a terminal all the time, else every 500 files."""
    command = _make(build, source, f"-j{os.cpu_count() or 1}", "bzImage", "modules")
    log, steps, start = build / "make.log", 0, time.monotonic()
    with (
        open(log, "w") as kept,
        subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        ) as make,
    ):
        assert make.stdout
        for line in make.stdout:
            kept.write(line)
            if not _STEP.match(line):
                continue
            steps += 1
            said = f"vm: {what}: {steps} steps of some 2500, {time.monotonic() - start:.0f} s"
            if sys.stderr.isatty():
                print(f"\r{said}", end="", file=sys.stderr, flush=True)
            elif steps % 500 == 0:
                print(said, file=sys.stderr, flush=True)
    if sys.stderr.isatty():
        print(file=sys.stderr)
    if make.returncode:
        tail = "\n".join(log.read_text(errors="replace").splitlines()[-40:])
        raise SetupError(f"{what} failed: exit status {make.returncode}\n{tail}")


def _lay_out(root: Path, build: Path) -> str:
    """Puts links where kernels.Kernel looks for the parts of a distribution's kernel.  Returns the release."""
    release = (build / "include/config/kernel.release").read_text().strip()
    modules = root / "lib/modules" / release
    for folder in (root / "boot", root / "usr/src", modules / "kernel"):
        folder.mkdir(parents=True, exist_ok=True)
    for link, goal in (
        (root / f"boot/vmlinuz-{release}", build / "arch/x86/boot/bzImage"),
        (root / f"usr/src/linux-headers-{release}", build),
    ):
        link.unlink(missing_ok=True)
        link.symlink_to(goal)
    for name in ("modules.builtin", "modules.builtin.modinfo", "modules.order"):
        if (build / name).exists():
            shutil.copy(build / name, modules)
    cache.run(["depmod", "-b", root, release], "depmod")
    return release


def find(series: str) -> tuple[str, Path]:
    """Returns the release and the root of an instrumented kernel, built unless it has been."""
    base, sanitizer = split(series)
    missing = sorted(package for tool, package in _TOOLS.items() if not shutil.which(tool))
    if missing:
        raise SetupError(
            f"kernel {series} is built here, which needs {', '.join(missing)}: tools/setup/setup.sh "
            "packages-debug.txt installs them"
        )
    source = _source(base)
    fragment = _fragment(sanitizer)
    compiler = cache.run(["gcc", "--version"], "asking for the compiler").splitlines()[0]
    digest = hashlib.sha256("\n".join([compiler, *_KERNEL_FLAGS, *_settings(fragment)]).encode()).hexdigest()
    root = cache.directory("instrumented", f"{source.name}-{sanitizer}-{digest[:8]}")
    with cache.locked(f"instrumented-{root.name}"):
        built = root / "release"
        if not built.exists():
            build = cache.directory("instrumented", root.name, "build")
            what = f"building kernel {series}"
            print(f"vm: {what}, once: ten minutes on two processors", file=sys.stderr)
            _configure(build, source, fragment)
            _compile(build, source, what)
            built.write_text(_lay_out(root, build))
        return built.read_text(), root
