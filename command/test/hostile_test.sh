#!/bin/sh
# SPDX-License-Identifier: MIT
# hostile_test.sh COSY COSYD PROGRAM - tests that no command prints escape sequences and newlines of
# names, arguments and variables as they are.  PROGRAM has a region.
set -u
cosy=$1 cosyd=$2 region=$3
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
bad=0
# A colour, a new line that looks like a message, a C1 control, a change of the writing direction.
hostile=$(printf 'a\033[31mb\ncosy: all is well\302\233c\342\200\256d')

# clean LINES COMMAND...: the command must print 1 to LINES lines, with nothing that does harm.
clean() {
	lines=$1
	shift
	"$@" >"$dir/out" 2>&1
	[ -s "$dir/out" ] || {
		echo "FAILED: nothing said by: $(echo "$*" | tr -cd ' -~')"
		bad=1
	}
	LC_ALL=C grep -q "$(printf '[\001-\010\013-\037]\|\302\233\|\342\200\256')" "$dir/out" ||
		grep -q '^cosy: all is well' "$dir/out" || [ "$(wc -l <"$dir/out")" -gt "$lines" ] || return
	echo "FAILED: $(echo "$*" | tr -cd ' -~'):"
	cat -v "$dir/out"
	bad=1
}

cp "$(command -v cat)" "$dir/$hostile"
head -c 5000 /dev/zero >"$dir/data$hostile"
export PATH="$dir:$PATH"
# Arguments of the command `cosy` itself.
clean 2 "$cosy" "$hostile"
clean 2 "$cosy" help "$hostile"
clean 2 "$cosy" doctor "$hostile"
clean 2 "$cosy" doctor "--$hostile"
COSY_MODE="$hostile" clean 40 "$cosy" doctor
COSY_TIER="$hostile" clean 40 "$cosy" doctor
clean 1 "$cosy" dis "$dir/data$hostile"
clean 1 "$cosy" dis "$hostile/none"
# `cosy run`: messages about the command line.
clean 2 "$cosy" run "--$hostile" true
clean 2 "$cosy" run "--stats=$hostile" true
clean 1 "$cosy" run "--relax=$hostile" true
clean 1 "$cosy" run "--memory=$hostile" true
clean 1 "$cosy" run "--alone=$hostile" true
clean 1 "$cosy" run --explain "$dir/$hostile/none" true
clean 1 "$cosy" run --policy "$dir/none$hostile" true
clean 1 "$cosy" run "none$hostile"
printf 'file /x : %s' "$hostile" >"$dir/rules"
clean 1 "$cosy" run --policy "$dir/rules" true
printf 'file "/\342\200\256x" : \302\233' >"$dir/rules"
clean 1 "$cosy" run --policy "$dir/rules" true
# Messages of the library: the program's name, the file's path, a rule's place.
export COSY_RUN_EAGER=1
clean 5 "$cosy" run --stats "$hostile" /dev/null
clean 9 "$cosy" run --explain "$dir/data$hostile" dd if="$dir/data$hostile" of=/dev/null bs=1 count=99
clean 5 "$cosy" run --explain "$dir/data$hostile" "$hostile" /dev/null
echo "file /none/** : off" >"$dir/rules$hostile"
clean 9 "$cosy" run --policy "$dir/rules$hostile" --explain "$dir/data$hostile" dd if="$dir/data$hostile" of=/dev/null bs=1 count=99
# cosyd and libcosy.
clean 2 "$cosyd" "--$hostile"
clean 2 "$cosyd" "$hostile"
clean 2 "$cosyd" "--hold-off=$hostile"
clean 1 "$cosyd" --socket "$dir/none/$hostile"
COSY_MODE="$hostile" COSY_DEBUG=1 clean 9 "$region"
COSY_TIER="$hostile" COSY_STATS=1 clean 9 "$region"
COSY_BUFFER="$hostile" COSY_DEBUG=1 clean 9 "$region"
# `cosy profile`.
clean 2 "$cosy" profile "--$hostile" true
clean 9 "$cosy" profile "none$hostile"
clean 9 "$cosy" profile -o "$dir/none/$hostile" true
clean 9 "$cosy" profile --read "$dir/none$hostile"
clean 99 "$cosy" profile --backend ptrace "$hostile" /dev/null
exit $bad
