#!/bin/sh
# SPDX-License-Identifier: MIT
# guest.sh OPENS - runs stale_test.c with windows of either kind, stopped_test.c and watchdog_test.c,
# in a virtual machine whose /tmp is a tmpfs.  At night there are 16 times as many opens.
failed=0 opens=$1
[ "$COSY_SCALE" != nightly ] || opens=$((16 * opens))
for eager in 1 map; do
	if COSY_RUN_EAGER=$eager COSY_RUN_STATS=2 LD_PRELOAD=/t/libcosy-run.so \
		/t/run_stale_test "$opens" 2>/tmp/err; then
		# Without windows, or without a writer who breaks leases, the test tells nothing.
		grep -q "replugged: READ_ONLY [1-9]" /tmp/err && continue
		echo "FAIL: no window was taken from the reader"
	else
		echo "FAIL: stale reads, or none"
	fi
	cat /tmp/err
	failed=1
done
COSY_RUN_EAGER=1 LD_PRELOAD=/t/libcosy-run.so /t/run_stopped_test || failed=1
# A watchdog is no ancestor of its program: Yama has to be told of it.
cp /t/cosy /bin/cosy
for scope in 0 1; do
	[ -e /proc/sys/kernel/yama/ptrace_scope ] && echo $scope >/proc/sys/kernel/yama/ptrace_scope
	su -s /bin/sh nobody -c 'COSY_RUN_EAGER=1 LD_PRELOAD=/t/libcosy-run.so exec /t/run_watchdog_test' || {
		echo "FAIL: watchdog with ptrace_scope $scope"
		failed=1
	}
done
exit $failed
