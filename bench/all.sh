#!/bin/sh
# SPDX-License-Identifier: MIT
# all.sh BUILD KERNEL [OLDEST [NEWEST]]: measures everything that docs/measured/compounds.md shows, two machines
# at a time, into BUILD/bench/results.jsonl, and writes the documents and their plots.  A selection is
# measured on the oldest kernel and the newest one as well, into docs/measured/kernels.jsonl.
set -u
here=$(dirname "$0")
build=$1 kernel=$2 oldest=${3:-6.1} newest=${4:-7.3}
out=$build/bench/results.jsonl
status=0
rm -f "$out"

run() {
	python3 -B "$here/run.py" --build "$build" --kernel "$kernel" --json "$out" "$@" >&2 || echo failed
}

# Measure every workload and contender, on both file systems.
first=$(mktemp)
run --fs ext4 >"$first" &
second=$(run --fs tmpfs)
wait
# Measure beside them with the kernel's own parameters, user and kernel apart, and by clocks.
run --fs tmpfs --short --flags default >>"$first" &
second=$second$(run --fs tmpfs --short --split --runs 1)
wait
run --fs tmpfs --short --lane wall >>"$first"
run --fs tmpfs --short --lane native --runs 5 >>"$first"

# Measure single operations once more, on three kernels.
lines=$here/../docs/measured/kernels.jsonl
rm -f "$lines"
for series in "$oldest" "$kernel" "$newest"; do
	python3 -B "$here/run.py" --build "$build" --kernel "$series" --json "$lines" --fs tmpfs --short \
		--workload getpid,db,bonnie,ls,grep,copy,walk,serve,read1,filtered,bytes,words \
		--contenders plain,COSY-FAST >&2 || echo failed >>"$first"
done

[ -z "$second" ] && [ ! -s "$first" ] || status=1
rm -f "$first"
python3 -B "$here/costs.py" --build "$build" --kernel "$kernel" || status=1
python3 -B "$here/calls.py" --build "$build" --kernels "$kernel,$newest" || status=1
python3 -B "$here/files.py" --build "$build" --kernel "$kernel" || status=1
# Use the system's own interpreter: matplotlib is a package of the distribution's.
/usr/bin/python3 -B "$here/report.py" "$out" || status=1
# Fill in the documents that show figures of these tables.
python3 -B "$here/../tools/check/figures.py" || status=1
exit $status
