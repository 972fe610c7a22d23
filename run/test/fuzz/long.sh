#!/bin/sh
# SPDX-License-Identifier: MIT
# long.sh BUILD OPERATIONS SEED [OPTION...] - runs the fuzzer for longer: so many operations, in
# quarters, with one thread and with several, on the file systems of /tmp and /dev/shm, under
# `cosy run` with these options.  A failure prints the seed with which it comes again.
set -u
build=$1 operations=$2 seed=$3
shift 3
options=$*
failed=0

# quarter DIRECTORY THREADS
quarter() {
	echo "seed $seed, threads $2, files in $1 ($(stat -f -c %T "$1")):"
	# shellcheck disable=SC2086
	TMPDIR=$1 COSY_RUN_EAGER=1 "$build/bin/cosy" run $options -- \
		"$build/run/test/run_fuzz" $((operations / 4)) "$seed" "$2" || failed=1
	seed=$((seed + 1))
}

quarter /tmp 1
quarter /dev/shm 1
quarter /tmp 4
quarter /dev/shm 2
exit $failed
