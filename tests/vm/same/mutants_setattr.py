# SPDX-License-Identifier: MIT
"""Guards of changes of attributes by name."""

from mutant import Mutant

_FILE = "kmod/fast/setattr.c"

MUTANTS = [
    Mutant("setattr-mode", _FILE, "static_call(cosy_chmod_common)(path, *(umode_t *)mode)", "0", by="fast_setattr"),
    Mutant("setattr-times", _FILE, "times->given ? times->time : NULL", "times->time", by="fast_setattr"),
    Mutant("setattr-access", _FILE, "for (i = 0; i < 2; i++) {", "for (i = 1; i < 2; i++) {", by="fast_setattr"),
    Mutant("setattr-follow", _FILE, "!(flags & AT_SYMLINK_NOFOLLOW);", "true;", by="fast_setattr"),
    Mutant("setattr-flags", _FILE, " || (flags & ~AT_SYMLINK_NOFOLLOW)", "", by="fast_setattr"),
    Mutant("setattr-name", _FILE, " || !name ||", " ||", harmless="no name is at address 0"),
    Mutant(
        "setattr-omitted",
        _FILE,
        "return user[0].tv_nsec != UTIME_OMIT || user[1].tv_nsec != UTIME_OMIT;",
        "return true;",
        by="fast_setattr",
    ),
    Mutant(
        "setattr-memory",
        _FILE,
        "if (!cosy_memory_read(run, user, from, sizeof(user)))\n\t\treturn false;",
        "if (!cosy_memory_read(run, user, from, sizeof(user)))\n\t\treturn true;",
        by="fast_setattr",
    ),
    Mutant(
        "setattr-waits",
        _FILE,
        "cosy_has_leases(inode) ||",
        "",
        harmless="the change waits for the holder of a delegation with names held",
    ),
    Mutant(
        "setattr-frozen",
        _FILE,
        "||\n\t\t     READ_ONCE(inode->i_sb->s_writers.frozen) != SB_UNFROZEN)",
        ")",
        harmless="the change waits for the thaw with names held",
    ),
    Mutant(
        "setattr-cursors",
        _FILE,
        "\tcosy_cursors_drop(run);\n",
        "",
        harmless="pages are held while the file system waits for its disk",
    ),
]
