#!/bin/sh
# SPDX-License-Identifier: MIT
# guest.sh DIR: in a virtual machine, runs the units that run.py --put made, plain and in the kernel, and compares
# what they print: from the start, then from the third entry or iteration on.
dir=$1
passed=0 failed=0
mkdir -p /tmp/folders

for plain in "$dir"/*.plain; do
	unit=${plain%.plain}
	"$plain" /tmp/folders >/tmp/expected 2>/dev/null
	for tier in always 2; do
		COSY_TIER=$tier COSY_STATS=1 "$unit" /tmp/folders >/tmp/out 2>>"/tmp/counts-$tier"
		if [ -s /tmp/out ] && cmp -s /tmp/expected /tmp/out; then
			passed=$((passed + 1))
		else
			failed=$((failed + 1))
			echo "FAIL ${unit##*/}, $tier"
			diff -a /tmp/expected /tmp/out | head -20
		fi
	done
done

# sum TIER: what libcosy counted in all units.
sum() {
	sed -n 's/^mixed: //p' "/tmp/counts-$1" | tr ' =' '\n ' | awk '{n[$1] += $2} END {for (k in n) printf " %s=%d", k, n[k]}'
}
echo "always:$(sum always)"
echo "2:$(sum 2)"
echo "$passed passed, $failed failed"
# Almost all runs end in the kernel.
[ "$failed" = 0 ] && [ "$passed" -gt 0 ] && sum always | grep -q ' runs=[1-9][0-9]'
