#!/bin/sh
# SPDX-License-Identifier: MIT
# move_lacking.sh STEPS SEED KIND... - in the guest, as root: runs move_random, kind after kind, where
# the module lacks memory at some points of nearly each step.  Then nothing may be left of it: neither
# of what the module counts, nor of the memory that the programs' group was charged for.
MAX_LEFT=1048576 # bytes that the kernel may have charged ahead
group=/sys/fs/cgroup/moving
steps=$1 seed=$2
shift 2
insmod /t/failing.ko again=7 || exit 1
echo Y >/sys/module/cosy/parameters/check_moved
echo +memory >/sys/fs/cgroup/cgroup.subtree_control
mkdir $group || exit 1
failed=0
for kind in "$@"; do
	(echo 0 >$group/cgroup.procs && exec /t/move_random "$steps" "$seed" "$kind" lacking) || failed=1
done
echo N >/sys/module/cosy/parameters/check_moved
echo "$(cat /sys/module/failing/parameters/failures) calls failed"
rmmod failing
if grep -E '^(contexts|arenas|parcels|ports|huge) +[1-9]' /sys/kernel/debug/cosy/stats; then
	echo "FAIL: something is left"
	failed=1
fi
# What is freed by a kernel worker takes a moment.
for _ in $(seq 50); do
	left=$(cat $group/memory.current)
	[ "$left" -gt $MAX_LEFT ] || break
	sleep 0.1
done
echo "$left bytes are charged"
[ "$left" -le $MAX_LEFT ] || failed=1
exit $failed
