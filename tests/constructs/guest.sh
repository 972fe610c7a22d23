#!/bin/sh
# SPDX-License-Identifier: MIT
# guest.sh DIR: in a virtual machine, runs the compounds that run.py --put made
# in the kernel, and compares what they print with what plain clang's printed.
dir=$1
passed=0 failed=0
mkdir -p /tmp
for kind in "$dir"/*.kind; do
	program=${kind%.kind}
	name=${program##*/}
	COSY_STATS=1 "$program" <"$program.in" >/tmp/out 2>/tmp/stats
	echo "exit $?" >>/tmp/out
	if ! cmp -s /tmp/out "$program.out"; then
		echo "FAIL $name: other output"
		diff "$program.out" /tmp/out
		failed=$((failed + 1))
		continue
	fi
	# Every region must have run in the kernel, unless it stays native.  One that
	# a handler leaves by longjmp has made its calls there, but ends no run.
	if [ "$(cat "$kind")" = compiled ] &&
		! grep -q ' \(runs=[1-9]\|runs=0 kernel_calls=[1-9]\).* native=0 ' /tmp/stats; then
		echo "FAIL $name: not in the kernel: $(cat /tmp/stats)"
		failed=$((failed + 1))
		continue
	fi
	passed=$((passed + 1))
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
