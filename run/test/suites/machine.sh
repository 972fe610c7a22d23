#!/bin/sh
# SPDX-License-Identifier: MIT
# machine.sh - runs each unit of /cosy/units by the script /cosy/unit, plainly and under `cosy run --metadata`.
# Most programs of tests make fewer calls than pay: they have watchers nevertheless.
export LC_ALL=C TZ=UTC PATH=/usr/sbin:/usr/bin:/sbin:/bin
while read -r unit; do
	for way in plain metadata; do
		echo "unit $way $unit"
		TMPDIR=$(mktemp -d)
		HOME=$TMPDIR
		export TMPDIR HOME
		if [ $way = plain ]; then
			bash /cosy/unit "$unit" 2>/dev/null
		else
			COSY_RUN_EAGER=metadata /cosy/bin/cosy run --metadata --stats -- bash /cosy/unit "$unit" 2>/var/said
			grep '^cosy: metadata: ' /var/said
		fi </dev/null
		cd /
		rm -rf "$TMPDIR"
	done
done </cosy/units
