#!/bin/sh
# SPDX-License-Identifier: MIT
# processor.sh DIR REASON [NAME]... - on a processor whose REASON makes the module refuse
# compounds: `cosy doctor` says so and what to do, and programs run natively with the same
# results; once it is allowed they run in the kernel.  REASON none: it is not refused.
directory=$1
reason=$2
shift 2
cosy=/t/cosy
allow=/sys/module/cosy/parameters/allow_processor
bad=0

# says STATUS TEXT: the exit status of cosy doctor, and a line of its answer.
says() {
	out=$($cosy doctor 2>&1)
	got=$?
	if [ $got != "$1" ] || ! echo "$out" | grep -qF -- "$2"; then
		echo "FAILED: exit status $got, not $1; or no \"$2\" in:"
		echo "$out"
		bad=1
	fi
}

grep -H . /sys/devices/system/cpu/vulnerabilities/* | grep -v 'Not affected'
if [ "$reason" = none ]; then
	says 0 'Compounds run in this kernel'
	exit $bad
fi
[ "$(cat $allow)" = N ] || { echo "FAILED: allowed from the start"; bad=1; }
says 1 "the module refuses this processor: this processor has $reason: the kernel"
says 1 "echo 1 > $allow"
CHECK_EXPECT=native sh /t/suite.sh "$directory" files many || bad=1
echo 1 >$allow
says 0 'Compounds run in this kernel'
sh /t/suite.sh "$directory" "$@" || bad=1
echo 0 >$allow
says 1 "this processor has $reason"
exit $bad
