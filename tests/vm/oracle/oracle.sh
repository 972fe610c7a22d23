#!/bin/sh
# SPDX-License-Identifier: MIT
# oracle.sh COMMAND...: runs a command whose programs use metadata windows, while /t/oracle.ko checks each
# answer that the module gives out (oracle.c).
insmod /t/oracle.ko || exit 1
failed=0
"$@" || failed=1
cd /sys/module/oracle/parameters || exit 1
for name in served missed compared announced noticed wrong; do
	echo "$name: $(cat $name)"
done
# What was not checked shows nothing.
for name in served announced noticed; do
	[ "$(cat $name)" -gt 0 ] || { echo "FAIL: $name is 0"; failed=1; }
done
[ "$(cat wrong)" = 0 ] || { echo "FAIL: answers were wrong"; dmesg | grep oracle: | tail -20; failed=1; }
cd /
rmmod oracle || failed=1
exit $failed
