#!/bin/sh
# SPDX-License-Identifier: MIT
# run.sh libfuzzer|random|interp TARGET [CORPUS] - one target for COSY_FUZZ_SECONDS.
# What libFuzzer learns stays in the folder CORPUS; an input that fails is kept beside it.
set -eu
driver=$1 target=$2 corpus=${3:-}
seconds=${COSY_FUZZ_SECONDS:-20}

case $driver in
random) exec "$target" "$seconds" "$(date +%s)" ;;
interp) exec "$target" interp "$seconds" ;;
esac
mkdir -p "$corpus"
exec "$target" -max_total_time="$seconds" -max_len=2048 -len_control=0 -timeout=20 \
	-print_final_stats=1 -artifact_prefix="$corpus-" "$corpus"
