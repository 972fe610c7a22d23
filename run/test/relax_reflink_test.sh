#!/bin/bash
# SPDX-License-Identifier: MIT
# relax_reflink_test.sh COSY FUZZER - tests --relax=reflink where blocks can be shared: in $TMPDIR if its
# file system can, otherwise on a btrfs in a loop device, which takes root.
set -u
cosy=$1 fuzzer=$2
work=$(mktemp -d) || exit 1
mounted=
trap '[ -z "$mounted" ] || umount "$work"; rm -rf "$work" "$work.image"' EXIT

skip() {
	echo "skipped: $*"
	exit 77
}

head -c 8000000 /dev/urandom >"$work/source"
if ! cp --reflink=always "$work/source" "$work/probe" 2>/dev/null; then
	[ "$(id -u)" = 0 ] || skip "$work cannot share blocks, and mounting a file system that can takes root"
	command -v mkfs.btrfs >/dev/null || skip "$work cannot share blocks, and there is no mkfs.btrfs"
	rm "$work/source"
	truncate -s 256M "$work.image"
	mkfs.btrfs -q "$work.image" >/dev/null 2>&1 || skip "mkfs.btrfs fails"
	mount -o loop "$work.image" "$work" 2>/dev/null || skip "no btrfs can be mounted here"
	mounted=yes
	head -c 8000000 /dev/urandom >"$work/source"
fi
failed=0

# copies AT_LEAST BS OPTION...: fails unless dd by blocks of BS makes a copy, and shares so many bytes
copies() {
	rm -f "$work/copy"
	"$cosy" run --stats --relax=reflink -- dd if="$work/source" of="$work/copy" bs="$2" status=none 2>"$work/err"
	cmp "$work/source" "$work/copy" || failed=1
	shared=$(grep -o 'reflink [0-9]* bytes' "$work/err" | tr -cd 0-9)
	if [ "${shared:-0}" -lt "$1" ]; then
		echo "FAIL: dd bs=$2 shared ${shared:-0} bytes, not $1"
		failed=1
	fi
}

copies 7000000 64k
copies 7000000 16k
copies 6000000 1M
# Blocks that begin within blocks cannot be shared; they are copied.
copies 0 50000
copies 0 4k
TMPDIR=$work "$cosy" run --relax=reflink -- "$fuzzer" 10000 3 reflink || failed=1
TMPDIR=$work "$cosy" run --relax=trunc,coalesce,reflink -- "$fuzzer" 10000 4 trunc,coalesce,reflink || failed=1
exit $failed
