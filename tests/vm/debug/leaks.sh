#!/bin/sh
# SPDX-License-Identifier: MIT
# leaks.sh COMMAND... - in the guest, as root: runs the command, then has kmemleak look for memory that
# nothing points to any more.  Such memory has a line in the kernel's log, and
# is told here; exit status 1.
leaks=/sys/kernel/debug/kmemleak
[ -e "$leaks" ] || { echo "this kernel has no kmemleak, or it is off"; exit 1; }
# What the boot left is not ours.
echo scan >"$leaks"
echo clear >"$leaks"
"$@" || exit 1
# It takes nothing for lost that is younger than five seconds, or changed since the last look.
sleep 6
echo scan >"$leaks" && echo scan >"$leaks" || exit 1
[ -z "$(cat "$leaks")" ] || { cat "$leaks"; exit 1; }
