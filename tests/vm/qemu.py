# SPDX-License-Identifier: MIT
"""Boots a guest under QEMU and tells how it ended."""

from __future__ import annotations

import contextlib
import functools
import os
import re
import selectors
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

import cache
import gdb as gdb_
import klog
from cache import SetupError

QEMU = "qemu-system-x86_64"
HANG, HARMED, SETUP = 124, 125, 126  # our own exit statuses

# A line of the output: what follows it is of another boot, since the last one failed by QEMU's own fault.
AGAIN = "vm: booting again"
BOOTS = 3  # at most

# Counted instructions stand for time.  With these features off and
# these parameters the cost ratios of system calls come closest to a real
# processor's: else every step of a `rep` counts as one instruction, and hardening
# dominates small calls.
_FAST_STRINGS = ("erms", "fsrm", "fsrs", "fzrm", "fsrc")
_ICOUNT_APPEND = "init_on_alloc=0 randomize_kstack_offset=off hardened_usercopy=off lsm=capability nokaslr"


@dataclass
class Machine:
    """The hardware of a guest and how long it may take."""

    image: Path
    initramfs: Path
    scratch: Path  # folder for logs
    timeout: float  # seconds, 0 = none
    memory: int = 512  # MB, besides the initramfs
    cpu: str = ""  # model, else all that QEMU can
    smp: int = 1
    icount: bool = False
    slow: bool = False  # an instruction takes 512 ns
    disk: Path | None = None
    drives: list[Path] = field(default_factory=list)  # further disks, as they are
    files: Path | None = None  # the disk that brings the files of a run, rather than the initramfs
    state: BinaryIO | None = None  # of such a machine that is ready for them: it is not booted
    append: str = ""
    further: list[str] = field(default_factory=list)  # arguments
    interactive: bool = False
    gdb: gdb_.Stub | None = None


@dataclass
class Outcome:
    """How a guest ended, or how far it is."""

    log: str  # the kernel's
    reports: dict[str, str] = field(default_factory=dict)  # see init.sh
    timed_out: bool = False

    def verdict(self) -> tuple[int, str]:
        """Returns our exit status, and the reason if it is not the command's own."""
        bad = klog.bad_lines(self.log)
        loaded = self.reports.get("load", "0")
        if bad:
            return HARMED, f"{len(bad)} bad lines in the kernel's log, the first: {bad[0].strip()}"
        if self.timed_out:
            where = {"exit": "going down", "run": "running the command"}
            at = next((where[step] for step in where if step in self.reports), "booting")
            return HANG, f"no end within the time limit; it was {at}"
        if loaded != "0":
            what = "cosy.ko" if loaded.isdigit() else loaded
            return SETUP, f"the guest could not load {what}"
        if self.reports.get("unload", "0") != "0":
            return HARMED, "cosy.ko could not be unloaded after every process was gone"
        if "exit" not in self.reports or "end" not in self.reports:
            return HARMED, "the guest went down without a report"
        return int(self.reports["exit"]), ""


def hardware(machine: Machine) -> list[str]:
    """Returns QEMU's arguments for all that the guest sees, except what differs between runs."""
    # no_timer_check: the check counts ticks, and a busy host may owe the guest some.
    append = "console=ttyS0 quiet panic=-1 oops=panic no_timer_check"
    cpu = machine.cpu or "max"
    if machine.smp > 1:
        # The kernel changes its own code while it boots, last to mark its clock stable and should the clock's
        # watchdog, on a busy host, call it unstable. QEMU before 8.1 translates without a lock on the page of
        # code, so that another processor may keep a breakpoint that is gone (Oops: int3 where memory holds
        # none). init.sh starts the others when that is over.
        append = f"{append} maxcpus=1 tsc=nowatchdog"
    if machine.icount:
        cpu, append = _icount_cpu(), f"{append} {_ICOUNT_APPEND}"
    arguments = ["-nodefaults", "-no-user-config", "-display", "none", "-no-reboot", "-accel", "tcg"]
    arguments += ["-cpu", cpu, "-m", str(machine.memory), "-smp", str(machine.smp)]
    arguments += ["-append", f"{append} {machine.append}".strip()]
    if machine.icount:
        arguments += ["-icount", "shift=0,sleep=off"]
    if machine.slow:
        arguments += ["-icount", "shift=9,sleep=off"]
    return arguments + machine.further


def arguments(machine: Machine) -> list[str]:
    """Returns the command that starts QEMU."""
    # setpriv: if we are killed, QEMU is, too.
    command = ["setpriv", "--pdeathsig", "KILL", QEMU, *hardware(machine)]
    command += ["-kernel", str(machine.image), "-initrd", str(machine.initramfs)]
    command += ["-serial", f"file:{machine.scratch}/log"]
    signals = "on" if machine.gdb else "off"
    command += ["-chardev", f"stdio,id=output,signal={signals}", "-serial", "chardev:output"]
    command += ["-serial", f"file:{machine.scratch}/reports"]
    if machine.disk:
        command += ["-drive", f"file={machine.disk},format=raw,if=virtio,cache=unsafe"]
    for drive in machine.drives:
        command += ["-drive", f"file={drive},format=raw,if=virtio,cache=unsafe"]
    if machine.files:
        # The last slot: other disks keep their names.
        command += ["-drive", f"file={machine.files},format=raw,if=none,id=files,cache=unsafe,readonly=on"]
        command += ["-device", "virtio-blk-pci,drive=files,serial=cosy-files,addr=1e"]
        # A kernel that has a driver for it (6.12, not 6.1) takes new random bytes when it is restored.
        command += ["-device", "vmgenid,guid=auto"]
    if machine.gdb:
        command += gdb_.arguments(machine.scratch)
    if machine.state:
        # Read to its end even if another run removes the file meanwhile.
        command += ["-incoming", f"exec:exec cat /proc/{os.getpid()}/fd/{machine.state.fileno()}"]
    return command


def _icount_cpu() -> str:
    known = set(cache.run([QEMU, "-cpu", "help"], "asking QEMU for its processors").split())
    return ",".join(["max"] + [f"-{name}" for name in _FAST_STRINGS if name in known])


def keeps_breakpoints(machine: Machine) -> bool:
    """Returns whether QEMU may execute a breakpoint that another processor has taken out of memory."""
    numbers = re.search(r"version (\d+)\.(\d+)", version())
    return machine.smp > 1 and bool(numbers) and (int(numbers[1]), int(numbers[2])) < (8, 1)


@functools.cache
def version() -> str:
    """Returns what QEMU says of its version."""
    return cache.run([QEMU, "--version"], "asking QEMU for its version").splitlines()[0]


class Clock:
    """Measures a limit in seconds of an idle host: while others wait for a processor, time passes slower."""

    def __init__(self, limit: float) -> None:
        self._left = limit or None
        self._at = time.monotonic()

    def is_over(self) -> bool:
        """Counts the time since the last call, which must not be long ago."""
        now = time.monotonic()
        if self._left is not None:
            self._left -= (now - self._at) * _share()
        self._at = now
        return self._left is not None and self._left <= 0


def _share() -> float:
    """Returns the part of a processor that each runnable thread of the host has."""
    runnable = int(Path("/proc/loadavg").read_text().split()[3].split("/")[0])
    return min(1.0, (os.cpu_count() or 1) / max(1, runnable))


def run(machine: Machine) -> Outcome:
    """Boots or restores, passes the output on as it comes, and waits for the end."""
    stdin = subprocess.PIPE if machine.state else subprocess.DEVNULL
    try:
        process = subprocess.Popen(
            arguments(machine),
            stdin=None if machine.interactive or machine.gdb else stdin,
            stdout=None if machine.interactive else subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
    except FileNotFoundError as error:
        raise SetupError(f"{error.filename} is not installed") from None
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    timed_out = False
    try:
        if process.stdin:
            # init.sh waits for a line.  QEMU may take the first bytes before it has restored the serial port.
            with contextlib.suppress(BrokenPipeError):
                process.stdin.write(b"\n" * 64)
                process.stdin.close()
        if machine.interactive:
            process.wait()
        else:
            timed_out = not _pass_on(process, machine.timeout, machine.gdb)
    finally:
        process.kill()
        process.wait()
    complaint = process.stderr.read().decode(errors="replace") if process.stderr else ""
    ended = outcome(machine, timed_out)
    if not ended.log and not ended.reports and process.returncode not in (0, -signal.SIGKILL):
        raise SetupError(f"{QEMU} did not start: {complaint.strip()}")
    return ended


def outcome(machine: Machine, timed_out: bool = False) -> Outcome:
    """Returns what a guest has logged and reported."""
    text = _text(machine.scratch / "reports")
    reports = dict(line.split(" ", 1) for line in text.splitlines() if " " in line)
    if "\nend" in "\n" + text:
        reports["end"] = ""
    return Outcome(_text(machine.scratch / "log"), reports, timed_out)


def _pass_on(process: subprocess.Popen[bytes], timeout: float, gdb: gdb_.Stub | None) -> bool:
    """Copies the output until its end; False when the time is up first."""
    assert process.stdout
    clock = Clock(timeout)
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while not clock.is_over():
            if gdb:
                gdb.poll()
            if selector.select(1):
                data = os.read(process.stdout.fileno(), 1 << 16)
                if not data:
                    process.wait()
                    return True
                sys.stdout.buffer.write(data)
                sys.stdout.buffer.flush()
    return False


def _text(path: Path) -> str:
    return path.read_text(errors="replace").replace("\r", "") if path.exists() else ""
