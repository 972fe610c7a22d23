#!/bin/sh
# SPDX-License-Identifier: MIT
# deb.sh [FOLDER]: builds Debian packages of this tree, and leaves them in FOLDER (build-deb). The
# tree is copied there first, so that debhelper leaves nothing among the sources. lintian's errors
# and warnings are failures.
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
out=${1-$top/build-deb}
version=$(sed -n '1s/.*(\(.*\)).*/\1/p' "$top/debian/changelog")
tree=$out/cosy-$version

rm -rf "$out"
mkdir -p "$tree"
(
	cd "$top"
	find . \( -name 'build' -o -name 'build-*' -o -name .git -o -name __pycache__ -o -name Testing \) -prune \
		-o -type f ! -name '*.o' ! -name '*.ko' -print0 | tar -c --null --no-recursion --files-from=- --file=-
) | tar -x -C "$tree"

cd "$tree"
# debhelper gives the build an empty home, in which ccache would find nothing.
export CCACHE_DIR="${CCACHE_DIR-${XDG_CACHE_HOME-$HOME/.cache}/ccache}"
DEB_BUILD_OPTIONS="${DEB_BUILD_OPTIONS-} nocheck" dpkg-buildpackage -b -us -uc -ui
cd "$out"
lintian --allow-root --fail-on error,warning --tag-display-limit 0 "cosy_${version}_amd64.changes"
ls "$out"/*.deb
