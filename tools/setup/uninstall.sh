#!/bin/sh
# SPDX-License-Identifier: MIT
# uninstall.sh MANIFEST: removes the files that an installation's manifest names (below $DESTDIR),
# then Cosy's own folders that are empty afterwards.
set -eu
[ $# = 1 ] && [ -r "$1" ] || {
	echo "uninstall: ${1-no manifest given}: no list of installed files is there" >&2
	exit 1
}
while IFS= read -r file || [ -n "$file" ]; do
	rm -f -- "${DESTDIR-}$file"
done <"$1"
# Children come before parents. Only folders below one named for Cosy go.
sed 's|/[^/]*$||' "$1" | awk '{ path = $0
	while (path ~ /\/cosy(-[0-9.]+)?(\/|$)/) { print path; sub(/\/[^\/]*$/, "", path) } }' | sort -ru |
	while IFS= read -r folder; do
		[ ! -d "${DESTDIR-}$folder" ] || rmdir --ignore-fail-on-non-empty -- "${DESTDIR-}$folder"
	done
