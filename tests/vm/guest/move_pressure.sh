#!/bin/sh
# SPDX-License-Identifier: MIT
# move_pressure.sh LEFT [STEPS [SEED]] - runs move_random where a process has all memory but LEFT MB.
#
# When that is too little the kernel ends the other process first, and when it ends move_random a
# shell prints no more than "Killed": so the lines of its log that tell of either are printed.
left=$1
shift
taken=$(($(awk '/MemAvailable/ { print int($2 / 1024) }' /proc/meminfo) - left))
(head -c "${taken}m" /dev/zero; sleep 1000000) |
	sh -c 'echo 1000 >/proc/self/oom_score_adj; exec tail -n 1' >/dev/null &
free() {
	awk '/MemAvailable/ { print int($2 / 1024) }' /proc/meminfo
}
# Wait until it has the memory, or has been ended.
for _ in $(seq 300); do
	[ "$(free)" -le $((left + 8)) ] && break
	sleep 0.1
done
echo "$taken MB taken, $(free) left"
/t/move_random "$@"
status=$?
echo "status $status, $(free) MB left"
dmesg | grep -E 'Out of memory|oom-kill|Killed process'
exit $status
