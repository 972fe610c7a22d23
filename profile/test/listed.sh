#!/bin/busybox sh
# SPDX-License-Identifier: MIT
# Follows the advice of `cosy profile` where it names an operation: a directory is listed by cosy_scan_dir, and that
# saves what was predicted.  Time is counted instructions here.  listed.sh
cd /t || exit 1
unset COSY_TIER
failed=0
fail() { echo "FAILED: $*"; failed=1; }
expect() { [ "$2" "$3" "$4" ] || fail "$1: $2 $3 $4"; }
runs() { sed -n 's/^ *runs[: ]*\([0-9]*\).*/\1/p' /sys/kernel/debug/cosy/stats | head -1; }

mkdir /tmp/listed
i=0
while [ $i -lt 500 ]; do
	echo $i >/tmp/listed/name-$i
	i=$((i + 1))
done
expect "what both find" "$(./profile_listed /tmp/listed 3)" = "$(./profile_listed_cosy /tmp/listed 3)"
before=$(runs)
./cosy-profile --backend fentry --verify=3 --marked ./profile_listed_cosy -- ./profile_listed /tmp/listed 200 \
	>/tmp/text 2>/tmp/errors
status=$?
grep -A1 ^Verified /tmp/text
grep -q ': in$' /tmp/text && [ $status = 0 ] || { fail "status $status"; cat /tmp/text /tmp/errors; }
grep -A5 '^  1\. region: ' /tmp/text | grep -q 'type      cosy_scan_dir() of <cosy/fast.h> for this loop' ||
	{ fail "cosy_scan_dir is not what it advises first"; cat /tmp/text; }
# It saves something, not only nothing in a range that has it.
expect "per cent saved" "$(sed -n 's/^Verified: .*measured \(-*[0-9]*\) %.*/\1/p' /tmp/text)" -gt 5
expect "regions that ran in the kernel" "$(runs)" -gt "$before"
exit $failed
