#!/bin/sh
# SPDX-License-Identifier: MIT
# deb.sh [FOLDER]: builds Debian packages of this tree, and leaves them in FOLDER (build-deb); those
# with debug information in FOLDER/debug. The tree is copied first, so that debhelper leaves nothing
# among the sources. lintian's errors and warnings are failures.
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "${1-$top/build-deb}"
out=$(cd "${1-$top/build-deb}" && pwd)
version=$(dpkg-parsechangelog -l "$top/debian/changelog" -S Version)
# dpkg gives files this time only if they are newer.
epoch=$(dpkg-parsechangelog -l "$top/debian/changelog" -S Timestamp)
tree=$out/tree/cosy-$version

rm -rf "$out/tree" "$out/debug" "$out"/*.deb
mkdir -p "$tree"
(
	cd "$top"
	find . \( -name build -o -name 'build-*' -o -name .git -o -name .cache -o -name __pycache__ -o -name Testing \
		-o -name target -o -path "./${out#"$top"/}" \) -prune \
		-o \( -type f -o -type l \) ! -name '*.o' ! -name '*.ko' -print0 |
		tar -c --null --no-recursion --mtime="@$epoch" --files-from=- --file=-
) | tar -x -C "$tree"

cd "$tree"
# debhelper gives the build an empty home, in which ccache would find nothing.
export CCACHE_DIR="${CCACHE_DIR-${XDG_CACHE_HOME-$HOME/.cache}/ccache}"
DEB_BUILD_OPTIONS="${DEB_BUILD_OPTIONS-} nocheck" dpkg-buildpackage -b -us -uc -ui
cd ..
lintian --allow-root --fail-on error,warning --tag-display-limit 0 "cosy_${version}_amd64.changes"
mkdir "$out/debug"
mv ./*-dbgsym_*.deb "$out/debug"
mv ./*.deb "$out"
cd "$out"
rm -rf tree
ls "$out"/*.deb
