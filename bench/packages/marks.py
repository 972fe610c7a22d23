# SPDX-License-Identifier: MIT
"""Marks for loops of other projects' programs: what a programmer of theirs would change."""

from __future__ import annotations

from dataclasses import dataclass

from packages import coreutils, rsync, tar
from packages.edit import Edit, MarkError, after, apply

__all__ = ["PACKAGES", "Edit", "MarkError", "Package", "apply"]

# find has fts ask for no attributes, and asks itself if a predicate wants them.
_FIND = (
    *coreutils.fts("gl/lib/fts.c"),
    Edit(
        "find/ftsfind.c",
        "static bool\nfind (char *arg)\n{",
        """static bool
needs_stat (const struct predicate *p)
{
  return p && (p->need_stat || needs_stat (p->pred_left) || needs_stat (p->pred_right));
}

static bool
find (char *arg)
{""",
    ),
    Edit(
        "find/ftsfind.c",
        "  p = fts_open (arglist, ftsoptions, NULL);",
        "  if (needs_stat (get_eval_tree ()))\n    ftsoptions &= ~FTS_NOSTAT;\n\n"
        "  p = fts_open (arglist, ftsoptions, NULL);",
    ),
)

# git compares the attributes of every file that the index names, in threads of its own.  Its loop
# is divided: choose up to 64 entries, ask for their attributes (the region), compare.
_GIT = (
    after("preload-index.c", '#include "cache.h"\n', "#include <cosy/cosy.h>\n"),
    Edit(
        "preload-index.c",
        "static void *preload_thread(void *_data)\n{",
        """#define AHEAD 64

struct ahead {
	int count;
	struct cache_entry *entry[AHEAD];
	const char *name[AHEAD];
	int failed[AHEAD];
	struct stat st[AHEAD];
};

static void compare_ahead(struct index_state *index, struct ahead *a)
{
	COSY_START;
	for (int i = 0; i < a->count; i++)
		a->failed[i] = lstat(a->name[i], &a->st[i]);
	COSY_END;
	for (int i = 0; i < a->count; i++) {
		struct cache_entry *ce = a->entry[i];

		if (a->failed[i])
			continue;
		if (ie_match_stat(index, ce, &a->st[i], CE_MATCH_RACY_IS_DIRTY|CE_MATCH_IGNORE_FSMONITOR))
			continue;
		ce_mark_uptodate(ce);
		mark_fsmonitor_valid(index, ce);
	}
	a->count = 0;
}

static void *preload_thread(void *_data)
{
	struct ahead *ahead = xcalloc(1, sizeof(*ahead));
""",
    ),
    Edit("preload-index.c", "		struct stat st;\n\n		if (ce_stage(ce))", "\n		if (ce_stage(ce))"),
    Edit(
        "preload-index.c",
        """		if (lstat(ce->name, &st))
			continue;
		if (ie_match_stat(index, ce, &st, CE_MATCH_RACY_IS_DIRTY|CE_MATCH_IGNORE_FSMONITOR))
			continue;
		ce_mark_uptodate(ce);
		mark_fsmonitor_valid(index, ce);
	} while (--nr > 0);
""",
        """		ahead->entry[ahead->count] = ce;
		ahead->name[ahead->count++] = ce->name;
		if (ahead->count == AHEAD)
			compare_ahead(index, ahead);
	} while (--nr > 0);
	compare_ahead(index, ahead);
	free(ahead);
""",
    ),
)

# dash's `read` reads a byte at a time, since the rest is not its own.
_DASH = (
    after("src/miscbltin.c", '#include "shell.h"\n', "#include <cosy/cosy.h>\n"),
    Edit(
        "src/miscbltin.c",
        "\tgoto start;\n\n\tfor (;;) {\n\t\tswitch (read(0",
        "\tstartloc = p - (char *)stackblock();\n\tnewloc = startloc - 1;\n\n"
        "\tCOSY_START;\n\tfor (;;) {\n\t\tswitch (read(0",
    ),
    Edit("src/miscbltin.c", "start:\n\t\t\tstartloc = p", "\t\t\tstartloc = p"),
    Edit("src/miscbltin.c", "out:\n\trecordregion(startloc, p", "\tCOSY_END;\nout:\n\trecordregion(startloc, p"),
)


@dataclass(frozen=True)
class Package:
    """A Debian source package, and its marks.  bash runs the commands in its folder, with $CC and $JOBS.

    `build` runs a second time once the marks are made, and compiles what they changed.
    """

    configure: str
    build: str
    programs: dict[str, str]  # name: path from the package's folder
    edits: tuple[Edit, ...]


# Debian's patches touch what the build system is made from, but bring what is made.
_MADE = (
    "find . -name aclocal.m4 -exec touch {} + && sleep 1 &&"
    " find . '(' -name configure -o -name '*.in' -o -name '*.hin' ')' -exec touch {} + && "
)

PACKAGES = {
    "coreutils": Package(
        # ls -l asks for access control lists only if libacl's headers are there.
        _MADE + 'printf "#include <acl/libacl.h>\\n" | "$CC" -xc -fsyntax-only - &&'
        ' FORCE_UNSAFE_CONFIGURE=1 ./configure -q CC="$CC" CFLAGS=-O2 --disable-nls --without-selinux',
        # make makes headers first only for `all`.
        "printf 'include Makefile\\nmade: $(BUILT_SOURCES)\\n' | make -s -f - CC=\"$CC\" made &&"
        ' make -s -j"$JOBS" CC="$CC" src/du src/chmod src/wc src/ls src/cp',
        {"du": "src/du", "chmod": "src/chmod", "wc": "src/wc", "ls": "src/ls", "cp": "src/cp"},
        coreutils.EDITS,
    ),
    "findutils": Package(
        _MADE + './configure -q CC="$CC" CFLAGS=-O2 --disable-nls --without-selinux',
        'make -s -j"$JOBS" CC="$CC" -C gl && make -s -j"$JOBS" CC="$CC" -C lib && make -s CC="$CC" -C find find',
        {"find": "find/find"},
        _FIND,
    ),
    "git": Package(
        "true",
        'make -s -j"$JOBS" CC="$CC" CFLAGS=-O2 NO_CURL=1 NO_EXPAT=1 NO_OPENSSL=1 NO_TCLTK=1 NO_GETTEXT=1'
        " NO_PYTHON=1 NO_PERL=1 git",
        {"git": "git"},
        _GIT,
    ),
    "dash": Package(
        # Debian's patches add a file to the build system, so here it is made again.
        'autoreconf -fi && ./configure -q CC="$CC" CFLAGS=-O2',
        'make -s -j"$JOBS" CC="$CC"',
        {"dash": "src/dash"},
        _DASH,
    ),
    "tar": Package(
        _MADE + 'FORCE_UNSAFE_CONFIGURE=1 ./configure -q CC="$CC" CFLAGS=-O2 --disable-nls --without-selinux',
        'for i in gnu lib src; do make -s -j"$JOBS" CC="$CC" -C $i || exit; done',
        {"tar": "src/tar"},
        tar.EDITS,
    ),
    "rsync": Package(
        './configure -q CC="$CC" CFLAGS=-O2 --disable-md2man --disable-openssl --disable-xxhash --disable-zstd'
        " --disable-lz4 --disable-acl-support --disable-xattr-support --disable-iconv --with-included-popt"
        " --with-included-zlib",
        'make -s -j"$JOBS" CC="$CC" rsync',
        {"rsync": "rsync"},
        rsync.EDITS,
    ),
}
