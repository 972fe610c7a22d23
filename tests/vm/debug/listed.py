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
    "guest-slub-debug": "its programs are some of the machine guest",
    "profile": "the kernel is built without what BPF programs attach to (fentry)",
    "processor-mds": "the kernel is built without what it does against leaks by the processor",
    "processor-retbleed": "as processor-mds",
    "processor-tsa": "as processor-mds",
    "same-btrfs": "the kernel is built without btrfs",
}


def machines(build: Path, kernel: str) -> dict[str, list[str]]:
    """Returns what follows `vm.py run --kernel KERNEL` in each test, by the test's name without vm- and kernel.

    Tests without cosy.ko are not among them, nor those that count instructions or have a slow clock.
    """
    command = ["ctest", "--test-dir", build, "--show-only=json-v1"]
    listed = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    found = {}
    for test in listed["tests"]:
        name = re.fullmatch(rf"vm-(.+)-{re.escape(kernel)}", test["name"])
        words = test.get("command", [])
        if not name or not [word for word in words if word.endswith("/vm.py")]:
            continue
        options = words[words.index("--kernel") + 2 :] if "--kernel" in words else []
        inside = options.index("--") if "--" in options else 0
        if inside and not {"--no-module", "--icount", "--slow"} & set(options[:inside]):
            found[name[1]] = options
    return found
