#!/bin/sh
# SPDX-License-Identifier: MIT
# holding.sh - in the guest, as root: runs held.c with /t/holding.ko, which holds its thread.
insmod /t/holding.ko || exit 1
/t/held
status=$?
rmmod holding || exit 1
exit "$status"
