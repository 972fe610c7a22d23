#!/bin/sh
# SPDX-License-Identifier: MIT
# test.sh DIR: each example of DIR/plain and DIR/cosy must print the same, the latter as its native
# twin and by the interpreter, from the start and from the third entry or round on, and in the
# kernel if the module is there.  The time it took ("ns N") is left out.
set -u
dir=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

mkdir "$work/tree"
for i in 1 2 3 4 5 6 7 8 9; do
	head -c ${i}777 /dev/zero | tr '\0' 'x' >"$work/tree/file$i"
	printf 'one needle\nno\nneedle needle' >>"$work/tree/file$i"
done
: >"$work/tree/empty"

# run BUILD NAME ARGUMENT...: prints output and status
run() {
	build=$1 name=$2
	shift 2
	"$dir/$build/$name" "$@" 2>&1 | sed 's/ ns [0-9]*$//'
}

# in_mode MODE COMMAND...: runs it with that mode
in_mode() {
	case $1 in
	tier) export COSY_MODE=interp COSY_TIER=2 ;;
	*) export COSY_MODE="$1" COSY_TIER=always ;;
	esac
	shift
	"$@"
	unset COSY_MODE COSY_TIER
}

check() {
	run plain "$@" >"$work/want"
	for mode in native interp auto tier; do
		in_mode $mode run cosy "$@" >"$work/got"
		if cmp -s "$work/want" "$work/got"; then
			echo "ok   $mode $*"
		else
			echo "FAIL $mode $*"
			diff "$work/want" "$work/got"
			failed=1
		fi
	done
}

check getpid 0
check getpid 100
check db "$work/db" 500
check ls "$work/tree"
check ls "$work/none"
check grep needle "$work"/tree/*
check grep needle "$work/none"
check copy "$work/none" "$work/to"
check relay copy 9 64
check relay move 9 64
check relay move 5 200

run plain copy "$work/tree" "$work/plain" >"$work/want"
for mode in native interp auto tier; do
	in_mode $mode run cosy copy "$work/tree" "$work/$mode" >"$work/got"
	if cmp -s "$work/want" "$work/got" && diff -r "$work/tree" "$work/$mode"; then
		echo "ok   $mode copy"
	else
		echo "FAIL $mode copy"
		failed=1
	fi
done
diff -r "$work/tree" "$work/plain" || failed=1

# moving NAME WANT COPY MOVE: both ways print the same, which begins with WANT
moving() {
	"$dir/$1" $3 | sed 's/ ns [0-9]*$//' >"$work/want"
	"$dir/$1" $4 | sed 's/ ns [0-9]*$//' >"$work/got"
	if grep -q "^$2" "$work/want" && cmp -s "$work/want" "$work/got"; then
		echo "ok   $1"
	else
		echo "FAIL $1"
		diff "$work/want" "$work/got"
		failed=1
	fi
}

moving pipeline '12 frames' 'copy 12 256' 'move 12 256'
moving queue '27 messages of 64 KB from 3, 0 wrong' 'copy 3 9 64' 'donate 3 9 64'
exit $failed
