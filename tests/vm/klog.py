# SPDX-License-Identifier: MIT
"""Finds the lines of the kernel's log which mean that the kernel was harmed."""

from __future__ import annotations

import re

# Each is something only the kernel says about itself; what it says about a
# program that crashed ("segfault at", "traps: x general protection fault ip:")
# is not among them.
_BAD = re.compile(
    r"""
    \bBUG\b[:\ ]                        # BUG:, kernel BUG at, BUG kmalloc-64 (slub)
  | \bWARNING:
  | \bOops\b
  | \[\#\d+\]                           # the number of a crash
  | \bKernel\ panic\b
  | \b(KASAN|KCSAN|KMSAN|KFENCE|UBSAN):
  | kmemleak:\ \d+\ new\ suspected
  | \bINFO:\ (possible|inconsistent|suspicious|trying\ to\ register\ non-static)
  | \bpossible\ (circular|recursive)\ locking | inconsistent\ lock\ state | suspicious\ RCU\ usage
  | \b(soft|hard)\ lockup\b | \bhard\ LOCKUP\b
  | \bdetected\ (expedited\ )?stalls? | self-detected\ stall | \brcu.*\bstall\b
  | task\ \S+\ blocked\ for\ more\ than
  | scheduling\ while\ atomic | sleeping\ function\ called
  | general\ protection\ fault,\ | unable\ to\ handle\ | double\ fault | corrupted\ stack\ end
  | stack-protector: | kernel\ stack\ overflow | stack\ guard\ page
  | usercopy:\ Kernel\ memory
  | \blist_(add|del)\ corruption | \brefcount_t:\ | \bcorruption\ (detected|in)
  | (Slab|slab|Object|Redzone|Poison|Freechain|Freepointer)\b.*\b(corrupt|overwritten) | \bFIX\ \S+:\ 
  | Bad\ (page|rss-counter|pagetable) | non-zero\ pgtables_bytes
  | BUG:\ Bad | nobody\ cared
  | \bcosy:.*\b(leaked|leak|corrupt)
    """,
    re.VERBOSE,
)


# init.sh logs this before it does anything of ours.
_UP = "cosy guest: up"


# A report of KCSAN's, between two such lines.
_REPORT = re.compile(r"^.*={40,}\n.*BUG: KCSAN: (?:.*\n)*?.*={40,}$", re.M)
# The line above each of its two backtraces, a frame's function and module, and functions that belong to no data.
_ACCESS = re.compile(r"^.*\b(?:read|write|read-write)\b.* of \d+ bytes by .*$|^.*\brace at unknown origin\b.*$", re.M)
_FRAME = re.compile(r"\] +(\w[\w.]*)\+0x[0-9a-f]+/0x[0-9a-f]+(?: \[(\w+)\])?$", re.M)
_LIBRARY = re.compile(
    r"_*(bitmap|find|xa|xas|rb|list|hlist|llist|mem|str|copy|kref|refcount|idr|ida|kasan|kcsan|tsan)(_|cpy|set|move|cmp|len)"
)


def _without_foreign_races(log: str) -> str:
    """Leaves out the data races that cosy.ko has no part in: the kernel has many.

    cosy.ko has a part where a function of its own races, or one of the kernel's library by which it goes over
    what is its own: a bitmap, a tree.  It may also be found further down in the backtraces: calls that a
    compound makes the ordinary way race with each other as those of any program.
    """
    return _REPORT.sub(lambda report: report[0] if _is_ours(report[0]) else "", log)


def _is_ours(report: str) -> bool:
    for backtrace in _ACCESS.split(report):
        frames = _FRAME.finditer(backtrace)
        racing = next((frame for frame in frames if not _LIBRARY.match(frame[1])), None)
        if racing and racing[2] == "cosy":
            return True
    return False


def bad_lines(log: str) -> list[str]:
    """Returns the lines that mean harm, in order: all since the guest was up, or of a boot that failed."""
    ours = _without_foreign_races(log.split(_UP, 1)[-1])
    return [line for line in ours.splitlines() if _BAD.search(line)]


# What a breakpoint that nobody owns leads to, and the code there: what was executed is before <..>, in one byte or two.
_BREAKPOINT = re.compile(r"\bOops: int3:")
_CODE = re.compile(r"\bCode: .*\b([0-9a-f]{2} [0-9a-f]{2}) <[0-9a-f]{2}>")
_THERE = re.compile(r"cc$|cd 03$")


def stale_breakpoint(log: str) -> bool:
    """Returns whether all harm comes of a breakpoint that was executed where memory holds none.

    QEMU before 8.1 translates code without a lock on its page: a processor may keep the breakpoint by which
    another one was changing the kernel's code (a tracepoint, a static key) for a moment.
    """
    bad = [line for line in bad_lines(log) if "Kernel panic - not syncing: Fatal exception" not in line]
    if not bad or not all(map(_BREAKPOINT.search, bad)):
        return False
    # Each has its code before the next one, if another processor comes upon it, too.
    reports = _BREAKPOINT.split(log.split(_UP, 1)[-1])[1:]
    codes = [_CODE.search(report) for report in reports]
    return all(code and not _THERE.search(code[1]) for code in codes)


def excerpt(log: str, limit: int = 120) -> str:
    """Returns the log from shortly before the first bad line on, or its end if there is none."""
    lines = log.splitlines()
    bad = bad_lines(log)
    if bad:
        start = max(0, lines.index(bad[0]) - 5)
        return "\n".join(lines[start : start + limit])
    return "\n".join(lines[-40:])
