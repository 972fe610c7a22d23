#!/bin/sh
# SPDX-License-Identifier: MIT
# symbols_test.sh LIBRARY MAP HEADER... - checks that the library exports what its map lists, each
# with the map's version, that the map lists every function that the headers declare, that no
# object of C++ is made when a program starts, and that the library takes two mappings.
set -u
library=$1 map=$2
shift 2
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT

version=$(sed -n 's/^\([A-Z0-9_.]*\) {$/\1/p' "$map")
sed -n 's/^\t\t\([a-z0-9_]*\);$/\1/p' "$map" | sort >"$dir/listed"
nm -D --defined-only "$library" | awk '$2 == "T" { print $3 }' | sort >"$dir/exported"
sed "s/\$/@@$version/" "$dir/listed" | diff - "$dir/exported" || {
	echo "FAILED: the map (<) and the exported symbols (>) differ" >&2
	exit 1
}

# Declarations begin a line and end in `);` perhaps on a later one.
cat "$@" | sed -n 's/^[a-z].*[ *]\(_*cosy_[a-z0-9_]*\)(.*/\1/p' |
	grep -vE '^(cosy_(int|ptr|ref|addr|free)|__cosy_region_(start|end))$' | sort -u >"$dir/declared"
diff "$dir/declared" "$dir/listed" || {
	echo "FAILED: the headers' declarations (<) and the map (>) differ" >&2
	exit 1
}

! nm "$library" | grep ' _GLOBAL__sub_I_[a-z_]*[.]cpp' || {
	echo "FAILED: this runs in every process" >&2
	exit 1
}

[ "$(readelf -lW "$library" | grep -c '^ *LOAD ')" = 2 ] || {
	echo "FAILED: each process that loads it pays for more than two mappings" >&2
	exit 1
}
