#!/bin/sh
# SPDX-License-Identifier: MIT
# container.sh NAME... - the half of container.py that runs in the guest: begins a container of
# each name, by crun and the configuration of that name or by Podman, and in it, as `container.sh
# inside`, each example by the system's compiler and by cosycc.  Prints "key value..." lines for
# container.py.
set -e
here=/t/container

# printed: prints a program's output so that it can be compared: without times and statistics.
printed() {
	times='s/ ns [0-9]*$//; s/^\(result [0-9]*\) [0-9]* \([0-9]*\) [0-9]* /\1 \2 /'
	sed "$times" "$1.out"
	sed -e "$times" -e '/^cosy: stats:/d' "$1.err"
}

# compare EXAMPLE ARGUMENT...: checks that either compiler's program prints the same; reads libcosy's statistics.
compare() {
	example=$1 want=0 got=0
	shift
	$programs/plain/"$example" "$@" >/scratch/want.out 2>/scratch/want.err || want=$?
	[ -z "$prepare" ] || "$prepare"
	COSY_TIER=always COSY_STATS=1 $programs/cosy/"$example" "$@" >/scratch/got.out 2>/scratch/got.err || got=$?
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

# served EXAMPLE ARGUMENT...: checks that it prints the same as before under what `cosy run` preloads;
# prints how many reads that served.
served() {
	example=$1
	shift
	LD_PRELOAD=$programs/libcosy-run.so COSY_RUN_EAGER=1 COSY_RUN_STATS=2 \
		$programs/plain/"$example" "$@" >/scratch/got.out 2>/scratch/got.err
	sed -n 's/^cosy: .*reads: \([0-9]*\) specialised.*/served \1/p' /scratch/got.err
	sed -i '/^cosy:/d' /scratch/got.err
	printed /scratch/got >/scratch/got
	cmp /scratch/want /scratch/got && echo "same served"
}

copy_aside() {
	mv /scratch/copy /scratch/plain-copy
}

inside() {
	grep -e ^Seccomp: -e ^CapEff: /proc/self/status
	awk '{ print "ids", $1, $2, $3 }' /proc/self/uid_map
	status=0
	/t/bin/cosy doctor || status=$?
	echo "doctor $status"
	prepare= programs=/t
	compare getpid 100
	compare db /scratch/records 500
	compare ls $here/tree
	compare grep include $here/tree/*/*.h
	prepare=copy_aside
	compare copy $here/tree /scratch/copy
	if diff -r $here/tree /scratch/copy && diff -r /scratch/plain-copy /scratch/copy; then
		echo "same tree"
	fi
	prepare= programs=/t/beside
	mkdir /scratch/beside && cp -r $here/tree /scratch/beside/tree
	compare walk /scratch/beside 1 2
	compare read1 /scratch/beside 1000 2000
	served read1 /scratch/beside 1000 2000
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

# make_user: makes a user in group cosy with subordinate ids, as adduser would.
make_user() {
	echo 'someone:x:1000:1000::/home/someone:/bin/sh' >>/etc/passwd
	echo 'someone:x:1000:' >>/etc/group
	sed -i 's/^cosy:.*/&,someone/' /etc/group
	echo 'someone:100000:65536' >/etc/subuid
	cp /etc/subuid /etc/subgid
	mkdir -p /home/someone /run/user/1000 /etc/containers /usr/share/containers
	chown 1000:1000 /home/someone /run/user/1000
	chmod 0700 /run/user/1000
	mv /t/newuidmap /t/newgidmap /usr/bin/
	chmod 4755 /usr/bin/newuidmap /usr/bin/newgidmap
	mount --make-rshared /
	printf '[engine]\nno_pivot_root = true\n' >/etc/containers/containers.conf
	[ ! -e /t/seccomp.json ] || mv /t/seccomp.json /usr/share/containers/
	# Podman extracts an image as its user's.
	chown -R 1000:1000 /image
}

# by_crun NAME: begins a container by the configuration of that name; as whoever calls it.
by_crun() {
	# A guest's first file system is no mount that pivot_root could leave.
	crun --root "${XDG_RUNTIME_DIR-/run}/crun" "$cgroups" run --no-pivot --bundle /image "$1" </dev/null
}

# by_podman: begins a container by Podman, without a network and a group of its own.
by_podman() {
	# shellcheck disable=SC2046 # two words, or none
	podman --log-level=error --storage-driver=vfs --cgroup-manager=cgroupfs --events-backend=none \
		--runtime /t/crun --conmon /t/conmon run --rm --cgroups=disabled --network=none \
		$(cat $here/device) --group-add keep-groups --read-only --tmpfs /scratch:mode=1777 \
		--env PATH="$PATH" --env LD_LIBRARY_PATH="$LD_LIBRARY_PATH" \
		--rootfs /image/rootfs sh /t/container.sh inside </dev/null
}

# as_user COMMAND...: runs a command of this script's as someone who has no privilege.
as_user() {
	[ -e /home/someone ] || make_user
	su -s /bin/sh someone -c "cd /home/someone && HOME=/home/someone XDG_RUNTIME_DIR=/run/user/1000 \
		LD_LIBRARY_PATH='$LD_LIBRARY_PATH' PATH='$PATH' sh /t/container.sh $*"
}

cgroups=--cgroup-manager=cgroupfs
case $1 in
inside | by_podman)
	"$1"
	exit
	;;
by_crun)
	cgroups=--cgroup-manager=disabled
	by_crun "$2"
	exit
	;;
esac
make_root
minor=$(awk '$2 == "cosy" { print $1 }' /proc/misc)
for name in "$@"; do
	echo "profile $name"
	[ ! -e "$here/$name.json" ] ||
		sed -e "s/\"@MINOR@\"/${minor:-0}/g" -e "s|@LD_LIBRARY_PATH@|$LD_LIBRARY_PATH|" \
			"$here/$name.json" >/image/config.json
	status=0
	case $name in
	rootless) as_user by_crun "$name" || status=$? ;;
	rootless-podman) as_user by_podman || status=$? ;;
	*) by_crun "$name" || status=$? ;;
	esac
	echo "ended $status"
done
