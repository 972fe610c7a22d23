# SPDX-License-Identifier: MIT
"""Tests the virtual machines themselves: what goes in, what comes out, the name of each end."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import cache
import qemu

VM = Path(__file__).resolve().parent / "vm.py"
KERNEL = os.environ.get("COSY_TEST_KERNEL", "6.12")

MODULE = """\
// SPDX-License-Identifier: GPL-2.0
#include <linux/module.h>
#include <linux/miscdevice.h>
#include <linux/fs.h>
static const struct file_operations fops = { .owner = THIS_MODULE };
static struct miscdevice device = { .minor = MISC_DYNAMIC_MINOR, .name = "cosy", .fops = &fops };
static int __init start(void) { return misc_register(&device); }
static void __exit stop(void) { misc_deregister(&device); %s }
module_init(start);
module_exit(stop);
MODULE_DESCRIPTION("stands for cosy.ko");
MODULE_LICENSE("GPL");
"""


def vm(
    *words: str | Path, module: bool = False, kernel: str = KERNEL, cache: Path | None = None
) -> subprocess.CompletedProcess[str]:
    options = [] if module else ["--no-module"]
    command = [sys.executable, "-B", VM, "run", "--kernel", kernel, *options, *words]
    environment = dict(os.environ, **({"COSY_CACHE": str(cache)} if cache else {}))
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, env=environment)


class Machine(unittest.TestCase):
    def setUp(self) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self.addCleanup(self._folder.cleanup)
        self.folder = Path(self._folder.name)

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path


class Ends(Machine):
    """Tests how a machine's end is told."""

    def test_a_hang_is_124(self) -> None:
        done = vm("--timeout", "10", "--", "sh", "-c", "echo started; sleep 1000")
        self.assertEqual((done.returncode, done.stdout), (124, "started\n"), done.stderr)
        self.assertIn("running the command", done.stderr)

    def test_a_panic_is_125_and_is_shown(self) -> None:
        done = vm("--", "sh", "-c", "echo c >/proc/sysrq-trigger")
        self.assertEqual(done.returncode, 125)
        self.assertIn("sysrq triggered crash", done.stderr)

    def test_a_bad_line_is_125_even_when_the_command_is_content(self) -> None:
        done = vm("--", "sh", "-c", "echo 'WARNING: something is wrong' >/dev/kmsg")
        self.assertEqual(done.returncode, 125)
        self.assertIn("WARNING: something is wrong", done.stderr)

    def test_a_fault_of_the_emulators_boots_again(self) -> None:
        lines = ("Oops: int3: 0000 [#1] PREEMPT SMP", "Code: 00 00 0f <1f> 44 00 00")
        command = ("--", "sh", "-c", "echo here; " + "; ".join(f"echo '{line}' >/dev/kmsg" for line in lines))
        done = vm("--smp", "2", *command)
        if qemu.keeps_breakpoints(qemu.Machine(Path(), Path(), Path(), 0, smp=2)):
            self.assertEqual((done.returncode, done.stdout), (125, "here\nvm: booting again\n" * 2 + "here\n"))
            self.assertEqual(done.stderr.count("a fault of its own"), 2, done.stderr)
        else:
            self.assertEqual((done.returncode, done.stdout), (125, "here\n"))
        done = vm(*command)
        self.assertEqual((done.returncode, done.stdout), (125, "here\n"), "one processor has nobody's breakpoint")

    def test_a_program_that_crashes_is_no_harm(self) -> None:
        done = vm("--", "sh", "-c", "sh -c 'kill -SEGV $$'; echo $?")
        self.assertEqual((done.returncode, done.stdout.splitlines()[-1:]), (0, ["139"]), done.stderr)

    def test_a_power_off_by_the_command_is_125(self) -> None:
        self.assertEqual(vm("--", "poweroff", "-f").returncode, 125)

    def test_an_unknown_series_says_what_was_tried(self) -> None:
        done = vm("--", "true", kernel="6.2")
        self.assertEqual((done.returncode, done.stdout), (126, ""))
        self.assertRegex(done.stderr, r"series 6\.2 could be had. Tried:\n\s+apt: no package")

    def test_a_missing_file_is_126(self) -> None:
        done = vm("--put", self.folder / "absent", "--", "true")
        self.assertEqual(done.returncode, 126)
        self.assertIn("absent: no such file", done.stderr)


class Snapshots(Machine):
    """Tests that a restored machine is as good as one that was booted."""

    def setUp(self) -> None:
        super().setUp()
        # A cache without snapshots, which has the kernels of the other.
        self.cache = self.folder / "cache"
        self.cache.mkdir()
        for name in ("kernels", "resolved", "locks"):
            (self.cache / name).symlink_to(cache.directory(name))

    def states(self) -> list[Path]:
        return sorted((self.cache / "snapshots").iterdir())

    def test_each_run_has_its_own_files_log_disk_and_random_bytes(self) -> None:
        self.write("disk/file", "on the disk\n")
        outputs = []
        for number in ("one", "two"):
            self.write("data", number)
            script = "cat /t/data; cat /mnt/file; echo new >/mnt/file; ls -A /tmp; date +%s"
            script += "; echo 'WARNING: harm' >/dev/kmsg" if number == "one" else ""
            words = ("--disk", self.folder / "disk", "--put", self.folder / "data", "--", "sh", "-c", script)
            done = vm(*words, cache=self.cache)
            self.assertEqual(done.returncode, 125 if number == "one" else 0, done.stderr)
            outputs.append(done.stdout.splitlines())
            self.assertLess(abs(int(outputs[-1].pop()) - time.time()), 3600)
            self.assertEqual(len(self.states()), 1, done.stderr)
        self.assertEqual(outputs, [["oneon the disk"], ["twoon the disk"]])

    def test_one_that_cannot_be_restored_is_booted_and_says_why(self) -> None:
        self.assertEqual(vm("--", "true", cache=self.cache).stderr, "")
        (state,) = self.states()
        state.write_bytes(state.read_bytes()[: 1 << 20])
        done = vm("--", "echo", "here", cache=self.cache)
        self.assertEqual((done.returncode, done.stdout), (0, "here\n"), done.stderr)
        self.assertIn("booting, since no snapshot could be restored", done.stderr)
        self.assertEqual(self.states(), [], "it is not tried again")

    def test_two_at_once_take_one_snapshot(self) -> None:
        with ThreadPoolExecutor(2) as pool:
            runs = list(pool.map(lambda n: vm("--", "echo", str(n), cache=self.cache), (1, 2)))
        self.assertEqual([(run.returncode, run.stdout) for run in runs], [(0, "1\n"), (0, "2\n")])
        self.assertEqual(len(self.states()), 1)

    def test_other_hardware_and_parameters_have_other_snapshots(self) -> None:
        for number, options in enumerate(((), ("--smp", "2"), ("--append", "quiet"), ("--smp", "2"))):
            self.assertEqual(vm(*options, "--", "true", cache=self.cache).returncode, 0)
            self.assertEqual(len(self.states()), min(number + 1, 3))


class Contents(Machine):
    """Tests the bytes that go in, and those that come out."""

    def test_output_and_status_are_the_commands(self) -> None:
        done = vm("--", "sh", "-c", "echo to stdout; echo to stderr >&2; uname -r; exit 41")
        self.assertEqual(done.returncode, 41, done.stderr)
        self.assertRegex(done.stdout, rf"\Ato stdout\nto stderr\n{KERNEL}\.\S+\n\Z")

    def test_processors_start_when_the_kernel_has_booted(self) -> None:
        look = "cat /sys/devices/system/cpu/online; grep -o 'maxcpus=.' /proc/cmdline"
        done = vm("--smp", "3", "--", "sh", "-c", look)
        self.assertEqual((done.returncode, done.stdout), (0, "0-2\nmaxcpus=1\n"), done.stderr)

    def test_words_arrive_as_they_are(self) -> None:
        done = vm("--", "printf", "%s|", "a b", "$HOME", "it's", '"', "")
        self.assertEqual(done.stdout, "a b|$HOME|it's|\"||", done.stderr)

    def test_put_brings_folders_and_libraries(self) -> None:
        self.write("lib/answer.c", "int answer(void) { return 42; }\n")
        self.write("ask.c", "int answer(void);\nint main(void) { return answer(); }\n")
        library = self.folder / "lib/libanswer.so"
        subprocess.run(["cc", "-shared", "-fPIC", "-o", library, self.folder / "lib/answer.c"], check=True)
        link = [f"-L{library.parent}", "-lanswer"]
        for name, how in (
            ("path", [library]),
            ("absolute", [*link, f"-Wl,-rpath,{library.parent}"]),
            ("origin", [*link, "-Wl,-rpath,$ORIGIN/lib"]),
        ):
            subprocess.run(["cc", "-o", self.folder / name, self.folder / "ask.c", *how], check=True)
        self.write("data/sub/file", "deep\n")
        (self.folder / "data/link").symlink_to("sub/file")
        puts = [word for name in ("path", "absolute", "origin", "data") for word in ("--put", self.folder / name)]
        script = "cat data/link; for p in path absolute origin; do $p; echo $?; done"
        done = vm(*puts, "--", "sh", "-c", script)
        self.assertEqual(done.stdout, "deep\n42\n42\n42\n", done.stderr)

    def test_disk_is_a_writable_copy(self) -> None:
        self.write("disk/sub/file", "kept\n")
        script = "cat /mnt/sub/file; echo new >/mnt/sub/file; cat /mnt/sub/file; grep -c ' /mnt ext4 ' /proc/mounts"
        done = vm("--disk", self.folder / "disk", "--disk-block", "2048", "--", "sh", "-c", script)
        self.assertEqual(done.stdout, "kept\nnew\n1\n", done.stderr)
        self.assertEqual((self.folder / "disk/sub/file").read_text(), "kept\n")

    def test_disk_of_another_type_and_a_module_asked_for(self) -> None:
        self.write("disk/file", "kept\n")
        script = "cat /mnt/file; grep -c ' /mnt btrfs ' /proc/mounts; grep -c overlay /proc/filesystems"
        done = vm("--disk", self.folder / "disk", "--disk-type", "btrfs", "--load", "overlay", "--", "sh", "-c", script)
        self.assertEqual(done.stdout, "kept\n1\n1\n", done.stderr)

    def test_counted_instructions_repeat(self) -> None:
        program = """\
        #include <stdio.h>
        #include <time.h>
        #include <unistd.h>
        #include <sys/syscall.h>
        static long now(void)
        {
            struct timespec t;
            clock_gettime(CLOCK_MONOTONIC, &t);
            return t.tv_sec * 1000000000L + t.tv_nsec;
        }
        int main(void)
        {
            long least = 1L << 60;
            for (int i = 0; i < 20; i++) {
                long start = now();
                for (int j = 0; j < 100; j++)
                    syscall(SYS_getpid);
                long spent = now() - start;
                least = spent < least ? spent : least;
            }
            printf("%ld\\n", least);
        }
        """
        source = self.write("count.c", program)
        subprocess.run(["cc", "-O2", "-o", self.folder / "count", source], check=True)
        runs = [vm("--icount", "--put", self.folder / "count", "--", "count") for _ in range(2)]
        self.assertEqual([run.returncode for run in runs], [0, 0], runs[0].stderr)
        self.assertGreater(int(runs[0].stdout), 100)
        self.assertEqual(runs[0].stdout, runs[1].stdout)

    def test_machines_do_not_disturb_each_other(self) -> None:
        with ThreadPoolExecutor(2) as pool:
            runs = list(pool.map(lambda n: vm("--", "sh", "-c", f"sleep 1; echo {n}; exit {n}"), (1, 2)))
        self.assertEqual([(run.returncode, run.stdout) for run in runs], [(1, "1\n"), (2, "2\n")])


class Module(Machine):
    """Tests how cosy.ko goes in and out."""

    def tree(self, at_exit: str = "") -> Path:
        """Makes a tree with a module that stands for cosy.ko."""
        self.write("tree/kmod/main.c", MODULE % at_exit)
        self.write("tree/kmod/Kbuild", "obj-m := cosy.o\ncosy-y := main.o\n")
        return self.folder / "tree"

    def test_the_module_is_built_loaded_usable_and_unloaded(self) -> None:
        script = "grep -c '^cosy ' /proc/modules; stat -c '%a %U:%G' /dev/cosy; id -un; : </dev/cosy && echo open"
        done = vm("--tree", self.tree(), "--user", "nobody", "--", "sh", "-c", script, module=True)
        self.assertEqual((done.returncode, done.stdout), (0, "1\n660 root:cosy\nnobody\nopen\n"), done.stderr)

    def test_harm_at_unloading_is_125(self) -> None:
        done = vm("--tree", self.tree("WARN_ON(1);"), "--", "true", module=True)
        self.assertEqual(done.returncode, 125)
        self.assertIn("WARNING: ", done.stderr)

    def test_a_process_left_behind_does_not_keep_the_module(self) -> None:
        done = vm("--tree", self.tree(), "--", "sh", "-c", "sleep 1000 </dev/cosy & :", module=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_a_module_that_cannot_be_unloaded_is_125(self) -> None:
        tree = self.tree()
        main = tree / "kmod/main.c"
        main.write_text(main.read_text().replace("{ return misc", "{ __module_get(THIS_MODULE); return misc"))
        done = vm("--tree", tree, "--", "true", module=True)
        self.assertEqual(done.returncode, 125)
        self.assertIn("could not be unloaded", done.stderr)
        self.assertEqual(vm("--keep", "--tree", tree, "--", "true", module=True).returncode, 0)

    def test_a_module_that_does_not_build_shows_the_compilers_words(self) -> None:
        tree = self.tree("no_such_function();")
        done = vm("--tree", tree, "--", "true", module=True)
        self.assertEqual(done.returncode, 126)
        self.assertIn("no_such_function", done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
