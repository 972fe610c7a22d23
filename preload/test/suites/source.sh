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
get() {
	apt-get -qq -o Dir::Etc::sourcelist="$work/sources.list" -o Dir::Etc::sourceparts="$work/parts" \
		-o Dir::State::lists="$work/lists" -o APT::Sandbox::User=root "$@"
}
get update
get source "$1"
