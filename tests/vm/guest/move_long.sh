#!/bin/sh
# SPDX-License-Identifier: MIT
# move_long.sh STEPS SEED KIND - runs move_random once on each processor, with seeds from SEED on, and
# with the module's own checks of what moves.  Status 1 if any of them failed.
echo Y >/sys/module/cosy/parameters/check_moved
failed=0 pids=
for i in $(seq "$(nproc)"); do
	/t/move_random "$1" $(($2 + i - 1)) "$3" &
	pids="$pids $!"
done
for pid in $pids; do
	wait "$pid" || failed=1
done
echo N >/sys/module/cosy/parameters/check_moved
exit $failed
