#!/bin/busybox sh
# SPDX-License-Identifier: MIT
# attach.sh - records running processes by each BPF back end: by number, by control group, until ^C.
# Each wait is for a line that a program writes when it reaches that point.
cd /t || exit 1
TURNS=300
failed=0
fail() { echo "FAILED: $*"; failed=1; cat /tmp/errors; }
number() { tr ',' '\n' </tmp/report | sed -n "s/^[{ ]*\"$1\": *\([0-9]*\).*/\1/p" | head -1; }
calls() { ./profile_sequence /tmp/events | grep -c "^$1 at "; }
record() { COSY_OBSERVE_SAYS=1 ./cosy-profile -o /tmp/events --json /tmp/report "$@" >/tmp/text 2>/tmp/errors; }
expect() { [ "$2" "$3" "$4" ] || fail "$1: $2 $3 $4"; }

# Two servers, which make calls for each line that they read, and two processes that have ended.
mkfifo /tmp/in.1 /tmp/out.1 /tmp/in.2 /tmp/out.2 /tmp/in.3 /tmp/out.3 /tmp/never
./profile_crowd serve $TURNS </tmp/in.1 >/tmp/out.1 &
first=$!
exec 3>/tmp/in.1 4</tmp/out.1
read -r said <&4
./profile_crowd serve $TURNS </tmp/in.2 >/tmp/out.2 &
second=$!
exec 5>/tmp/in.2 6</tmp/out.2
read -r said <&6
./profile_crowd corpse 1 </tmp/in.3 >/tmp/out.3 &
exec 7>/tmp/in.3 8</tmp/out.3
read -r corpse <&8
exec 9<>/tmp/never
./profile_crowd forks 1 &
gone=$!
wait $gone
mkdir /tmp/groups
# The second server is in a subgroup, as the services of a slice are.
mount -t cgroup2 none /tmp/groups && mkdir -p /tmp/groups/servers/below || fail "control groups"
echo $first >/tmp/groups/servers/cgroup.procs
echo $second >/tmp/groups/servers/below/cgroup.procs
both='echo >&3; echo >&5; read -r said <&4; read -r said <&6'

for backend in fentry tracepoint; do
	echo "$backend: processes by number"
	record --backend $backend -p "$gone,$first,$corpse,$second" --load "$both" || fail "$backend: status"
	grep -q "recorded by $backend" /tmp/text || fail "$backend does not record"
	grep -q "process $gone has ended" /tmp/errors || fail "$backend does not say that $gone has ended"
	grep -q "process $corpse has ended" /tmp/errors || fail "$backend does not say that $corpse has ended"
	expect "$backend by number, processes" "$(number processes)" -eq 2
	expect "$backend by number, calls" "$(calls getppid)" -eq $((2 * TURNS))
	record --backend $backend -p "$gone,$corpse" && fail "$backend records what has ended"

	echo "$backend: ^C"
	# The load's shell is a child of the process that waits for it, which is a child of cosy-profile.
	record --backend $backend -p "$first" --load '
		echo >&3; read -r said <&4
		read -r pid name state up rest </proc/$PPID/stat
		kill -INT $up
		read -r said <&9' || fail "$backend: status after ^C"
	expect "$backend until ^C, calls" "$(calls getppid)" -eq $TURNS
	kill -0 "$first" || fail "$backend: what was watched has ended"

	# A program that cosy-profile started also continues.
	mkfifo /tmp/in.4 /tmp/out.4
	./cosy-profile --backend $backend -o /tmp/events --json /tmp/report -- \
		./profile_crowd serve $TURNS 0<>/tmp/in.4 >/tmp/out.4 2>/tmp/errors &
	recorder=$!
	exec 8</tmp/out.4
	read -r said <&8
	echo >/tmp/in.4
	read -r said <&8
	kill -INT $recorder
	wait $recorder || fail "$backend: status of a program's recording after ^C"
	expect "$backend of a program until ^C, calls" "$(calls getppid)" -eq $TURNS
	echo >/tmp/in.4
	while read -r said <&8 && [ "$said" != done ]; do :; done
	[ "$said" = done ] || fail "$backend: the program has ended with the recording"
	rm /tmp/in.4 /tmp/out.4

	echo "$backend: a control group"
	record --backend $backend --cgroup /tmp/groups/servers --load "$both" || fail "$backend: status of a group"
	expect "$backend by group, processes" "$(number processes)" -eq 2
	expect "$backend by group, calls" "$(calls getppid)" -eq $((2 * TURNS))
done
killall profile_crowd
exit $failed
