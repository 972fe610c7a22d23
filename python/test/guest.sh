#!/bin/sh
# SPDX-License-Identifier: MIT
# guest.sh TEST...: runs tests of the package in a virtual machine.
export PYTHONHOME=/t/python PYTHONPATH=/t/python/packages PYTHONDONTWRITEBYTECODE=1
status=0
for test; do
	echo "== $test"
	/t/python/python3 /t/python/test/test_$test.py || status=1
done
exit $status
