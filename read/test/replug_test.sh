#!/bin/sh
# SPDX-License-Identifier: MIT
# replug_test.sh MODEL - spin finds no error in the model of replugging, and finds one when
# what the algorithm rests on is taken out.
set -u
model=$1
command -v spin >/dev/null || {
	echo "spin is not installed"
	exit 77
}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

# fine MODEL: has it no error?
fine() {
	spin -a "$1" >/dev/null && ${CC:-cc} -O2 -DSAFETY -w -o pan pan.c || exit 1
	./pan -m100000 >said
	grep -q 'errors: 0$' said
}

# without WHAT SED-SCRIPT
without() {
	sed "s/^#define WRITES.*/#define WRITES 1/; $2" "$model" >less.pml
	cmp -s "$model" less.pml && exit 1
	fine less.pml && {
		echo "FAIL: no error without $1"
		exit 1
	}
	return 0
}

fine "$model" || {
	echo "FAIL: the model has an error"
	cat said
	exit 1
}
without "the inside-flag" 's/was_plain && inside == 0 ->/was_plain ->/'
without "the handler's look at HELD" 's/:: plain && !held$/:: plain/'
without "the word's exchange" 's/:: SAME_WORD ->$/:: true ->/'
exit 0
