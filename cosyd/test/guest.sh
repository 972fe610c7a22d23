#!/bin/sh
# SPDX-License-Identifier: MIT
# guest.sh CASE... - runs the cases of daemon_test.c, in a virtual machine.
ip link set lo up 2>/dev/null || ifconfig lo up
failed=0
for case in "$@"; do
	if /t/cosyd_daemon_test "$case" /t/cosyd; then
		echo "$case: right"
	else
		echo "FAIL: $case"
		failed=1
	fi
done
exit $failed
