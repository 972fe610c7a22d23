#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Installs the Debian packages in a booted machine of a release, uses, upgrades and purges them there.

    packages.py bookworm			builds the packages on that release first
    packages.py bookworm --packages build-deb	takes those that are there

First the packages' own tests (debian/tests) run in a chroot, with autopkgtest.

The machine is a whole Debian with its own kernel and initrd, and has no part of this tree but the
packages and guest.sh. Its system is made once and kept in the cache (tests/vm/cache.py); the disk
is a copy. gcc would take minutes in the machine, which has no hardware virtualisation, so the
module's objects are compiled here, and the machine's ccache finds them.

Needs root, mmdebstrap and, for another release than this machine's, some minutes for its chroot.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import os
import re
import selectors
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent
TREE = HERE.parents[1]
sys.path[:0] = [str(HERE.parent / "vm"), str(HERE.parent / "release")]

import apt  # noqa: E402
import cache  # noqa: E402
import klog  # noqa: E402
import qemu  # noqa: E402
import release as release_  # noqa: E402
import scale  # noqa: E402
import toolchain  # noqa: E402
from cache import SetupError  # noqa: E402

SKIPPED = 77
# A system that is installed by hand, with a kernel, and with what the packages recommend.
BASE = (
    *("systemd-sysv", "udev", "initramfs-tools", "linux-image-cloud-amd64", "linux-headers-cloud-amd64"),
    *("dkms", "ccache", "adduser", "libcap2-bin", "libc6-dev", "gcc", "pkg-config", "ca-certificates"),
)
DISK = 4096  # MB
MEMORY = 1536  # MB
TIMEOUT = 1800  # seconds of an idle host
VERSION = re.compile(r"^Version: (\S+)$", re.M)

# DKMS copies the sources each time, so all of them look newer than what was compiled of them.
CCACHE = "CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=include_file_ctime,include_file_mtime"

UNIT = f"""
[Unit]
After=multi-user.target
[Service]
Type=oneshot
TimeoutStartSec=infinity
StandardInput=null
StandardOutput=tty
StandardError=tty
TTYPath=/dev/ttyS1
Environment=HOME=/root DEBIAN_FRONTEND=noninteractive
Environment=DEBIAN_KERNEL_USE_CCACHE=1 CCACHE_DIR=/packages/ccache {CCACHE}
ExecStart=/packages/guest.sh
ExecStopPost=systemctl poweroff --force
"""


def _codename() -> str:
    found = re.search(r"^VERSION_CODENAME=(\w+)", Path("/etc/os-release").read_text(), re.M)
    return found[1] if found else ""


def build(release: str) -> list[Path]:
    """Builds the packages on that release. Returns them."""
    if release == _codename():
        cache.run(["make", "-C", TREE, "deb"], "building the packages")
        folder = TREE / "build-deb"
    else:
        if release_.run(release, ["make", "deb"], anew=False):
            raise SetupError(f"building the packages on {release} failed")
        folder = cache.directory("releases") / release / release_.PLACE / "build-deb"
    return packages_in(folder)


def packages_in(folder: Path) -> list[Path]:
    found = [path for path in sorted(folder.glob("*.deb")) if "-dbgsym_" not in path.name]
    if not found:
        raise SetupError(f"there are no packages in {folder}")
    return found


def dependencies(packages: list[Path]) -> set[str]:
    """Returns the names of other packages that these depend on."""
    own = {path.name.partition("_")[0] for path in packages}
    names: set[str] = set()
    for path in packages:
        fields = cache.run(["dpkg-deb", "-f", path, "Pre-Depends", "Depends"], "reading a package")
        for clause in re.sub(r"^[\w-]+:", "", fields, flags=re.M).replace("\n", ",").split(","):
            choices = [choice.split()[0].partition(":")[0] for choice in clause.split("|") if choice.strip()]
            if choices and not own & set(choices):
                names.add(choices[0])
    return names


def system(release: str, include: list[str]) -> Path:
    """Returns a system with these packages, made if the cache has none."""
    digest = hashlib.sha256(" ".join(include).encode()).hexdigest()[:12]
    root = cache.directory("systems") / f"{release}-{digest}"
    with cache.locked(f"system-{release}"):
        if not root.exists():
            archive, security = apt.mirrors()
            signed = f"[signed-by={apt.KEYRING}] " if apt.KEYRING.exists() else ""
            partial = root.with_suffix(".partial")
            shutil.rmtree(partial, ignore_errors=True)
            print(f"packages: making a {release} with {' '.join(include)}", flush=True)
            # Its mounts end with it, however it ends.
            cache.run(
                [
                    *("unshare", "--mount", "mmdebstrap", "--mode=root", "--variant=minbase"),
                    f"--include={','.join(include)}",
                    *("--aptopt=Apt::Install-Recommends false", *toolchain.apt_settings(), release, partial),
                    f"deb {signed}{archive} {release} main",
                    f"deb {signed}{archive} {release}-updates main",
                    f"deb {signed}{security} {release}-security main",
                ],
                f"making a {release}",
            )
            partial.rename(root)
        os.utime(root)
        cache.prune(root.parent, keep=2)
    return root


def newer(packages: list[Path], folder: Path) -> None:
    """Makes packages of a later version, whose module differs."""
    for path in packages:
        root = folder / "root"
        cache.run(["dpkg-deb", "-R", path, root], "unpacking a package")
        control = root / "DEBIAN/control"
        version = VERSION.search(control.read_text())
        assert version
        control.write_text(control.read_text().replace(version[1], f"{version[1]}+later"))
        for source in root.glob("usr/src/cosy-*/kmod/main.c"):
            text = source.read_text()
            changed = text.replace('MODULE_DESCRIPTION("', 'MODULE_DESCRIPTION("Later: ')
            assert changed != text
            source.write_text(changed)
        (root / "DEBIAN/md5sums").unlink(missing_ok=True)
        cache.run(["dpkg-deb", "--root-owner-group", "-Zgzip", "-b", root, folder], "packing a package")
        shutil.rmtree(root)


def _in_chroot(root: Path, script: str, what: str) -> None:
    cache.run(
        [
            *("unshare", "--mount", "--pid", "--fork", "chroot", root, "/bin/sh", "-ec"),
            f"mount -t proc proc /proc\n{script}",
        ],
        what,
    )


def prime(release: str, root: Path) -> None:
    """Compiles the module as DKMS does in the machine, so that ccache there has the objects.

    They are kept for the next machine of the release."""
    kept = cache.directory("systems-ccache") / release
    if kept.exists():
        shutil.copytree(kept, root / "packages/ccache")
    _in_chroot(
        root,
        f"export CCACHE_DIR=/packages/ccache CCACHE_MAXSIZE=100M DEBIAN_KERNEL_USE_CCACHE=1 {CCACHE}"
        """
        kernel=$(basename /lib/modules/*-cloud-amd64)
        for version in 1 2; do
            dpkg-deb -x /packages/$version/cosy-dkms_*.deb /tmp/module
            for conf in /tmp/module/usr/src/cosy-*/dkms.conf; do
                source=${conf%/dkms.conf}
            done
            build=/var/lib/dkms/cosy/${source##*-}/build
            mkdir -p "${build%/build}"
            cp -a "$source" "$build"
            make -s CONFIG_DEBUG_INFO_BTF_MODULES= -C /lib/modules/$kernel/build M=$build/kmod modules
            rm -rf /tmp/module /var/lib/dkms/cosy
        done
        """,
        "compiling the module",
    )
    with cache.locked(f"system-{release}"):
        shutil.rmtree(kept, ignore_errors=True)
        shutil.copytree(root / "packages/ccache", kept)


def furnish(release: str, root: Path, packages: list[Path]) -> None:
    """Puts the packages and what uses them into a system."""
    place = root / "packages"
    for version in ("1", "2"):
        (place / version).mkdir(parents=True)
    for path in packages:
        shutil.copy(path, place / "1")
    newer(packages, place / "2")
    for path in (
        HERE / "guest.sh",
        HERE / "loop.c",
        HERE.parent / "install/consumer.c",
        TREE / "examples/ls.c",
        TREE / "debian/tests/programs",
    ):
        shutil.copy(path, place)
    (root / "etc/systemd/system/packages.service").write_text(UNIT)
    wants = root / "etc/systemd/system/multi-user.target.wants"
    wants.mkdir(exist_ok=True)
    (wants / "packages.service").symlink_to("/etc/systemd/system/packages.service")
    (root / "etc/fstab").write_text("/dev/vda / ext4 defaults 0 0\n")
    (root / "etc/hostname").write_text("machine\n")
    prime(release, root)


@contextlib.contextmanager
def layer(lower: Path, scratch: Path) -> Iterator[Path]:
    """Mounts a layer over a system, which stays as it is."""
    # overlayfs does not lie on itself, as the root of a container may be.
    cache.run(["mount", "-t", "tmpfs", "-o", "size=80%", "layer", scratch], "mounting memory")
    root = scratch / "root"
    try:
        for name in ("upper", "work", "root"):
            (scratch / name).mkdir()
        options = f"lowerdir={lower},upperdir={scratch}/upper,workdir={scratch}/work"
        cache.run(["mount", "-t", "overlay", "-o", options, "system", root], "mounting a layer")
        try:
            yield root
        finally:
            cache.run(["umount", root], "unmounting a layer")
    finally:
        cache.run(["umount", scratch], "unmounting memory")


def autopkgtest(root: Path, packages: list[Path], scratch: Path) -> bool:
    """Runs debian/tests in a system, without a machine. Returns whether they passed."""
    source = scratch / "source"
    shutil.copytree(TREE / "debian", source / "debian")
    for name in ("resolv.conf", "hosts"):
        shutil.copy(f"/etc/{name}", root / "etc" / name)
    # cosycc finds its plugins by /proc.
    inside = 'mount -t proc proc "$0/proc" && exec autopkgtest "$@" -- chroot "$0"'
    command = ["unshare", "--mount", "--pid", "--fork", "sh", "-c", inside, root, "--no-built-binaries"]
    command += ["--setup-commands=apt-get -q update", f"{source}/", *packages]
    return subprocess.run(command, stdin=subprocess.DEVNULL).returncode == 0


def boot(disk: Path, kernel: Path, initrd: Path, scratch: Path) -> tuple[str, str]:
    """Boots the machine, and passes on what it prints. Returns that, and the kernel's log."""
    log = scratch / "log"
    command = ["setpriv", "--pdeathsig", "KILL", qemu.QEMU, "-nodefaults", "-no-user-config", "-display", "none"]
    command += ["-no-reboot", "-accel", "tcg", "-cpu", "max", "-smp", "1", "-m", str(MEMORY)]
    command += ["-kernel", str(kernel), "-initrd", str(initrd)]
    command += ["-append", "root=/dev/vda rw console=ttyS0 quiet panic=-1 oops=panic systemd.show_status=0"]
    command += ["-drive", f"file={disk},format=raw,if=virtio,cache=unsafe"]
    command += ["-serial", f"file:{log}", "-serial", "stdio", "-device", "virtio-rng-pci"]
    said: list[str] = []
    clock = qemu.Clock(scale.limit(TIMEOUT))
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    assert process.stdout
    try:
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            while not clock.is_over():
                if not selector.select(1):
                    continue
                data = os.read(process.stdout.fileno(), 1 << 16)
                if not data:
                    break
                text = data.decode(errors="replace").replace("\r", "")
                said.append(text)
                print(text, end="", flush=True)
    finally:
        process.kill()
        process.wait()
    return "".join(said), log.read_text(errors="replace") if log.exists() else ""


def run(release: str, packages: list[Path]) -> int:
    """Returns the exit status."""
    include = sorted({*BASE, *dependencies(packages)})
    base = system(release, include)
    with tempfile.TemporaryDirectory(prefix="cosy-packages-") as name:
        scratch = Path(name)
        disk, kernel, initrd = scratch / "disk", scratch / "vmlinuz", scratch / "initrd"
        (scratch / "layer").mkdir()
        with layer(base, scratch / "layer") as root:
            if not autopkgtest(root, packages, scratch):
                print(f"packages: autopkgtest failed on {release}")
                return 1
        print("packages: compiling the module and making the disk", flush=True)
        with layer(base, scratch / "layer") as root:
            furnish(release, root, packages)
            shutil.copy(next((root / "boot").glob("vmlinuz-*")), kernel)
            shutil.copy(next((root / "boot").glob("initrd.img-*")), initrd)
            cache.run(
                ["mke2fs", "-q", "-t", "ext4", "-O", "^has_journal", "-d", root, disk, f"{DISK}M"], "making the disk"
            )
        print("packages: booting the machine", flush=True)
        said, log = boot(disk, kernel, initrd, scratch)
    bad = klog.bad_lines(log)
    if bad:
        print(f"packages: {len(bad)} bad lines in the kernel's log, the first: {bad[0].strip()}")
    if "packages: all of it passed\n" not in said:
        print(f"packages: {release} failed; the end of the kernel's log:\n{log[-2000:]}")
        return 1
    return 1 if bad else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("release", choices=apt.RELEASES)
    parser.add_argument("--packages", type=Path, metavar="FOLDER", help="take the packages there, build none")
    options = parser.parse_args()
    if os.geteuid():
        print("SKIP: only root makes a chroot and a disk of it")
        return SKIPPED
    packages = packages_in(options.packages.resolve()) if options.packages else build(options.release)
    return run(options.release, packages)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except SetupError as error:
        print(f"packages: {error}", file=sys.stderr)
        sys.exit(126)
