#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the examples in containers: /dev/cosy passed in, under the filters that containers have.

For each profile a container is begun by crun in a virtual machine, as its engine would: default
capabilities, device rules, and the default seccomp profile of Podman and of Docker, from their
Debian packages; and systemd's SystemCallFilter=@system-service.  Two more are an unprivileged
user's, in a user namespace with subordinate ids: `rootless` by crun, `rootless-podman` by Podman
itself.  In each container each example runs by the system's compiler and by cosycc.  Both have to
print the same and leave the same files, and by libcosy's statistics the calls of the regions are
made in the kernel, each region of it.  So do two programs of the benchmarks that `make demo` shows, one
of them also under what `cosy run` preloads, which has to serve its reads.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import kernels
import packages
import qemu
import seccomp_profile
from cache import TREE, SetupError

HERE = Path(__file__).resolve().parent
EXAMPLES = ("getpid", "db", "ls", "grep", "copy")
# Programs of bench/ that `make demo` shows beside these.
BESIDE = ("walk", "read1")
# Containers of an unprivileged user, whom container.sh makes.
ROOTLESS, PODMAN = "rootless", "rootless-podman"
CONTAINERS = (*seccomp_profile.PROFILES, ROOTLESS, PODMAN)
# The files of Podman's that a container without a network takes, by package.
PODMAN_FILES = {
    "podman": ("usr/bin/podman",),
    "conmon": ("usr/bin/conmon",),
    "uidmap": ("usr/bin/newuidmap", "usr/bin/newgidmap"),
    "golang-github-containers-common": ("usr/share/containers/seccomp.json",),
}
# Of the calls of regions: a signal, a fault of the compound or the like is made natively.
MIN_IN_KERNEL = 0.98
# Reads of read1 that `cosy run` serves: all but some thousand, if it serves any.
MIN_SERVED = 10000

Json = dict[str, Any]


def _mounts() -> list[Json]:
    return [
        {"destination": "/proc", "type": "proc", "source": "proc"},
        {
            "destination": "/dev",
            "type": "tmpfs",
            "source": "tmpfs",
            "options": ["nosuid", "strictatime", "mode=755", "size=65536k"],
        },
        {
            "destination": "/dev/shm",
            "type": "tmpfs",
            "source": "shm",
            "options": ["nosuid", "noexec", "nodev", "mode=1777", "size=65536k"],
        },
        {"destination": "/sys", "type": "sysfs", "source": "sysfs", "options": ["nosuid", "noexec", "nodev", "ro"]},
        {"destination": "/scratch", "type": "tmpfs", "source": "tmpfs", "options": ["nosuid", "nodev", "mode=1777"]},
    ]


def configuration(profile: str, kernel: str, device: bool) -> Json:
    """Returns an OCI config.json, as `docker run --device /dev/cosy` or podman's comes to it."""
    capabilities = seccomp_profile.capabilities(profile)
    # misc devices; container.sh knows the minor number.
    cosy = {"path": "/dev/cosy", "type": "c", "major": 10, "minor": "@MINOR@", "fileMode": 0o660, "uid": 0, "gid": 0}
    allowed = {"allow": True, "type": "c", "major": 10, "minor": "@MINOR@", "access": "rwm"}
    return {
        "ociVersion": "1.0.2",
        "process": {
            "terminal": False,
            "user": {"uid": 0, "gid": 0},
            "args": ["sh", "/t/container.sh", "inside"],
            "env": ["PATH=/t:/usr/bin", "HOME=/root", "LD_LIBRARY_PATH=@LD_LIBRARY_PATH@"],
            "cwd": "/",
            "capabilities": {name: capabilities for name in ("bounding", "effective", "permitted")},
            "noNewPrivileges": profile == "system-service",
        },
        "root": {"path": "rootfs", "readonly": True},
        "hostname": "container",
        "mounts": _mounts(),
        "linux": {
            "namespaces": [{"type": name} for name in ("pid", "ipc", "uts", "mount", "network", "cgroup")],
            "devices": [cosy] if device else [],
            "resources": {"devices": [{"allow": False, "access": "rwm"}, *([allowed] if device else [])]},
            "seccomp": seccomp_profile.PROFILES[profile](kernel),
        },
    }


def rootless_configuration(kernel: str, device: bool) -> Json:
    """Returns a config.json for a user without privileges, as rootless Podman comes to it.

    A user namespace gives no right to make devices or to rule over them, so the host's own is
    mounted, and the user's groups are kept, of which one may open it.
    """
    config = configuration("podman", kernel, False)
    config["annotations"] = {"run.oci.keep_original_groups": "1"}
    if device:
        bind = {"type": "bind", "source": "/dev/cosy", "options": ["bind", "nosuid", "noexec", "rw"]}
        config["mounts"].append({"destination": "/dev/cosy", **bind})
    ids = [
        {"containerID": 0, "hostID": 1000, "size": 1},
        {"containerID": 1, "hostID": 100000, "size": 65536},
    ]
    config["linux"]["namespaces"].append({"type": "user"})
    config["linux"] |= {"uidMappings": ids, "gidMappings": ids, "resources": {}}
    return config


def _tree(series: str, whole: bool, into: Path) -> None:
    """Copies the files that the examples are about: some of ours, or the kernel's headers."""
    if not whole:
        shutil.copytree(TREE / "include", into)
        return
    headers = kernels.find(series).root.glob("usr/src/linux-headers-*-common*/include/linux")
    shutil.copytree(next(headers), into, symlinks=True)


def _stage(options: argparse.Namespace, folder: Path) -> list[Path]:
    """Returns what is put into the guest, at /t by its names."""
    container, binaries = folder / "container", folder / "bin"
    container.mkdir()
    binaries.mkdir()
    _tree(options.kernel, options.whole, container / "tree")
    device = not options.no_device
    for name in set(options.profile) - {PODMAN}:
        config = (
            rootless_configuration(options.kernel, device)
            if name == ROOTLESS
            else configuration(name, options.kernel, device)
        )
        (container / f"{name}.json").write_text(json.dumps(config, indent=1))
    (container / "device").write_text("--device /dev/cosy\n" if device else "")
    for program in ("bin/cosy", "command/cosy-inspect"):
        shutil.copy2(options.build / program, binaries)
    crun = shutil.which("crun")
    if not crun:
        raise SetupError("crun is not installed")
    examples, beside = options.build / "examples", folder / "beside"
    for contender, into in (("plain", "plain"), ("COSY-FAST", "cosy")):
        (beside / into).mkdir(parents=True)
        for name in BESIDE:
            shutil.copy2(options.build / "bench/guest" / contender / name, beside / into)
    shutil.copy2(options.build / "lib/cosy/libcosy-run.so", beside)
    staged = [container, binaries, beside, examples / "plain", examples / "cosy", HERE / "container.sh", Path(crun)]
    if {ROOTLESS, PODMAN} & set(options.profile):
        files = PODMAN_FILES if PODMAN in options.profile else {"uidmap": PODMAN_FILES["uidmap"]}
        staged += [packages.unpacked(package) / file for package, names in files.items() for file in names]
    return staged


def _environment(options: argparse.Namespace) -> dict[str, str]:
    """Returns vm.py's environment: it looks for Podman's libraries where they are unpacked."""
    folders = [str(folder) for folder in packages.libraries("podman", "conmon")] if PODMAN in options.profile else []
    folders += [folder for folder in [os.environ.get("LD_LIBRARY_PATH", "")] if folder]
    return os.environ | ({"LD_LIBRARY_PATH": ":".join(folders)} if folders else {})


def _faults(profile: str, text: str) -> list[str]:
    """Returns whatever is not as it has to be in a container's output."""
    faults = []
    if "Seccomp:\t2" not in text:
        faults.append("no filter is armed")
    mapped = re.search(r"^ids 0 (\d+)", text, re.M)
    if not mapped or mapped[1] != ("1000" if profile in (ROOTLESS, PODMAN) else "0"):
        faults.append("it has not the user namespace that it should have")
    if "doctor 0" not in text:
        faults.append("cosy doctor finds fault")
    if not re.search(r"a seccomp filter is armed, and lets \d+ of \d+ calls", text):
        faults.append("cosy doctor does not tell what the filter lets through")
    listed = re.search(r"made natively[^:]*:\n((?: {11}.*\n)*)", text)
    natively = set(listed[1].split()) if listed else set()
    if not {"bpf", "kexec_load"} <= natively or natively & {"ioctl", "openat", "pread64", "newfstatat", "getdents64"}:
        faults.append(f"cosy doctor tells that these are made natively: {sorted(natively)}")
    if "ended 0" not in text:
        faults.append("the container failed")
    faults += re.findall(r"^differs .*", text, re.M)
    same = set(re.findall(r"^same (\w+)$", text, re.M))
    faults += [f"{name} did not come out the same" for name in {*EXAMPLES, *BESIDE, "tree", "served"} - same]
    served = re.search(r"^served (\d+)$", text, re.M)
    if not served or int(served[1]) < MIN_SERVED:
        faults.append(f"cosy run serves {served[1] if served else 'no'} reads")
    stats = dict(re.findall(r"^stats (\w+) .*stats: (.*)$", text, re.M))
    for name in (*EXAMPLES, *BESIDE):
        counts = {key: int(value) for key, value in re.findall(r"(\w+)=(\d+)", stats.get(name, ""))}
        kernel, natively = counts.get("kernel_calls", 0), counts.get("interp_calls", 0)
        print(
            f"container: {profile}: {name}: {kernel} calls in the kernel, {natively} natively, "
            f"{counts.get('filtered', 0)} times for the filter, {counts.get('native', 0)} native regions"
        )
        if kernel < MIN_IN_KERNEL * (kernel + natively) or not kernel:
            faults.append(f"{name}: {kernel} calls in the kernel, {natively} natively")
        if counts.get("native", 1) or counts.get("traced", 1):
            faults.append(f"{name}: {stats.get(name, 'no statistics')}")
    return [f"{profile}: {fault}" for fault in faults]


def _run(options: argparse.Namespace) -> int:
    with tempfile.TemporaryDirectory(prefix="cosy-container-") as name:
        command = [sys.executable, "-B", str(HERE / "vm.py"), "run", "--kernel", options.kernel]
        command += ["--smp", "2", "--mem", "1024", "--timeout", str(options.timeout)]
        for path in _stage(options, Path(name)):
            command += ["--put", str(path)]
        command += ["--", "sh", "/t/container.sh", *options.profile]
        done = subprocess.run(command, env=_environment(options), stdout=subprocess.PIPE, text=True, errors="replace")
    faults = [] if done.returncode == 0 else [f"the guest ended with status {done.returncode}"]
    printed = done.stdout.rpartition(qemu.AGAIN)[2]
    parts = re.split(r"^profile (\S+)$", printed, flags=re.M)
    for profile, text in zip(parts[1::2], parts[2::2], strict=True):
        faults += _faults(profile, text)
    faults += [f"{profile}: it did not run" for profile in set(options.profile) - set(parts[1::2])]
    if faults or options.verbose:
        print(printed)
    for fault in faults:
        print(f"container: FAILED: {fault}", file=sys.stderr)
    return 1 if faults else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=TREE / "build", help="the build tree")
    parser.add_argument("--kernel", default="6.12", metavar="SERIES")
    parser.add_argument("--profile", action="append", choices=CONTAINERS, help="default: each of them")
    parser.add_argument("--whole", action="store_true", help="the files of the demo: the kernel's headers")
    parser.add_argument("--no-device", action="store_true", help="without /dev/cosy, to see the test fail")
    parser.add_argument("--timeout", type=float, default=300, metavar="SECONDS")
    parser.add_argument("--verbose", action="store_true", help="what the guest prints, too")
    options = parser.parse_args()
    options.profile = options.profile or list(CONTAINERS)
    try:
        return _run(options)
    except SetupError as error:
        print(f"container: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
