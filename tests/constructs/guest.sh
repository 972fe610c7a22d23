#!/bin/sh
# SPDX-License-Identifier: MIT
# guest.sh DIR: in a virtual machine, runs the compounds that run.py --put or leave.py --put made
# in the kernel, and compares what they print with what plain clang's printed: all of
# them from the start, then once more from the third entry or round on.
dir=$1
passed=0 failed=0
mkdir -p /tmp

# check TIER PROGRAM
check() {
	COSY_TIER=$1 COSY_STATS=1 "$2" <"$2.in" >/tmp/out 2>/tmp/stats
	echo "exit $?" >>/tmp/out
	if ! cmp -s /tmp/out "$2.out"; then
		echo "FAIL ${2##*/}, $1: other output"
		diff "$2.out" /tmp/out
		return 1
	fi
	# Every region must have run in the kernel, unless it stays native.  A region that
	# a handler leaves by longjmp has made its calls there, but ends no run.
	if [ "$1" = always ] && [ "$(cat "$2.kind")" = compiled ] &&
		! grep -q ' \(runs=[1-9]\|runs=0 kernel_calls=[1-9]\).* native=0 ' /tmp/stats; then
		echo "FAIL ${2##*/}: not in the kernel: $(cat /tmp/stats)"
		return 1
	fi
}

for kind in "$dir"/*.kind; do
	for tier in always 2; do
		if check "$tier" "${kind%.kind}"; then
			passed=$((passed + 1))
		else
			failed=$((failed + 1))
		fi
	done
done
# Enter the kernel in the middle of loops; random programs have none of that name.
[ "${dir##*/}" = leave-guest ] ||
	COSY_TIER=2 COSY_STATS=1 "$dir/switch_in_loops" 2>&1 >/dev/null | grep -q ' runs=[1-9]' || failed=$((failed + 1))
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
