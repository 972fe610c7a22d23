#!/bin/sh
# SPDX-License-Identifier: MIT
# holding.sh - in the guest, as root: runs held.c and held_view.c with /t/holding.ko, which holds their threads.
insmod /t/holding.ko || exit 1
/t/held && /t/held_view
status=$?
rmmod holding || exit 1
exit "$status"
