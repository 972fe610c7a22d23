#!/bin/sh
# SPDX-License-Identifier: MIT
# long.sh PROGRAM SEED ROUNDS - ROUNDS rounds of the comparison on each file system and
# kernel, from SEED on.  Says what differed; exit status 1 when anything did.
program=$1 seed=$2 rounds=$3
here=$(dirname "$0")
empty=$(mktemp -d)
trap 'rmdir "$empty"' EXIT
status=0

run() {
	name=$1
	shift
	for kernel in 6.1 6.12; do
		echo "$name, $kernel, from seed $seed:"
		python3 "$here/../vm.py" run --kernel $kernel --smp 2 --timeout 0 --append=cosy.max_missed=0 \
			--env SAME_SEED="$seed" --env SAME_ROUNDS="$rounds" \
			--put "$program" --put "$here/guest.sh" "$@" || status=1
	done
}

run tmpfs -- sh /t/guest.sh tmpfs strictatime
run "tmpfs, relatime" --env SAME_ATIME=relatime -- sh /t/guest.sh tmpfs relatime
run ext4 --disk "$empty" -- sh /t/guest.sh disk strictatime
run "ext4, slub_debug" --disk "$empty" --append slub_debug=FZPU -- sh /t/guest.sh disk strictatime
run btrfs --disk "$empty" --disk-type btrfs --env SAME_NO_DIRECT=1 -- sh /t/guest.sh disk strictatime
run overlay --disk "$empty" --load overlay -- sh /t/guest.sh overlay strictatime
run nobody --user nobody --env SAME_ATIME=relatime -- sh /t/guest.sh none
exit $status
