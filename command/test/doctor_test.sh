#!/bin/sh
# SPDX-License-Identifier: MIT
# doctor_test.sh COSY LIBRARY - `cosy doctor` tells the truth about this machine, whichever it
# is, and of a preloaded library with two of libc's functions.
set -u
cosy=$1 library=$2
out=$("$cosy" doctor)
status=$?
bad=0

fail() {
	echo "FAILED: $*" >&2
	echo "$out" >&2
	bad=1
}

if [ $status = 0 ]; then
	echo "$out" | grep -q 'a compound runs in the kernel' || fail "well, but nothing ran"
	echo "$out" | grep -q BAD && fail "well, but something is bad"
else
	[ $status = 1 ] || fail "exit status $status"
	echo "$out" | grep -q BAD || fail "not well, but nothing is bad"
	echo "$out" | grep -q -e '->' || fail "not well, but no advice"
	echo "$out" | tail -n 1 | grep -q '^To do: .' || fail "the last line does not say what to do"
fi
echo "$out" | grep -q '^  ok    `cosy run` works here' || fail "no word on cosy run"
[ -e /dev/cosy ] || [ $status = 1 ] || fail "well without a device"
out=$(COSY_MODE=native "$cosy" doctor)
[ $? = 1 ] || fail "well with COSY_MODE=native"
echo "$out" | tail -n 1 | grep -q '^To do: unset COSY_MODE; then' || fail "no word on COSY_MODE"
echo "$out" | grep -q ' overrides ' && fail "a preloaded library where there is none"
out=$(ASAN_OPTIONS=verify_asan_link_order=0 LD_PRELOAD=$library "$cosy" doctor)
[ $? = 1 ] || fail "well with a preloaded getuid()"
echo "$out" | grep -q "BAD   $library overrides get[ug]id() and 1 more" ||
	fail "no word on the preloaded library"
exit $bad
