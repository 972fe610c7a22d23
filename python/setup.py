# SPDX-License-Identifier: MIT
"""Builds the extension module cosy._cosy for CPython's limited API of version 3.11.

It uses libcosy of one of these, the first that there is:

1. COSY_BUILD=DIR: the library in a build directory of the source tree, for packagers and tests.
2. The installed library that pkg-config finds. It is shared by all that uses Cosy in the process, and
   updated apart from Python's packages.
3. The sources beside this folder, compiled into the extension: `pip install` from a clone takes only
   a C compiler and Boost's headers. COSY_BUNDLED=1 chooses this although there is an installed one.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sysconfig
from pathlib import Path
from typing import Any

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

HERE = Path(__file__).resolve().parent
TREE = HERE.parent
# Builds without a GIL have no limited API.
LIMITED = not sysconfig.get_config_var("Py_GIL_DISABLED")

# Of the extension, most of whose work is calls of Python's functions ...
FLAGS = ["-std=gnu11", "-fvisibility=hidden", "-fno-plt", "-Wall", "-Wextra", "-Wno-cast-function-type"]
# ... and of the library's sources.
C_FLAGS = ["-std=gnu11", "-fvisibility=hidden", "-fno-strict-aliasing"]
# The library uses no C++ run-time library.
CXX_FLAGS = ["-std=gnu++17", "-O2", "-fvisibility=hidden", "-fvisibility-inlines-hidden", "-fno-rtti"]
CXX_FLAGS += ["-fno-strict-aliasing", "-fno-threadsafe-statics"]


def _pkg_config(*words: str) -> str:
    try:
        done = subprocess.run(
            [os.environ.get("PKG_CONFIG", "pkg-config"), *words, "cosy"], stdout=subprocess.PIPE, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return ""
    return done.stdout.strip()


def _searched_folders() -> set[str]:
    """Returns where the dynamic linker looks by itself."""
    triplet = sysconfig.get_config_var("MULTIARCH") or "x86_64-linux-gnu"
    names = ("/lib", "/lib64", "/usr/lib", "/usr/local/lib", f"/lib/{triplet}", f"/usr/lib/{triplet}")
    return {os.path.realpath(name) for name in (*names, f"/usr/local/lib/{triplet}")}


def _use_installed(extension: Extension) -> bool:
    folders = [word[2:] for word in shlex.split(_pkg_config("--cflags-only-I", "--keep-system-cflags"))]
    if not any(Path(folder, "cosy/files.h").exists() for folder in folders):
        return False
    extension.include_dirs += folders
    extension.libraries.append("cosy")
    for folder in [word[2:] for word in shlex.split(_pkg_config("--libs-only-L", "--keep-system-libs"))]:
        extension.library_dirs.append(folder)
        if os.path.realpath(folder) not in _searched_folders():
            extension.runtime_library_dirs.append(folder)
    return True


def _use_build(extension: Extension, build: str) -> None:
    extension.include_dirs += [str(TREE / "include"), str(TREE / "include/uapi"), f"{build}/lib/include"]
    extension.libraries.append("cosy")
    extension.library_dirs.append(f"{build}/lib")


def _paths(words: str) -> list[str]:
    """Returns source files of lib/CMakeLists.txt as paths."""
    return [str(TREE / "lib" / word.replace("${PROJECT_SOURCE_DIR}", str(TREE))) for word in words.split()]


class BuildExtension(build_ext):
    def build_extension(self, ext: Any) -> None:
        build = os.environ.get("COSY_BUILD")
        if build:
            _use_build(ext, build)
        elif os.environ.get("COSY_BUNDLED") or not _use_installed(ext):
            self.bundle(ext)
        super().build_extension(ext)

    def bundle(self, extension: Any) -> None:
        """Compiles libcosy into the extension."""
        if not (TREE / "lib/CMakeLists.txt").exists():
            raise SystemExit(
                "libcosy was not found: install libcosy-dev (or `make install` in a clone of Cosy), "
                "or build in the folder python/ of such a clone"
            )
        recipe = (TREE / "lib/CMakeLists.txt").read_text()
        made = Path(self.build_temp).resolve() / "include"
        extension.include_dirs += [str(TREE / "include"), str(TREE / "include/uapi")]
        folders = [*extension.include_dirs, str(TREE / "core"), str(TREE / "lib"), str(made)]
        self.generate(recipe, made, folders)
        sources = re.findall(r"^set\(LIB_SOURCES\s([^)]*)\)", recipe, re.M)
        core = re.findall(r"^set\(CORE_SOURCES\s([^)]*)\)", recipe, re.M)
        paths = [*_paths(sources[0]), *(str(TREE / "core" / name) for name in core[0].split())]
        for suffix, flags in ((".c", C_FLAGS), (".cpp", CXX_FLAGS)):
            extension.extra_objects += self.compiler.compile(
                [path for path in paths if path.endswith(suffix)],
                output_dir=self.build_temp,
                macros=[("_GNU_SOURCE", None), ("COSY_OWN_MEMORY", None)],
                include_dirs=folders,
                extra_postargs=flags,
            )
        # Other copies of the library in the process stay apart. Its handlers at fork and exit must stay.
        script = made / "exports.map"
        script.write_text("{ global: PyInit__cosy; local: *; };\n")
        extension.extra_link_args += [f"-Wl,--version-script={script}", "-Wl,-z,nodelete"]

    def generate(self, recipe: str, made: Path, folders: list[str]) -> None:
        """Makes the headers that lib/CMakeLists.txt has programs print, in its order."""
        programs = dict(re.findall(r"^add_executable\((cosy_gen_\w+)\s([^)]*)\)", recipe, re.M))
        for name, header in re.findall(r"COMMAND (cosy_gen_\w+) > \${GENERATED\w*}/(\S+)", recipe):
            (made / header).parent.mkdir(parents=True, exist_ok=True)
            objects = self.compiler.compile(
                _paths(programs[name]),
                output_dir=str(Path(self.build_temp) / name),
                macros=[("_GNU_SOURCE", None)],
                include_dirs=folders,
                extra_postargs=C_FLAGS,
            )
            self.compiler.link_executable(objects, str(made / name))
            (made / header).write_bytes(subprocess.run([made / name], stdout=subprocess.PIPE, check=True).stdout)


setup(
    ext_modules=[
        Extension(
            "cosy._cosy",
            sources=sorted(f"src/{path.name}" for path in (HERE / "src").glob("*.c")),
            depends=["src/module.h"],
            define_macros=[("_GNU_SOURCE", None)] + ([("Py_LIMITED_API", "0x030B0000")] if LIMITED else []),
            # Names of slots are cast: CPython's interface has one type for all of them.
            extra_compile_args=FLAGS,
            py_limited_api=LIMITED,
        )
    ],
    cmdclass={"build_ext": BuildExtension},
    options={"bdist_wheel": {"py_limited_api": "cp311"}} if LIMITED else {},
)
