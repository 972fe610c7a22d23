#!/bin/sh
# SPDX-License-Identifier: MIT
# pages_test.sh LIBRARY - checks what each exec pays for the library: two mappings, neither of them
# written to by the dynamic linker, and the first pages of one.
set -u
command -v readelf >/dev/null || {
	echo "readelf is not installed"
	exit 77
}
library=$1
failed=0

fail() {
	echo "FAIL: $*"
	failed=1
}

sections() {
	readelf -SW "$library" | sed 's/^ *\[ *[0-9]*\]//'
}

# address SECTION: prints its address and length, in decimal
address() {
	sections | while read -r name _ from _ size _; do
		[ "$name" = "$1" ] && echo $((0x$from)) $((0x$size))
	done
}

readelf -rW "$library" | grep -q "no relocations" || fail "relocations: $(readelf -rW "$library")"
nm -D --undefined-only "$library" | grep . && fail "symbols to look up when the program starts"
readelf -dW "$library" | grep NEEDED && fail "other libraries to look for"
[ "$(readelf -lW "$library" | grep -c ' LOAD ')" = 2 ] || fail "more than two segments"
readelf -lW "$library" | grep -q 'DYNAMIC .* R  *0x' || fail "a dynamic section that is written to"
sections | grep NOBITS && fail "zeros that are written, or mapped, when the library is loaded"
# Count what is read or called when a program starts and ends.
set -- $(address .text.start)
[ $(($1 + $2)) -le 8192 ] || fail "library_begin is not in the first two pages"
readelf -dW "$library" | grep -E '_ARRAY|\(FINI\)' && fail "constructors or destructors elsewhere"
exit $failed
