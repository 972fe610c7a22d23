#!/bin/sh
# SPDX-License-Identifier: MIT
# The half of the demo that runs where the module is: copies ./tree with both
# builds and prints "key value..." lines for demo.py.  Runs in the directory that
# holds plain-copy, cosy-copy, tree and perhaps strace; takes a scratch directory.
set -e
out=$1
mkdir -p "$out"

# Both builds twice: the first round fills caches and loads the compound's pages.
for round in warm timed; do
	for build in plain cosy; do
		rm -rf "$out/$build"
		echo "$round $build $(COSY_STATS=1 ./$build-copy tree "$out/$build" 2>"$out/$build.stats")"
	done
done
sed 's/^/stats /' "$out/cosy.stats"

# How many calls the plain build makes: a tracer counts them.
if [ -x ./strace ]; then
	rm -rf "$out/traced"
	./strace -f -c -o "$out/count" ./plain-copy tree "$out/traced" >/dev/null
	awk '/ total$/ { print "calls", $3 ? $3 : $2 }' "$out/count"
	awk '/ total$/ { print "strace-total", $0 }' "$out/count"
fi

# Every byte of every file, and no file more or less.
(cd tree && find . -type f | sort) >"$out/list"
for build in plain cosy; do
	(cd "$out/$build" && find . -type f | sort) | cmp - "$out/list" || exit 1
	while read -r file; do
		cmp "tree/$file" "$out/$build/$file" || exit 1
	done <"$out/list"
	echo "same $build $(wc -l <"$out/list")"
done
