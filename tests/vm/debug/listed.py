# SPDX-License-Identifier: MIT
"""Machines of ctest's list: what tests boot with cosy.ko in the kernel that they are for, for another one."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

# Machines that do not go with instrumented kernels, and why.
LEFT_OUT = {
    "deny-apparmor": "the kernel is built without AppArmor",
    "deny-selinux": "the kernel is built without SELinux",
    "guest-short": "its programs are some of the machine guest",
    "guest-slub-debug": "as guest-short",
    "profile": "the kernel is built without BPF programs that trace (BPF_EVENTS)",
    "processor-mds": "the kernel is built without what it does against leaks by the processor",
    "processor-retbleed": "as processor-mds",
    "processor-tsa": "as processor-mds",
    "same-btrfs": "the kernel is built without btrfs",
}

# Tests of that list that are no machine for another kernel, and why.
NO_MACHINES = {
    "branches": "no machine: it reads the module's code",
    "container": "the kernel is built without cgroups' devices and the namespaces of IPC and names",
    "extable": "no machine: it reads the module's code",
    "fuzz": "the machine fuzz has more of it",
    "fuzz-corpus": "the machine fuzz begins with it",
    "fuzz-pressure": "not tried there: what KASAN keeps of freed memory counts, too",
    "kernel": "fetches the kernel",
    "module": "builds the module",
}
_UNFIT = {
    "--no-module": "without the module",
    "--icount": "counts instructions",
    "--slow": "has a slow clock",
}


def _tests(build: Path, kernel: str) -> dict[str, list[str]]:
    """Returns the command of each test of that kernel, by the test's name without vm- and kernel."""
    command = ["ctest", "--test-dir", build, "--show-only=json-v1"]
    listed = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    found = {}
    for test in listed["tests"]:
        if name := re.fullmatch(rf"vm-(.+)-{re.escape(kernel)}", test["name"]):
            found[name[1]] = test.get("command", [])
    return found


def machines(build: Path, kernel: str) -> tuple[dict[str, list[str]], dict[str, str]]:
    """Returns what follows `vm.py run --kernel KERNEL` in each test, and why the others have none, by name."""
    found, without = {}, {}
    for name, words in _tests(build, kernel).items():
        options = words[words.index("--kernel") + 2 :] if "--kernel" in words else []
        inside = options.index("--") if "--" in options else 0
        unfit = _UNFIT.keys() & set(options[:inside])
        if inside and any(word.endswith("/vm.py") for word in words) and not unfit:
            found[name] = options
        else:
            without[name] = _UNFIT[min(unfit)] if unfit else NO_MACHINES.get(name, "nobody knows why")
    return found, without
