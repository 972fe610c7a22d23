# SPDX-License-Identifier: MIT
"""Tests cosycc: what it says, and what it makes of a region."""

import os
import shutil
from pathlib import Path

import lit.formats

# Parameters that the build gives, with -D: bin, plugin, work, clang, libcosy, sanitize.
parameters = lit_config.params  # noqa: F821
config = config  # noqa: F821

config.name = "cosycc"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".c", ".cpp", ".ll", ".test"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = parameters["work"]

llvm = Path(parameters["clang"]).resolve().parent
config.environment["PATH"] = os.pathsep.join([parameters["bin"], str(llvm), os.environ["PATH"]])
for name in ("COSY_MODE", "COSY_TIER", "COSY_STATS", "COSY_DEBUG"):
    config.environment.pop(name, None)

config.substitutions += [
    ("%cosycc", str(Path(parameters["bin"]) / "cosycc")),
    ("%cosyc\\+\\+", str(Path(parameters["bin"]) / "cosyc++")),
    ("%plugin", parameters["plugin"]),
    ("%clang", parameters["clang"]),
    ("%libcosy", parameters["libcosy"]),
    # A stage of the pass by its name, with what it counted.
    ("%stage", f"opt -load-pass-plugin={parameters['plugin']} -cosy-stats -S -passes"),
    # The host's code about as it leaves the pass.
    ("%ir", f"{Path(parameters['bin']) / 'cosycc'} -O0 -fno-discard-value-names -S -emit-llvm -o -"),
    # Each stage of the compounds goes to files that start with %t.dump.
    ("%dump", "-Xclang -mllvm -Xclang -cosy-dump=%t.dump"),
]
if parameters.get("sanitize") != "ON":
    config.available_features.add("links")  # with libcosy, without a sanitizer
if os.path.realpath("/usr/bin/ld").endswith(".bfd"):
    config.available_features.add("gnu-ld")
if shutil.which("ld.gold"):
    config.available_features.add("gold")
