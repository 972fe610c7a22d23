#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs the half of the demo that has to be where the module is: copies ./tree with both
# builds and prints "key value..." lines for demo.py.  Runs in the directory that
# holds plain-copy, cosy-copy, tree and perhaps strace; takes a scratch directory.
set -e
out=$1
mkdir -p "$out"

# Run each operation in the kernel, though a program that ends so soon would not have earned it.
# Run both builds twice: the first round fills caches and loads the compound's pages.
for round in warm timed; do
	for build in plain cosy; do
		rm -rf "$out/$build"
		echo "$round $build $(COSY_TIER=always COSY_STATS=1 ./$build-copy tree "$out/$build" 2>"$out/$build.stats")"
	done
done
sed 's/^/stats /' "$out/cosy.stats"

# Count the calls of the plain build, by a tracer.
if [ -x ./strace ]; then
	rm -rf "$out/traced"
	./strace -f -c -U calls,name -o "$out/count" ./plain-copy tree "$out/traced" >/dev/null
	awk '$2 == "total" { print "calls", $1 }' "$out/count"
fi

# Compare every byte of every file, and look that there is no file more or less.
for build in plain cosy; do
	diff -r tree "$out/$build" && echo "same $build"
done
