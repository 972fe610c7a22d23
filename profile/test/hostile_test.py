#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Files of recorded programs are cut short or rewritten while `cosy profile` needs them.

hostile_test.py COSY SHRUNK LIBRARY [SHRINK]
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

COSY, SHRUNK, LIBRARY = sys.argv[1:4]
SHRINK = "".join(sys.argv[4:5])  # a library; none where sanitizers are linked in
TURNS = 200  # as shrunk.c has it

SOURCE = """#include <unistd.h>
int main(void)
{
	for (int i = 0; i < 100; i++)
		getppid();
}
"""


def profile(*arguments: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    command = [COSY, "profile", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=600, check=False, env=env)


def check_shrunk(folder: Path, backend: str) -> None:
    """A library that its own program cuts short: every call is counted, and the report comes."""
    library = folder / "shrunk.so"
    shutil.copy(LIBRARY, library)
    run = profile("--backend", backend, "--json", "-", "--", SHRUNK, str(library))
    refused = "Operation not permitted" in run.stderr or "nothing can be watched" in run.stderr
    if refused:
        print(f"{backend} cannot be had here")
        if backend == "ptrace":
            sys.exit(77)
        return
    assert run.returncode == 0, (backend, run.returncode, run.stderr)
    assert library.stat().st_size == 0x2000, library.stat()
    sites = json.loads(run.stdout)["sites"]
    for call, number in (("getppid", 2 * TURNS), ("getuid", TURNS + 1)):
        calls = [s["calls"] for s in sites if s["call"] == call and s["place"]["object"] == str(library)]
        assert sum(calls) == number, (backend, call, sites)


def check_self(backend: str) -> None:
    """A program that executes itself by a name which in every process is another file."""
    script = "exec /proc/self/exe -c 'getconf PAGESIZE; exit 3'"
    run = profile("--backend", backend, "--json", "-", "--", "sh", "-c", script)
    if "nothing can be watched" in run.stderr:
        return
    text = run.stdout[run.stdout.index("{") :]
    programs = {Path(one["program"]).name for one in json.loads(text)["programs"]}
    assert programs == {Path("/bin/sh").resolve().name, "getconf"}, programs


def check_report(folder: Path) -> None:
    """A program that is cut short when its lines are looked up, and lines in a file beside it."""
    (folder / "loop.c").write_text(SOURCE)
    program, debug, events = folder / "loop", folder / "loop.debug", folder / "events"
    subprocess.run(["cc", "-g", "-Wl,--build-id", "-o", program, "loop.c"], cwd=folder, check=True)
    for command in (["--only-keep-debug", program, debug], ["-g", f"--add-gnu-debuglink={debug}", program]):
        subprocess.run(["objcopy", *command], cwd=folder, check=True)
    run = profile("--backend", "ptrace", "-o", str(events), "--", str(program))
    assert run.returncode == 0, run
    for where in (folder, folder / ".debug"):
        where.mkdir(exist_ok=True)
        if where != folder:
            debug.rename(where / "loop.debug")
        report = json.loads(profile("--json", "-", "--read", str(events)).stdout)
        places = [s["place"] for s in report["sites"] if s["call"] == "getppid"]
        assert [(Path(p["file"]).name, p["line"]) for p in places] == [("loop.c", 5)], places
    # Another program's lines are nobody's.
    (folder / ".debug/loop.debug").unlink()
    subprocess.run(["cc", "-g", "-O2", "-Wl,--build-id", "-o", debug, "loop.c"], cwd=folder, check=True)
    report = json.loads(profile("--json", "-", "--read", str(events)).stdout)
    assert [s["place"]["line"] for s in report["sites"] if s["call"] == "getppid"] == [0], report["sites"]
    # At each time that its size is queried, for its code, its names and its lines.
    for file, at in ((file, at) for file in (program, debug) for at in range(1, 6 if SHRINK else 1)):
        kept = file.read_bytes()
        surroundings = os.environ | {"LD_PRELOAD": SHRINK, "SHRINK_FILE": str(file), "SHRINK_AT": str(at)}
        run = profile("--json", "-", "--read", str(events), env=surroundings)
        assert run.returncode == 0, (file, at, run.returncode, run.stderr)
        assert json.loads(run.stdout)["calls"] > 100, run.stdout
        assert at > 1 or not file.stat().st_size, file
        file.write_bytes(kept)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        for backend in ("ptrace", "tracepoint", "fentry"):
            check_shrunk(Path(folder), backend)
            check_self(backend)
        check_report(Path(folder))


if __name__ == "__main__":
    main()
