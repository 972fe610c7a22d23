#!/bin/sh
# SPDX-License-Identifier: MIT
# run.sh libfuzzer|random|interp TARGET [CORPUS [SECONDS]] - runs one target for COSY_FUZZ_SECONDS, from
# COSY_FUZZ_SEED on, which is always the same unless set, so that a test says the same of the same
# tree.  libFuzzer keeps what it learns in the folder CORPUS; an input that fails is kept beside it.
set -eu
driver=$1 target=$2 corpus=${3:-}
seconds=${COSY_FUZZ_SECONDS:-${4:-20}} seed=${COSY_FUZZ_SEED:-1}

case $driver in
random) exec "$target" "$seconds" "$seed" ;;
interp) exec "$target" interp "$seconds" "$seed" ;;
esac
mkdir -p "$corpus"
exec "$target" -max_total_time="$seconds" -seed="$seed" -max_len=2048 -len_control=0 -timeout=20 \
	-print_final_stats=1 -artifact_prefix="$corpus-" "$corpus"
