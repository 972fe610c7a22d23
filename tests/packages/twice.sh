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
status=0
for first in "$scratch"/first/*.deb "$scratch"/first/debug/*.deb; do
	second=$scratch/the-second-of-both/${first#"$scratch/first/"}
	cmp "$first" "$second" || status=1
done
[ "$(ls -R "$scratch/first" | grep -c '\.deb$')" = "$(ls -R "$scratch/the-second-of-both" | grep -c '\.deb$')" ] || status=1
[ $status = 0 ] && echo "twice: both builds are equal"
exit $status
