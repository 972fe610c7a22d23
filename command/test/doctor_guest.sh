#!/bin/sh
# SPDX-License-Identifier: MIT
# doctor_guest.sh - tests `cosy doctor` in a machine with the module, in each state that it reports.
set -u
cosy=/t/cosy
bad=0

# says STATUS TEXT COMMAND...: the command must exit with STATUS and print TEXT in a line.
says() {
	status=$1 text=$2
	shift 2
	out=$("$@" 2>&1)
	got=$?
	if [ $got != "$status" ] || ! echo "$out" | grep -qF -- "$text"; then
		echo "FAILED: $*: exit status $got, not $status; or no \"$text\" in:"
		echo "$out"
		bad=1
	fi
}

as_nobody() {
	su -s /bin/sh nobody -c "$*"
}

says 0 'a compound runs in the kernel' $cosy doctor
says 0 'Compounds run in this kernel' $cosy doctor
says 0 'pages move between processes' $cosy doctor
says 0 'your processes have 0 arenas of 0 KB (0 pages frozen, 0 of them under way), 0 parcels of 0 KB, 0 ports of 0 KB' $cosy doctor
# The report is the same on every kernel, except for what doctor_report.txt explains.
here=$(dirname "$0") release=$(uname -r)
series=$(echo "$release" | cut -d. -f1,2)
sed -e '/^#/d' -e "s/^$series|//" -e "/^!$series|/d" -e 's/^![0-9.]*|//' -e '/^[0-9.]*|/d' "$here/doctor_report.txt" >/tmp/expected
{
	env -u COSY_TIER $cosy doctor
	dmesg | sed -n -e 's/^.*cosy: \(cannot find .*\)/log: \1/p' -e 's/^.*cosy: \(this kernel .*\)/log: \1/p'
} | sed -e 's/into Linux [^ ]*/into Linux N/' -e 's/[0-9]\([0-9.,]*[0-9]\)*/N/g' >/tmp/report
if ! diff -u /tmp/expected /tmp/report; then
	echo "FAILED: the report of Linux $series (+) is not the other kernels' (-): see doctor_report.txt"
	bad=1
fi
says 0 'regions start natively, and enter the kernel when that pays' env -u COSY_TIER $cosy doctor
says 0 'COSY_TIER=always: regions enter the kernel at once' env COSY_TIER=always $cosy doctor
says 0 'COSY_TIER=3: regions enter the kernel after so many' env COSY_TIER=3 $cosy doctor
says 0 'the module remembers how much your processes saved in 0 regions' $cosy doctor
says 0 'The module has forgotten 0 of your regions' $cosy forget
says 2 'unexpected argument me' $cosy forget me
echo 0 >/sys/module/cosy/parameters/max_user_cache
says 0 'each process compiles again' $cosy doctor
echo 2097152 >/sys/module/cosy/parameters/max_user_cache
says 1 'a tracer (strace, gdb) is armed' /t/strace -qq -e trace=none $cosy doctor
says 1 'To do: run without it; then' /t/strace -qq -e trace=none $cosy doctor
says 1 'COSY_MODE=interp keeps programs' env COSY_MODE=interp $cosy doctor

# Each refusal names its policy, and the command that changes it.
sed -i '/^cosy:/d' /etc/group
chmod 600 /dev/cosy
says 1 'you may not use /dev/cosy: Permission denied: there is no group cosy' as_nobody $cosy doctor
echo 'cosy:x:990:' >>/etc/group
says 1 'Permission denied: it is not given to group cosy' as_nobody $cosy doctor
says 1 'To do: as root: udevadm control --reload' as_nobody $cosy doctor
chgrp 990 /dev/cosy
chmod 660 /dev/cosy
says 1 'Permission denied: you are not in group cosy' as_nobody $cosy doctor
says 1 'To do: as root: adduser nobody cosy' as_nobody $cosy doctor
mkfifo -m 666 /tmp/begun /tmp/joined
as_nobody "echo >/tmp/begun; read -r line </tmp/joined; exec $cosy doctor" >/tmp/older 2>&1 &
read -r line </tmp/begun
sed -i 's/^cosy:.*/&nobody/' /etc/group
echo >/tmp/joined
wait $!
says 0 'Permission denied: you are in group cosy, but this session is older' cat /tmp/older
says 0 'To do: log in again, or: newgrp cosy' cat /tmp/older
says 0 'a compound runs in the kernel' as_nobody $cosy doctor
mkdir /tmp/nodev
mount -t tmpfs -o nodev nodev /tmp/nodev
mknod -m 666 /tmp/nodev/cosy c $(printf '%d %d' 0x$(stat -c %t /dev/cosy) 0x$(stat -c %T /dev/cosy))
mount --bind /tmp/nodev/cosy /dev/cosy
says 1 'it lies on a file system that is mounted with nodev' $cosy doctor
umount /dev/cosy
chmod 666 /dev/cosy
says 0 'a compound runs in the kernel' as_nobody $cosy doctor
says 0 'pages are copied, not moved' as_nobody "ulimit -l 1100; exec $cosy doctor"
says 1 'no shared buffer of' as_nobody "ulimit -l 64; exec $cosy doctor"
says 1 'RLIMIT_MEMLOCK is 64 KB' as_nobody "ulimit -l 64; exec $cosy doctor"

sysctl -q -w net.core.bpf_jit_enable=0
says 1 'To do: as root: sysctl net.core.bpf_jit_enable=1' $cosy doctor
sysctl -q -w net.core.bpf_jit_enable=1

rmmod cosy
says 1 'the module is not loaded' $cosy doctor
says 1 'To do: as root: modprobe cosy' $cosy doctor
says 1 'cosy forget: cannot open /dev/cosy: No such file or directory' $cosy forget

modules=/lib/modules/$release
mkdir -p "$modules"
echo 'updates/dkms/cosy.ko.xz:' >"$modules/modules.dep"
says 1 'To do: as root: modprobe cosy;' $cosy doctor
echo Y >/tmp/enforced
mount --bind /tmp/enforced /sys/module/module/parameters/sig_enforce
says 1 'loads signed modules only (module.sig_enforce), and DKMS has no key here' $cosy doctor
says 1 'To do: as root: dkms generate_mok' $cosy doctor
mkdir -p /var/lib/dkms
: >/var/lib/dkms/mok.pub
says 1 'DKMS signs with the key of /var/lib/dkms/mok.pub' $cosy doctor
says 1 'To do: as root: mokutil --import /var/lib/dkms/mok.pub, restart' $cosy doctor
mount -t securityfs securityfs /sys/kernel/security
echo 'none [integrity] confidentiality' >/tmp/lockdown
if mount --bind /tmp/lockdown /sys/kernel/security/lockdown; then
	says 1 'loads signed modules only (lockdown)' $cosy doctor
	umount /sys/kernel/security/lockdown
else
	echo "FAILED: this kernel has no lockdown"
	bad=1
fi
umount /sys/module/module/parameters/sig_enforce
echo 'kernel/fs/ext4/ext4.ko: kernel/fs/jbd2/jbd2.ko' >"$modules/modules.dep"
says 1 'it is not built for this kernel' $cosy doctor
says 1 "To do: as root: apt install cosy-dkms linux-headers-$release, and modprobe cosy" $cosy doctor
mkdir -p "$modules/build/include"
says 1 "or dkms install cosy/" $cosy doctor
sysctl -q -w kernel.modules_disabled=1
says 1 'kernel.modules_disabled is 1 until the next boot' $cosy doctor
exit $bad
