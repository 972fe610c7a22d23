#!/bin/sh
# SPDX-License-Identifier: MIT
# pages_test.sh LIBRARY - what each exec pays for the library: two mappings, of which the
# one that is written to is within the page that its part of the file is in, and few symbols
# to look up.  None is looked up by the dynamic linker when it is first called: that takes room
# for all vector registers on the caller's stack.
set -u
command -v readelf >/dev/null || {
	echo "readelf is not installed"
	exit 77
}
symbols=$(readelf -rW "$1" | grep -c R_X86_64_GLOB_DAT)
if [ "$symbols" -gt 2 ] || readelf -rW "$1" | grep R_X86_64_JUMP_SLOT; then
	echo "FAIL: $symbols symbols to look up at the start, and those above when they are called"
	exit 1
fi
readelf -lW "$1" | awk '
function number(hex,  value, i) {
	value = 0
	for (i = 3; i <= length(hex); i++)
		value = value * 16 + index("0123456789abcdef", substr(hex, i, 1)) - 1
	return value
}
$1 == "LOAD" {
	loads++
	address = number($3)
	# Memory behind the last page of the file would be one more mapping.
	mapped = int((address + number($5) + 4095) / 4096) * 4096
	if (address + number($6) > mapped) {
		print "FAIL: static data needs a mapping of its own: " address + number($6) - mapped " bytes too many"
		failed = 1
	}
}
END {
	if (loads != 2) {
		print "FAIL: " loads + 0 " segments"
		failed = 1
	}
	exit failed
}'
