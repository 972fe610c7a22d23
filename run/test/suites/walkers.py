# SPDX-License-Identifier: MIT
"""Test suites of programs that walk trees: coreutils, findutils, tar, rsync.

Those of the first three run this Debian's own programs, which have to be of the version that the source
has; of rsync's, the programs under test are built with it.
"""

from __future__ import annotations

from suites import Suite

# Debian's patches touch what the build system is made from, but bring what is made.
_MADE = (
    "find . -name aclocal.m4 -exec touch {} + && sleep 1 && "
    "find . '(' -name configure -o -name '*.in' -o -name '*.hin' ')' -exec touch {} + && "
)

# What the makefiles of GNU set for a test, which runs in a folder of its own.
_GNU = (
    "export srcdir=$PWD top_srcdir=$PWD abs_srcdir=$PWD abs_top_srcdir=$PWD abs_top_builddir=$TMPDIR fail=0 "
    "host_os=linux-gnu host_triplet=x86_64-pc-linux-gnu AWK=awk EGREP='grep -E' CC=cc PERL=perl SHELL=/bin/sh "
    'built_programs="find xargs $(echo man/*.x | sed "s,man/\\|[.]x,,g")" CU_TEST_NAME="${1//\\//-}" '
    'CONFIG_HEADER=$TMPDIR/config.h; mkdir "$TMPDIR/src"; cd "$TMPDIR"; touch config.h; '
)
_SAID = 'case $? in 0) said=ok;; 77) said=skipped;; *) said=FAIL;; esac; echo "test $1: $said"'

SUITES = {
    "coreutils": Suite(
        source="coreutils",
        build="true",
        all="ls tests/{chgrp,chmod,cp,du,ls,mv,rm}/*.{sh,pl}",
        unit=_GNU + 'case $1 in *.pl) perl -w -I"$srcdir/tests" -MCuSkip -MCoreutils -M"CuTmpdir qw(${1##*/})" '
        '"$srcdir/$1";; *) sh "$srcdir/$1";; esac >said 2>&1 9>&1; ' + _SAID,
    ),
    "findutils": Suite(
        source="findutils",
        build="true",
        all="ls tests/find/*.sh && cd find/testsuite && ls find.*/*.exp",
        unit='case $1 in *.exp) suite=$PWD/find/testsuite; cd "$TMPDIR"; '
        'runtest -a --tool find FTSFIND=/usr/bin/find --srcdir "$suite" "$1" 2>&1 | '
        'sed -nE "s/^(PASS|FAIL|XPASS|XFAIL|UNTESTED|UNRESOLVED|UNSUPPORTED|ERROR): ([^, ]*).*/test \\2: \\1/p";; '
        "*) " + _GNU + 'sh "$srcdir/$1" >said 2>&1 9>&1; ' + _SAID + ";; esac",
    ),
    "tar": Suite(
        source="tar",
        build=_MADE + "FORCE_UNSAFE_CONFIGURE=1 ./configure -q CFLAGS=-O1 --disable-nls --without-selinux && "
        "make -s -j2 -C gnu && make -s -C tests genfile checkseekhole ckmtime",
        all="last=$(tests/testsuite --list | sed -nE 's/^ *([0-9]+): .*/\\1/p' | tail -1); "
        "for first in $(seq 1 10 $last); do echo $first-$((first + 9 < last ? first + 9 : last)); done",
        unit='suite=$PWD/tests/testsuite; mkdir "$TMPDIR/tests"; cp tests/at{config,local} "$TMPDIR/tests"; '
        'bash "$suite" -C "$TMPDIR/tests" "$1" 2>&1 | '
        'sed -nE "s/^ *([0-9]+): (.*[^ ]) +(ok|skipped|FAILED|expected failure).*/test \\1 \\2: \\3/p"',
    ),
    "rsync": Suite(
        source="rsync",
        build="./configure -q CFLAGS=-O1 --disable-md2man --disable-openssl --disable-xxhash --disable-zstd "
        "--disable-lz4 --disable-iconv --with-included-popt --with-included-zlib && "
        "printf 'include Makefile\\nbuilt: $(CHECK_PROGS) $(CHECK_SYMLINKS)\\n' | make -s -j2 -f - built",
        all="cd testsuite && ls *.test",
        unit="scratchbase=$TMPDIR whichtests=$1 sh ./runtests.sh 2>&1 | "
        'sed -nE "s/^(PASS|SKIP|FAIL|XFAIL) +([^ ]*).*/test \\2: \\1/p"',
    ),
}

# What they need besides the programs of other suites.
PACKAGES = ("acl", "attr", "dejagnu", "expect", "file", "libc-bin", "ncurses-bin")

# Scripts that list a few tests of each, as Suite.all.
SHORT = {
    "coreutils": "ls tests/du/{basic,hard-link,inodes}.sh tests/ls/{inode,stat-dtype}.sh "
    "tests/cp/link-preserve.sh tests/rm/r-1.sh tests/mv/part-hardlink.sh",
    "findutils": "ls tests/find/type_list.sh && cd find/testsuite && "
    "ls find.gnu/{depth,samefile-link,perm-slash}.exp find.posix/{links,sizes}.exp",
    "tar": "echo 68-71 112-116 179-183",
    "rsync": "cd testsuite && ls {delete,hardlinks,itemize}.test",
}
