#!/bin/sh
# SPDX-License-Identifier: MIT
# test.sh [CARGO]: the crates' tests and documented examples. 77 without cargo.
case ${1-} in
"" | *-NOTFOUND) echo "SKIP: cargo is not installed"; exit 77 ;;
esac
exec "$1" test --offline --quiet
