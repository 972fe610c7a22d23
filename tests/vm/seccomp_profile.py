# SPDX-License-Identifier: MIT
"""Returns seccomp profiles that containers and services have by default, as the OCI run-time wants them.

Podman's and Docker's are JSON files of one format, taken from Debian packages.  Their engines
resolve them for the container before the OCI run-time sees them: a rule holds only if all of
`includes` does and nothing of `excludes`; both name architectures, capabilities that the
container has, and the oldest kernel.  resolve() does the same, by the rules of
github.com/containers/common/pkg/seccomp (setupSeccomp), which are moby's.

systemd has named sets of calls and expands them itself; system_service() asks `systemd-analyze
syscall-filter` for them.
"""

from __future__ import annotations

import json
import re
from typing import Any

import cache
import packages

Json = dict[str, Any]

ARCHITECTURE, OCI_ARCHITECTURE = "amd64", "SCMP_ARCH_X86_64"

# Capabilities of a container's root by default: containers-common's containers.conf, and
# moby's oci/caps/defaults.go.
PODMAN_CAPABILITIES = [
    "CAP_CHOWN",
    "CAP_DAC_OVERRIDE",
    "CAP_FOWNER",
    "CAP_FSETID",
    "CAP_KILL",
    "CAP_NET_BIND_SERVICE",
    "CAP_SETFCAP",
    "CAP_SETGID",
    "CAP_SETPCAP",
    "CAP_SETUID",
    "CAP_SYS_CHROOT",
]
DOCKER_CAPABILITIES = [*PODMAN_CAPABILITIES, "CAP_AUDIT_WRITE", "CAP_MKNOD", "CAP_NET_RAW"]


def _version(text: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", text)[:2]]


def _holds(rule: Json, capabilities: list[str], kernel: str) -> bool:
    """Returns whether a rule holds for this container."""
    includes, excludes = rule.get("includes") or {}, rule.get("excludes") or {}
    if ARCHITECTURE in excludes.get("arches", ()) or set(excludes.get("caps", ())) & set(capabilities):
        return False
    if "minKernel" in excludes and _version(kernel) >= _version(excludes["minKernel"]):
        return False
    if includes.get("arches") and ARCHITECTURE not in includes["arches"]:
        return False
    if "minKernel" in includes and _version(kernel) < _version(includes["minKernel"]):
        return False
    return set(includes.get("caps", ())) <= set(capabilities)


def resolve(profile: Json, capabilities: list[str], kernel: str) -> Json:
    """Returns an engine's profile as the `linux.seccomp` of an OCI config.json."""
    architectures = [OCI_ARCHITECTURE]
    for entry in profile.get("archMap", ()):
        if entry["architecture"] == OCI_ARCHITECTURE:
            architectures += entry.get("subArchitectures", [])
    rules = []
    for rule in profile["syscalls"]:
        if not _holds(rule, capabilities, kernel):
            continue
        names = rule.get("names") or [rule["name"]]
        resolved = {"names": names, "action": rule["action"], "args": rule.get("args") or []}
        if "errnoRet" in rule:
            resolved["errnoRet"] = rule["errnoRet"]
        rules.append(resolved)
    ret = {"defaultAction": profile["defaultAction"], "architectures": architectures, "syscalls": rules}
    if "defaultErrnoRet" in profile:
        ret["defaultErrnoRet"] = profile["defaultErrnoRet"]
    return ret


def podman(kernel: str) -> Json:
    """Returns what `podman run` gives a container, as root."""
    file = packages.unpacked("golang-github-containers-common") / "usr/share/containers/seccomp.json"
    return resolve(json.loads(file.read_text()), PODMAN_CAPABILITIES, kernel)


def docker(kernel: str) -> Json:
    """Returns what `docker run` gives a container."""
    folder = packages.unpacked("golang-github-docker-docker-dev") / "usr/share/gocode/src/github.com/docker/docker"
    return resolve(
        json.loads((folder / "profiles/seccomp/default.json").read_text()),
        DOCKER_CAPABILITIES,
        kernel,
    )


def sets_of(text: str) -> dict[str, list[str]]:
    """Returns the sets in the output of `systemd-analyze syscall-filter`, with their members."""
    sets: dict[str, list[str]] = {}
    members: list[str] = []
    for line in text.splitlines():
        line = re.sub(r"\x1b\[[0-9;]*m", "", line)
        word = line.strip()
        if not word or word.startswith("#"):
            continue
        if line.startswith("@"):
            members = sets.setdefault(word, [])
        else:
            members.append(word)
    return sets


def expanded(sets: dict[str, list[str]], name: str) -> set[str]:
    if not name.startswith("@"):
        return {name}
    return set().union(*(expanded(sets, member) for member in sets[name]))


def system_service(_kernel: str) -> Json:
    """Returns SystemCallFilter=@system-service with SystemCallErrorNumber=EPERM."""
    text = cache.run(["systemd-analyze", "--no-pager", "syscall-filter"], "asking systemd for its sets of calls")
    calls = sorted(expanded(sets_of(text), "@system-service"))
    rule = {"names": calls, "action": "SCMP_ACT_ALLOW", "args": []}
    return {
        "defaultAction": "SCMP_ACT_ERRNO",
        "defaultErrnoRet": 1,
        "architectures": [OCI_ARCHITECTURE],
        "syscalls": [rule],
    }


def capabilities(name: str) -> list[str]:
    return DOCKER_CAPABILITIES if name == "docker" else PODMAN_CAPABILITIES


# Profiles by their names in a test's output.
PROFILES = {"podman": podman, "docker": docker, "system-service": system_service}
