#!/bin/sh
# SPDX-License-Identifier: MIT
# measure.sh [ROW]: measures in the kernel, as by default, and without it.
export PYTHONHOME=/t/python PYTHONPATH=/t/python/packages PYTHONDONTWRITEBYTECODE=1
/t/python/python3 /t/measure.py kernel "$@" && COSY_MODE=native /t/python/python3 /t/measure.py native "$@"
