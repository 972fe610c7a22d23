# SPDX-License-Identifier: MIT
"""Lists the project's targets, beside what the papers reached: per cent less than plain calls."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Target:
    """One row of the table of targets."""

    label: str
    workload: str
    parameters: dict[str, str | int]
    fs: str = "tmpfs"
    cosy: float | None = None
    fast: float | None = None
    named: float | None = None  # of the source by name, where it has a target of its own
    paper: str = ""  # COSY, COSY-FAST there
    below: str = ""


_DB = {"megabytes": 4, "processes": 1}
_LS = {"files": 5000, "cache": "warm", "lines": "no"}

TARGETS = (
    Target("getpid, 256 calls", "getpid", {"calls": 256}, cosy=40, fast=85, paper="85-90, -"),
    Target("db, passed on only", "db", {"looks at": "nothing", **_DB}, cosy=10, fast=65, paper="26, 64"),
    Target("db, checksummed", "db", {"looks at": "CRC-32C", **_DB}, cosy=8, fast=30),
    Target("db, passed on only, ext4", "db", {"looks at": "nothing", **_DB}, "ext4", fast=58),
    Target("ls, 5,000 files, tmpfs", "ls", _LS, cosy=1, fast=68, named=75, paper="8, 85"),
    Target("ls, 5,000 files, ext4", "ls", _LS, "ext4", cosy=1, fast=44, named=66, paper="8, 85"),
    Target("ls -l, 5,000 files", "ls", {"files": 5000, "asks": "statx, label, access control list"}, fast=50),
    Target("walk", "walk", {}, fast=58),
    Target("bonnie fastread", "bonnie", {"phase": "fastread", "megabytes": 16}, fast=80, paper="-, 80"),
    Target("bonnie rewrite", "bonnie", {"phase": "rewrite", "megabytes": 16}, fast=30, paper="-, 30-90"),
    Target("bonnie fastwrite", "bonnie", {"phase": "fastwrite", "megabytes": 16}, fast=45, paper="-, 45-90"),
    Target("bonnie rewrite, ext4", "bonnie", {"phase": "rewrite", "megabytes": 16}, "ext4", fast=70),
    Target("bonnie fastwrite, ext4", "bonnie", {"phase": "fastwrite", "megabytes": 16}, "ext4", fast=60),
    Target("grep, 2 MB", "grep", {"kilobytes": 2048}, cosy=5, fast=20, paper="13, 20"),
    Target(
        "copy, 4 KB",
        "copy",
        {"size": 4096, "target": "written over"},
        cosy=4,
        fast=33,
        below="copy_file_range",
    ),
    Target(
        "serve, 64 KB, sending only",
        "serve",
        {"files": "held open", "size": 65536, "socket": "unix"},
        cosy=10,
        fast=45,
        named=70,
        below="sendfile",
    ),
    Target("read1, 1 B", "read1", {"size": 1}, fast=65, paper="-, 72"),
    Target("read1, 8 KB", "read1", {"size": 8192}, fast=26, paper="-, 26"),
    Target("read1, 64 KB", "read1", {"size": 65536}, fast=40, paper="-, 12"),
)

# The paper that each workload comes from, with its measured figures.
PAPERS = {
    "getpid": "FSL-02-01, figure 2: 12 to 90 % less elapsed time, growing with the number of calls.",
    "db": "FSL-02-01, figure 3: COSY 26 %, COSY-FAST 64 % less elapsed time; the same with 2 and 4 processes.",
    "bonnie": "FSL-02-01, figure 5: fastread 80 %, rewrite 30 to 90 %, fastwrite 45 to 90 % less elapsed time.",
    "ls": "FSL-02-01, figure 6, cold caches: COSY 8 %, COSY-FAST 85 % less, for 5,000 and for 50,000 files.",
    "grep": "FSL-02-01, figure 7: COSY 13 %, COSY-FAST 20 % less elapsed time.",
    "read1": "Synthetix, SOSP 1995, table 3: 1 B 72 %, 8 KB 26 %, 64 KB 12 % less cycles than HP-UX's read.",
}
