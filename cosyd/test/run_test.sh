#!/bin/sh
# SPDX-License-Identifier: MIT
# run_test.sh CASE COSY COSYD [PROGRAM ... | LIBRARY] - tests `cosy run` with the lease daemon:
# programs of one user read files of another.
set -u
case=$1 cosy=$2 cosyd=$3
shift 3
[ "$(id -u)" = 0 ] || {
	echo "not run by root: there is no other user to be"
	exit 77
}
command -v setpriv >/dev/null || {
	echo "there is no setpriv(1)"
	exit 77
}
work=$(mktemp -d) || exit 1
chmod 755 "$work"
daemon=
trap '[ -z "$daemon" ] || kill "$daemon"; rm -rf "$work"' EXIT
# Wait for windows, however busy the machine is.
export COSYD_SOCKET="$work/socket" TMPDIR="$work" COSY_RUN_EAGER=1
failed=0
head -c 200000 /dev/urandom >"$work/file"

# lives PROCESS: true if it has not ended, reaped or not
lives() {
	readlink -q "/proc/$1/exe" >/dev/null
}

# start OPTION...: starts a daemon; $keeper is its other process
start() {
	: >"$work/log"
	"$cosyd" --socket "$COSYD_SOCKET" "$@" 2>"$work/log" &
	daemon=$!
	while lives "$daemon"; do
		keeper=$(sed -n 's/.*ready; the keeper of leases is process //p' "$work/log")
		[ -n "$keeper" ] && return
		sleep 0.01
	done
	echo "FAIL: the daemon does not start"
	cat "$work/log"
	exit 1
}

stop() {
	kill "$daemon"
	wait "$daemon" 2>/dev/null
	daemon=
}

# reachable LIBRARY - copies the command and its library where another user can reach them
reachable() {
	mkdir -p "$work/bin" "$work/lib/cosy" && cp "$cosy" "$work/bin/cosy" && cp "$1" "$work/lib/cosy/" || exit 1
	cosy="$work/bin/cosy"
}

# nobody COMMAND...: runs it as a user who owns nothing, at an ordinary priority
nobody() {
	nice -n "-$(nice)" setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
}

# says WHAT PATTERN: fails unless the output has the pattern
says() {
	grep -q "$2" "$work/err" && return
	echo "FAIL: $1 does not say: $2"
	cat "$work/err"
	failed=1
}

# copies WHAT COMMAND...: fails unless the command copies the file
copies() {
	what=$1
	shift
	"$@" >"$work/copy" 2>"$work/err" && cmp -s "$work/file" "$work/copy" && return
	echo "FAIL: $what: another output than the file"
	failed=1
}

stale() {
	"$cosy" run --stats -- "$@" >"$work/out" 2>"$work/err" || {
		echo "FAIL: stale reads, or none"
		failed=1
	}
	cat "$work/out"
}

case $case in
other)
	reachable "$1"
	slowly="dd if=$work/file bs=64 status=none"
	copies "without a daemon" nobody "$cosy" run --explain "$work/file" $slowly
	says "without a daemon" "not specialised: LEASE_PERMITTED"
	start
	copies "with a daemon" nobody "$cosy" run --stats --explain "$work/file" $slowly
	says "with a daemon" "specialised, by a lease of cosyd's"
	says "with a daemon" "1 specialised (1 by cosyd); reads: [1-9]"
	copies "--no-daemon" nobody "$cosy" run --stats --no-daemon $slowly
	says "--no-daemon" " 0 specialised;"
	copies "one's own file" "$cosy" run --stats $slowly
	says "one's own file" " 1 specialised;"
	chmod 640 "$work/file"
	chgrp 65534 "$work/file"
	copies "a file that the daemon may read as well" nobody "$cosy" run --stats $slowly
	says "a file that the daemon may read as well" "(1 by cosyd)"
	exec 9>>"$work/file"
	copies "a file that is open for writing" nobody "$cosy" run --explain "$work/file" $slowly
	says "a file that is open for writing" "READ_ONLY"
	exec 9>&-
	stop
	copies "a daemon that is gone" nobody "$cosy" run --explain "$work/file" $slowly
	says "a daemon that is gone" "LEASE_PERMITTED"
	;;
stale)
	start --hold-off 0
	stale "$1" 1500 65534
	says "the reader" "specialised ([1-9][0-9]* by cosyd)"
	says "the reader" "READ_ONLY"
	;;
socket)
	# Only a socket that nobody answers is replaced.
	daemon=
	echo precious >"$work/notes" && ln -s "$work/notes" "$work/link"
	for path in "$work/notes" "$work/link" ""; do
		timeout -s KILL 600 "$cosyd" --socket "$path" 2>"$work/err" && failed=1
		grep -q "$path: not a socket\|takes a path" "$work/err" || {
			echo "FAIL: --socket '$path' does not say what is wrong"
			cat "$work/err"
			failed=1
		}
	done
	[ "$(cat "$work/link")" = precious ] || failed=1
	start
	kill -KILL "$daemon"
	wait "$daemon" 2>/dev/null
	# Of two that find a stale one, one is there in the end, and it answers.
	for number in 1 2; do
		"$cosyd" --socket "$COSYD_SOCKET" 2>"$work/log$number" &
		eval "daemon$number=$!"
	done
	# The address is "already in use", so look for the word with what comes after it.
	until grep -qs "ready;" "$work"/log[12] && grep -qs "in use" "$work"/log[12]; do
		lives "$daemon1" || lives "$daemon2" || {
			echo "FAIL: both have ended"
			break
		}
		sleep 0.01
	done
	# The other one may still be there.
	grep -q "ready;" "$work/log1" && daemon=$daemon1 || daemon=$daemon2
	cat "$work"/log[12]
	timeout -s KILL 600 "$cosyd" --socket "$COSYD_SOCKET" 2>"$work/err" && failed=1
	grep -q "in use" "$work/err" || failed=1
	exit $failed
	;;
ended)
	# Send KILL, TERM and STOP to the keeper, then to the front.
	for process in keeper front; do
		for signal in 9 15 19; do
			[ "$process$signal" = front19 ] && continue
			start --deadline 300
			[ "$process" = keeper ] && pid=$keeper || pid=$daemon
			"$cosy" run --stats -- "$1" "$pid" "$signal" 65534 2>"$work/err" || {
				echo "FAIL: signal $signal to the $process"
				cat "$work/err"
				failed=1
			}
			says "signal $signal to the $process" "(1 by cosyd)"
			# A keeper without a front may still have let the writer in.
			[ "$process" = front ] ||
				says "signal $signal to the $process" "replugged: DAEMON 1"
			wait "$daemon" 2>/dev/null
		done
	done
	daemon=
	exit $failed
	;;
killed)
	# Run one daemon after the other, while a program reads what another writes.
	start --hold-off 0 --verbose
	"$cosy" run --stats -- "$1" 4000 65534 >"$work/out" 2>"$work/err" &
	reader=$!
	for _ in 1 2 3 4 5; do
		# Wait until each has had a lease.
		until grep -q references "$work/log" || ! lives "$reader"; do sleep 0.01; done
		kill -KILL "$keeper"
		wait "$daemon" 2>/dev/null
		start --hold-off 0 --verbose
	done
	wait "$reader" || {
		echo "FAIL: stale reads, or none"
		cat "$work/out" "$work/err"
		failed=1
	}
	says "the reader" "specialised ([1-9][0-9]* by cosyd)"
	;;
programs)
	# Run the tests that need no daemon with its leases, wherever there is one.
	start --hold-off 0 --verbose
	export COSY_RUN_DAEMON=first COSY_RUN_EAGER=1
	"$cosy" run -- "$@" >"$work/out" 2>"$work/err" || {
		echo "FAIL: $*"
		cat "$work/out" "$work/err"
		failed=1
	}
	leases=$(grep -c references "$work/log")
	echo "$leases leases by the daemon"
	[ "$leases" -gt 0 ] || failed=1
	;;
esac
kill -0 "$keeper" || [ "$case" = other ] || failed=1
exit $failed
