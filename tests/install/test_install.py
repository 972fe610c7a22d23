# SPDX-License-Identifier: MIT
"""Installs into a scratch folder and uses what is there the way a user would."""

from __future__ import annotations

import grp
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
VM = HERE.parent / "vm/vm.py"
BUILD = Path(os.environ["COSY_BUILD"])
PREFIX = os.environ["COSY_PREFIX"].strip("/")
VERSION = os.environ["COSY_VERSION"]
KERNEL = os.environ["COSY_TEST_KERNEL"]


def run(*command: str | Path, env: dict[str, str] | None = None) -> str:
    done = subprocess.run(
        command, env=os.environ | (env or {}), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    if done.returncode:
        raise AssertionError(f"{' '.join(map(str, command))}: exit status {done.returncode}\n{done.stdout}")
    return done.stdout


class Installed(unittest.TestCase):
    root: Path
    prefix: Path
    source: Path

    @classmethod
    def setUpClass(cls) -> None:
        folder = tempfile.TemporaryDirectory(prefix="cosy-install-")
        cls.addClassCleanup(folder.cleanup)
        cls.root = Path(folder.name)
        run("cmake", "--install", BUILD, env={"DESTDIR": str(cls.root)})
        files = (path for path in cls.root.rglob("*") if path.is_symlink() or not path.is_dir())
        cls.installed = sorted(f"/{path.relative_to(cls.root)}" for path in files)
        cls.prefix = cls.root / PREFIX
        system = cls.root / "usr" if PREFIX in ("usr", "usr/local") else cls.prefix
        cls.source = system / f"src/cosy-{VERSION}"

    def pkg_config(self, *words: str) -> list[str]:
        folder = next(self.prefix.rglob("cosy.pc")).parent
        env = {"PKG_CONFIG_PATH": str(folder), "PKG_CONFIG_SYSROOT_DIR": str(self.root)}
        return run("pkg-config", *words, "cosy", env=env).split()

    def library_path(self) -> dict[str, str]:
        return {"LD_LIBRARY_PATH": str(next(self.prefix.rglob("libcosy.so")).parent)}

    def test_a_program_builds_and_runs_against_the_library(self) -> None:
        self.assertEqual(self.pkg_config("--modversion"), [VERSION])
        program = self.root / "consumer"
        run(os.environ.get("CC", "cc"), HERE / "consumer.c", "-o", program, *self.pkg_config("--cflags", "--libs"))
        self.assertIn("100 calls\n", run(program, env=self.library_path()))

    def test_a_compound_is_built_with_the_installed_headers(self) -> None:
        program = self.root / "builder"
        run(os.environ.get("CC", "cc"), HERE / "builder.c", "-o", program, *self.pkg_config("--cflags", "--libs"))
        self.assertEqual("10 loops, process right\n", run(program, env=self.library_path()))

    def test_the_static_library_stands_alone(self) -> None:
        program = self.root / "static"
        archive = next(self.prefix.rglob("libcosy.a"))
        run(os.environ.get("CC", "cc"), HERE / "builder.c", "-o", program, *self.pkg_config("--cflags"), archive)
        self.assertNotIn("libcosy", run("readelf", "-d", program))
        self.assertEqual("10 loops, process right\n", run(program))

    def test_the_headers_suit_cxx(self) -> None:
        source = self.root / "consumer.cpp"
        source.write_text(
            "#include <cosy/builder.h>\n#include <cosy/fast.h>\n#include <linux/cosy.h>\n"
            "int main() { cosy_free(cosy_malloc(1)); return cosy_count(\"cosy\", 4, 'y') != 1; }\n"
        )
        run("c++", "-Wall", "-Werror", source, "-o", self.root / "cxx", *self.pkg_config("--cflags", "--libs"))
        run(self.root / "cxx", env=self.library_path())

    def test_cosycc_needs_nothing_but_the_installation(self) -> None:
        program = self.root / "marked"
        said = run(self.prefix / "bin/cosycc", "-O2", "-Rcosy", HERE / "consumer.c", "-o", program)
        self.assertIn("consumer.c", said)
        self.assertIn("100 calls\n", run(program, env=self.library_path()))
        self.assertNotIn(str(BUILD), run("readelf", "-d", program))

    def test_the_manifest_names_every_file(self) -> None:
        """Checks that what docs/use/install.md removes to uninstall is all that was installed."""
        named = set((Path(BUILD) / "install_manifest.txt").read_text().splitlines())
        self.assertEqual(self.installed, sorted(named))

    def test_the_tool_is_there(self) -> None:
        self.assertIn("doctor", run(self.prefix / "bin/cosy", "--help", env=self.library_path()))

    def test_cosy_profile_is_found(self) -> None:
        self.assertIn(
            "usage: cosy profile", run(self.prefix / "bin/cosy", "profile", "--help", env=self.library_path())
        )

    @unittest.skipUnless(os.geteuid() == 0, "only root gives capabilities")
    def test_a_group_is_permitted_to_observe(self) -> None:
        """Checks the one command that docs/use/profiling.md names, and that it can be taken back."""
        permit = self.prefix / "sbin/cosy-observe-permit"
        helper = next(self.prefix.rglob("cosy-observe"))
        group = grp.getgrgid(1)

        def state() -> tuple[int, int, str]:
            found = helper.stat()
            return found.st_gid, found.st_mode & 0o7777, run("getcap", helper).partition(" ")[2].strip()

        before = state()
        self.assertIn(f"Members of group {group.gr_name}", run(permit, group.gr_name))
        self.assertEqual(state(), (group.gr_gid, 0o750, "cap_perfmon,cap_bpf=ep"))
        run(permit, "--revoke")
        self.assertEqual(state(), (0, 0o755, ""))
        self.assertEqual(state(), before)
        with self.assertRaisesRegex(AssertionError, "there is no group cosy-nobody"):
            run(permit, "cosy-nobody")
        self.assertEqual(state(), before)

    def test_cosy_run_finds_its_library(self) -> None:
        said = run(self.prefix / "bin/cosy", "run", "--", "sh", "-c", 'echo "$LD_PRELOAD"')
        self.assertTrue(said.startswith(str(self.prefix)), said)

    def test_what_the_tool_starts_is_found(self) -> None:
        """The doctor is a program of its own, and finds the same library."""
        said = subprocess.run([self.prefix / "bin/cosy", "doctor"], stdout=subprocess.PIPE, text=True).stdout
        self.assertIn("`cosy run` works here", said)
        self.assertIn("FILE...", run(self.prefix / "bin/cosy", "dis", "--help"))

    def test_the_lease_daemon_is_a_service(self) -> None:
        units = self.source.parents[1] / "lib/systemd/system"
        service = (units / "cosyd.service").read_text()
        daemon = service.split("ExecStart=")[1].splitlines()[0]
        self.assertEqual(f"cosyd {VERSION}\n", run(self.root / daemon.strip("/"), "--version"))
        self.assertTrue(list(self.prefix.rglob("man8/cosyd.8")))
        if not shutil.which("systemd-analyze"):
            self.skipTest("systemd-analyze is not installed")
        # The units look for the program and the manual where they will be.
        for unit in ("cosyd.service", "cosyd.socket"):
            text = (units / unit).read_text().replace(f"ExecStart={daemon}", "ExecStart=/bin/true")
            (self.root / unit).write_text(text.replace("Documentation=man:cosyd(8)\n", ""))
        run("systemd-analyze", "verify", self.root / "cosyd.service", self.root / "cosyd.socket")

    def test_dkms_builds_the_module(self) -> None:
        """Checks that the installed source is complete, and that what dkms makes of it loads."""
        kernel = Path(run(sys.executable, "-B", VM, "fetch", "--kernel", KERNEL).splitlines()[-1])
        if not shutil.which("dkms"):
            self.fail("dkms is not installed")
        (self.root / "dkms").mkdir()
        run(
            *("dkms", "build", f"cosy/{VERSION}", "-k", kernel.name),
            *("--kernelsourcedir", kernel / f"usr/src/linux-headers-{kernel.name}"),
            *("--dkmstree", self.root / "dkms", "--sourcetree", self.source.parent),
        )
        built = next((self.root / "dkms").rglob("cosy.ko*"))
        if built.suffix == ".xz":
            run("unxz", built)
        vm = (sys.executable, "-B", VM, "run", "--kernel", KERNEL, "--no-module", "--put", built.with_suffix(".ko"))
        run(*vm, "--", "sh", "-c", "insmod /t/cosy.ko && test -c /dev/cosy && rmmod cosy")

    def test_the_device_is_for_its_group(self) -> None:
        rule = (self.source.parents[1] / "lib/udev/rules.d/60-cosy.rules").read_text()
        self.assertIn('GROUP="cosy", MODE="0660"', rule)
        self.assertRegex((self.source.parents[1] / "lib/sysusers.d/cosy.conf").read_text(), r"(?m)^g +cosy +-$")

    def test_public_folders_hold_what_is_public(self) -> None:
        """Checks that preloaded libraries lie apart, and that the kernel's folder of headers is left alone."""
        public = {path.name for path in next(self.prefix.rglob("libcosy.so")).parent.iterdir() if ".so" in path.name}
        self.assertEqual(public, {"libcosy.so", "libcosy.so.0", f"libcosy.so.{VERSION}"})
        self.assertFalse((self.prefix / "include/linux").exists())

    def test_each_header_compiles_alone(self) -> None:
        headers = [path.relative_to(self.prefix / "include") for path in (self.prefix / "include/cosy").glob("*.h")]
        self.assertIn(Path("cosy/calls.h"), headers)
        for header in [*headers, Path("linux/cosy.h")]:
            for compiler, language in (("cc", "c"), ("c++", "c++")):
                source = self.root / f"alone.{language}"
                source.write_text(f"#include <{header}>\n")
                run(compiler, "-x", language, "-Wall", "-Werror", "-fsyntax-only", source, *self.pkg_config("--cflags"))


@unittest.skipUnless(os.geteuid() == 0, "only root mounts a layer over /usr")
class Prefixes(unittest.TestCase):
    """Compiles by cosycc where it really lies: under /usr clang searches Cosy's headers anyway."""

    def check(self, prefix: str) -> None:
        manifest = BUILD / "install_manifest.txt"
        before = manifest.read_bytes() if manifest.exists() else None
        with tempfile.TemporaryDirectory(prefix="cosy-prefix-") as name:
            script = HERE / "prefix.sh"
            try:
                said = run("unshare", "--mount", "sh", script, name, BUILD, prefix, HERE)
            finally:
                if before is not None:
                    manifest.write_bytes(before)
        for program in ("c", "c++", "shared", "gcc"):
            self.assertIn(f"{program}: 100 calls", said)
        projects = ["by-cmake", *(["by-meson", "by-autotools"] if prefix == "/usr/local" else [])]
        for project in projects:
            self.assertIn(f"{project}, plain: 10 loops, process right\n", said)
        for project in [*projects, "by-launcher", "by-assembler", "by-preprocessor"]:
            self.assertRegex(said, rf"(?m)^{project}: 100 calls, [1-9]\d* compounds$")
        self.assertNotIn("left:", said)
        runpath = [line for line in said.splitlines() if line.startswith("runpath:")]
        self.assertEqual(["runpath:"] if prefix == "/usr" else [f"runpath: {prefix}/lib"], runpath)

    def test_usr(self) -> None:
        self.check("/usr")

    def test_usr_local(self) -> None:
        self.check("/usr/local")

    def test_a_prefix_with_spaces(self) -> None:
        self.check("/opt/with some spaces")


if __name__ == "__main__":
    unittest.main(verbosity=2)
