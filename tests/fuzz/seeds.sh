#!/bin/sh
# SPDX-License-Identifier: MIT
# seeds.sh libfuzzer|seeds RUNS TARGET CORPUS FILE... - runs a target with changed copies of these
# files: RUNS of them, or for COSY_FUZZ_SECONDS if that is set, from COSY_FUZZ_SEED on.  libFuzzer
# keeps what it learns in the folder CORPUS; an input that fails is kept beside it.
set -eu
driver=$1 runs=$2 target=$3 corpus=$4 seed=${COSY_FUZZ_SEED:-1}
shift 4

if [ "$driver" = seeds ]; then
	[ -z "${COSY_FUZZ_SECONDS:-}" ] || runs=${COSY_FUZZ_SECONDS}s
	exec "$target" "$runs" "$seed" "$@"
fi
mkdir -p "$corpus" "$corpus-seeds"
cp "$@" "$corpus-seeds"
if [ -n "${COSY_FUZZ_SECONDS:-}" ]; then
	bound=-max_total_time=$COSY_FUZZ_SECONDS
else
	bound=-runs=$runs
fi
exec "$target" "$bound" -seed="$seed" -max_len=32768 -len_control=0 -timeout=60 -rss_limit_mb=2048 \
	-print_final_stats=1 -artifact_prefix="$corpus-" "$corpus" "$corpus-seeds"
