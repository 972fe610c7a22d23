#!/bin/sh
# SPDX-License-Identifier: MIT
# move_long.sh STEPS SEED KIND - runs move_random once on each processor, with seeds from SEED on and
# with the module's own checks of what moves: sums of the words that the program writes, which are
# the first of each cache line, or of 512 bytes where all is 2 MB.  Status 1 if any of them failed.
case $3 in
huge) words=64 ;;
*) words=8 ;;
esac
echo $words >/sys/module/cosy/parameters/check_words
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
echo 1 >/sys/module/cosy/parameters/check_words
exit $failed
