#!/bin/sh
# SPDX-License-Identifier: MIT
# failing.sh [KIND]... - in the guest, as root: runs step.c with each kind of failure, then with the
# loading of the module.  /t/failing.ko makes the calls fail.
insmod /t/failing.ko || exit 1
[ $# -gt 0 ] || set -- allocation copy check hardened module types
failed=
for kind in "$@"; do
	path=
	case $kind in module | types) path=/vm/cosy.ko ;; esac
	/t/step "$kind" $path || failed="$failed $kind"
done
rmmod failing
[ -z "$failed" ] || { echo "failed:$failed"; exit 1; }
