# SPDX-License-Identifier: MIT
"""Prints what this Python lacks to build and test the package, and fails; else prints its real name."""

from __future__ import annotations

import importlib.util
import os
import sys
import sysconfig

if not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")):
    sys.exit(print("python3-dev is not installed") or 1)
for module in ("setuptools", "wheel", "pip"):
    if not importlib.util.find_spec(module):
        sys.exit(print(f"python3-{module} is not installed") or 1)
print(os.path.realpath(sys.executable), end="")
