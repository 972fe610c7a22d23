#!/bin/sh
# SPDX-License-Identifier: MIT
# twice.sh: builds the packages twice, in folders of other names, in another time zone, language and
# umask, and compares them byte by byte.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
scratch=$(mktemp -d "${TMPDIR:-/tmp}/cosy-twice-XXXXXX")
trap 'rm -rf "$scratch"' EXIT

"$top/packaging/deb.sh" "$scratch/first"
(
	umask 077
	TZ=Pacific/Auckland LC_ALL=C DEB_BUILD_OPTIONS=parallel=1 "$top/packaging/deb.sh" "$scratch/the-second-of-both"
)
(cd "$scratch/first" && find . -name '*.deb' | sort) >"$scratch/names"
(cd "$scratch/the-second-of-both" && find . -name '*.deb' | sort) | cmp - "$scratch/names"
status=0
while read -r name; do
	cmp "$scratch/first/$name" "$scratch/the-second-of-both/$name" || status=1
done <"$scratch/names"
[ $status != 0 ] || echo "twice: both builds are equal"
exit $status
