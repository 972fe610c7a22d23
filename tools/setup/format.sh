#!/bin/sh
# SPDX-License-Identifier: MIT
# Formats every C, C++ and Python source; `format.sh --check` only says whether it would change any.
set -eu
cd "$(dirname "$0")/../.."
style="-i" ruff="format"
if [ "${1:-}" = --check ]; then
	style="--dry-run --Werror" ruff="format --check"
fi
# shellcheck disable=SC2086
git ls-files -z '*.c' '*.h' '*.cpp' | xargs -0 clang-format-19 $style
if command -v ruff >/dev/null; then
	# shellcheck disable=SC2086
	ruff $ruff
else
	echo "format: ruff is not installed; Python sources are as they were"
fi
