# SPDX-License-Identifier: MIT
"""Checks debian/ and the recipes for other distributions against what the build installs, without building packages."""

from __future__ import annotations

import fnmatch
import functools
import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

TREE = Path(__file__).resolve().parents[2]
DEBIAN = TREE / "debian"
BUILD = Path(os.environ["COSY_BUILD"])
VERSION = os.environ["COSY_VERSION"]
SPEC = (TREE / "packaging/rpm/cosy.spec").read_text()
PKGBUILD = (TREE / "packaging/aur/PKGBUILD").read_text()
# As on Debian, so that the names of files are the same.
MACROS = {
    "version": VERSION,
    "_libdir": "usr/lib/x86_64-linux-gnu",
    "_bindir": "usr/bin",
    "_sbindir": "usr/sbin",
    "_libexecdir": "usr/libexec",
    "_includedir": "usr/include",
    "_datadir": "usr/share",
    "_mandir": "usr/share/man",
}
MULTIARCH = "x86_64-linux-gnu"
# debian/rules installs it by Python's own means.
PYTHON = "usr/lib/python3"
# debian/rules hands them to debhelper.
UNITS = {"usr/lib/systemd/system/cosyd.service", "usr/lib/systemd/system/cosyd.socket"}


@functools.cache
def installed() -> list[str]:
    """Returns what `cmake --install` installs, named as below the prefix of a package."""
    with tempfile.TemporaryDirectory(prefix="cosy-files-") as name:
        manifest = BUILD / "install_manifest.txt"
        before = manifest.read_bytes() if manifest.exists() else None
        command = ["cmake", "--install", str(BUILD), "--prefix", "/usr"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=os.environ | {"DESTDIR": name})
        if before is not None:
            manifest.write_bytes(before)
        files = [path.relative_to(name) for path in Path(name).rglob("*") if path.is_symlink() or path.is_file()]
    # The library folder of the build's own prefix is lib, of /usr it is lib/MULTIARCH.
    libraries = re.compile(r"^usr/lib/(libcosy|cosy|cmake|pkgconfig)")
    return sorted(libraries.sub(rf"usr/lib/{MULTIARCH}/\1", str(path)) for path in files)


def patterns() -> dict[str, list[str]]:
    """Returns the lines of each package's list of files."""
    return {path.stem: path.read_text().split() for path in DEBIAN.glob("*.install")}


def belongs(file: str, pattern: str) -> bool:
    return fnmatch.fnmatchcase(file, pattern) or fnmatch.fnmatchcase(file, f"{pattern}/*")


class Files(unittest.TestCase):
    def test_each_installed_file_is_in_one_package(self) -> None:
        lists = patterns()
        files = installed()
        self.assertIn("usr/bin/cosy", files)
        for file in files:
            owners = [name for name, lines in lists.items() if any(belongs(file, line) for line in lines)]
            if file in UNITS:
                owners.append("cosyd")
            self.assertEqual(len(owners), 1, f"{file} is in the packages {owners}: see debian/*.install")

    def test_each_line_of_a_list_names_a_file(self) -> None:
        files = installed()
        for name, lines in patterns().items():
            for line in lines:
                found = line == PYTHON or any(belongs(file, line) for file in files)
                self.assertTrue(found, f"debian/{name}.install: {line}")

    def test_each_list_is_of_a_package(self) -> None:
        packages = set(re.findall(r"^Package: (\S+)", (DEBIAN / "control").read_text(), re.M))
        self.assertEqual(packages, set(patterns()))

    def test_the_symbols_are_the_library_s(self) -> None:
        exported = set(re.findall(r"^\s+(\w+);$", (TREE / "lib/libcosy.map").read_text(), re.M))
        listed = set(re.findall(r"^ (\w+)@COSY_", (DEBIAN / "libcosy0.symbols").read_text(), re.M))
        listed -= {name for name in listed if name.startswith("COSY_")}
        self.assertEqual(exported - listed, set(), "add these to debian/libcosy0.symbols")
        self.assertEqual(listed - exported, set(), "these are gone from lib/libcosy.map")

    def test_the_version_is_the_project_s(self) -> None:
        first = (DEBIAN / "changelog").read_text().splitlines()[0]
        self.assertRegex(first, rf"^cosy \({re.escape(VERSION)}\) ")
        self.assertIn(f'MODULE_VERSION("{VERSION}");', (TREE / "kmod/main.c").read_text())


class Recipes(unittest.TestCase):
    """packaging/rpm and packaging/aur."""

    def listed(self) -> list[tuple[str, str]]:
        """Returns the lines of the lists of files, each with its package."""
        lines = []
        for package, section in re.findall(r"^%files *(.*)\n((?:[%/].*\n)+)", SPEC, re.M):
            for line in section.splitlines():
                if not line.startswith(("%dir", "%license")):
                    line = re.sub(r"%\{(\w+)\}", lambda name: MACROS[name[1]], line)
                    lines.append((package, line.lstrip("/")))
        return lines

    def test_each_installed_file_is_in_one_rpm(self) -> None:
        lines = self.listed()
        for file in installed():
            owners = {package for package, line in lines if belongs(file, line)}
            self.assertEqual(len(owners), 1, f"{file} is in the packages {owners}: see packaging/rpm/cosy.spec")

    def test_each_line_of_an_rpm_names_a_file(self) -> None:
        files = installed()
        for package, line in self.listed():
            self.assertTrue(any(belongs(file, line) for file in files), f"packaging/rpm/cosy.spec: {package}: {line}")

    def test_the_module_s_files_are_in_a_package_of_their_own(self) -> None:
        parts = re.search(r"^_module=\((.*)\)$", PKGBUILD, re.M)
        assert parts
        files = installed()
        for part in parts[1].split():
            self.assertTrue(any(belongs(file, part) for file in files), f"packaging/aur/PKGBUILD: {part}")
        lists = patterns()["cosy-dkms"]
        for file in files:
            own = any(belongs(file, part) for part in parts[1].split())
            self.assertEqual(own, any(belongs(file, line) for line in lists), file)

    def test_versions_are_the_project_s(self) -> None:
        self.assertIn(f"\nVersion:        {VERSION}\n", SPEC)
        self.assertIn(f"\npkgver={VERSION}\n", PKGBUILD)

    def test_the_recipe_is_a_script_of_bash(self) -> None:
        for name in ("PKGBUILD", "cosy-dkms.install"):
            subprocess.run(["bash", "-n", TREE / "packaging/aur" / name], check=True)


class Kernels(unittest.TestCase):
    """Evaluates dkms.conf as DKMS does, which is a script of bash."""

    def value(self, name: str, kernel: str) -> str:
        conf = TREE / "packaging/dkms.conf.in"
        script = f'kernelver={kernel}; source {conf}; echo "${name}"'
        return subprocess.run(["bash", "-c", script], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()

    def test_tested_kernels_are_built_for(self) -> None:
        for kernel in ("6.1.0-50-amd64", "6.12.43+deb13-amd64", "6.17-rc1-amd64", "7.3.4+deb13-cloud-amd64"):
            self.assertRegex(kernel, self.value("BUILD_EXCLUSIVE_KERNEL", kernel))
            self.assertEqual(self.value("AUTOINSTALL", kernel), "yes")

    def test_other_kernels_are_skipped(self) -> None:
        for kernel in ("5.10.0-9-amd64", "6.0.1-amd64", "6.20.1", "7.4.0-amd64", "7.30.0", "8.0.0-1-amd64", "16.1.0"):
            self.assertNotRegex(kernel, self.value("BUILD_EXCLUSIVE_KERNEL", kernel))
            self.assertEqual(self.value("AUTOINSTALL", kernel), "")

    def test_both_bounds_say_the_same(self) -> None:
        self.assertEqual(self.value("BUILD_EXCLUSIVE_KERNEL_MIN", ""), "6.1")
        self.assertTrue(self.value("BUILD_EXCLUSIVE_KERNEL_MAX", "").startswith("7.3."))


if __name__ == "__main__":
    unittest.main(verbosity=2)
