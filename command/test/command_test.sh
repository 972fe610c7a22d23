#!/bin/sh
# SPDX-License-Identifier: MIT
# command_test.sh COSY COSYD - a wrong command line is answered by one line that says what is wrong
# with it, and one that says where to look; help answers for each command; and a status tells that
# it could not be written.
set -u
cosy=$1 cosyd=$2
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
bad=0

fail() {
	echo "FAILED: $*" >&2
	bad=1
}

# answers STATUS TEXT LINES COMMAND...: exit status, and a text within so many lines of both outputs.
answers() {
	status=$1 text=$2 lines=$3
	shift 3
	"$@" >"$dir/out" 2>&1
	got=$?
	[ "$got" = "$status" ] || fail "$*: exit status $got, not $status: $(cat "$dir/out")"
	grep -qF -e "$text" "$dir/out" || fail "$*: no \"$text\" in: $(cat "$dir/out")"
	[ "$(wc -l <"$dir/out")" -le "$lines" ] || fail "$*: more than $lines lines"
}

# refuses TEXT COMMAND...: two lines, of which the second says where to look.
refuses() {
	text=$1
	shift
	answers 2 "$text" 2 "$@"
	tail -n 1 "$dir/out" | grep -q '^Try `.* --help`\.$' || fail "$*: not led to --help"
}

answers 0 'usage: cosy COMMAND' 20 "$cosy" help
answers 0 'usage: cosy COMMAND' 20 "$cosy" --help
answers 0 'usage: cosy COMMAND' 20 "$cosy" help help
answers 2 'usage: cosy COMMAND' 20 "$cosy"
for command in doctor dis forget run profile; do
	answers 0 "usage: cosy $command" 30 "$cosy" help $command
	answers 0 "usage: cosy $command" 30 "$cosy" $command --help
done
refuses 'cosy: there is no command start' "$cosy" start
refuses 'cosy: there is no command start' "$cosy" help start

refuses 'cosy dis: no file is named' "$cosy" dis
refuses 'cosy dis: there is no option --all' "$cosy" dis --all
answers 1 'cosy dis: --all: No such file' 1 "$cosy" dis -- --all
refuses 'cosy doctor: unexpected argument me' "$cosy" doctor me
refuses 'cosy doctor: there is no option --me' "$cosy" doctor --me

refuses 'cosy run: no program is named' "$cosy" run
refuses 'cosy run: no program is named' "$cosy" run --memory ls
refuses "cosy run: unrecognized option '--what'" "$cosy" run --what true
refuses "cosy run: option '--explain' requires" "$cosy" run --explain
answers 127 'cosy run: there is no program missing in PATH' 1 "$cosy" run missing
answers 127 'cosy run: there is no program ./missing' 1 "$cosy" run ./missing

refuses 'cosy profile: no program is named' "$cosy" profile
refuses "cosy profile: unrecognized option '--what'" "$cosy" profile --what true
refuses 'cosy profile: -d soon: give seconds' "$cosy" profile -d soon true
refuses 'cosy profile: -p: give numbers' "$cosy" profile -p me
refuses 'cosy profile: --backend gdb: it takes fentry' "$cosy" profile --backend gdb true
refuses 'cosy profile: --verify=0: give' "$cosy" profile --verify=0 true
refuses 'cosy profile: it takes one of' "$cosy" profile -p 1 true
refuses 'cosy profile: --build needs --marked' "$cosy" profile --build make true
refuses 'cosy profile: --verify and --marked need PROGRAM' "$cosy" profile --verify -p 1
refuses 'cosy profile: --load puts' "$cosy" profile --load true --read "$dir/none"
refuses "$dir/cgroup.procs: No such file" "$cosy" profile --cgroup "$dir"

refuses "cosyd: unrecognized option '--what'" "$cosyd" --what
refuses 'cosyd: unexpected argument: now' "$cosyd" now
refuses 'cosyd: --deadline soon: give a number' "$cosyd" --deadline soon
# Output that cannot be written is an error: a disk that is full, and a standard output that is closed.
for tool in "$cosy" "$cosyd" "$(dirname "$cosy")/cosycc"; do
	[ -x "$tool" ] || continue
	"$tool" --help >/dev/full 2>"$dir/out" && fail "$tool: a full disk is none"
	grep -q 'not all of the output' "$dir/out" || fail "$tool: $(cat "$dir/out")"
	"$tool" --help 2>"$dir/out" >&- && fail "$tool: a closed output is none"
done
for command in run profile doctor; do
	"$cosy" $command --help >/dev/full 2>"$dir/out" && fail "$command: a full disk is none"
done
exit $bad
