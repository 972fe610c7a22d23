#!/bin/sh
# SPDX-License-Identifier: MIT
# spin_test.sh MODEL - checks that spin finds no error in a model, and finds one when what the
# algorithm relies on is taken out: the model says how, in lines "without WHAT: SED-SCRIPT".
set -u
model=$1
command -v spin >/dev/null || {
	echo "spin is not installed"
	exit 77
}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

# fine MODEL: true if spin finds no error in it
fine() {
	spin -a "$1" >/dev/null && ${CC:-cc} -O2 -DSAFETY -w -o pan pan.c || exit 1
	./pan -m100000 >said
	grep -q 'errors: 0$' said
}

fine "$model" || {
	echo "FAIL: the model has an error"
	cat said
	exit 1
}
sed -n 's/^ \* without //p' "$model" >mutants
[ -s mutants ] || exit 1
while IFS= read -r mutant; do
	what=${mutant%%: *}
	# Leave the lines that tell how out of the model.
	sed "/^ \* without /d" "$model" >plain.pml
	sed "s/^#define WRITES.*/#define WRITES 1/; ${mutant#*: }" plain.pml >less.pml
	sed "s/^#define WRITES.*/#define WRITES 1/" plain.pml | cmp -s - less.pml && {
		echo "FAIL: without $what is the same model"
		exit 1
	}
	fine less.pml && {
		echo "FAIL: no error without $what"
		exit 1
	}
	echo "an error without $what"
done <mutants
