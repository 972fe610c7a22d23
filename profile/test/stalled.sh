#!/bin/sh
# SPDX-License-Identifier: MIT
# stalled.sh - in the guest, as root: runs stalled.c with /t/stalling.ko, which holds cosy-observe.
insmod /t/stalling.ko || exit 1
# A thread is held for a minute at most (MAX_HELD_US), which is no stall; `watchdog_thresh` is half of one.
echo 60 >/proc/sys/kernel/watchdog_thresh
echo 300 >/sys/module/rcupdate/parameters/rcu_cpu_stall_timeout
/t/profile_stalled /t/cosy-observe
status=$?
rmmod stalling || exit 1
exit "$status"
