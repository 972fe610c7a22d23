# SPDX-License-Identifier: MIT
"""The rows: every workload with its parameters and its contenders."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

OURS = ("plain", "COSY", "COSY-FAST")
NAMED = (*OURS, "COSY-NAMED")
RING = ("io_uring", "io_uring-linked")
# Plain calls with bytes left out (test/wrong.c): measured only where it is asked for by name.
WRONG = "WRONG"


@dataclass(frozen=True)
class Case:
    """A row: a workload at one setting of its parameters."""

    workload: str
    program: str
    contenders: tuple[str, ...]
    small: int  # counts of operations; see bench.h
    large: int
    per: int = 1  # what is counted as one, in one of the program's operations
    unit: str = "operation"
    parameters: dict[str, str | int] = field(default_factory=dict)
    settings: dict[str, str | int] = field(default_factory=dict)  # for the program, no parameter of the row
    short: bool = False  # in the short selection as well
    title: str = ""  # of the few that need no explanation, what it does in words
    file_systems: tuple[str, ...] = ("tmpfs", "ext4")
    runs: int = 0  # 0: as the caller says
    natively: bool = False  # libcosy is to find out that the region gains nothing, and to leave it native

    def name(self) -> str:
        """Returns the row's name, for a message."""
        named = ", ".join(f"{name} {value}" for name, value in self.parameters.items())
        return f"{self.workload} ({named})" if named else self.workload


def _getpid() -> Iterator[Case]:
    for calls in (2, 4, 8, 16, 32, 64, 128, 256):
        yield Case(
            "getpid",
            "getpid",
            OURS,
            10,
            10 + 40000 // calls,
            calls,
            "call",
            {"calls": calls},
            short=calls == 256,
            file_systems=("tmpfs",),
        )


def _db() -> Iterator[Case]:
    for look, program in (("nothing", "db"), ("CRC-32C", "db_crc"), ("sum in C", "db_sum")):
        for megabytes, processes in ((4, 1), (16, 1), (64, 1), (4, 2), (4, 4)):
            only = program == "db"
            if not only and (megabytes, processes) != (4, 1):
                continue
            yield Case(
                "db",
                program,
                OURS + (RING if only else RING[1:]),
                400,
                8400,
                1,
                "read with half a write",
                {"looks at": look, "megabytes": megabytes, "processes": processes},
                {"anew": int(not only)},
                short=megabytes == 4 and processes == 1,
                title="record store: seek, read, write" if only and megabytes == 4 and processes == 1 else "",
            )


def _bonnie() -> Iterator[Case]:
    for phase in ("fastread", "rewrite", "fastwrite"):
        peers = ("io_uring", "mmap") if phase == "fastread" else ("io_uring",)
        for megabytes in (4, 16, 64):
            blocks = megabytes * 64
            yield Case(
                "bonnie",
                phase,
                OURS + peers,
                blocks,
                max(2 * blocks, 4096),
                1,
                "block of 16 KB",
                {"phase": phase, "megabytes": megabytes},
                short=megabytes == 4,
            )


def _ls() -> Iterator[Case]:
    for files in (5000, 50000):
        yield Case(
            "ls",
            "ls",
            (*NAMED, "io_uring"),
            1,
            4 if files == 5000 else 2,
            files,
            "entry",
            {"files": files, "cache": "warm", "lines": "no"},
            {"files": files},
            short=files == 5000,
            title="directory of 5,000 files, stat of each" if files == 5000 else "",
            runs=0 if files == 5000 else 1,
        )
    yield Case(
        "ls",
        "ls",
        (*NAMED, "GNU"),
        1,
        4,
        5000,
        "entry",
        {"files": 5000, "cache": "warm", "lines": "printed"},
        {"files": 5000, "print": 1},
    )
    yield Case(
        "ls",
        "ls_long",
        OURS,
        1,
        4,
        5000,
        "entry",
        {"files": 5000, "asks": "statx, label, access control list"},
        {"files": 5000},
        short=True,
    )
    for files in (5000, 50000):
        yield Case(
            "ls",
            "ls",
            NAMED,
            0,
            1,
            files,
            "entry",
            {"files": files, "cache": "cold", "lines": "no"},
            {"files": files, "cold": 1, "clock": "process", "warm": int(files == 5000)},
            file_systems=("ext4",),
            runs=0 if files == 5000 else 1,
        )


def _grep() -> Iterator[Case]:
    for kilobytes in (128, 256, 512, 1024, 2048):
        yield Case(
            "grep",
            "grep",
            (*OURS, "io_uring-linked", "GNU"),
            2,
            2 + 10240 // kilobytes,
            kilobytes // 8,
            "file of 8 KB",
            {"kilobytes": kilobytes},
            short=kilobytes == 128,
            title="search in files of 8 KB" if kilobytes == 128 else "",
        )


def _copy() -> Iterator[Case]:
    for size in (4096, 65536):
        pieces = (1 << 20) // size
        for target in ("written over", "fresh"):
            yield Case(
                "copy",
                "copy",
                (*OURS, "copy_file_range", "sendfile", "splice", "io_uring-linked"),
                pieces,
                (17 if size == 4096 else 33) * pieces,
                1,
                f"{size >> 10} KB",
                {"size": size, "target": target},
                {"size": size, "fresh": int(target == "fresh")},
                short=target == "written over",
            )
    yield Case(
        "copy",
        "copy",
        ("copy_file_range", "GNU"),
        256,
        17 * 256,
        1,
        "4 KB",
        {"size": "whole file", "target": "fresh"},
        {"size": 4096, "fresh": 1, "whole": 1},
    )


def _walk() -> Iterator[Case]:
    yield Case(
        "walk",
        "walk",
        (*NAMED, "io_uring", "GNU"),
        1,
        4,
        1,
        "pass over the tree",
        short=True,
        title="source tree, stat of every file",
    )


def _serve() -> Iterator[Case]:
    for files, program in (("opened", "serve"), ("held open", "serve_held")):
        for size in (4096, 65536):
            for socket in ("unix", "tcp"):
                yield Case(
                    "serve",
                    program,
                    (*NAMED, "sendfile", "splice", "io_uring-linked"),
                    64,
                    2064 if size == 4096 else 1064,
                    1,
                    "file",
                    {"files": files, "size": size, "socket": socket},
                    {"size": size, "socket": socket},
                    short=socket == "unix" and (files == "held open" or size == 4096),
                )


def _read1() -> Iterator[Case]:
    for size in (1, 8192, 65536):
        small, large = (1000, 17000) if size == 1 else (128, 8320) if size == 8192 else (16, 1616)
        yield Case(
            "read1",
            "read1",
            (*OURS, "io_uring", "mmap"),
            small,
            large,
            1,
            "read",
            {"size": size},
            short=True,
            title="reads of one byte" if size == 1 else "",
        )


def _filtered() -> Iterator[Case]:
    for call, name in (("pread", "pread of 1 byte"), ("fstat", "fstat"), ("getppid", "getppid")):
        for filter_, says in (("none", "none"), ("allows", "allows it"), ("asks", "asks about it")):
            if (call, filter_) == ("fstat", "asks"):
                continue  # libc's is another call than the region's
            yield Case(
                "filtered",
                "filtered",
                OURS,
                4000,
                20000,
                1,
                "call",
                {"call": name, "filter": says},
                # What a region costs that was given up: in its first calls it finds out.
                {"call": call, "filter": filter_, "warm": 40000 if filter_ == "asks" else 4000},
                short=filter_ == "allows" or (call, filter_) == ("getppid", "asks"),
                file_systems=("tmpfs",),
                natively=filter_ == "asks",
            )


_LOOPS = (
    "word sum",
    "byte sum",
    "count",
    "find",
    "strlen",
    "fnv",
    "upper case",
    "words",
    "histogram",
    "compare",
)


def _bytes() -> Iterator[Case]:
    for loop in _LOOPS:
        yield Case(
            "bytes",
            "bytes",
            OURS,
            4,
            68,
            4096,
            "byte",
            {"loop": loop},
            short=loop == "byte sum",
            file_systems=("tmpfs",),
        )


def _words() -> Iterator[Case]:
    for function in ("none", "strlen", "strcmp", "memcpy"):
        yield Case(
            "words",
            "words",
            OURS,
            4,
            68,
            128,
            "word",
            {"function": function},
            short=function == "strlen",
            file_systems=("tmpfs",),
        )


# Programs of bench/process/, with the counts of a short, a medium and a long run; a medium one takes 5
# to 20 million instructions.  Tests leave these out:
_LATER = {
    "wc1": (500, 6000, 60000),
    "getline": (30, 3000, 20000),
    "fgets": (10, 200, 2000),
    "cksum": (4, 300, 1000),
    "logger": (30, 2000, 20000),
    "sizes": (2, 500, 1000),
    "lookup": (10, 400, 4000),
    "requests": (10, 300, 3000),
    "grepl": (1, 20, 40),
    "wordfreq": (3, 150, 300),
    "numbers": (20, 10000, 20000),
    "sessions": (20, 4000, 12000),
    "watcher": (10, 800, 5000),
    "verify": (20, 4000, 40000),
    "which": (10, 1000, 15000),
}

# ... and run these.
_PROCESSES = {
    "keystore": (50, 2000, 20000),
    "records": (100, 2000, 30000),
    "tree": (10, 200, 2000),
    "split": (2, 60, 200),
    "tail": (10, 400, 2000),
    "wc": (4, 200, 2000),
    "sum": (4, 600, 2000),
    "filecopy": (16, 2000, 20000),
    "pingpong": (20, 500, 5000),
    "threads": (100, 6000, 40000),
    "cold": (1000, 400000, 1000000),
    **_LATER,
}


def _process() -> Iterator[Case]:
    for program, counts in _PROCESSES.items():
        for length, count in zip(("short", "medium", "long"), counts, strict=True):
            yield Case(
                "process",
                "process",
                ("plain", "COSY-FAST"),
                1,
                # Where the kernel puts a process's segments says how many pages a fault maps.
                {"short": 17, "medium": 5, "long": 2}[length],
                1,
                "process",
                {"program": program, "run": length},
                {"count": count},
                file_systems=("tmpfs",),
                short=(length == "short" and program not in _LATER) or program == "keystore",
            )


# Everyday commands that bench/programs/ has equivalents of, with the names of their rows.
_PROGRAMS = {
    "du": "du -s",
    "find": "find -size",
    "ls": "ls -lR",
    "status": "git status, its lstat of each file",
    "grep": "grep -rl",
    "tar": "tar c",
}


def _programs() -> Iterator[Case]:
    for program, name in _PROGRAMS.items():
        # git would have to make its index first: every file hashed and stored.
        contenders = ("plain", "COSY-FAST") if program == "status" else ("plain", "COSY-FAST", "GNU")
        for tree in ("small", "500", "5000", "large"):
            yield Case(
                "programs",
                "programs",
                contenders,
                1,
                # Short processes differ by where the kernel puts their segments, as those above.
                {"small": 17, "500": 17, "5000": 5}.get(tree, 2),
                1,
                "process",
                {"command": name, "tree": tree},
                {"program": program},
                short=tree == "small",
                file_systems=("tmpfs",),
                runs=1,
            )


_WORKLOADS = {
    "process": _process,
    "programs": _programs,
    "getpid": _getpid,
    "db": _db,
    "bonnie": _bonnie,
    "ls": _ls,
    "grep": _grep,
    "copy": _copy,
    "walk": _walk,
    "serve": _serve,
    "read1": _read1,
    "filtered": _filtered,
    "bytes": _bytes,
    "words": _words,
}
WORKLOADS = tuple(_WORKLOADS)


def cases(workload: str) -> list[Case]:
    """Returns the rows of a workload, in the order in which they are measured."""
    return list(_WORKLOADS[workload]())
