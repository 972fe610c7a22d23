#!/bin/sh
# SPDX-License-Identifier: MIT
# format.sh [--check] [FILE...]: formats sources; with --check only reports those that it would change.
#
# clang-format formats C and C++ in the style of the nearest .clang-format; ruff formats Python by
# pyproject.toml, and also finds mistakes.  Without FILEs: all sources.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
RUFF=0.17.6

check=
if [ "${1:-}" = --check ]; then
	check=yes
	shift
fi
for file; do # from where the caller stands
	set -- "$@" "$(realpath -- "$file")"
	shift
done
cd "$top"

# sources PATTERN...: prints the requested files whose names match, one on a line
sources() {
	if [ $# = 0 ]; then
		return
	fi
	{
		if [ -n "$asked" ]; then
			printf '%s\n' "$asked"
		else
			find . \( -name build -o -name 'build-*' \) -type d -prune -o -name .git -prune -o -type f -print | sed 's,^\./,,'
		fi
	} | while read -r file; do
		for pattern; do
			# shellcheck disable=SC2254
			case $file in
			$pattern) [ ! -e "$file" ] || echo "$file" ;;
			esac
		done
	done | sort
}
asked=$([ $# = 0 ] || printf '%s\n' "$@")
failed=0

c=$(sources '*.c' '*.h' '*.cpp')
if [ -n "$c" ]; then
	[ -z "$check" ] || style="--dry-run --Werror"
	llvm=$(sed -n 's/^set(COSY_LLVM \([0-9]*\) .*/\1/p' CMakeLists.txt)
	# shellcheck disable=SC2086
	echo "$c" | xargs -d '\n' -n 64 -P "$(nproc)" "clang-format-$llvm" ${style:--i} || failed=1
fi

# ruff is no Debian package: install this very version from PyPI into the cache.
cache=${COSY_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/cosy}/ruff-$RUFF
python=$(sources '*.py')
if [ -n "$python" ] && [ ! -x "$cache/bin/ruff" ]; then
	rm -rf "$cache"
	if ! { mkdir -p "$cache" && python3 -m venv "$cache" && "$cache/bin/pip" -q install "ruff==$RUFF"; } >/dev/null 2>&1; then
		rm -rf "$cache"
		echo "format: ruff $RUFF could not be installed by pip: Python sources are not looked at" >&2
		python=
	fi
fi
if [ -n "$python" ]; then
	if [ -n "$check" ]; then
		echo "$python" | xargs -d '\n' "$cache/bin/ruff" format --no-cache --quiet --check --diff || failed=1
	else
		echo "$python" | xargs -d '\n' "$cache/bin/ruff" format --no-cache --quiet || failed=1
	fi
	echo "$python" | xargs -d '\n' "$cache/bin/ruff" check --no-cache --quiet --output-format concise || failed=1
fi
[ $failed = 0 ] || {
	[ -z "$check" ] || echo "format: \`make format\` mends what is only a matter of form" >&2
	exit 1
}
