#!/bin/bash
# SPDX-License-Identifier: MIT
# guest.sh - in a machine with the packages in /packages/1 and later ones in /packages/2: installs,
# uses, upgrades, switches off and purges them. See packages.py.
set -u
failed=0
kernel=$(uname -r)

# passes NAME COMMAND...: the command's exit status is 0.
passes() {
	local name=$1 said
	shift
	if said=$("$@" 2>&1); then
		echo "ok     $name"
	else
		echo "FAILED $name: exit status $?: $*"
		tail -n 40 <<<"$said" | sed 's/^/    /'
		failed=1
	fi
}

# says NAME TEXT COMMAND...: what the command prints contains the text.
says() {
	local name=$1 text=$2 said
	shift 2
	said=$("$@" 2>&1)
	if [[ $said == *"$text"* ]]; then
		echo "ok     $name"
	else
		echo "FAILED $name: no \"$text\" in the output of: $*"
		tail -n 40 <<<"$said" | sed 's/^/    /'
		failed=1
	fi
}

# in_kernel NAME COMMAND...: the statistics that the command prints count calls in the kernel.
in_kernel() {
	local name=$1 said
	shift
	said=$("$@" 2>&1)
	if [[ $said =~ kernel_calls=[1-9] ]]; then
		echo "ok     $name"
	else
		echo "FAILED $name: no calls in the kernel: $*"
		tail -n 40 <<<"$said" | sed 's/^/    /'
		failed=1
	fi
}

fails() {
	local name=$1
	shift
	! "$@" >/dev/null 2>&1
	passes "$name" test $? = 0
}

# as USER COMMAND: a new session, so with the groups of now.
as() {
	local user=$1
	shift
	runuser -l "$user" -c "$*"
}

ours() {
	find / -xdev \( -path /packages -o -path /proc -o -path /sys -o -path /tmp -o -path /home \
		-o -path /var/log \) -prune -o -iname '*cosy*' -print | sort
}

loaded_is_installed() {
	local loaded
	loaded=$(cat /sys/module/cosy/srcversion) && [ -n "$loaded" ] && [ "$loaded" = "$(modinfo -F srcversion cosy)" ]
}

module_is_in_use() {
	[ "$(cat /sys/module/cosy/refcnt)" -gt 0 ]
}

# waits COMMAND...: until it succeeds. The machine's time limit is the bound.
waits() {
	until "$@" 2>/dev/null; do
		sleep 1
	done
}

device_belongs() {
	[ "$(stat -c '%G %a' /dev/cosy)" = "cosy 660" ]
}

echo "packages: Linux $kernel, $(. /etc/os-release && echo "$PRETTY_NAME"), dkms $(dkms --version)"
before=$(ours)
# Kernels without headers, too old, too new, and with headers that build nothing.
mkdir -p /lib/modules/6.1.0-99-none /lib/modules/6.1.0-98-broken/build/include
for other in 5.10.0-9-old 8.0.0-1-new; do
	mkdir -p /lib/modules/$other
	ln -s "$(readlink -f /lib/modules/$kernel/build)" /lib/modules/$other/build
done

passes "apt installs all packages" apt-get install -y /packages/1/*.deb
passes "no package is left half installed" test -z "$(dpkg --audit)"
passes "the module is loaded without a reboot" test -d /sys/module/cosy
passes "the device belongs to the group" device_belongs
says "DKMS has built for this kernel" installed dkms status -m cosy -k "$kernel"
built=$(dkms status -m cosy)
passes "DKMS knows the module" test -n "$built"
for other in 5.10.0-9-old 8.0.0-1-new 6.1.0-99-none 6.1.0-98-broken; do
	fails "DKMS has nothing installed for $other" grep -q "$other.*installed" <<<"$built"
done
passes "cosyd.socket is enabled" systemctl is-enabled cosyd.socket
passes "cosyd.socket listens" systemctl is-active cosyd.socket
passes "the dynamic linker finds libcosy" sh -c 'ldconfig -p | grep -q libcosy.so.0'

for other in 5.10.0-9-old 8.0.0-1-new 6.1.0-99-none; do
	for hook in /etc/kernel/postinst.d/{cosy-dkms,dkms}; do
		passes "$hook does not fail for $other" "$hook" $other
	done
done
passes "a failed build does not fail the hook" /etc/kernel/header_postinst.d/cosy-dkms 6.1.0-98-broken
says "an unsuitable kernel is skipped" "8.0.0-1-new is skipped" /etc/kernel/postinst.d/cosy-dkms 8.0.0-1-new
says "a failed build is reported" "could not be built for Linux 6.1.0-98-broken" \
	/etc/kernel/postinst.d/cosy-dkms 6.1.0-98-broken
rm -rf /lib/modules/*-{none,broken,old,new}

for user in alice bob; do
	useradd -m -s /bin/bash $user
done
passes "a user joins the group" usermod -aG cosy alice
passes "a member is told that compounds run" as alice cosy doctor
passes "a member builds and runs programs" as alice /packages/programs
says "a member's region runs in the kernel" "kernel_calls=100" \
	as alice "cosycc -O2 /packages/consumer.c -o consumer && COSY_MODE=kernel COSY_STATS=1 ./consumer"
passes "a member builds an example" as alice "cosycc -O2 /packages/ls.c -o ls"
in_kernel "a member's example runs in the kernel" as alice "COSY_MODE=kernel COSY_STATS=1 ./ls /etc"
cp ~alice/ls /tmp/ls
passes "it prints the same natively" \
	diff <(as alice "COSY_MODE=kernel ./ls /etc") <(as bob "COSY_MODE=native /tmp/ls /etc")
# With attributes: names alone take no call each, so there is nothing to do in the kernel.
in_kernel "a member's Python walks a tree in the kernel" as alice \
	"COSY_STATS=1 COSY_TIER=always python3 -c 'import cosy; print(sum(1 for _ in cosy.walk(\"/etc\", entries=True)))' 2>&1"
says "Python's result is that of os" "same" as bob \
	"python3 -c 'import cosy, os; print(\"same\" if sorted(cosy.walk(\"/usr\")) == sorted(os.walk(\"/usr\")) else \"differs\")'"
says "another user gets the advice" "To do: as root: adduser bob cosy" as bob cosy doctor
cp ~alice/consumer /tmp/consumer
says "another user's region runs natively" "100 calls" as bob /tmp/consumer

seq 20000 >/srv/numbers
says "cosy run serves another user's file by cosyd" "1 specialised (1 by cosyd)" \
	as bob "cosy run --stats -- perl -e 'open F, q(<), q(/srv/numbers); binmode F; 1 while sysread F, \$x, 1'"

as alice "cosycc -O2 /packages/loop.c -o loop && echo 0 >byte"
# The upgrade compiles meanwhile, on the same processor.
as alice "COSY_MODE=kernel nice -n 19 ./loop byte" >/tmp/loop 2>&1 &
loop=$!
waits module_is_in_use
says "an upgrade while a compound runs keeps its module" "programs use the previous module" \
	apt-get install -y /packages/2/*.deb
passes "no package is left half upgraded" test -z "$(dpkg --audit)"
passes "the compound runs on" kill -0 $loop
fails "the loaded module is the previous one" loaded_is_installed
passes "a member's new programs run meanwhile" as alice ./consumer
# Without a moment at which the file is empty.
as alice "printf 1 1<>byte"
# Not by passes, whose command runs in a child of this shell.
wait $loop
passes "the compound ends well" test $? = 0
says "its result is right" "the byte is 1, after more than one read: yes" cat /tmp/loop
waits bash -c '[ "$(cat /sys/module/cosy/refcnt)" = 0 ]'
passes "the later module replaces it" bash -c 'modprobe -r cosy && modprobe cosy'
passes "the loaded module is the later one" loaded_is_installed
waits device_belongs
passes "a member is told so" as alice cosy doctor
passes "cosyd.socket listens after the upgrade" systemctl is-active cosyd.socket

# docs/use/install.md, for emergencies.
echo 'install cosy /bin/false' >/etc/modprobe.d/cosy-off.conf
passes "the module is unloaded for all" modprobe -r cosy
fails "and cannot be loaded" modprobe cosy
says "programs run natively" "100 calls" as alice ./consumer
says "cosy doctor reports that" "the module is not loaded" as alice cosy doctor
passes "headers are installed again meanwhile" /etc/kernel/header_postinst.d/cosy-dkms "$kernel"
fails "the module stays off" test -d /sys/module/cosy
rm /etc/modprobe.d/cosy-off.conf
passes "and is loaded again" modprobe cosy

rm /srv/numbers
# What DKMS itself stumbles over.
rm -rf /var/lib/dkms/cosy/*/source
mapfile -t packages < <(dpkg-query -W -f '${db:Status-Abbrev} ${Package}\n' '*cosy*' | sed -n 's/^ii *//p')
passes "purge succeeds" apt-get purge -y "${packages[@]}"
fails "the module is gone" test -d /sys/module/cosy
fails "the device is gone" test -e /dev/cosy
fails "the group is gone" getent group cosy
passes "purge leaves nothing" diff <(echo "$before") <(echo "$(ours)")

if [ $failed = 0 ]; then
	echo "packages: all of it passed"
fi
