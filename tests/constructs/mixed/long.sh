#!/bin/sh
# SPDX-License-Identifier: MIT
# long.sh BUILD KERNEL FIRST COUNT: random programs, plain, in the twin, in the interpreter, and in the kernel of
# a virtual machine, which takes 2,000 at a time.
set -e
build=$1 kernel=$2 first=$3 count=$4
clang=clang-$(sed -n 's/^COSY_LLVM:STRING=//p' "$build/CMakeCache.txt")
here=${0%/*}
status=0
while [ "$count" -gt 0 ]; do
	now=$((count < 2000 ? count : 2000))
	python3 -B "$here/run.py" --cosycc "$build/bin/cosycc" --clang "$clang" --dis "$build/bin/cosy" \
		--include include --include include/uapi \
		--work "$build/tests/constructs/mixed" --put "$build/tests/constructs/mixed-long" \
		--first "$first" --count "$now" || status=1
	python3 tests/vm/vm.py run --kernel "$kernel" --smp 2 --timeout 7200 --strip --append=cosy.max_missed=0 \
		--put "$build/tests/constructs/mixed-long" --put "$here/guest.sh" -- sh /t/guest.sh /t/mixed-long || status=1
	first=$((first + now))
	count=$((count - now))
done
exit $status
