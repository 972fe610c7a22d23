#!/bin/sh
# SPDX-License-Identifier: MIT
# Installs what packages.txt names and this machine lacks, with apt: as root or
# through sudo.  Says what is missing when neither is possible.  Quick and silent
# when nothing is.
set -eu
here=$(dirname "$0")

packages=$(sed 's/#.*//' "$here/packages.txt")
missing=
# dpkg-query's own status says only whether all of them are known.
# shellcheck disable=SC2086
installed=" $(dpkg-query -W -f '${db:Status-Status}:${Package} ${db:Status-Status}:${Provides} ' $packages 2>/dev/null || true) "
for package in $packages; do
	case "$installed" in
	*" installed:$package "*) ;;
	*) dpkg-query -W -f '${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed || missing="$missing $package" ;;
	esac
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" = 0 ]; then
	as_root=
elif command -v sudo >/dev/null && { [ -t 0 ] || sudo -n true 2>/dev/null; }; then
	as_root=sudo
else
	echo "setup: not root and no sudo. Please have these packages installed:$missing" >&2
	exit 1
fi

echo "setup: installing$missing"
apt() { $as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 "$@"; }
apt update
# shellcheck disable=SC2086
apt install -y --no-install-recommends $missing >/dev/null
