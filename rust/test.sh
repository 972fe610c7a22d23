#!/bin/sh
# SPDX-License-Identifier: MIT
# test.sh [CARGO]: the crates' tests and documented examples, and their build without pkg-config. 77
# without cargo.
case ${1-} in
"" | *-NOTFOUND) echo "SKIP: cargo is not installed"; exit 77 ;;
esac
"$1" test --offline --quiet || exit 1

# A bare system has no pkg-config: the build script leaves the search to the linker.
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
"${1%cargo}rustc" --edition 2021 -o "$dir/build" cosy-sys/build.rs || exit 1
env -i PATH="$dir" "$dir/build" >"$dir/said" || {
	echo "FAILED: the crate is not built without pkg-config" >&2
	exit 1
}
grep -q '^cargo:rustc-link-lib=cosy$' "$dir/said"
