#!/bin/busybox sh
# SPDX-License-Identifier: MIT
# Process 1 of the guest.  ttyS0 carries the kernel's log, ttyS1 the command's
# output, ttyS2 what this script reports to qemu.py: `load N`, `ready 1`, `files 1`, `run 1`,
# `exit N`, `unload N`, `end`.  /vm/machine and /vm/config, written by guest.py, set the
# variables in capitals: of the machine, and of the one run.
export PATH=/bin
chmod 0755 /
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mkdir -p /dev/pts /dev/shm
mount -t devpts devpts /dev/pts
mount -t tmpfs -o mode=1777 tmpfs /dev/shm
# Libraries of a build under /tmp are there already.
mkdir /vm/tmp
mount -t tmpfs -o mode=1777 tmpfs /vm/tmp
cp -a /tmp/. /vm/tmp
mount --move /vm/tmp /tmp
mount -t debugfs debugfs /sys/kernel/debug 2>/dev/null
mount -t tracefs tracefs /sys/kernel/tracing 2>/dev/null
mount -t cgroup2 cgroup2 /sys/fs/cgroup 2>/dev/null
ip link set lo up
. /vm/machine

# Drained when closed, so that nothing is lost at power-off.
exec 3<>/dev/ttyS1 4>/dev/ttyS2
stty raw -echo <&3
stty raw -echo <&4 2>/dev/null
report() { echo "$*" >&4; }
finish() {
	report end
	exec 3>&- 4>&-
	sync
	umount /mnt 2>/dev/null
	# Without ACPI nothing switches the machine off; QEMU ends at a reset, too.
	[ ! -d /sys/firmware/acpi ] || poweroff -f
	reboot -f
}

# Count every message from now on, not only those that `quiet` lets through.
echo 8 >/proc/sys/kernel/printk
echo 'cosy guest: up' >/dev/kmsg
# Start the processors that qemu.py had the kernel leave off.
for processor in /sys/devices/system/cpu/cpu[1-9]*; do
	[ ! -e "$processor/online" ] || echo 1 >"$processor/online" || { report "load ${processor##*/}"; finish; }
done
for module in $GUEST_MODULES; do
	insmod "/vm/modules/$module" || { report "load $module"; finish; }
done

if [ -n "$COSY" ]; then
	# Parameters of the module are among the kernel's, as modprobe would read them.
	insmod /vm/cosy.ko $(tr ' ' '\n' </proc/cmdline | sed -n 's/^cosy\.//p')
	loaded=$?
	report "load $loaded"
	[ $loaded = 0 ] || finish
	# Do what packaging/60-cosy.rules has udev do.
	if [ -c /dev/cosy ]; then
		chown root:cosy /dev/cosy
		chmod 0660 /dev/cosy
	fi
fi

# Unless the files came with this script, a disk brings them.  A snapshot of the machine is taken
# while it waits here; every machine that is restored from it has a disk of its own (snapshot.py).
if [ ! -e /vm/config ]; then
	for block in /sys/block/vd*; do
		[ "$(cat "$block/serial")" != cosy-files ] || files=/dev/${block##*/}
	done
	report "ready 1"
	read -r _ <&3
	# The first block: the archive's size in blocks, the time, and random bytes.
	dd if="$files" of=/vm/header bs=64k count=1 2>/dev/null
	read -r blocks now seed </vm/header
	echo "$seed" >/dev/urandom
	date -s "@$now" >/dev/null
	cd /
	dd if="$files" bs=64k skip=1 count="$blocks" 2>/dev/null | cpio -idmu 2>/vm/unpacked ||
		{ cat /vm/unpacked >/dev/kmsg; report "load files"; finish; }
	rm /vm/header /vm/unpacked
	report "files 1"
fi
. /vm/config
if [ -n "$DISK_TYPE" ]; then
	mount -t "$DISK_TYPE" /dev/vda /mnt || { report "load disk"; finish; }
fi

if [ -n "$GDB" ]; then
	# See gdb.py.
	for block in /sys/block/vd*; do
		[ "$(cat "$block/serial")" != cosy-symbols ] || cat /proc/kallsyms >"/dev/${block##*/}"
	done
	sync
	for section in .text .data .bss .rodata; do
		[ ! -e "/sys/module/cosy/sections/$section" ] ||
			report "section $section $(cat "/sys/module/cosy/sections/$section")"
	done
	report "gdb 1"
	read -r _ <&3
fi
[ -z "$SETTLE" ] || sleep "$SETTLE"
cd /t
report "run 1"
if [ -n "$INTERACTIVE" ]; then
	stty sane <&3
	[ -z "$ROWS" ] || stty rows "$ROWS" cols "$COLUMNS" <&3
	# A session leader that opens a terminal owns it: job control works.
	setsid sh -c 'exec su -s /bin/sh "$0" -c "exec /vm/command" </dev/ttyS1 >/dev/ttyS1 2>&1' "$GUEST_USER" 3>&- 4>&-
else
	setsid su -s /bin/sh "$GUEST_USER" -c 'exec /vm/command' </dev/null >&3 2>&1 3>&- 4>&-
fi
report "exit $?"

# Kill all that the command left, which could keep the module.
kill -KILL -1 2>/dev/null
if [ -n "$COSY" ] && [ -z "$KEEP" ] && grep -q '^cosy ' /proc/modules; then
	tries=0
	until rmmod cosy 2>/tmp/rmmod; do
		tries=$((tries + 1))
		if [ $tries = 50 ]; then
			cat /tmp/rmmod >&3
			report "unload 1"
			finish
		fi
		sleep 0.1
	done
	report "unload 0"
fi
if grep -q slub_debug /proc/cmdline; then
	for cache in /sys/kernel/slab/*/validate; do
		# Linux 7.3 reports this one, which no module uses, even where none was loaded.
		[ "$cache" != /sys/kernel/slab/kmem_cache_node/validate ] || continue
		[ -L "${cache%/validate}" ] || echo 1 2>/dev/null >"$cache"
	done
fi
finish
