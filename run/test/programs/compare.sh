#!/bin/bash
# SPDX-License-Identifier: MIT
# compare.sh COSY LIST - runs each command of a list plainly, under `cosy run`, and under
# `cosy run` with windows from the first read on.  Output, errors, status and the files
# that are left must be the same.  In a list: "PROGRAM...: COMMAND"; a command whose
# programs are not all installed is left out, and said so.
set -u
cosy=$(realpath "$1") list=$(realpath "$2") here=$(dirname "$(realpath "$0")")
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0 ran=0 missing=
export HOME=$work/run LC_ALL=C TZ=UTC SOURCE_DATE_EPOCH=1577836800
unset COSY_RUN_EAGER

"$here/samples.sh" "$work/samples" || exit 1

# run DIRECTORY COMMAND...: runs it in a fresh copy of the samples, always under the same name
run() {
	local kept=$1
	shift
	rm -rf run "$kept"
	cp -a samples run
	(cd run && exec timeout 1800 "$@") >out 2>err </dev/null
	echo "status $?" >status
	mv run "$kept"
	mv out err status "$kept"
}

# compare COMMAND WHAT DIRECTORY: fails unless it left the same
compare() {
	diff -r --no-dereference want "$3" >difference 2>&1 && return
	echo "FAIL, $2: $1"
	head -n 8 difference
	failed=1
}

while IFS= read -r line; do
	case $line in '' | '#'*) continue ;; esac
	command=${line#*: }
	lacks=
	for program in ${line%%: *}; do
		command -v "$program" >/dev/null || lacks+=" $program"
	done
	if [ -n "$lacks" ]; then
		missing+=$lacks
		continue
	fi
	ran=$((ran + 1))
	run want bash -c "$command"
	run got "$cosy" run -- bash -c "$command"
	compare "$command" "cosy run" got
	run got env COSY_RUN_EAGER=1 "$cosy" run -- bash -c "$command"
	compare "$command" "cosy run, eager" got
	[ -z "${COSY_SHOW_STATUS:-}" ] || echo "$(cat want/status), $(wc -c <want/out) bytes, $(head -n 1 want/err): $command"
done <"$list"

# Check that windows were used.
COSY_RUN_EAGER=1 "$cosy" run --stats -- dd if=samples/small of=copy bs=1 status=none 2>stats
cmp samples/small copy || failed=1
grep -q ' 1 specialised; reads: 69[0-9]* specialised' stats || {
	echo "FAIL: dd bs=1 was not specialised"
	cat stats
	failed=1
}
[ -z "$missing" ] || echo "left out, since not installed: $(printf '%s\n' $missing | sort -u | xargs)"
echo "$ran commands compared"
exit $failed
