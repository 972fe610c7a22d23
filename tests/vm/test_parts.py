# SPDX-License-Identifier: MIT
"""Tests the parts of the harness that need no machine."""

from __future__ import annotations

import io
import os
import subprocess
import tempfile
import unittest
import unittest.mock
from pathlib import Path

import cache
import cpio
import kernels
import klog
import qemu
import seccomp_profile

HARM = """\
[    2.3] BUG: kernel NULL pointer dereference, address: 0000000000000000
[    2.3] BUG kmalloc-64 (Tainted: G    B      OE     ): Right Redzone overwritten
[    2.3] kernel BUG at mm/slub.c:448!
[    2.3] WARNING: CPU: 0 PID: 145 at kmod/main.c:8 e+0x10/0xff0 [cosy]
[    2.3] Oops: 0000 [#1] PREEMPT SMP NOPTI
[    2.3] invalid opcode: 0000 [#1] PREEMPT SMP NOPTI
[    2.3] general protection fault, probably for non-canonical address 0xdead000000000100: 0000 [#1] PREEMPT SMP
[    2.3] Kernel panic - not syncing: Fatal exception
[    2.3] watchdog: BUG: soft lockup - CPU#0 stuck for 26s! [loop:99]
[    2.3] rcu: INFO: rcu_preempt self-detected stall on CPU
[    2.3] rcu: INFO: rcu_sched detected stalls on CPUs/tasks:
[    2.3] INFO: task cat:123 blocked for more than 120 seconds.
[    2.3] BUG: scheduling while atomic: cat/123/0x00000002
[    2.3] BUG: sleeping function called from invalid context at mm/page_alloc.c:1
[    2.3] WARNING: possible circular locking dependency detected
[    2.3] INFO: lockdep: possible recursive locking detected
[    2.3] WARNING: suspicious RCU usage
[    2.3] BUG: KASAN: slab-use-after-free in x+0x1/0x2
[    2.3] UBSAN: array-index-out-of-bounds in x.c:1:2
[    2.3] BUG: KFENCE: out-of-bounds read in x+0x1/0x2
[    2.3] kmemleak: 3 new suspected memory leaks (see /sys/kernel/debug/kmemleak)
[    2.3] list_del corruption. prev->next should be ffff, but was dead
[    2.3] refcount_t: underflow; use-after-free.
[    2.3] usercopy: Kernel memory exposure attempt detected from SLUB object
[    2.3] BUG: Bad page state in process cat  pfn:12345
[    2.3] BUG: Bad rss-counter state mm:00000000 type:MM_ANONPAGES val:1
[    2.3] FIX kmalloc-64: Restoring Right Redzone 0x1-0x2=0xcc
[    2.3] Slab cache with 1 corrupted object
"""

# By QEMU 7.2, of a guest that was switching a tracepoint off; a processor's code there is 0f 1f 44 00 00.
STALE = """\
[   95.1] Oops: int3: 0000 [#1] PREEMPT SMP NOPTI
[   95.1] CPU: 0 UID: 0 PID: 17 Comm: rcu_preempt Tainted: G           OE      6.12.117+deb12-cloud-amd64 #1
[   95.1] RIP: 0010:__schedule+0x339/0xbf0
[   95.1] Code: 0f 95 c2 e9 70 03 00 00 0f <1f> 44 00 00 48 8b 83 88 0a 00 00 49 39 c5 74 4e 83 bb a8
[   95.1] Kernel panic - not syncing: Fatal exception in interrupt
"""

NO_HARM = """\
[    2.2] cosy: loading out-of-tree module taints kernel.
[    2.2] cosy: module verification failed: signature and/or required key missing - tainting kernel
[    2.3] traps: prog[99] general protection fault ip:401000 sp:7ffe error:0 in prog[401000+1000]
[    2.3] prog[99]: segfault at 0 ip 0000000000401000 sp 00007ffe error 4 in prog[401000+1000]
[    2.3] traps: prog[99] trap invalid opcode ip:401000 sp:7ffe error:0 in prog[401000+1000]
[    2.3] clocksource: timekeeping watchdog on CPU0: Marking clocksource 'tsc' as unstable
[    2.3] Memory cgroup out of memory: Killed process 99 (prog) total-vm:1kB
[    2.4] EXT4-fs (vda): mounted filesystem with ordered data mode
[    2.4] random: crng init done
[    2.5] reboot: Power down
"""


class KernelLog(unittest.TestCase):
    def test_harm_is_seen_in_every_line(self) -> None:
        for line in HARM.splitlines():
            with self.subTest(line):
                self.assertEqual(klog.bad_lines(line), [line])

    def test_what_programs_do_to_themselves_is_no_harm(self) -> None:
        for line in NO_HARM.splitlines():
            with self.subTest(line):
                self.assertEqual(klog.bad_lines(line), [])

    def test_a_boot_that_was_merely_slow_is_no_harm(self) -> None:
        log = "rcu: INFO: rcu_preempt self-detected stall on CPU\n[    2.2] cosy guest: up\n"
        self.assertEqual(klog.bad_lines(log), [])
        self.assertEqual(klog.bad_lines(log + "BUG: x\n"), ["BUG: x"])

    def test_a_breakpoint_that_memory_no_longer_holds_is_the_emulators(self) -> None:
        self.assertTrue(klog.stale_breakpoint(STALE))
        self.assertFalse(klog.stale_breakpoint(STALE.replace("0f <1f>", "cc <1f>")), "one that is there")
        self.assertFalse(klog.stale_breakpoint(STALE.replace("00 0f <1f>", "cd 03 <1f>")), "one of two bytes")
        self.assertFalse(klog.stale_breakpoint("[   94.0] BUG: x\n" + STALE), "harm before it")
        self.assertFalse(klog.stale_breakpoint(STALE + "[   95.1] BUG: x\n"), "harm besides")
        self.assertTrue(klog.stale_breakpoint(STALE + STALE), "two processors")
        self.assertFalse(klog.stale_breakpoint(STALE + STALE.replace("0f <1f>", "cc <1f>")), "one of two is there")
        self.assertFalse(klog.stale_breakpoint(STALE.split("Code:")[0]), "nothing is known of the code")
        self.assertFalse(klog.stale_breakpoint(""))

    def test_only_our_data_races_are_harm(self) -> None:
        rule = "[    3.0] " + "=" * 66
        ours, theirs = "write_it+0x1/0x2 [cosy]", "fs_write+0x1/0x2"
        cases = [
            ((ours,), (theirs,), 1),
            ((theirs, ours), (ours, theirs), 1),
            ((theirs,), ("__find_nth_bit+0x1/0x2", ours), 1),
            ((theirs, ours), ("__find_nth_bit+0x1/0x2", theirs, ours), 0),
            ((theirs, ours), (theirs, ours), 0),
            ((theirs,), (theirs,), 0),
        ]
        for first, second, harm in cases:
            race = f"{rule}\n[    3.0] BUG: KCSAN: data-race in a / b\n"
            for frames in (first, second):
                race += "\n[    3.0] write to 0x1 of 4 bytes by task 1 on cpu 0:\n"
                race += "".join(f"[    3.0]  {frame}\n" for frame in frames)
            report = f"{race}\n[    3.0] value changed: 0x1 -> 0x2\n{rule}\n"
            with self.subTest((first, second)):
                self.assertEqual(len(klog.bad_lines(report + report)), 2 * harm)

    def test_excerpt_starts_before_the_first_bad_line(self) -> None:
        log = "\n".join([*map(str, range(100)), "WARNING: here", "after"])
        self.assertEqual(klog.excerpt(log).splitlines(), ["95", "96", "97", "98", "99", "WARNING: here", "after"])


class Verdict(unittest.TestCase):
    GOOD = {"load": "0", "run": "1", "exit": "3", "unload": "0", "end": ""}

    def verdict(self, log: str = "", timed_out: bool = False, **change: str | None) -> tuple[int, str]:
        reports = {key: value for key, value in (self.GOOD | change).items() if value is not None}
        return qemu.Outcome(log, reports, timed_out).verdict()

    def test_the_commands_own_status(self) -> None:
        self.assertEqual(self.verdict(), (3, ""))

    def test_a_module_that_stays_is_harm(self) -> None:
        self.assertEqual(self.verdict(unload="1")[0], qemu.HARMED)

    def test_a_module_that_does_not_load_is_not_the_commands_fault(self) -> None:
        self.assertEqual(self.verdict(load="1", run=None, exit=None, unload=None)[0], qemu.SETUP)

    def test_a_machine_that_vanishes_is_harm(self) -> None:
        self.assertEqual(self.verdict(exit=None, end=None)[0], qemu.HARMED)
        self.assertEqual(self.verdict(end=None)[0], qemu.HARMED)

    def test_a_hang_says_where(self) -> None:
        status, reason = self.verdict(timed_out=True, exit=None, end=None)
        self.assertEqual(status, qemu.HANG)
        self.assertIn("running the command", reason)

    def test_a_hang_of_a_harmed_kernel_is_harm(self) -> None:
        self.assertEqual(self.verdict("BUG: x", timed_out=True)[0], qemu.HARMED)


class Limits(unittest.TestCase):
    def test_time_passes_slower_on_a_busy_host(self) -> None:
        for share, over in ((1.0, True), (0.1, False)):
            with (
                unittest.mock.patch("qemu.time.monotonic", side_effect=[0, 50]),
                unittest.mock.patch("qemu._share", return_value=share),
            ):
                self.assertEqual(qemu.Clock(40).is_over(), over)

    def test_without_a_limit_there_is_no_end(self) -> None:
        with unittest.mock.patch("qemu.time.monotonic", side_effect=[0, 1e9]):
            self.assertFalse(qemu.Clock(0).is_over())

    def test_a_cache_keeps_the_newest_files(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            for age in (3, 1, 2):
                path = Path(name, str(age))
                path.write_bytes(b"x" * 100000)
                os.utime(path, (1000 - age, 1000 - age))
            cache.prune_to(Path(name), 250000)
            self.assertEqual(sorted(os.listdir(name)), ["1", "2"])


class Profile(unittest.TestCase):
    def resolved(self, rule: dict[str, object], capabilities: tuple[str, ...] = (), kernel: str = "6.1") -> bool:
        rule = {"names": ["bpf"], "action": "SCMP_ACT_ALLOW", "args": None, **rule}
        profile = {"defaultAction": "SCMP_ACT_ERRNO", "syscalls": [rule]}
        return bool(seccomp_profile.resolve(profile, list(capabilities), kernel)["syscalls"])

    def test_a_rule_holds_if_all_of_includes_does(self) -> None:
        both = {"includes": {"caps": ["CAP_BPF", "CAP_PERFMON"]}}
        self.assertTrue(self.resolved({}))
        self.assertFalse(self.resolved(both, ("CAP_BPF",)))
        self.assertTrue(self.resolved(both, ("CAP_BPF", "CAP_PERFMON", "CAP_CHOWN")))
        self.assertTrue(self.resolved({"includes": {"arches": ["amd64", "x32"]}}))
        self.assertFalse(self.resolved({"includes": {"arches": ["s390x"]}}))

    def test_a_rule_holds_unless_one_of_excludes_does(self) -> None:
        self.assertFalse(self.resolved({"excludes": {"caps": ["CAP_BPF", "CAP_CHOWN"]}}, ("CAP_BPF",)))
        self.assertTrue(self.resolved({"excludes": {"caps": ["CAP_BPF"]}}, ("CAP_CHOWN",)))
        self.assertFalse(self.resolved({"excludes": {"arches": ["amd64"]}}))

    def test_the_oldest_kernel(self) -> None:
        self.assertTrue(self.resolved({"includes": {"minKernel": "4.8"}}))
        self.assertTrue(self.resolved({"includes": {"minKernel": "6.1"}}))
        self.assertFalse(self.resolved({"includes": {"minKernel": "6.12"}}))

    def test_architectures_and_errors_are_kept(self) -> None:
        profile = {
            "defaultAction": "SCMP_ACT_ERRNO",
            "defaultErrnoRet": 38,
            "archMap": [{"architecture": "SCMP_ARCH_X86_64", "subArchitectures": ["SCMP_ARCH_X86"]}],
            "syscalls": [{"names": ["bpf"], "action": "SCMP_ACT_ERRNO", "errnoRet": 1}],
        }
        resolved = seccomp_profile.resolve(profile, [], "6.1")
        self.assertEqual(resolved["architectures"], ["SCMP_ARCH_X86_64", "SCMP_ARCH_X86"])
        self.assertEqual((resolved["defaultErrnoRet"], resolved["syscalls"][0]["errnoRet"]), (38, 1))

    def test_sets_are_expanded(self) -> None:
        text = "@outer\n    # Of two\n    @inner\n    write\n\n\x1b[0;1;39m@inner\x1b[0m\n    read\n"
        sets = seccomp_profile.sets_of(text)
        self.assertEqual(seccomp_profile.expanded(sets, "@outer"), {"read", "write"})


class Series(unittest.TestCase):
    def test_names_of_packages(self) -> None:
        names = {
            "6.1": ["6.1.0-56-cloud-amd64", "6.1.0-9-cloud-amd64"],
            "6.12": ["6.12.117+deb12-cloud-amd64", "6.12.43+deb13-cloud-amd64", "6.12.9+deb13.1-cloud-amd64"],
        }
        for series, releases in names.items():
            for release in releases:
                for other in names:
                    found = kernels.pattern(other).fullmatch(f"linux-image-{release}")
                    self.assertEqual(bool(found), other == series, release)
        for name in ("6.12.117+deb12-amd64", "6.12.117+deb12-cloud-amd64-unsigned", "6.12-cloud-amd64"):
            self.assertIsNone(kernels.pattern("6.12").fullmatch(f"linux-image-{name}"), name)

    def test_newest_is_by_number(self) -> None:
        releases = ["6.1.0-9-cloud-amd64", "6.1.0-56-cloud-amd64", "6.1.0-10-cloud-amd64"]
        self.assertEqual(max(releases, key=kernels.release_key), "6.1.0-56-cloud-amd64")


class Cpio(unittest.TestCase):
    def test_another_reader_agrees(self) -> None:
        out = io.BytesIO()
        archive = cpio.Archive(out)
        archive.file("a/b/file", b"content\0" * 3, 0o755)
        archive.file("a/b/file", b"a second one of the same name is ignored")
        archive.symlink("a/link", "b/file")
        archive.close()
        listing = subprocess.run(
            ["busybox", "cpio", "-itv"], input=out.getvalue(), capture_output=True, check=True
        ).stdout.decode()
        self.assertEqual(len(listing.splitlines()), 4, listing)
        self.assertRegex(listing, r"-rwxr-xr-x .*\b24\b.* a/b/file\n")
        self.assertRegex(listing, r"lrwxrwxrwx .* a/link -> b/file\n")


if __name__ == "__main__":
    unittest.main()
