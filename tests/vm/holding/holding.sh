#!/bin/sh
# SPDX-License-Identifier: MIT
# holding.sh [PROGRAM...] - in the guest, as root: runs these of /t, otherwise held.c and held_view.c, with
# /t/holding.ko, which holds their threads.
insmod /t/holding.ko || exit 1
# A thread is held for a minute at most (`longest`): on a busy machine an instrumented kernel may need it.
# A processor that spins for so long is no stall; `watchdog_thresh` is half of what is one.
echo 60 >/proc/sys/kernel/watchdog_thresh
echo 300 >/sys/module/rcupdate/parameters/rcu_cpu_stall_timeout
status=0
for name in ${*:-held held_view}; do
	"/t/$name" || status=$?
done
rmmod holding || exit 1
exit "$status"
