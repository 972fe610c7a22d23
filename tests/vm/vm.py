#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs programs in a virtual machine that has a Debian kernel and cosy.ko.

    vm.py run --kernel 6.12 --put build/prog -- prog argument
    vm.py shell			the same, interactively
    vm.py build --kernel 6.1	only cosy.ko; prints where it is
    vm.py fetch --kernel 6.1	only the kernel; prints where its packages are unpacked

run's exit status is the command's, or 124: it hung; 125: the kernel panicked, or its
log reports harm (the line is shown); 126: the machine could not be started.
Only packages of the host's own mirrors are fetched.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import cache
import disk
import gdb
import guest as guest_
import kernels
import klog
import module
import qemu
import scale
import snapshot
from cache import SetupError

# Guest seconds until nothing of the boot is still going on in the background;
# free under icount, where idle time passes at once.
_SETTLE = 3


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    for verb in ("run", "shell", "build", "fetch"):
        sub = verbs.add_parser(verb)
        sub.add_argument(
            "--kernel",
            default="6.12",
            metavar="SERIES",
            help="the newest Debian cloud kernel of this series; 6.12-kasan and 6.12-kcsan are built",
        )
        if verb == "fetch":
            continue
        sub.add_argument("--tree", type=Path, default=cache.TREE, help="where cosy.ko's sources are")
        if verb == "build":
            sub.add_argument("--check", action="store_true", help="compile again, under sparse and W=1")
            continue
        sub.add_argument("--user", default="root", choices=("root", "nobody"))
        sub.add_argument("--icount", action="store_true", help="the clock counts instructions, 1 ns each")
        sub.add_argument(
            "--slow", action="store_true", help="the clock advances 512 ns per instruction, so it ticks inside calls"
        )
        sub.add_argument("--cpu", default="", metavar="MODEL", help="QEMU's name of the processor")
        sub.add_argument("--smp", type=int, default=1, metavar="N")
        sub.add_argument("--mem", type=int, default=512, metavar="MB", help="besides the files put in")
        sub.add_argument("--disk", type=Path, metavar="DIR", help="mount a copy of this folder as /mnt")
        sub.add_argument("--disk-type", default="ext4", choices=disk.TYPES)
        sub.add_argument(
            "--disk-block", type=int, default=4096, choices=(1024, 2048, 4096), help="block size of ext4 in bytes"
        )
        sub.add_argument("--disk-features", default="", metavar="LIST", help="of ext4, as mke2fs -O takes them")
        sub.add_argument(
            "--drive", type=Path, action="append", default=[], metavar="FILE", help="a further disk, as it is"
        )
        sub.add_argument(
            "--load", action="append", default=[], metavar="MODULE", help="load one of the kernel's own modules"
        )
        sub.add_argument(
            "--append", action="append", default=[], metavar="STR", help="kernel parameters; cosy.NAME=VALUE"
        )
        sub.add_argument(
            "--put", type=Path, action="append", default=[], metavar="PATH", help="copy into /t, with its libraries"
        )
        sub.add_argument("--strip", action="store_true", help="leave debug information out of what is put in")
        sub.add_argument(
            "--module", type=Path, action="append", default=[], metavar="DIR", help="build another module into /t"
        )
        sub.add_argument("--env", action="append", default=[], metavar="NAME=VALUE")
        sub.add_argument("--qemu", action="append", default=[], metavar="ARGUMENTS", help="pass these to QEMU")
        sub.add_argument(
            "--timeout",
            type=float,
            default=300,
            metavar="SECONDS",
            help="limit for the whole run on an idle host, longer on a busy one and if COSY_SCALE=nightly; 0 = none",
        )
        sub.add_argument(
            "--gdb", action="store_true", help="wait for gdb before the command; symbols, no KASLR, no time limit"
        )
        sub.add_argument("--boot", action="store_true", help="do not restore a snapshot of a machine that is ready")
        sub.add_argument("--no-module", action="store_true", help="without cosy.ko")
        sub.add_argument("--keep", action="store_true", help="do not unload cosy.ko at the end")
        sub.add_argument("--log", type=Path, metavar="FILE", help="write the kernel's log there")
        sub.add_argument("command", nargs="*" if verb == "shell" else "+", metavar="COMMAND")
    return parser


def _guest(options: argparse.Namespace, kernel: kernels.Kernel, scratch: Path) -> guest_.Guest:
    """Returns what the guest contains and does."""
    tree = options.tree.resolve()
    built = None if options.no_module else module.stripped(module.build(kernel, tree))
    further = [module.build_other(kernel, folder.resolve(), scratch, tree) for folder in options.module]
    return guest_.Guest(
        kernel=kernel,
        command=options.command or ["sh"],
        module=built,
        user=options.user,
        put=options.put + further,
        strip=options.strip,
        disk=options.disk_type if options.disk else "",
        load=options.load,
        keep=options.keep,
        settle=_SETTLE if options.icount else 0,
        interactive=options.verb == "shell",
        environment=dict(setting.split("=", 1) for setting in (f"COSY_SCALE={scale.name()}", *options.env)),
    )


def _machine(options: argparse.Namespace, kernel: kernels.Kernel, scratch: Path) -> qemu.Machine:
    machine = qemu.Machine(
        image=kernel.image,
        initramfs=scratch / "initramfs",
        scratch=scratch,
        timeout=scale.limit(options.timeout),
        memory=options.mem,
        cpu=options.cpu,
        smp=options.smp,
        icount=options.icount,
        slow=options.slow,
        drives=options.drive,
        append=kernel.parameters_with(options.append),
        further=[word for words in options.qemu for word in words.split()],
        interactive=options.verb == "shell",
    )
    _make_disk(options, machine)
    return machine


def _make_disk(options: argparse.Namespace, machine: qemu.Machine) -> None:
    if options.disk:
        machine.disk = disk.make(
            options.disk, machine.scratch / "disk", options.disk_type, options.disk_block, options.disk_features
        )


def _boot(options: argparse.Namespace, guest: guest_.Guest, machine: qemu.Machine) -> qemu.Outcome:
    """Boots a machine that has its files from the beginning."""
    with open(machine.initramfs, "wb") as stream:
        guest_.write_base(guest, stream)
        guest_.write_files(guest, stream)
    machine.memory = options.mem + 3 * _megabytes(machine.initramfs)
    return _attempts(options, machine)


def _restore(options: argparse.Namespace, guest: guest_.Guest, machine: qemu.Machine) -> qemu.Outcome | None:
    """Restores a machine that is ready for its files.  Says why, and returns None, if that cannot be done."""
    guest = replace(guest, by_disk=True)
    machine = replace(machine, files=machine.scratch / "files")
    assert machine.files
    with open(machine.initramfs, "wb") as base, snapshot.writing(machine.files) as files:
        guest_.write_base(guest, base)
        guest_.write_files(guest, files)
    # The files are copied into memory.
    machine.memory = options.mem + 3 * _megabytes(machine.initramfs) + _megabytes(machine.files)
    try:
        with snapshot.state(machine) as machine.state:
            outcome = _attempts(options, machine)
        if "files" in outcome.reports:
            return outcome
        reason = klog.excerpt(outcome.log, 10).strip() or "the restored machine did not answer"
    except (snapshot.Unavailable, SetupError) as error:
        reason = str(error)
    snapshot.forget(machine)
    print(f"vm: {guest.kernel.release}: booting, since no snapshot could be restored: {reason}", file=sys.stderr)
    return None


def _megabytes(path: Path) -> int:
    return -(-path.stat().st_size >> 20)


def _attempts(options: argparse.Namespace, machine: qemu.Machine) -> qemu.Outcome:
    """Boots or restores a machine; once more if QEMU, and nobody else, was at fault."""
    for attempt in range(1, qemu.BOOTS + 1):
        outcome = qemu.run(machine)
        if machine.interactive or attempt == qemu.BOOTS:
            break
        if not klog.stale_breakpoint(outcome.log) or not qemu.keeps_breakpoints(machine):
            break
        print(qemu.AGAIN, flush=True)
        print(
            f"{klog.excerpt(outcome.log, 10)}\nvm: {machine.image.name}: QEMU executed a breakpoint that memory no "
            "longer held, a fault of its own before version 8.1; once more",
            file=sys.stderr,
            flush=True,
        )
        _make_disk(options, machine)
    return outcome


def _run(options: argparse.Namespace) -> int:
    if (options.icount or options.slow) and options.smp > 1:
        raise SetupError("--icount and --slow count one processor's instructions: --smp must be 1")
    if options.icount and options.slow:
        raise SetupError("--icount and --slow exclude each other: an instruction takes 1 ns or 512")
    if options.icount and options.cpu:
        raise SetupError("--icount has a processor of its own")
    kernel = kernels.find(options.kernel)
    with tempfile.TemporaryDirectory(prefix="cosy-vm-") as name:
        scratch = Path(name)
        guest = _guest(options, kernel, scratch)
        machine = _machine(options, kernel, scratch)
        outcome = None
        if options.gdb:
            machine.timeout = 0
            machine.append = f"{machine.append} nokaslr".strip()
            machine.gdb = gdb.Stub(scratch, None if options.no_module else module.build(kernel, options.tree.resolve()))
            guest.gdb = True
        if not (options.boot or options.gdb or options.icount or options.slow or options.qemu or machine.interactive):
            outcome = _restore(options, guest, machine)
        if outcome is None:
            outcome = _boot(options, guest, machine)
    if options.log:
        options.log.write_text(outcome.log)
    status, reason = outcome.verdict()
    if reason:
        print(f"{klog.excerpt(outcome.log)}\nvm: {kernel.release}: {reason}", file=sys.stderr)
    return status


def main() -> int:
    options = _parser().parse_args()
    try:
        if options.verb == "fetch":
            print(kernels.find(options.kernel).root)
            return 0
        if options.verb == "build":
            print(module.build(kernels.find(options.kernel), options.tree.resolve(), options.check))
            return 0
        return _run(options)
    except SetupError as error:
        print(f"vm: {error}", file=sys.stderr)
        return qemu.SETUP
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
