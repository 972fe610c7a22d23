# SPDX-License-Identifier: MIT
"""`cosy` and its library, copied to where servers' own users can read them too."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Installed:
    """Where everything is: as it lies in the build tree, so that `cosy run` finds its library."""

    root: Path

    @property
    def command(self) -> str:
        return str(self.root / "bin" / "cosy")

    @property
    def library(self) -> str:
        return str(self.root / "lib" / "cosy" / "libcosy-run.so")

    def program(self, name: str) -> str:
        """One of micro/'s."""
        return str(self.root / "run" / "bench" / name)


def install(build: Path, root: Path) -> Installed:
    """Copies what `make` built into `root`, which everybody may read then."""
    (root / "run" / "bench").mkdir(parents=True)
    (root / "bin").mkdir()
    (root / "lib" / "cosy").mkdir(parents=True)
    for name in (
        "bin/cosy",
        "lib/cosy/libcosy-run.so",
        "lib/cosy/libcosy-run-relax.so",
        "run/bench/run_rounds",
        "run/bench/run_exec",
        "run/bench/run_empty.so",
    ):
        shutil.copy(build / name, root / name)
    for path in [root, *root.rglob("*")]:
        path.chmod(0o755)
    return Installed(root)
