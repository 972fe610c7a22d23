#!/bin/bash
# SPDX-License-Identifier: MIT
# relax_programs_test.sh COSY - checks that programs that write files leave the same ones, give the
# same output and the same status, with and without `cosy run --relax=trunc,coalesce,reflink`.
# Programs that are not installed are left out.
set -u
cosy=$1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
mkdir "$work/want" "$work/got"
failed=0 ran=0

for set in want got; do
	awk 'BEGIN { srand(7); for (i = 0; i < 3000; i++) print i, int(rand() * 1e9), "some words of text" }' >"$work/$set/text"
	for file in old1 old2 old3; do cp "$work/$set/text" "$work/$set/$file"; done
done

# check COMMAND...: runs it in two directories, without and with; then compares everything in them
check() {
	command -v "$1" >/dev/null || return 0
	(cd "$work/want" && "$@" >"$work/want.out" 2>"$work/want.err" </dev/null)
	status=$?
	(cd "$work/got" && "$cosy" run --relax=trunc,coalesce,reflink -- "$@" >"$work/got.out" 2>"$work/got.err" </dev/null)
	got=$?
	ran=$((ran + 1))
	if [ $got != $status ] || ! cmp "$work/want.out" "$work/got.out" ||
		! cmp "$work/want.err" "$work/got.err" || ! diff -r "$work/want" "$work/got"; then
		echo "FAIL ($got, not $status): $*"
		head -3 "$work/got.err"
		failed=1
	fi
}

# gives_up KIND MOST COMMAND...: after some files that do not pay it relaxes at most so many.
gives_up() {
	kind=$1 most=$2
	shift 2
	command -v "$1" >/dev/null || return 0
	(cd "$work/got" && "$cosy" run --stats --relax="$kind" -- "$@" 2>"$work/got.err")
	count=$(sed -n "s/.*relaxed:.* $kind \([0-9]*\).*/\1/p" "$work/got.err")
	ran=$((ran + 1))
	if [ "${count:-0}" = 0 ] || [ "$count" -gt "$most" ]; then
		echo "FAIL: $kind of ${count:-none}, not of 1 to $most: $*"
		failed=1
	fi
	cp "$work/want/"old? "$work/got"
}

rewrites='for $i (1 .. 2000) { open F, ">", "old1"; syswrite F, "twelve bytes" for 1 .. 10; close F }'
gives_up coalesce 40 perl -e "$rewrites"
gives_up trunc 60 perl -e "$rewrites"
check sh -c 'echo new >old1; cat old1 >>old2; wc -c old1 old2'
check bash -c 'exec 3>old1; for i in {1..300}; do echo line $i >&3; done; wc -l old1; echo more >&3; exec 3>&-; cat old1'
check bash -c 'for i in {1..50}; do echo $i >old$((i % 3 + 1)); done; cat old*'
check dd if=text of=old1 bs=1 count=5000 status=none
check dd if=text of=old2 bs=512 status=none
check dd if=text of=old2 bs=100 count=7 conv=notrunc status=none
check dd if=text of=old3 bs=4k status=none
check dd if=text of=old3 bs=64k status=none
check dd if=text of=new1 bs=10 count=1000 oflag=append status=none
check cp text old1
check sh -c 'cat text text >old1; tee old2 old3 <text >/dev/null'
check sort -k2n -o old1 text
check sed -i s/words/WORDS/ old2
check awk '{ print $2 >"old1"; print $1 >"old2" } END { close("old1"); while ((getline l <"old1") > 0) n++; print n }' text
check gzip -nkf text
check tar cf archive.tar --mtime=@0 --owner=0 --group=0 --sort=name text old1
check split -l 100 text part.
check perl -e 'open F, ">", "old1"; $| = 1; for (1 .. 2000) { syswrite F, "$_\n" } open G, "<", "old1"; @l = <G>; print scalar @l'
check perl -e 'open F, "+>", "old2"; syswrite F, "abc" for 1 .. 1000; sysseek F, 10, 0; sysread F, $b, 5; print $b; syswrite F, "XY"; print -s "old2"'
check perl -e 'open F, ">", "old3"; syswrite F, "x" x 10 for 1 .. 100; if (!fork) { syswrite F, "child"; exit } wait; syswrite F, "parent"; rename "old3", "moved"; syswrite F, "end"; close F; rename "moved", "old3"; print -s "old3"'
check perl -e 'open F, ">", "old3"; syswrite F, "y" for 1 .. 500; kill "TERM", $$'
check python3 -S -c '
import os
fd = os.open("old1", os.O_WRONLY | os.O_TRUNC | os.O_CREAT)
for i in range(3000):
    os.write(fd, b"%d," % i)
print(os.fstat(fd).st_size, os.lseek(fd, 0, 1))
os.write(fd, b"end")
os.system("wc -c old1")
f = open("old2", "wb", 0)
[f.write(b"x" * (i % 90)) for i in range(2000)]
print(open("old2", "rb").read()[-5:], os.path.getsize("old2"))
f.truncate(50)
f.close()
with open("old3", "w") as f:
    f.write("text")'
check python3 -S -c '
import os, threading
fd = os.open("old1", os.O_WRONLY | os.O_TRUNC)
def run():
    for i in range(500):
        os.write(fd, b"0123456789")
[os.write(fd, b"m") for i in range(100)]
threads = [threading.Thread(target=run) for _ in range(3)]
[t.start() for t in threads]
[t.join() for t in threads]
print(os.fstat(fd).st_size)'
check python3 -S -c '
import subprocess, os
fd = os.open("old2", os.O_WRONLY | os.O_TRUNC)
[os.write(fd, b"before\n") for i in range(50)]
subprocess.run(["sh", "-c", "echo child; wc -l old2 >&2"], stdout=fd)
os.write(fd, b"after\n")'
check python3 -S -c '
import signal, os
fd = os.open("old3", os.O_WRONLY | os.O_TRUNC)
n = 0
def tick(*a):
    global n
    n += 1
    os.write(fd, b"t")
signal.signal(signal.SIGALRM, tick)
signal.setitimer(signal.ITIMER_REAL, .0005, .0005)
m = 0
while n < 100:
    os.write(fd, b"m")
    m += 1
signal.setitimer(signal.ITIMER_REAL, 0)
os.close(fd)
print(os.path.getsize("old3") == n + m)
os.truncate("old3", 0)'
if command -v sqlite3 >/dev/null; then
	check sqlite3 t.db "create table t(k integer, v text); with recursive c(i) as (select 1 union all select i + 1 from c where i < 500)
		insert into t select (i * 7919) % 4001, printf('value %d of many', i) from c; create index x on t(k); select count(*) from t"
fi
check sh -c 'command -v cc >/dev/null || exit 0; printf "int main(void) { return 3; }" >old1.c; cc -o prog old1.c; ./prog; echo $?; rm prog'

# Check that something was relaxed.
"$cosy" run --relax=trunc,coalesce --stats -- dd if="$work/want/text" of="$work/want/old1" bs=1 count=5000 status=none 2>"$work/stats"
grep -q 'relaxed: trunc 1, coalesce 49[0-9]* writes into 1,' "$work/stats" || {
	echo "FAIL: dd bs=1 was not relaxed"
	cat "$work/stats"
	failed=1
}
echo "$ran programs"
exit $failed
