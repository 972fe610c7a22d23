#!/bin/busybox sh
# SPDX-License-Identifier: MIT
# Records in a guest, where BPF programs may be attached to x64_sys_call: what both of the kernel's
# back ends see is what ptrace sees.  guest.sh
cd /t || exit 1
failed=0
note() { echo "$*"; }
fail() { echo "FAILED: $*"; failed=1; }

# A number of the report that the last `record` wrote: number NAME
number() { tr ',' '\n' </tmp/report | sed -n "s/^[{ ]*\"$1\": *\([0-9]*\).*/\1/p" | head -1; }
# Counts how many calls of one name were recorded.
calls() { ./profile_sequence /tmp/events | grep -c "^$1 at "; }
record() { COSY_OBSERVE_SAYS=1 ./cosy-profile -o /tmp/events --json /tmp/report "$@" >/tmp/text 2>/tmp/errors; }
expect() { [ "$2" "$3" "$4" ] || fail "$1: $2 $3 $4"; }

# Threads, fork, vfork, exec, an exec by a thread, one that stops, one that is killed.
head -c 8192 /dev/urandom >/tmp/in
for backend in ptrace fentry tracepoint; do
	record --backend $backend -- ./profile_subject /tmp/in /tmp/out
	grep -q "recorded by $backend" /tmp/text || { fail "$backend does not record"; cat /tmp/errors; }
	expect "$backend lost" "$(number lost)" -eq 0
	expect "$backend processes" "$(number processes)" -eq 6
	expect "$backend threads" "$(number threads)" -eq 10
	./profile_sequence /tmp/events >/tmp/$backend
	note "$backend: $(wc -l </tmp/$backend) lines"
	cmp /tmp/ptrace /tmp/$backend || { fail "$backend sees something else than ptrace"; diff /tmp/ptrace /tmp/$backend | head -20; }
done
record -- ./profile_subject /tmp/in /tmp/out
grep -q "recorded by fentry" /tmp/text || fail "fentry is not the first choice"

# What is computed after the last call: by one that ends, is killed, or goes on; and none by one that sleeps.
for backend in ptrace fentry tracepoint; do
	record --backend $backend -- ./profile_crowd compute 100
	ended=$(number user_ns)
	record --backend $backend -- ./profile_crowd abandon 100
	killed=$(number user_ns)
	./profile_crowd abandon 1000000 &
	record --backend $backend --load "./profile_crowd await 100 $!" -p $!
	left=$(number user_ns)
	kill $!
	sleep 100 &
	record --backend $backend -d 0.5 -p $!
	slept=$(number user_ns)
	kill $!
	note "$backend: ns after the last call: ended $ended, killed $killed, left $left, asleep $slept"
	expect "$backend: of one that is killed" "$killed" -gt 10000000
	expect "$backend: of one that goes on" "$left" -gt 10000000
	expect "$backend: of one that sleeps" "$slept" -lt "$left"
	# No machine makes a hundred million iterations in less.
	expect "$backend: of one that ends" "$ended" -gt 10000000
done

# Numbers of processes that are used again, by those that are watched and by others.
echo 400 >/proc/sys/kernel/pid_max
./profile_crowd others 200 &
record --backend fentry -- ./profile_crowd forks 300
wait $! || fail "crowd others"
echo 32768 >/proc/sys/kernel/pid_max
expect "children's calls" "$(calls getuid)" -eq 300
expect "others' calls" "$(calls getgid)" -eq 0
expect "processes" "$(number processes)" -eq 301
expect "lost" "$(number lost)" -eq 0

# More threads at once than have a place of their own each.
record --backend fentry -- ./profile_crowd threads 300
expect "calls of threads" "$(calls getuid)" -eq 300
expect "threads" "$(number threads)" -eq 301
expect "threads' calls lost" "$(number lost)" -eq 0

# Calls that differ in nothing but the caller's caller: the kernel does not look at each stack, and
# the longer they are the same the less often.
for turns in 800 5000; do
	for backend in ptrace fentry; do
		record --backend $backend -- ./profile_crowd callers $turns
		./profile_sequence /tmp/events callers | grep "^getuid at" >/tmp/callers.$backend
	done
	right=$(paste -d'|' /tmp/callers.ptrace /tmp/callers.fentry | awk -F'|' '$1 == $2' | wc -l)
	note "callers: $right of $(wc -l </tmp/callers.ptrace) calls at the right place"
	expect "places" "$(sort -u /tmp/callers.ptrace | wc -l)" -ge 2
	expect "calls at the right place" "$right" -ge $((2 * turns * 39 / 40))
done

# Rewrite and unmap what a call names while it is looked at.
record --backend fentry -- ./profile_crowd rewrite 2000 || fail "rewrite"
expect "accesses" "$(./profile_sequence /tmp/events | grep -ac "^access")" -ge 2000
expect "lost" "$(number lost)" -eq 0

# Stop the reader until the ring is full: what is not there must be counted.
mkfifo /tmp/go
record --backend fentry -- ./profile_crowd flood 600000 </tmp/go &
recorder=$!
exec 7>/tmp/go
until grep -q ready /tmp/text; do sleep 0.1; done
profile=$(pidof cosy-profile)
kill -STOP "$profile"
echo >&7
exec 7>&-
until grep -q done /tmp/text; do sleep 0.1; done
kill -CONT "$profile"
wait $recorder
note "loss: $(number calls) calls, $(number lost) lost"
expect "lost" "$(number lost)" -gt 0
expect "calls and lost" $(($(number calls) + $(number lost))) -ge 600000
expect "calls and lost" $(($(number calls) + $(number lost))) -le 600300

# A compound stays in the kernel while fentry watches, and leaves it while tracepoints do.
if [ -e /dev/cosy ]; then
	stats() { sed -n "s/^ *$1[: ]*\([0-9]*\).*/\1/p" /sys/kernel/debug/cosy/stats | head -1; }
	export COSY_TIER=always
	for backend in fentry tracepoint; do
		before=$(stats left_traced)
		record --backend $backend -- ./getpid
		eval "left_$backend=$(($(stats left_traced) - before)) calls_$backend=$(calls getpid)"
	done
	note "compound: by fentry left $left_fentry times, $calls_fentry getpids seen; by tracepoints $left_tracepoint, $calls_tracepoint"
	# A marked program beside the plain one: says what was measured, and by its status whether it was predicted;
	# or, on a busy machine, that runs differ too much for that.
	record --backend fentry --verify=3 --marked ./getpid -- ./plain/getpid 20000
	status=$?
	verdict=$(sed -n -e 's/^Verified: regions, .* less processor time: \(in\|OUT\)$/\1/p' \
		-e 's/^Not verified: regions, .* runs of the program differ by .*/differ/p' /tmp/text)
	note "regions: $(grep -A1 -e ^Verified -e '^Not verified' /tmp/text)"
	case $verdict$status in in0 | OUT1 | differ1) ;; *) fail "regions: $verdict, status $status" ;; esac
	expect "left under fentry" "$left_fentry" -eq 0
	expect "left under tracepoints" "$left_tracepoint" -gt 0
fi
exit $failed
