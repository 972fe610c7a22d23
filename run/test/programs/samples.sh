#!/bin/sh
# SPDX-License-Identifier: MIT
# samples.sh DIRECTORY - makes the files that commands of the lists read, always the same ones.
set -eu
mkdir -p "$1"
cp "$(dirname "$0")"/samples/* "$1"
cd "$1"
awk 'BEGIN { srand(7); for (i = 0; i < 6000; i++) print i, int(rand() * 1e9), "some words of text" }' >text
awk '{ print $2 "," $1 "," $3 }' text >table.csv
sed '100,200d; s/99/ninety-nine/' text >text2
head -c 70000 text >small
: >empty
mkdir many
for i in $(seq 60); do head -c $((i * 37)) text >many/$i; done
# This one is not text, and longer than a window.
gzip -n -9 <text | head -c 40000 >bytes
for i in $(seq 40); do cat bytes; done >large
awk 'BEGIN { print "["; for (i = 0; i < 2000; i++) printf "%s{\"n\":%d,\"s\":\"value %d\"}\n", i ? "," : "", i, i * 7919 % 2003; print "]" }' >values.json
if command -v sqlite3 >/dev/null; then
	sqlite3 t.db "create table t(k integer, v text); with recursive c(i) as (select 1 union all select i + 1 from c where i < 4000)
		insert into t select (i * 7919) % 4001, printf('value %d of many', i) from c; create index x on t(k)"
fi
find . -exec touch -h -d '2020-01-01 00:00:00' {} +
