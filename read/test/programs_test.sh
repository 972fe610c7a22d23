#!/bin/bash
# SPDX-License-Identifier: MIT
# programs_test.sh COSY - unmodified programs give the same output, and the same status,
# with and without `cosy run`.  Programs that are not installed are left out.
set -u
cosy=$1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0 ran=0

awk 'BEGIN { srand(7); for (i = 0; i < 6000; i++) print i, int(rand() * 1e9), "some words of text" }' >text
head -c 70000 text >small
: >empty
mkdir many
for i in $(seq 60); do head -c $((i * 37)) text >many/$i; done

# check COMMAND...: without, then with
check() {
	command -v "$1" >/dev/null || return 0
	"$@" >want 2>want.err </dev/null
	status=$?
	"$cosy" run -- "$@" >got 2>got.err </dev/null
	got=$?
	ran=$((ran + 1))
	if [ $got != $status ] || ! cmp want got || ! cmp want.err got.err; then
		echo "FAIL ($got, not $status): $*"
		head -3 got.err
		failed=1
	fi
}

check dd if=small bs=1 status=none
check dd if=text bs=512 status=none
check dd if=text bs=3000 skip=7 status=none
check dd if=text bs=100k status=none
check cat text empty small
check bash -c 'cat many/*'
check wc text small empty
check wc -l text
check awk '{ n += $2; m = m $1 % 7 } END { print n, m }' text
check sort -k2n text
check sort -u text small
check grep -c 77 text
check grep -rc words many
check gzip -1 -n -c text
check md5sum text small empty
check cmp text small
check od -An -c small
check head -n 30 text
check tail -n 30 text
check tac small
check bash -c 'n=0; while read -r a b c; do n=$((n + a)); done <small; echo $n'
check bash -c 'exec 3<small; read -r -u 3 x; (read -r -u 3 y; echo "$y"); read -r -u 3 z; echo "$x" "$z"; cat <&3'
check sh -c '(read a; read b; cat) <small'
check perl -e 'open F, "<", "small"; while (sysread F, $b, 1) { $n += ord $b } print $n'
check perl -e 'open F, "<", "text"; sysseek F, 100, 0; for (1 .. 50) { sysread F, $b, 3; print $b } print `cat small`; print sysseek(F, 0, 1); sysread F, $b, 9; print $b; exec "md5sum", "text"'
check perl -e 'open F, "<", "small"; for (1 .. 100) { sysread F, $b, 7 } if (!fork) { sysread F, $b, 7; print $b; exit } wait; sysread F, $b, 7; print $b'
check perl -e 'open F, "<", "text"; sysread F, $b, 2 for 1 .. 99; open STDIN, "<&", \*F; sysread F, $b, 2 for 1 .. 99; exec "cat"'
check perl -ne '$n += length; END { print $n }' text
check python3 -S -c '
import os
fd = os.open("small", 0)
n = 0
while True:
    b = os.read(fd, 1)
    if not b:
        break
    n += b[0]
print(n, os.lseek(fd, 0, 1), os.read(fd, 9))'
check python3 -S -c '
f = open("text", "rb", 0)
x = 1
for i in range(5000):
    x = (x * 1103515245 + 12345) & 0x7fffffff
    f.seek(x % 200000)
    x += f.read(1 + x % 300)[0]
print(x)'
check python3 -S -c '
import os, threading
fd = os.open("text", 0)
total = []
def run():
    n = 0
    while True:
        b = os.read(fd, 10)
        if not b:
            break
        n += sum(b)
    total.append(n)
threads = [threading.Thread(target=run) for _ in range(3)]
[t.start() for t in threads]
[t.join() for t in threads]
print(sum(total))'
check python3 -S -c '
import os, subprocess
fd = os.open("small", os.O_RDONLY)
[os.read(fd, 3) for _ in range(100)]
print(subprocess.run(["head", "-c", "50"], stdin=fd, capture_output=True).stdout)
print(os.lseek(fd, 0, 1))'
if command -v sqlite3 >/dev/null; then
	sqlite3 t.db "create table t(k integer, v text); with recursive c(i) as (select 1 union all select i + 1 from c where i < 4000)
		insert into t select (i * 7919) % 4001, printf('value %d of many', i) from c; create index x on t(k)"
	check sqlite3 -readonly t.db 'select count(*), sum(length(v)) from t'
	check sqlite3 -readonly t.db 'pragma cache_size=10; select sum(length(v)) from t where k < 1500'
	check sqlite3 t.db 'begin; update t set v = v || k where k % 3 = 0; select sum(length(v)) from t; rollback'
fi

# And it was not for nothing.
"$cosy" run --stats -- dd if=small of=copy bs=1 status=none 2>stats
cmp small copy || failed=1
grep -q ' 1 specialised; reads: 69[0-9]* specialised' stats || {
	echo "FAIL: dd bs=1 was not specialised"
	cat stats
	failed=1
}
echo "$ran programs"
exit $failed
