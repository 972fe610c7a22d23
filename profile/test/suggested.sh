#!/bin/busybox sh
# SPDX-License-Identifier: MIT
# Follows the advice of `cosy profile`: the best region of suggested.c, marked by -fcosy-suggest, goes into the kernel
# and saves what was predicted.  Time is counted instructions here.  suggested.sh
cd /t || exit 1
unset COSY_TIER
failed=0
fail() { echo "FAILED: $*"; failed=1; }
expect() { [ "$2" "$3" "$4" ] || fail "$1: $2 $3 $4"; }
runs() { sed -n 's/^ *runs[: ]*\([0-9]*\).*/\1/p' /sys/kernel/debug/cosy/stats | head -1; }

head -c 4096 /dev/urandom >/tmp/in
first=$(grep -n 'for (' suggested.c | cut -d: -f1)
last=$(grep -n '^	}' suggested.c | cut -d: -f1)
before=$(runs)
# What is built here was built before, as the compiler is not here.
./cosy-profile --backend fentry \
	--build 'echo "$COSY_SUGGEST" >/tmp/suggest; cp /t/profile_suggested_cosy /tmp/marked' \
	--verify=3 --marked /tmp/marked -- ./profile_suggested /tmp/in 100000 >/tmp/text 2>/tmp/errors
status=$?
grep -A1 ^Verified /tmp/text
grep -q ': in$' /tmp/text && [ $status = 0 ] || { fail "status $status"; cat /tmp/text /tmp/errors; }
expect "file" "$(sed -n 's,.*/\(.*\):.*,\1,p' /tmp/suggest)" = suggested.c
expect "line" "$(sed 's/.*://' /tmp/suggest)" -ge "$first"
expect "line" "$(sed 's/.*://' /tmp/suggest)" -le "$last"
expect "regions that ran in the kernel" "$(runs)" -gt "$before"
expect "what both read" "$(./profile_suggested /tmp/in 5000)" -eq "$(/tmp/marked /tmp/in 5000)"

# Too little work for the kernel: that is said, and nothing is predicted.
./cosy-profile --backend fentry -- ./profile_suggested /tmp/in 5000 >/tmp/text 2>/tmp/errors
grep -q "pread64+, .* in profile_suggested: too short a run: a region goes into the kernel after" /tmp/text ||
	{ fail "a short run is advised otherwise"; cat /tmp/text /tmp/errors; }
exit $failed
