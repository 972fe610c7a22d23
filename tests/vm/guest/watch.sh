#!/bin/sh
# SPDX-License-Identifier: MIT
# watch.sh on|off|untested DIR ROUNDS: metadata windows, with the module's parameter metadata=1, without
# it, or with it on a kernel on which the guard was not tested.
# WATCH_ROUNDS: so many instead of ROUNDS.
# watch.sh long DIR ROUNDS SEED PASSES: only the comparisons of answers, by root and by an ordinary user.
[ -z "$WATCH_ROUNDS" ] || set -- "$1" "$2" "$WATCH_ROUNDS" "$4" "$5"
state=$(cat /sys/module/cosy/parameters/metadata_state)
echo "metadata_state: $state"
if [ "$1" = off ]; then
	[ "$state" = "the module was loaded without metadata=1" ] || exit 1
	# Without the parameter the ioctl is refused, and no function is traced.
	/t/watch_attack "$2/attack"
	[ $? = 77 ] || { echo "the ioctl is not refused"; exit 1; }
	mount -t tracefs none /sys/kernel/tracing 2>/dev/null
	! grep -q shmem_setattr /sys/kernel/tracing/enabled_functions || exit 1
	exit 0
fi
if [ "$1" = untested ]; then
	[ "$state" = "not tested on this kernel series" ] || exit 1
	/t/watch_attack "$2/attack"
	[ $? = 77 ] || { echo "the ioctl is not refused"; exit 1; }
	exit 0
fi
[ "$state" = on ] || exit 1
# The hooks cannot be switched off.
! echo 0 >/proc/sys/kernel/ftrace_enabled || { echo "tracing was switched off"; exit 1; }
failed=0
# Each answer of the library is compared with the system call's, and some were served: compared PROGRAM ...
compared() {
	COSY_RUN_STATS=9 LD_PRELOAD=/t/libcosy-run-metadata.so "$@" 9>/tmp/stats || failed=1
	grep "^cosy: metadata: [1-9][0-9]* calls served" /tmp/stats || { cat /tmp/stats; failed=1; }
}
# What a program costs that asks in this order: order DIR ORDER SERVED ENTRIES, at least and at most.
order() {
	COSY_RUN_STATS=9 LD_PRELOAD=/t/libcosy-run-metadata.so /t/watch_order "$1" "$2" 9>/tmp/stats || failed=1
	set -- "$@" $(sed -n 's/^cosy: metadata: \([0-9]*\) calls served, from \([0-9]*\) entries.*/\1 \2/p' /tmp/stats)
	echo "$2: ${5-0} calls served, from ${6-0} entries"
	[ "${5-0}" -ge "$3" ] && [ "${6-0}" -le "$4" ] || { echo "FAIL: $3 calls from $4 entries"; failed=1; }
}
if [ "$1" = long ]; then
	compared /t/watch_same "$2/same" "$3" "$4" root "$5"
	compared /t/watch_same "$2/same" "$3" "$4" nobody "$5"
	compared /t/watch_during "$2/during" $((1000 * $3)) "$4"
	exit $failed
fi
mkdir -p "$2/guard" "$2/calls"
/t/watch_guard "$2/guard" || failed=1
/t/watch_calls "$2/calls" || failed=1
for name in attack threads mounts; do
	"/t/watch_$name" "$2/$name" || failed=1
done
/t/watch_race "$2/race" "$3" || failed=1
# Opens of a marked region.
COSY_TIER=always CHECK_EXPECT=kernel /t/watch_region "$2/region" || failed=1
# What programs under the library do.
LD_PRELOAD=/t/libcosy-run-metadata.so /t/watch_library "$2/library" || failed=1
# Most of 1,800 calls are served, and most of 1,198 after the first 200, of which READs serve few.  Of
# 8,192 no READ is worth its cost, so there are few.
order "$2/kinds" kinds 1000 100000
order "$2/sorted" sorted 600 100000
order "$2/random" random 0 1000
for seed in 1 2; do
	compared /t/watch_same "$2/same" "$3" $seed root
done
compared /t/watch_same "$2/same" "$3" 3 root 4
# Changes come into calls.
compared /t/watch_during "$2/during" $((1000 * $3)) 1
# An ordinary user is denied some of what is asked for.
compared /t/watch_same "$2/nobody" "$3" 4 nobody
exit $failed
