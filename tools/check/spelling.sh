#!/bin/sh
# SPDX-License-Identifier: MIT
# spelling.sh: finds common misspellings in all files; words.txt lists words that only look like one.
cd "$(dirname "$0")/../.." || exit 1
command -v codespell >/dev/null || {
	echo "codespell is not installed"
	exit 77
}
exec codespell --quiet-level 35 --ignore-words tools/check/words.txt \
	--skip './build*,./.git,./.cache,./Testing,__pycache__,*.svg,*.o,*.ko,./tools/check/words.txt'
