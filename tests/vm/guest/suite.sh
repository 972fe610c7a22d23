#!/bin/sh
# SPDX-License-Identifier: MIT
# suite.sh DIR [NAME]... - runs the programs of DIR but LEFT_OUT, or only those named, one after another
# in the guest.  Prints a line for each, and what a program says when it fails, or why it or a part of it was skipped;
# "off" lines: what the module did not find in this kernel, and so leaves to ordinary calls.
# Exit status 1 if any failed, 77 if each was skipped.  LIMIT: seconds that one may take.
directory=$1
shift
export CHECK_EXPECT=${CHECK_EXPECT-kernel} TMPDIR=${TMPDIR-/tmp}
[ $# -gt 0 ] || set -- $(ls "$directory" | grep -v -e '^trace_target$' -e '^unload$' ${LEFT_OUT:+-e "^$LEFT_OUT\$"}) unload
failed= passed=
dmesg 2>/dev/null | sed -n -e 's/^.*cosy: \(cannot find .*\)/off     \1/p' -e 's/^.*cosy: \(this kernel does not .*\)/off     \1/p'
for name in "$@"; do
	start=$(date +%s)
	timeout -s KILL "${LIMIT-900}" "$directory/$name" >"/tmp/$name.out" 2>&1
	status=$?
	seconds=$(($(date +%s) - start))
	case $status in
	0)
		echo "ok      $name ($seconds s)"
		sed -n "s/^SKIP: /skipped $name: /p" "/tmp/$name.out"
		passed=yes
		;;
	77) echo "skipped $name: $(grep SKIP "/tmp/$name.out")" ;;
	*)
		echo "FAILED  $name: status $status ($seconds s)"
		failed="$failed $name"
		;;
	esac
	case $status,$VERBOSE in
	0, | 77,) ;;
	*) sed 's/^/	/' "/tmp/$name.out" | head -60 ;;
	esac
	rm -f "/tmp/$name.out"
done
[ -z "$failed" ] || { echo "failed:$failed"; exit 1; }
[ -n "$passed" ] || exit 77
