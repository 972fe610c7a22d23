#!/bin/busybox sh
# SPDX-License-Identifier: MIT
# Records programs in a virtual machine, or runs them and the marked ones: regions.sh
# record|measure DIRECTORY.  /t/regions.list has the commands, /t/plain and /t/marked the programs;
# regions.py reads what is printed.
unset COSY_TIER
repeat() { i=0; while [ $i -lt "$1" ]; do printf '%s ' "$2"; i=$((i + 1)); done; }
fresh() {
	cd / && rm -rf "$place" || exit 1
	cp -r /t/inputs "$place" && mkdir "$place/out" && cd "$place" || exit 1
}
runs() { sed -n 's/^ *runs[: ]*\([0-9]*\).*/\1/p' /sys/kernel/debug/cosy/stats | head -1; }

record() {
	rm -f /tmp/said
	/t/cosy-profile --backend fentry --json /tmp/said -- "/t/plain/$program" "$@" >/tmp/text 2>&1
	if [ -f /tmp/said ]; then cat /tmp/said; else sed 's/^/@ text /' /tmp/text; fi
}

# Prints what both take; `took` does so on standard error.
measure() {
	/t/plain/took "/t/plain/$program" "$@" 2>&1 >/tmp/plain
	fresh
	before=$(runs)
	/t/plain/took "/t/marked/$name" "$@" 2>&1 >/tmp/marked
	echo "@ runs $(($(runs) - before))"
	cmp -s /tmp/plain /tmp/marked || echo "@ differs"
}

what=$1 place=$2
grep '^[a-z]' /t/regions.list >/tmp/list
while IFS=: read -r name arguments <&3; do
	[ "$what" = record ] || [ -f "/t/marked/$name" ] || continue
	echo "@ program $name"
	fresh
	eval "set -- $arguments"
	program=$1
	shift
	"$what" "$@"
done 3</tmp/list
echo "@ end"
