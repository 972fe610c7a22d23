#!/bin/sh
# SPDX-License-Identifier: MIT
# mutants.sh tmpfs|disk TEST... - runs tests in this order until one fails: programs of /t/guest,
# `watch_guard` and its like, `types` (../failing), `processor-REASON`, `held`, `held_watch`, `held_turn`, `same` and `race`.
# Says which one it is at, so that a machine that goes down tells that, too.
# Exit status 1 when one failed.
disk=$1
shift
directory=/tmp
[ "$disk" = tmpfs ] || directory=/mnt
mkdir /tmp/mnt

# Compares random calls in a directory whose access times always move.
compare() {
	if [ "$disk" = tmpfs ]; then
		mount -t tmpfs -o mode=0777,size=100m,strictatime none /tmp/mnt
		"/t/$1" /tmp/mnt
	else
		mount -o remount,strictatime /mnt
		"/t/$1" /mnt
	fi
}

for name in "$@"; do
	echo "at $name"
	start=$(date +%s)
	case $name in
	same | race) compare "$name" >/tmp/out 2>&1 ;;
	types) sh /t/failing.sh types >/tmp/out 2>&1 ;;
	processor-*) sh /t/processor.sh /t/guest "${name#processor-}" kmod_call >/tmp/out 2>&1 ;;
	watch_*)
		# Without watchers they would pass: the self-test has noticed.
		if [ "$(cat /sys/module/cosy/parameters/metadata_state)" = on ]; then
			mkdir -p "$directory/$name"
			"/t/$name" "$directory/$name" 100 >/tmp/out 2>&1
		else
			echo "FAIL $(cat /sys/module/cosy/parameters/metadata_state)" >/tmp/out
			false
		fi
		;;
	held)
		# A RUN's first call on ext4 is the ordinary one (FRESH), and held_view's regions make no other.
		[ "$disk" = tmpfs ] && programs="held held_view" || programs=held
		# shellcheck disable=SC2086
		CHECK_EXPECT=kernel TMPDIR=$directory sh /t/holding.sh $programs >/tmp/out 2>&1
		;;
	held_watch | held_turn) TMPDIR=$directory sh /t/holding.sh "$name" >/tmp/out 2>&1 ;;
	*) CHECK_EXPECT=kernel TMPDIR=$directory timeout -s KILL "${LIMIT-120}" "/t/guest/$name" >/tmp/out 2>&1 ;;
	esac
	status=$?
	echo "took $name $(($(date +%s) - start)) s"
	case $status in
	0) ;;
	77) echo "skipped $name: $(cat /tmp/out)" ;;
	*)
		echo "failed $name: status $status"
		tail -n 60 /tmp/out
		exit 1
		;;
	esac
done
