# SPDX-License-Identifier: MIT
"""A later release's compiler in the cache, for kernels whose build tools this host cannot run.

A kernel of trixie's backports is built by gcc-14, and the programs in its linux-kbuild package need
trixie's libc.  So make runs in a chroot of packages that are unpacked, not installed, where the
cache and the folder with the module's sources lie at the same places as outside.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import apt as apt_
import cache
from cache import SetupError

RELEASE = apt_.RELEASES[-1]
# What make needs for a module, besides the compiler; sparse is for `build --check`.
_PACKAGES = (
    *("base-files", "bash", "coreutils", "dash", "diffutils", "findutils", "gawk", "grep", "kmod", "make"),
    *("perl-base", "sed", "sparse", "libelf1t64", "libssl3t64", "libdw1t64", "zlib1g"),
)
# The settings of this host's apt that say how its mirrors are reached.
APT_SETTINGS = ("Acquire::http", "Acquire::https", "Acquire::Check-", "Acquire::ForceIPv")
# Runs make in the chroot; the mounts are this process's alone, and end with it.
_INSIDE = """
set -e
root=$1
shift
for place in $1; do
	mkdir -p "$root$place"
	mount --rbind "$place" "$root$place"
done
shift
exec chroot "$root" "$@"
"""


def apt_settings() -> list[str]:
    """Returns the options for mmdebstrap that make it reach the mirrors as this host's apt does."""
    lines = cache.run(["apt-config", "dump"], "reading this machine's apt").splitlines()
    return [f"--aptopt={line}" for line in lines if line.startswith(APT_SETTINGS) and not line.endswith('"";')]


def _unpack(compiler: str, root: Path) -> None:
    """Unpacks the compiler with all that it depends on; `root` is there only when it is whole."""
    if not shutil.which("mmdebstrap"):
        raise SetupError(
            f"{compiler} of {RELEASE} is unpacked by mmdebstrap, which is not installed: tools/setup/setup.sh "
            "packages-release.txt installs it"
        )
    archive, security = apt_.mirrors()
    signed = f"[signed-by={apt_.KEYRING}] " if apt_.KEYRING.exists() else ""
    partial = root.with_suffix(".partial")
    shutil.rmtree(partial, ignore_errors=True)
    print(f"vm: unpacking {compiler} of {RELEASE}, once", flush=True)
    command = ["mmdebstrap", "--variant=extract", f"--include={','.join((*_PACKAGES, compiler))}", *apt_settings()]
    sources = [f"deb {signed}{archive} {RELEASE} main", f"deb {signed}{security} {RELEASE}-security main"]
    cache.run([*command, RELEASE, partial, *sources], f"unpacking {compiler} of {RELEASE}")
    # Debian's maintainer scripts make this link, but none has run.
    (partial / "usr/bin/awk").symlink_to("gawk")
    partial.rename(root)


def command(compiler: str, *places: Path) -> list[str | Path]:
    """Returns what to put before a command so that it runs there, and sees these folders as well."""
    root = cache.directory("toolchains") / f"{RELEASE}-{compiler}"
    with cache.locked(f"toolchain-{compiler}"):
        if not root.exists():
            _unpack(compiler, root)
    seen = " ".join(map(str, ("/dev", "/proc", cache.directory(), *places)))
    return ["unshare", "--mount", "--map-root-user", "sh", "-c", _INSIDE, "sh", root, seen]
