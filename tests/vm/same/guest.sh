#!/bin/sh
# SPDX-License-Identifier: MIT
# guest.sh FILESYSTEM [OPTIONS] - runs SAME_PROGRAM (`same`) on that file system, mounted with OPTIONS:
# tmpfs, disk (what vm.py mounted on /mnt), overlay (over the disk) or none (/tmp, by
# whoever may not mount).
set -e
case $1 in
tmpfs)
	mkdir /tmp/mnt
	mount -t tmpfs -o "mode=0777,size=100m${2:+,$2}" none /tmp/mnt
	directory=/tmp/mnt
	;;
disk)
	[ -z "$2" ] || mount -o "remount,$2" /mnt
	directory=/mnt
	;;
overlay)
	mkdir /mnt/lower /mnt/upper /mnt/work /tmp/mnt
	mount -t overlay -o "lowerdir=/mnt/lower,upperdir=/mnt/upper,workdir=/mnt/work${2:+,$2}" none /tmp/mnt
	directory=/tmp/mnt
	;;
none)
	mkdir /tmp/mnt
	directory=/tmp/mnt
	;;
esac
exec "/t/${SAME_PROGRAM-same}" "$directory"
