#!/bin/sh
# SPDX-License-Identifier: MIT
# dis_test.sh COSY MAKE_COMPOUND [SHRINK] - what `cosy dis` shows, and how it takes hostile files.
set -u
cosy=$1 make=$2 shrink=${3:-}
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
bad=0

fail() {
	echo "FAILED: $*" >&2
	bad=1
}

# shows STATUS TEXT FILE...: exit status, and the text on either output.
shows() {
	status=$1 text=$2
	shift 2
	"$cosy" dis "$@" >out 2>&1
	got=$?
	[ "$got" = "$status" ] || fail "dis $*: exit status $got, not $status: $(cat out)"
	grep -qF -- "$text" out || fail "dis $*: no \"$text\" in: $(cat out)"
}

printf 'for (i = 0; i < 10; i++)\n\tf(getpid(), i);\nreturn x;\n' >source.c
"$make" one source.c >one.cosy || exit 1
"$make" two "$dir/source.c" >two.cosy || exit 1

# A file that somebody cuts short while it is read, the compound's or its source's.
for file in one.cosy source.c; do
	[ -n "$shrink" ] || break
	cp "$file" kept
	SHRINK_FILE=$dir/$file LD_PRELOAD=$shrink "$cosy" dis two.cosy one.cosy >out 2>&1
	got=$?
	[ $got -le 2 ] || fail "$file cut short: exit status $got"
	[ -s "$file" ] && fail "$file is not cut short"
	cp kept "$file"
done

# A word on each command, and not the look for a file of that name.
shows 0 'usage: cosy dis FILE...' --help
"$cosy" doctor --help | grep -q 'what to do' || fail "doctor --help"

# A container by itself: header, shape, call by name, source lines.
shows 0 'compound one: ' one.cosy
shows 0 'at most 500 steps' one.cosy
shows 0 '2 functions' one.cosy
shows 0 'getpid' one.cosy
shows 0 '; source.c:2  	f(getpid(), i);' one.cosy
shows 0 '; source.c:3  return x;' one.cosy
rm source.c
shows 0 '; source.c:2' one.cosy

# In an object file and in a linked program, several and padded.
for name in one two; do
	cat >$name.s <<-EOF
		.section cosy_compounds, "a"
		.balign 8
		.incbin "$name.cosy"
	EOF
	${AS:-as} -o $name.o $name.s || fail "as $name"
done
echo 'int main(void) { return 0; }' >main.c
${CC:-cc} -o program main.c one.o two.o || fail "cc"
shows 0 'compound two: ' two.o
shows 0 'compound one: ' program
shows 0 'compound two: ' program

# What is no compound, and why.
echo hello >text
: >empty
shows 1 'text: neither an ELF file nor a compound' text
shows 1 'empty: it is empty' empty
shows 1 'missing: No such file or directory' missing
shows 1 '.: it is not a regular file' .
${CC:-cc} -c -o main.o main.c
shows 1 'main.o: it holds no compounds' main.o
shows 1 'compound one: ' main.o one.cosy
"$cosy" dis >out 2>&1
[ $? = 2 ] || fail "no file: not a usage error"

# An instruction that the module would refuse is named; the rest is shown.
cp one.cosy bad.cosy
printf '\377' | dd of=bad.cosy bs=1 seek=72 conv=notrunc 2>/dev/null
shows 1 'bad.cosy: instruction ' bad.cosy

# Cut off anywhere, or any byte changed: an answer, never a crash.
size=$(wc -c <one.o)
at=0
while [ $at -lt "$size" ]; do
	head -c $at one.o >cut.o
	"$cosy" dis cut.o >out 2>&1
	[ $? -le 2 ] || fail "crash on one.o cut at $at"
	cp one.o changed.o
	printf '\377' | dd of=changed.o bs=1 seek=$at conv=notrunc 2>/dev/null
	"$cosy" dis changed.o >out 2>&1
	[ $? -le 2 ] || fail "crash on one.o with byte $at changed"
	at=$((at + 7))
done
exit $bad
