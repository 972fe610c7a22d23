#!/bin/sh
# SPDX-License-Identifier: MIT
# machine_begin.sh tmpfs|ext4 - in a virtual machine whose disk, at /mnt, has the programs and a suite: runs
# machine.sh there.
[ "$(cat /sys/module/cosy/parameters/metadata_state)" = on ] || exit 1
mount -t proc none /mnt/proc
mount -t sysfs none /mnt/sys
mount -o bind /dev /mnt/dev
mkdir -p /mnt/dev/shm /mnt/dev/pts
mount -t tmpfs none /mnt/dev/shm
mount -t devpts none /mnt/dev/pts
[ "$1" = ext4 ] || mount -t tmpfs -o mode=1777,size=800m none /mnt/tmp
hostname machine
exec chroot /mnt /bin/sh /cosy/machine.sh
