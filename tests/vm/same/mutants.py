#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Breaks one guard of the module after the other, and shows which test notices.

    mutants.py --build build [--kernel 6.12] [--seconds 30] [NAME...]
    mutants.py --places		only whether each place is in the sources, once

Each mutant is a copy of the module's sources with one place changed.  race, same and the
guest's programs that make single guards fail run on it, those first that should notice,
until one does.
Exit status 1: one was found by none, or its place is not in the sources any more.
A mutant that is `harmless` changes no result of any call; only counters show it.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

_HERE = Path(__file__).resolve().parent
_TREE = _HERE.parents[2]
_PARTS = ("kmod", "core", "include")
_GUEST = [
    "fast_ahead",
    "fast_list",
    "fast_path",
    "fast_read",
    "fast_scan",
    "fast_stat",
    "fast_statx",
    "scan_tree",
    "view",
    "view_lend",
]
_MOVED = ["move", "move_parcel", "move_random", "move_socket"]


@dataclass(frozen=True)
class Mutant:
    """One place of one file, changed."""

    name: str
    file: str
    old: str
    new: str
    disk: bool = False  # it shows on ext4 rather than tmpfs
    raced: bool = False  # only what happens at the same time shows it
    moved: bool = False  # of memory whose pages move
    harmless: str = ""  # why no result changes


MUTANTS = [
    # Guards of reads
    Mutant("fs_constant", "kmod/fast/page_cache.h", "(file->f_flags & O_DIRECT) ||", "", disk=True),
    Mutant(
        "no_fp_share",
        "kmod/fast/page_cache.h",
        "FMODE_ATOMIC_POS) || file_count(file) == 1",
        "FMODE_ATOMIC_POS) || true",
        raced=True,
    ),
    Mutant(
        "no_holes-mapping",
        "kmod/fast/page_cache.h",
        "if (unlikely(READ_ONCE(folio->mapping) != mapping))",
        "if (0)",
        raced=True,
    ),
    Mutant(
        "no_holes-uptodate", "kmod/fast/page_cache.h", "== BIT(PG_uptodate);", "== 0 || true;", disk=True, raced=True
    ),
    Mutant("read_only", "kmod/fast/folio_cursor.h", "return i_size_read(mapping->host);", "return LLONG_MAX;"),
    Mutant("read_only-view", "kmod/view/view_read.c", "if (unlikely(position >= size))", "size = LLONG_MAX;\n\tif (0)"),
    Mutant(
        "readahead",
        "kmod/fast/page_cache.h",
        "return folio_test_readahead(folio) ? COSY_GUARD_READAHEAD : COSY_GUARDS_HOLD;",
        "return COSY_GUARDS_HOLD;",
        disk=True,
        harmless="the file system reads ahead later than it would",
    ),
    Mutant(
        "fresh",
        "kmod/fast/page_cache.h",
        "if (likely(run->fresh[0] == sb) || run->fresh[1] == sb)",
        "if (1)",
        disk=True,
        harmless="what a file system that is shut down says is not heard; none is here",
    ),
    Mutant(
        "limited-mode", "kmod/fast/read.c", "!(file->f_mode & FMODE_READ) || !(file->f_mode & FMODE_CAN_READ) ||", ""
    ),
    Mutant("memory", "kmod/fast/read.c", "!access_ok((void __user *)buffer, count)", "0"),
    # Names and attributes
    Mutant("name-link", "kmod/fast/lookup.h", "follow && d_is_symlink(child)", "0"),
    Mutant("cached-negative", "kmod/fast/lookup.h", "else if (unlikely(d_is_negative(child)))", "else if (0)"),
    Mutant(
        "plain_dentry", "kmod/fast/lookup.h", "DCACHE_MANAGED_DENTRY | DCACHE_OP_REVALIDATE", "DCACHE_OP_REVALIDATE"
    ),
    Mutant("search", "kmod/fast/lookup.h", "result = cosy_may_search(ret->dir);", "result = 0;"),
    Mutant(
        "scan-search",
        "kmod/fast/getdents.c",
        "scan.allowed = cosy_may_search(scan.dir);",
        "scan.allowed = 0;",
    ),
    Mutant(
        "scan-room",
        "kmod/fast/getdents.c",
        "listing.room = size;\n\tresult = cosy_call_result",
        "listing.room = size * 3 / 4;\n\tresult = cosy_call_result",
    ),
    # Trees of directories
    Mutant("tree-link", "core/scan_tree.h", "O_DIRECTORY | O_NOFOLLOW |", "O_DIRECTORY |"),
    Mutant(
        "tree-device",
        "core/scan_tree.h",
        "if (!error && identity[0] != w->t.device && !(w->t.flags & COSY_TREE_CROSS))",
        "if (0)",
    ),
    Mutant(
        "tree-mounted",
        "core/scan_tree.h",
        "(entry->stat[0] == w->t.device || (w->t.flags & COSY_TREE_CROSS));",
        "1;",
    ),
    Mutant("tree-moved", "core/scan_tree.h", "|| identity[1] != below.inode)", ")"),
    Mutant("tree-shed", "core/scan_tree.h", "else if (w->t.open >= COSY_TREE_OPEN)", "else if (0)"),
    Mutant("tree-depth", "core/scan_tree.h", "w->here.depth + 1 >= w->t.max_depth", "w->here.depth >= w->t.max_depth"),
    Mutant("tree-room", "core/scan_tree.h", "if (!tree_reaches(w, w->t.top, length + 2))\n\t\treturn -ENOBUFS;", ""),
    # Attributes taken from the inode, and names found as neighbours
    Mutant("agreed", "kmod/fast/guard.c", "run->held &= ~COSY_HELD_AGREED;", ""),
    Mutant("inode-pages", "kmod/fast/attributes.c", "READ_ONCE(info->swapped) ==", "READ_ONCE(info->swapped) + 1 !="),
    Mutant("child-drop", "kmod/fast/guard.c", "cosy_child_drop(run);", ""),
    Mutant("pwd", "kmod/fast/lookup.h", "kept = path_equal(&fs->pwd, &run->pwd);", "kept = true;"),
    Mutant("pwd-drop", "kmod/fast/guard.c", "cosy_pwd_drop(run);", ""),
    # Names of several components
    Mutant("prefix-changed", "kmod/fast/prefix.c", "!read_seqcount_retry(&entry->d_seq, prefix->seq[i]) &&", ""),
    Mutant(
        "prefix-mounted",
        "kmod/fast/prefix.c",
        "&&\n\t       !(READ_ONCE(entry->d_flags) & PREFIX_CARE);",
        ";",
    ),
    Mutant("prefix-search", "kmod/fast/prefix.c", "error = cosy_may_search(&dir);", "error = 0;"),
    Mutant("prefix-base", "kmod/fast/prefix.c", "!path_equal(&prefix->base, base)", "0"),
    Mutant("prefix-drop", "kmod/fast/guard.c", "cosy_prefix_drop(run);", ""),
    # statx and extended attributes
    Mutant("statx-mask", "kmod/fast/attributes.c", "run->asked == (mask | COSY_ASKED) &&", ""),
    Mutant(
        "statx-flags",
        "kmod/fast/attributes.c",
        "return !container_of(inode, struct shmem_inode_info, vfs_inode)->fsflags &&",
        "return",
    ),
    Mutant(
        "statx-device",
        "kmod/fast/attributes.c",
        "if (unlikely(S_ISBLK(inode->i_mode)))",
        "if (0)",
        harmless="today's kernels ask the device only for fields that are not served",
    ),
    Mutant("statx-served", "kmod/fast/stat.c", "(mask & ~STATX_SERVED) ||", ""),
    Mutant("xattr-name", "kmod/fast/xattr.c", "!length || length == sizeof(name)", "0"),
    Mutant(
        "xattr-list",
        "kmod/fast/xattr.c",
        "posix_acl_release(acl);\n\treturn cosy_guard_failed(run, COSY_GUARD_CACHED);",
        "posix_acl_release(acl);\n\treturn -ENODATA;",
        harmless="a list that is there is known before: this one was set since",
    ),
    Mutant(
        "xattr-known",
        "kmod/fast/xattr.c",
        "if (unlikely(IS_POSIXACL(inode) && acl))",
        "if (0)",
        harmless="the kernel's own function finds the list, and the security module is asked twice",
    ),
    # Views
    Mutant(
        "view-write",
        "kmod/view/view_write.c",
        "view = cosy_views_write_back_file(",
        "if (0) view = cosy_views_write_back_file(",
    ),
    Mutant("view-read", "kmod/fast/fast.c", "cosy_views_write_back_memory(run, r[2], r[3]);", ""),
    Mutant("view-call", "kmod/fast/fast.c", "\telse\n\t\tcosy_views_write_back(run);", "\telse\n\t\treturn;"),
    Mutant("view-lent-stores", "kmod/view/lend.c", "if (!view || view->stores)", "if (!view)"),
    Mutant("peer", "kmod/view/lend.c", "if (unlikely(socket->type != SOCK_STREAM))", "if (0)"),
    # Descriptors
    Mutant(
        "descriptors-call",
        "kmod/run/call.S",
        "\tmovq\t$KNOWN_NONE, RUN_KNOWN(%r11)\n\tmovq\t$KNOWN_NONE, RUN_KNOWN + 8(%r11)\n",
        "",
    ),
    # Effects of a call beside its work
    Mutant("access-time", "kmod/fast/page_cache.c", "\tif (!access_is_recent(", "\tif (0 && !access_is_recent("),
    Mutant(
        "event",
        "kmod/fast/read.c",
        "\t\tfsnotify_access(file);\n\t\tadd_rchar(current, result);\n\t}\n\tinc_syscr",
        "\t\tadd_rchar(current, result);\n\t}\n\tinc_syscr",
    ),
    Mutant("accounting", "kmod/fast/page_cache.c", "add_rchar(current, count);", ";"),
    Mutant(
        "permission-event",
        "kmod/fast/read.c",
        "ssize_t result = rw_verify_area(READ, file, pos, count);",
        "ssize_t result = 0;",
    ),
    Mutant(
        "held-drop",
        "kmod/fast/guard.c",
        "\tif (run->held)\n\t\tcosy_held_drop(run);\n\tcosy_descriptors_forget",
        "\tcosy_descriptors_forget",
    ),
    Mutant(
        "write-limits",
        "kmod/view/cached_write.c",
        "!(file->f_flags & (O_APPEND | __O_SYNC | O_DSYNC))",
        "!(file->f_flags & (__O_SYNC | O_DSYNC))",
    ),
    Mutant("write-times", "kmod/view/cached_write.c", "likely(!error) ? cached_update_time(file) : error", "error"),
    # Pages that move
    Mutant("move-protect", "kmod/move/slots.c", "\tslots_write_protect(s, count);\n", "", moved=True),
    Mutant(
        "move-exclusive",
        "kmod/move/slots.c",
        "if (page_count(page) == 1) {",
        "if (page_count(page) <= 2) {",
        moved=True,
    ),
    Mutant(
        "move-written",
        "kmod/move/slots.c",
        "\tcosy_slots_unmap(s, k, k + 1);\n\t*slot = (unsigned long)copy;",
        "\t*slot = (unsigned long)copy;",
        moved=True,
    ),
    Mutant("move-export", "kmod/move/slots.c", "\tslots_write_protect(s, s->count);\n", "", moved=True),
    Mutant(
        "move-donated",
        "kmod/move/slots.c",
        "\tcosy_slots_unmap(s, 0, s->count);\n\tfor (k = 0; k < s->count; k++) {\n\t\tstruct page *page",
        "\tfor (k = 0; k < s->count; k++) {\n\t\tstruct page *page",
        moved=True,
    ),
    Mutant(
        "move-twice",
        "kmod/move/parcel.c",
        "\tif (parcel_is_donation(parcel))\n\t\tparcel_empty(parcel);\n",
        "",
        moved=True,
    ),
    Mutant("move-shared", "kmod/move/slots.c", "\t\tslot[k] |= COSY_SLOT_SHARED;\n", "", moved=True),
    Mutant("move-fork", "kmod/move/arena.c", "\tcosy_slots_unmap(&s, 0, count);\n", "", moved=True),
    Mutant(
        "move-alias",
        "kmod/move/pipe.c",
        "return buffer_is_written(buffer) && page_count(page) == 1 && !page->mapping;",
        "return true;",
        moved=True,
    ),
    Mutant(
        "move-tee",
        "kmod/move/pipe.c",
        "buffer_is_written(buffer) && page_count(page) == 1",
        "buffer_is_written(buffer)",
        moved=True,
    ),
]


def _misplaced(mutant: Mutant) -> str:
    """Returns why the mutant cannot be made from today's sources, or nothing."""
    path = _TREE / mutant.file
    if not path.is_file():
        return f"there is no {mutant.file}"
    count = path.read_text().count(mutant.old)
    return "" if count == 1 else f"{mutant.file} has the place to change {count} times"


def _stage(mutant: Mutant, tree: Path) -> None:
    """Makes `tree` the mutant's."""
    for part in _PARTS:
        shutil.rmtree(tree / part, ignore_errors=True)
        shutil.copytree(_TREE / part, tree / part)
    path = tree / mutant.file
    path.write_text(path.read_text().replace(mutant.old, mutant.new))


def _last(output: str) -> str:
    """Returns the line of a test's output that says why."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    for start in ("vm:", "FAIL", "plain:", "failed:"):
        for line in lines:
            if line.startswith(start):
                return line[:150]
    return lines[-1][:150] if lines else ""


class Tests:
    """The tests, on a module from a tree."""

    def __init__(self, options: argparse.Namespace, tree: Path) -> None:
        self._options = options
        self._tree = tree
        self._programs = options.build / "tests/vm/same"

    def _run(self, disk: bool, environment: list[str], put: list[Path], command: list[str]) -> str:
        """Runs a test.  Returns why it failed, or nothing."""
        with tempfile.TemporaryDirectory() as empty:
            arguments = [sys.executable, _HERE.parent / "vm.py", "run", "--kernel", self._options.kernel, "--smp", "2"]
            arguments += ["--tree", self._tree, "--timeout", str(10 * self._options.seconds + 100)]
            arguments += ["--disk", empty] if disk else []
            # Without it a region stays native until it has earned its place: then `same` fails, mutant or not.
            for setting in ["COSY_TIER=always", *environment]:
                arguments += ["--env", setting]
            for path in put:
                arguments += ["--put", path]
            ended = subprocess.run([*arguments, "--", *command], text=True, errors="replace", capture_output=True)
        return _last(ended.stdout + ended.stderr) if ended.returncode else ""

    def _same(self, program: str, disk: bool) -> str:
        environment = [f"SAME_PROGRAM={program}", f"SAME_SECONDS={self._options.seconds}", "SAME_SEED=1"]
        mount = ["disk", "strictatime"] if disk else ["tmpfs", "strictatime"]
        put = [self._programs / program, _HERE / "guest.sh"]
        return self._run(disk, environment, put, ["sh", "/t/guest.sh", *mount])

    def _guest(self, disk: bool, programs: list[str]) -> str:
        put = [self._options.build / "tests/vm/guest/guest", _HERE.parent / "guest/suite.sh"]
        return self._run(disk, ["TMPDIR=/mnt"] if disk else [], put, ["sh", "/t/suite.sh", "/t/guest", *programs])

    def found_by(self, mutant: Mutant) -> tuple[str, str] | None:
        """Returns the test that noticed, and why it failed."""
        names = ["race", "same"] if mutant.raced else ["same", "race"]
        for name in ["guest"] if mutant.moved else [*names, "guest"]:
            programs = _MOVED if mutant.moved else _GUEST
            why = self._guest(mutant.disk, programs) if name == "guest" else self._same(name, mutant.disk)
            if why:
                return name, why
        return None


def _try(mutant: Mutant, tree: Path, tests: Tests) -> bool:
    if why := _misplaced(mutant):
        print(f"{mutant.name}: {why}")
        return False
    _stage(mutant, tree)
    found = tests.found_by(mutant)
    said = (
        "found by {}: {}".format(*found)
        if found
        else f"harmless: {mutant.harmless}"
        if mutant.harmless
        else "NOT FOUND"
    )
    print(f"{mutant.name}: {said}", flush=True)
    return bool(found or mutant.harmless)


def _control(wanted: list[Mutant], tree: Path, tests: Tests) -> bool:
    """Runs the tests on the module as it is: a test that fails there says nothing of a mutant."""
    sound = True
    for disk, moved in sorted({(mutant.disk, mutant.moved) for mutant in wanted}):
        unchanged = Mutant("unchanged", "kmod/main.c", "", "", disk=disk, moved=moved)
        _stage(unchanged, tree)
        if failed := tests.found_by(unchanged):
            print("the module as it is fails {}: {}".format(*failed), flush=True)
            sound = False
    return sound


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, help="where user space is built")
    parser.add_argument("--places", action="store_true", help="only look whether each place is in the sources, once")
    parser.add_argument("--kernel", default="6.12")
    parser.add_argument("--seconds", type=int, default=60, help="for each test")
    parser.add_argument("names", nargs="*", metavar="NAME")
    options = parser.parse_args()
    wanted = [mutant for mutant in MUTANTS if not options.names or mutant.name in options.names]
    missed = 0
    if options.places:
        for mutant in wanted:
            if why := _misplaced(mutant):
                print(f"{mutant.name}: {why}")
                missed += 1
        print(f"{len(wanted) - missed} of {len(wanted)} in place")
        return 1 if missed else 0
    if not options.build:
        parser.error("--build is needed to run the tests")
    with tempfile.TemporaryDirectory(prefix="cosy-mutant-") as tree:
        tests = Tests(options, Path(tree))
        if not _control(wanted, Path(tree), tests):
            return 1
        for mutant in wanted:
            missed += not _try(mutant, Path(tree), tests)
    print(f"{len(wanted) - missed} of {len(wanted)} found, or harmless")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
