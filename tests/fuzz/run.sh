#!/bin/sh
# SPDX-License-Identifier: MIT
# run.sh libfuzzer|random|interp TARGET INPUTS [CORPUS] - runs one target with so many inputs, scaled by
# COSY_SCALE, or for COSY_FUZZ_SECONDS if set, from COSY_FUZZ_SEED on, which is always the same unless
# set, so that a test says the same of the same tree.  libFuzzer keeps what it learns in the folder
# CORPUS; an input that fails is kept beside it.
set -eu
driver=$1 target=$2 inputs=$3 corpus=${4:-} seed=${COSY_FUZZ_SEED:-1}

case $driver in
random) exec "$target" "$inputs" "$seed" ;;
interp) exec "$target" interp "$inputs" "$seed" ;;
esac
case ${COSY_SCALE:-test} in
quick) inputs=$(((inputs + 7) / 8)) ;;
nightly) inputs=$((inputs * 16)) ;;
esac
mkdir -p "$corpus"
[ -z "${COSY_FUZZ_SECONDS:-}" ] || inputs=-1
exec "$target" -runs="$inputs" -max_total_time="${COSY_FUZZ_SECONDS:-0}" -seed="$seed" -max_len=2048 -len_control=0 -timeout=20 \
	-print_final_stats=1 -artifact_prefix="$corpus-" "$corpus"
