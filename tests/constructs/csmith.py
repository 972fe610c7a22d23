#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Random programs of csmith, the first function of each as a region: three ways, as run.py.

Prints how many were equal, differed, or took too long.  Exit status 77 without
csmith.  A program that differs is kept in --work.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

# Seconds of processor time, which do not depend on what else the machine does.
COMPILE_LIMIT = 120
RUN_LIMIT = 5
HEADERS = ("/usr/include/csmith", "/usr/include/csmith-2.3.0")


def program(csmith: str, seed: int, work: Path) -> str:
    """Returns a program whose first function is a region.  Runs csmith in `work`, where it leaves a file."""
    options = ["--seed", str(seed), "--max-funcs", "8"]
    text = subprocess.run([csmith, *options], capture_output=True, text=True, check=True, cwd=work).stdout
    call = re.search(r"crc32_gentab\(\);\n( *func_\d+\(\);\n)", text)
    if not call:
        raise SystemExit(f"seed {seed}: no call of a function in main")
    region = f"    COSY_START;\n{call[1]}    COSY_END;\n"
    return "#include <cosy/cosy.h>\n" + text[: call.start(1)] + region + text[call.end(1) :]


def limited(seconds: int) -> list[str]:
    """Returns the beginning of a command that may take no more processor time than that."""
    return ["prlimit", "--core=0", f"--cpu={seconds}:{seconds + 1}"]


def output(path: Path, mode: str) -> str | None:
    """Returns the program's output, or None if it takes too long."""
    command = [*limited(RUN_LIMIT), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, env=dict(os.environ, COSY_MODE=mode))
    if done.returncode == -signal.SIGXCPU:
        return None
    return f"{done.stdout}exit {done.returncode}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--cosycc", required=True)
    parser.add_argument("--clang", required=True)
    parser.add_argument("--include", action="append", default=[])
    parser.add_argument("--work", required=True, type=Path)
    parser.add_argument("--link", default="", help="for linking compounds with libcosy")
    parser.add_argument("--first", type=int, default=1, help="seed")
    parser.add_argument("--count", type=int, default=10, help="of seeds")
    parser.add_argument("--levels", default="O2")
    args = parser.parse_args()

    csmith = shutil.which("csmith")
    headers = [h for h in HEADERS if Path(h).is_dir()]
    if not csmith or not headers:
        print("skipped: csmith and libcsmith-dev are not installed")
        return 77
    args.work.mkdir(parents=True, exist_ok=True)
    equal = differed = slow = native = 0
    for seed in range(args.first, args.first + args.count):
        source = args.work / f"seed-{seed}.c"
        source.write_text(program(csmith, seed, args.work))
        for level in args.levels.split(","):
            plain, cosy = (args.work / f"seed-{seed}-{level}-{way}" for way in ("plain", "cosy"))
            common = [f"-{level}", "-w", f"-I{headers[0]}", str(source)]
            includes = [f"-I{path}" for path in args.include]
            compiler = limited(COMPILE_LIMIT)
            subprocess.run([*compiler, args.clang, "-DCOSY_OFF", *includes, *common, "-o", str(plain)], check=True)
            command = [*compiler, args.cosycc, "-Rcosy", "-fno-crash-diagnostics", *args.link.split(), *common]
            built = subprocess.run([*command, "-o", str(cosy)], capture_output=True, text=True)
            if built.returncode:
                print(f"seed {seed} -{level}: does not compile\n{built.stderr[:2000]}", flush=True)
                differed += 1
                continue
            native += "region compiled" not in built.stderr
            expected = output(plain, "auto")
            got = {mode: output(cosy, mode) for mode in ("native", "interp")} if expected else {}
            if not expected or None in got.values():
                slow += 1
            elif all(text == expected for text in got.values()):
                equal += 1
            else:
                print(f"seed {seed} -{level}: plain {expected!r}, {got}", flush=True)
                differed += 1
                continue
            for path in (plain, cosy):
                path.unlink()
        if not list(args.work.glob(f"seed-{seed}-*")):
            source.unlink()
    print(f"{equal} equal ({native} native), {slow} too slow, {differed} differed")
    return differed != 0


if __name__ == "__main__":
    sys.exit(main())
