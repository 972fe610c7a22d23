# SPDX-License-Identifier: MIT
"""Restores machines that are ready for a command, instead of booting each.

A machine is booted once with its base (guest.py), until init.sh waits for the files of a run. QEMU writes
its state to a file in the cache. A run restores that state, 0.3 seconds rather than 3 to 7, and its disk
brings the files. Nothing of one run reaches another: each has its own QEMU, its own disks, and its own
part of the kernel's log.

The name of a state is a digest of all that it depends on: QEMU's version, the hardware, the kernel, its
parameters and the base, which contains cosy.ko. Machines whose time is counted instructions are booted:
when a disk answers is a matter of the host's time.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shlex
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

import cache
import klog
import qemu

BLOCK = 1 << 16  # bytes; of the header, and of the archive's pieces
_STEP = 64 << 20  # bytes; the disk that brings the files is as large as a multiple: a state is for one size
_BOOT = 180  # seconds of an idle host that a boot may take, on any kernel
_KEPT = 4 << 30  # bytes of states that stay in the cache


class Unavailable(Exception):
    """There is no state to restore; says why."""


@contextlib.contextmanager
def writing(path: Path) -> Iterator[BinaryIO]:
    """Makes a disk of the archive that is written to the stream."""
    with open(path, "wb") as stream:
        stream.seek(BLOCK)
        yield stream
        blocks = -(-(stream.tell() - BLOCK) // BLOCK)
        stream.seek(0)
        stream.write(f"{blocks} {time.time():.0f} {os.urandom(64).hex()}\n".encode())
    os.truncate(path, -(-path.stat().st_size // _STEP) * _STEP)


@contextlib.contextmanager
def state(machine: qemu.Machine) -> Iterator[BinaryIO]:
    """Opens the state of such a machine.  Takes it now unless that was done before."""
    path = _path(machine)
    with cache.locked(f"snapshot-{path.stem[:2]}"):
        if not path.exists():
            _take(machine, path)
            cache.prune_to(path.parent, _KEPT)
        os.utime(path)
        descriptor = os.open(path, os.O_RDONLY)
    with open(descriptor, "rb") as stream:
        yield stream


def forget(machine: qemu.Machine) -> None:
    """Removes the state of such a machine, which could not be restored."""
    _path(machine).unlink(missing_ok=True)


def _path(machine: qemu.Machine) -> Path:
    disks = [path.stat().st_size for path in (machine.files, machine.disk, *machine.drives) if path]
    digest = hashlib.sha256(json.dumps([qemu.version(), qemu.hardware(machine), disks]).encode())
    for path in (machine.image, machine.initramfs):
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return cache.directory("snapshots") / f"{digest.hexdigest()[:32]}.state"


def _take(machine: qemu.Machine, path: Path) -> None:
    """Boots a machine with empty disks of the same sizes, and writes its state once it is ready."""
    with tempfile.TemporaryDirectory(prefix="cosy-vm-") as name:
        scratch = Path(name)
        empty = replace(
            machine,
            scratch=scratch,
            files=_empty(machine.files, scratch / "files"),
            disk=_empty(machine.disk, scratch / "disk"),
            drives=[drive for n, old in enumerate(machine.drives) if (drive := _empty(old, scratch / f"drive{n}"))],
        )
        monitor = scratch / "monitor"
        command = [*qemu.arguments(empty), "-qmp", f"unix:{monitor},server=on,wait=off"]
        with (
            open(scratch / "said", "wb") as said,
            subprocess.Popen(command, stdin=subprocess.PIPE, stdout=said, stderr=said) as process,
        ):
            try:
                _until_ready(process, empty)
                _save(monitor, path)
            finally:
                process.kill()


def _empty(disk: Path | None, at: Path) -> Path | None:
    """Makes an empty disk of the same size."""
    if disk is None:
        return None
    at.touch()
    os.truncate(at, disk.stat().st_size)
    return at


def _until_ready(process: subprocess.Popen[bytes], machine: qemu.Machine) -> None:
    """Waits until init.sh waits for files."""
    clock = qemu.Clock(_BOOT)
    while "ready" not in (outcome := qemu.outcome(machine)).reports:
        if process.poll() is not None or clock.is_over():
            end = "did not get ready in time" if process.poll() is None else "ended before it was ready"
            raise Unavailable(f"it {end}")
        time.sleep(0.05)
    if bad := klog.bad_lines(outcome.log):
        raise Unavailable(f"the kernel's log has a bad line: {bad[0].strip()}")


def _save(monitor: Path, path: Path) -> None:
    """Writes the state of a machine while it runs: one that is stopped would be stopped when it is restored."""
    partial = path.with_suffix(f".{os.getpid()}")
    with contextlib.closing(socket.socket(socket.AF_UNIX)) as connection, connection.makefile("rw") as stream:
        connection.connect(str(monitor))
        stream.readline()

        def execute(command: str, **arguments: Any) -> Any:
            stream.write(json.dumps({"execute": command, "arguments": arguments}) + "\n")
            stream.flush()
            while True:
                answer = json.loads(stream.readline() or '{"error": {"desc": "QEMU ended"}}')
                if "error" in answer:
                    raise Unavailable(f"QEMU's {command}: {answer['error']['desc']}")
                if "return" in answer:
                    return answer["return"]

        try:
            execute("qmp_capabilities")
            execute("migrate-set-parameters", **{"max-bandwidth": 1 << 40})
            execute("migrate", uri=f"exec:exec cat >{shlex.quote(str(partial))}")
            while (status := execute("query-migrate").get("status")) != "completed":
                if status in ("failed", "cancelled"):
                    raise Unavailable("QEMU could not write its state")
                time.sleep(0.02)
            os.rename(partial, path)
        finally:
            partial.unlink(missing_ok=True)
