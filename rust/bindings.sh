#!/bin/sh
# SPDX-License-Identifier: MIT
# bindings.sh [--check]: writes cosy-sys/src/bindings.rs from <cosy/files.h>, by bindgen and rustfmt.
# With --check compares instead: 1 if they differ, 77 without bindgen or with another version of it.
set -eu
cd "$(dirname "$0")"
kept=cosy-sys/src/bindings.rs
fresh=$(mktemp)
trap 'rm -f "$fresh"' EXIT

if [ "${1-}" = --check ]; then
	command -v bindgen >/dev/null || { echo "SKIP: bindgen is not installed"; exit 77; }
	version=$(bindgen --version | cut -d' ' -f2)
	grep -q "bindgen $version " "$kept" || { echo "SKIP: bindgen $version did not write the bindings"; exit 77; }
fi
{
	echo "// SPDX-License-Identifier: MIT"
	echo "// By bindgen $(bindgen --version | cut -d' ' -f2) from <cosy/files.h>: see bindings.sh."
	bindgen ../include/cosy/files.h --disable-header-comment --no-layout-tests --no-doc-comments \
		--allowlist-function 'cosy_(scan|walk|stat_many|read_files|copy_tree|remove_tree).*' \
		--allowlist-type 'cosy_.*' --allowlist-var 'COSY_.*' --no-prepend-enum-name \
		--ctypes-prefix std::os::raw --rust-target 1.47 -- -I../include
} >"$fresh"
if [ "${1-}" = --check ]; then
	diff -u "$kept" "$fresh" || { echo "bindings.sh: the header has changed: make rust-bindings"; exit 1; }
else
	cp "$fresh" "$kept"
fi
