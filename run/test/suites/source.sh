#!/bin/sh
# SPDX-License-Identifier: MIT
# source.sh PACKAGE - unpacks a Debian source package here, from where the machine has its binary
# packages, whether or not its list of sources names source packages, too.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/lists/partial" "$work/parts"
for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
	[ ! -f "$file" ] || sed 's/^deb /deb-src /' "$file" >>"$work/sources.list"
done
for file in /etc/apt/sources.list.d/*.sources; do
	[ ! -f "$file" ] || sed 's/^Types:.*/Types: deb-src/' "$file" >"$work/parts/$(basename "$file")"
done
touch "$work/sources.list"
apt() {
	command=$1
	shift
	"$command" -qq -o Dir::Etc::sourcelist="$work/sources.list" -o Dir::Etc::sourceparts="$work/parts" \
		-o Dir::State::lists="$work/lists" -o APT::Sandbox::User=root "$@"
}
apt apt-get update
# The newest version that can be had: a mirror may lack one that its index still names.
versions=$(apt apt-cache showsrc "$1" | sed -n 's/^Version: //p' | sort -Vru)
for version in $versions; do
	if apt apt-get source "$1=$version"; then
		exit 0
	fi
	echo "source.sh: $1 $version cannot be had" >&2
done
echo "source.sh: no version of the source package $1 can be had" >&2
exit 1
