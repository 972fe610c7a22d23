#!/bin/sh
# SPDX-License-Identifier: MIT
# deny_rule.sh apparmor|selinux - runs deny_rule under a profile or policy of that security module,
# in a kernel that was started with it.  Needs deny_rule in /t, and cosy, apparmor_parser
# and deny_rule.apparmor, or deny_rule.policy.
set -e
export CHECK_EXPECT="${CHECK_EXPECT-kernel}"
mount -t securityfs securityfs /sys/kernel/security
grep -q "$1" /sys/kernel/security/lsm || {
	echo "deny_rule: the kernel runs without $1: $(cat /sys/kernel/security/lsm)"
	exit 1
}
mkdir /tmp/rule
case $1 in
apparmor)
	/t/apparmor_parser --replace --skip-cache --warn=no-all /t/deny_rule.apparmor
	said=$(sh -c 'echo "exec cosy_device" >/proc/self/attr/apparmor/exec && exec /t/cosy doctor' 2>&1) || true
	for text in 'the AppArmor profile cosy_device refuses it' 'To do: add the line `/dev/cosy rw,`'; do
		case $said in
		*"$text"*) ;;
		*)
			echo "deny_rule: cosy doctor does not say \"$text\": $said"
			exit 1
			;;
		esac
	done
	echo "exec cosy_open" >/proc/self/attr/apparmor/exec
	exec /t/deny_rule /proc/self/attr/apparmor/current "changeprofile cosy_shut" /tmp/rule
	;;
selinux)
	mount -t selinuxfs selinuxfs /sys/fs/selinux
	dd if=/t/deny_rule.policy of=/sys/fs/selinux/load bs=1M 2>/dev/null
	echo 1 >/sys/fs/selinux/enforce
	[ "$(cat /sys/fs/selinux/enforce)" = 1 ]
	exec /t/deny_rule /proc/self/attr/current u:r:limited /tmp/rule u:r:shut
	;;
esac
