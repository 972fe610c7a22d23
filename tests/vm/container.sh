#!/bin/sh
# SPDX-License-Identifier: MIT
# container.sh PROFILE... - the half of container.py that runs in the guest: begins a container
# by crun for each of the bundles' configurations, and in it, as `container.sh inside`, each
# example by the system's compiler and by cosycc.  Prints "key value..." lines for container.py.
set -e
here=/t/container

# printed: prints a program's output so that it can be compared: without times and statistics.
printed() {
	sed 's/ ns [0-9]*$//' "$1.out"
	sed -e 's/ ns [0-9]*$//' -e '/^cosy: stats:/d' "$1.err"
}

# compare EXAMPLE ARGUMENT...: checks that either compiler's program prints the same; reads libcosy's statistics.
compare() {
	example=$1 want=0 got=0
	shift
	/t/plain/"$example" "$@" >/scratch/want.out 2>/scratch/want.err || want=$?
	[ -z "$prepare" ] || "$prepare"
	COSY_TIER=always COSY_STATS=1 /t/cosy/"$example" "$@" >/scratch/got.out 2>/scratch/got.err || got=$?
	printed /scratch/want >/scratch/want
	printed /scratch/got >/scratch/got
	if [ $want = $got ] && cmp -s /scratch/want /scratch/got; then
		echo "same $example"
	else
		echo "differs $example: status $got, natively $want"
		diff /scratch/want /scratch/got | head -20
	fi
	echo "stats $example $(grep '^cosy: stats:' /scratch/got.err)"
}

copy_aside() {
	mv /scratch/copy /scratch/plain-copy
}

inside() {
	grep -e ^Seccomp: -e ^CapEff: /proc/self/status
	status=0
	/t/bin/cosy doctor || status=$?
	echo "doctor $status"
	prepare=
	compare getpid 100
	compare db /scratch/records 500
	compare ls $here/tree
	compare grep include $here/tree/*/*.h
	prepare=copy_aside
	compare copy $here/tree /scratch/copy
	if diff -r $here/tree /scratch/copy && diff -r /scratch/plain-copy /scratch/copy; then
		echo "same tree"
	fi
}

# make_root: copies the guest's own files, as an image would have them.
make_root() {
	mkdir -p /image
	mount -t tmpfs -o mode=0755 image /image
	mkdir /image/rootfs
	for path in /*; do
		case $path in
		/proc | /sys | /dev | /run | /vm | /mnt | /image | /init) ;;
		*) cp -a "$path" /image/rootfs/ ;;
		esac
	done
	mkdir -p /image/rootfs/proc /image/rootfs/dev /image/rootfs/sys /image/rootfs/run /image/rootfs/scratch
}

if [ "$1" = inside ]; then
	inside
	exit
fi
make_root
minor=$(awk '$2 == "cosy" { print $1 }' /proc/misc)
for profile in "$@"; do
	echo "profile $profile"
	sed -e "s/\"@MINOR@\"/${minor:-0}/g" -e "s|@LD_LIBRARY_PATH@|$LD_LIBRARY_PATH|" \
		"$here/$profile.json" >/image/config.json
	status=0
	# A guest's first file system is no mount that pivot_root could leave.
	crun --root /run/crun run --no-pivot --bundle /image "$profile" </dev/null || status=$?
	echo "ended $status"
done
