#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Records a program whose calls are known, and compares what `cosy profile` says of it.

record_test.py COSY SUBJECT CROWD SERVER [LATE_SIGNAL]
"""

from __future__ import annotations

import collections
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

COSY, SUBJECT, CROWD, SERVER = sys.argv[1:5]
LATE_SIGNAL = "".join(sys.argv[5:6])  # a library; none where sanitizers are linked in
TURNS = 100
LIMIT = 600  # seconds: for what hangs, not for a busy machine


def profile(*arguments: str, status: int = 0, env: dict[str, str] | None = None) -> str:
    command = [COSY, "profile", "--backend", "ptrace", *arguments]
    run = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False, env=env)
    if "Operation not permitted" in run.stderr:
        print("ptrace is not permitted here")
        sys.exit(77)
    assert run.returncode == status, (run.returncode, run.stderr)
    return run.stdout


def calls(report: dict[str, Any], call: str, function: str | None = None) -> int:
    return sum(
        site["calls"]
        for site in report["sites"]
        if site["call"] == call and (function is None or (site["place"] or {}).get("function") == function)
    )


def dependence(report: dict[str, Any], kind: str, function: str) -> dict[str, Any] | None:
    """The one of this kind between calls of a function with most instances."""
    inside = {s["site"] for s in report["sites"] if s["place"] and s["place"]["function"] == function}
    found = [d for d in report["dependences"] if d["kind"] == kind and d["from"] in inside and d["to"] in inside]
    return max(found, key=lambda d: d["held"], default=None)


def check_calls(report: dict[str, Any]) -> None:
    """Every call of the subject is there, at the function that makes it, and none twice."""
    for call, function, number in (
        ("lseek", "part_copy", TURNS),
        ("read", "part_copy", TURNS),
        ("write", "part_copy", TURNS),
        ("pread64", "part_rewrite", TURNS),
        ("pwrite64", "part_rewrite", TURNS),
        ("getppid", "part_apart", TURNS),
        ("lseek", "part_useless", TURNS + 1),
        ("sched_yield", "thread_calls", 3 * TURNS),
        ("getuid", "part_processes", TURNS),
        ("getgid", "part_processes", 1),
        ("geteuid", "main", 2 * TURNS),
    ):
        assert calls(report, call, function) == number, (call, function, calls(report, call, function))
    assert report["processes"] == 6, report["processes"]
    assert report["threads"] == 6 + 4, report["threads"]
    assert report["lost"] == 0 and report["forgotten"] == 0
    assert sum(site["calls"] for site in report["sites"]) == report["calls"]
    lanes = report["timeline"]["lanes"]
    assert len(lanes) == report["processes"]
    assert all(sum(bin[0] for bin in lane["bins"]) == lane["calls"] for lane in lanes)
    assert sum(lane["calls"] for lane in lanes) == report["calls"]
    assert report["useless"]["SEEK"][0] >= TURNS, report["useless"]


def check_rows(report: dict[str, Any]) -> None:
    """The loops are found, in their functions."""
    rows = {(row["sequence"], (row["place"] or {}).get("function")): row for row in report["rows"]}
    for sequence, function, turns in (
        ("(lseek read write)+", "part_copy", TURNS),
        ("(pread64 pwrite64)+", "part_rewrite", TURNS),
        ("(pread64 write getppid)+", "part_apart", TURNS),
        ("(lseek read)+", "part_useless", TURNS),
        ("sched_yield+", "thread_calls", 3 * TURNS),
        ("getuid+", "part_processes", TURNS),
    ):
        assert (sequence, function) in rows, (sequence, function, list(rows))
        assert rows[sequence, function]["turns"] == turns, rows[sequence, function]


def check_dependences(report: dict[str, Any]) -> None:
    """Finds what flows, and not what only looks so."""
    for kind in ("buffer", "count", "position"):
        found = dependence(report, kind, "part_copy")
        assert found and found["held"] == TURNS and found["of"] == TURNS, (kind, found)
    found = dependence(report, "buffer", "part_rewrite")
    assert found and found["held"] == 0 and found["broken"] == TURNS, found
    found = dependence(report, "count", "part_rewrite")
    assert found and found["held"] == TURNS and found["varied"], found
    assert not dependence(report, "buffer", "part_apart")
    found = dependence(report, "count", "part_apart")
    assert not found or not found["varied"], found


def check_same(report: dict[str, Any], again: dict[str, Any]) -> None:
    """Reads from a file what was recorded; the files themselves nobody looks at once more."""
    for finding in report["findings"] + again["findings"]:
        finding.pop("depends")
    assert again == report, (report, again)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        source, out, events, first, second = (str(Path(folder) / name) for name in ("in", "out", "events", "1", "2"))
        Path(source).write_bytes(os.urandom(8192))
        text = profile("-o", events, "--json", first, "--", SUBJECT, source, out)
        assert "calls" in text and "recorded by ptrace" in text, text
        report = json.loads(Path(first).read_text())
        check_calls(report)
        check_rows(report)
        check_dependences(report)
        profile("--json", second, "--read", events)
        check_same(report, json.loads(Path(second).read_text()))
        # A file that is cut off, none at all, and a program that is not there.
        Path(events).write_bytes(Path(events).read_bytes()[:-4])
        profile("--read", events, status=1)
        profile("--read", source, status=1)
        profile("--read", folder + "/none", status=2)
        profile("--", folder + "/none", status=127)
        profile(status=2)
        check_gaps()
        check_attach()
        check_ended(Path(folder))
        check_late_signal()
        check_rewritten()
        check_depths()
        check_page(Path(folder), source, out)
        check_verify(source, out, Path(folder) / "verified.json")
        check_shown(Path(folder))
        check_status()
        check_files(Path(folder))
        check_rules(Path(folder))
        check_raw()
        check_surroundings(Path(folder))
        check_ends(Path(folder))
        check_signals()
        check_words()
        check_locks(Path(folder))
        check_earlier(Path(folder))
        check_missing(Path(folder))
        check_title()
        check_reports(Path(folder))
        check_load(Path(folder))
        check_build(Path(folder))


def check_verify(source: str, out: str, report: Path) -> None:
    """Tells what was measured beside what was predicted, and by the status which."""
    run = subprocess.run(
        [COSY, "profile", "--verify=2", "--json", str(report), "--", SUBJECT, source, out],
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=False,
    )
    assert "erified: cosy run, predicted" in run.stdout, (run.stdout, run.stderr)
    assert run.returncode == (0 if "processor time: in\n" in run.stdout else 1), run
    verified = json.loads(report.read_text())["verified"]
    assert verified["way"] == "cosy run" and verified["rounds"] == 2 and verified["plain_ns"] > 0, verified
    assert verified["in"] == (run.returncode == 0), verified
    assert verified["judged"] == ("\nVerified" in run.stdout), verified
    assert verified["judged"] or not verified["in"], verified


def check_shown(folder: Path) -> None:
    """What is verified is what is shown; by ptrace, which cannot measure it, no share of the processor time."""
    data, page, report = folder / "shown", folder / "shown.html", folder / "shown.json"
    data.write_bytes(bytes(6000))
    words = ["--verify=1", "--html", str(page), "--json", str(report)]
    command = [COSY, "profile", "--backend", "ptrace", *words, "--", "dd", f"if={data}", "of=/dev/null", "bs=1"]
    run = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False)
    shown = re.search(r"cosy run: saves (.*) of processor time\n", run.stdout)
    verified = re.search(r"erified: cosy run, predicted (.*?)(?:, measured .*)? less processor time", run.stdout)
    assert shown and verified and shown[1] == verified[1], run.stdout
    for text in (run.stdout, page.read_text()):
        assert not re.search(r"\d %(</b>)? of (the )?(processor )?time|% of it in calls|processor time \d", text), text
    found = json.loads(report.read_text())
    assert found["backend"] == "ptrace" and found["cpu_measured"] is False, found
    low, _, high = next(one["saves_ns"] for one in found["findings"] if one["way"] == "cosy run")
    plain = found["verified"]["plain_ns"]
    for part, ns in zip(found["verified"]["predicted"], (low, high), strict=True):
        assert abs(part - ns / plain) < 0.001, (found["verified"], low, high)


def check_status() -> None:
    """No figure is given of a program that ends in another way under `cosy run`."""
    script = "case $LD_PRELOAD in *cosy*) exit 4 ;; *) exit 3 ;; esac"
    command = [COSY, "profile", "--backend", "ptrace", "--verify=1", "--", "sh", "-c", script]
    run = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False)
    assert run.returncode == 1 and "erified" not in run.stdout, run
    assert "ends with status 3, but 4 the other way" in run.stderr, run.stderr


def check_files(folder: Path) -> None:
    """`cosy run` is not advised where it could not serve the files as they are now."""
    data = folder / "data"
    data.write_bytes(bytes(3000))
    command = ["--json", "-", "--", "dd", f"if={data}", "of=/dev/null", "bs=1", "status=none"]
    found = json.loads(profile(*command))
    assert found["findings"][0]["way"] == "cosy run" and found["cosy_run"]["SERVED"] > 2900, found["findings"]
    with data.open("r+b"):
        held = json.loads(profile(*command))
    assert held["cosy_run"]["SERVED"] == 0 and held["cosy_run"]["HELD"] > 2900, held["cosy_run"]
    assert "cosy run" not in [finding["way"] for finding in held["findings"]], held["findings"]
    # Left alone by a rule for this program, and not by one for another.
    (folder / "cosy").mkdir()
    for name, reason in (("dd", "OFF"), ("cat", "SERVED")):
        (folder / "cosy/run.conf").write_text(f"program {name} : off\n")
        text = profile(*command, env=os.environ | {"XDG_CONFIG_HOME": str(folder)})
        assert json.loads(text)["cosy_run"][reason] > 2900, text
    # Another user's, with nobody behind the socket.
    if os.geteuid() == 0:
        os.chown(folder, 65534, 65534)
        data.chmod(0o644)
        user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "env", f"COSYD_SOCKET={folder}/none"]
        words = [*user, COSY, "profile", "--backend", "ptrace", *command]
        run = subprocess.run(words, capture_output=True, text=True, timeout=LIMIT, check=False)
        if run.returncode != 126:  # our folder is not for others
            assert json.loads(run.stdout)["cosy_run"]["FOREIGN"] > 2900, run
        os.chown(folder, 0, 0)


def check_rules(folder: Path) -> None:
    """A rule counts for the names that it counts for under `cosy run`: not those of the program's file."""
    data, reader, script = folder / "few", folder / "reader", folder / "script"
    data.write_bytes(bytes(2000))
    program = Path(shutil.which("dd") or "dd").resolve()
    reader.symlink_to(program)
    (folder / "interpreter").symlink_to(sys.executable)
    script.write_text(
        f"#!{folder}/interpreter -S\nimport os\nfile = os.open({str(data)!r}, os.O_RDONLY)\n"
        "while os.read(file, 1):\n    pass\n"
    )
    script.chmod(0o755)
    words = [f"if={data}", "of=/dev/null", "bs=1", "status=none"]
    named, shell = [str(reader), *words], ["sh", "-c", '"$@"; true', "sh"]
    for rule, command, reason in (
        # By the name that it is called by, or the path of its file.
        ("reader : off", named, "OFF"),
        (f"{program.name} : off", named, "SERVED"),
        (f"{program} : off", named, "OFF"),
        (f"{reader} : off", named, "SERVED"),
        ("reader : off", [*shell, *named], "OFF"),
        (f"{program.name} : off", [*shell, *named], "SERVED"),
        # A script is called as its interpreter is.
        ("interpreter : off", [str(script)], "OFF"),
        ("script : off", [str(script)], "SERVED"),
        # By the name or path that it is started by, but not by `cosy run` itself.
        ("reader : alone", named, "SERVED"),
        ("reader : alone", [*shell, *named], "OFF"),
        (f"{reader} : alone", [*shell, *named], "OFF"),
        (f"{program.name} : alone", [*shell, *named], "SERVED"),
        ("reader : alone", ["sh", "-c", 'exec "$@"', "sh", *named], "OFF"),
        ("script : alone", [*shell, str(script)], "OFF"),
        ("interpreter : alone", [*shell, str(script)], "SERVED"),
    ):
        (folder / "cosy/run.conf").write_text(f"program {rule}\n")
        text = profile("--json", "-", "--", *command, env=os.environ | {"XDG_CONFIG_HOME": str(folder)})
        assert json.loads(text)["cosy_run"][reason] > 1500, (rule, command, text)


def check_raw() -> None:
    """What a program reads by syscall() is its own, and what it reads by read() is not."""
    reads = json.loads(profile("--json", "-", "--", CROWD, "raw", "1000"))["cosy_run"]
    assert 1000 <= reads["OWN"] < 1100, reads


def check_surroundings(folder: Path) -> None:
    """Signals that were ignored still are, closed descriptors stay closed, and a report needs room."""
    kept = folder / "kept"
    ptrace = [COSY, "profile", "--backend", "ptrace"]
    shell = "trap '' INT TERM ALRM; exec \"$@\""
    command = ["sh", "-c", shell, "sh", *ptrace, "--verify=1", "--", "grep", "SigIgn", "/proc/self/status"]
    run = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False)
    ignored = int(re.search(r"SigIgn:\s*([0-9a-f]+)", run.stdout)[1], 16)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM):
        assert ignored >> (number - 1) & 1, run.stdout
    # Messages are not written into the recording that has the number of standard error.
    shell = 'exec "$@" 2>&-'
    command = [
        "sh",
        "-c",
        shell,
        "sh",
        *ptrace,
        "-o",
        str(kept),
        "--",
        "sh",
        "-c",
        "[ -e /proc/self/fd/2 ] || echo closed",
    ]
    run = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False)
    assert run.returncode == 0 and run.stdout.startswith("closed\n"), run
    profile("--read", str(kept))
    kept.unlink()
    with open("/dev/full", "w") as full:
        run = subprocess.run([*ptrace, "true"], stdout=full, stderr=subprocess.DEVNULL, timeout=LIMIT, check=False)
    assert run.returncode == 1, run
    # The least of times is one.
    profile("-d", "1e-10", "--", "sleep", "1")


def check_ends(folder: Path) -> None:
    """A program that ends with 126 or 127 has a report; one that cannot be executed has none."""
    for status in (126, 127):
        assert "system calls" in profile("--", "sh", "-c", f"exit {status}")
    script = folder / "script"
    script.write_text("#!/no/such/interpreter\n")
    script.chmod(0o755)
    assert "system calls" not in profile("--", str(script), status=127)


def check_signals() -> None:
    """Signals that ask us to end are passed on to the program; the report comes, and the status tells."""
    # The program leaves a word when it has been asked to end, and goes on at ^C, which only a terminal gives to both.
    script = "trap 'echo asked; exit 5' TERM HUP QUIT; trap '' INT; echo ready; while :; do sleep 0.05; done"
    command = [COSY, "profile", "--backend", "ptrace", "--", "sh", "-c", script]
    for number, status in ((signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGQUIT, 131), (signal.SIGINT, 0)):
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
            assert run.stdout.readline() == "ready\n"
            run.send_signal(number)
            # As timeout(1) does, whose second signal must not end the report.
            if number == signal.SIGTERM:
                run.send_signal(number)
            said = "sh goes on, as process (\\d+)\n"
            lines: list[str] = []
            if number == signal.SIGINT:
                while not lines or not re.search(said, lines[-1]):
                    lines.append(run.stderr.readline())
                    assert lines[-1], lines
                os.kill(int(re.search(said, lines[-1])[1]), signal.SIGKILL)
            text, errors = run.communicate(timeout=LIMIT)
            assert run.returncode == status, (number, run.returncode, errors)
            assert ("asked\n" in text) == (number != signal.SIGINT), (number, text)
            assert " system calls, " in text, (number, text)


def check_words() -> None:
    """A program that failed or was killed is said to have."""
    for command, word in (
        ("exit 3", "sh ended with status 3"),
        ("kill -SEGV $$", "sh was killed by signal 11"),
        ("exit 0", ""),
    ):
        words = [COSY, "profile", "--backend", "ptrace", "--", "sh", "-c", command]
        run = subprocess.run(words, capture_output=True, text=True, timeout=LIMIT, check=False)
        assert run.returncode == 0 and word in run.stderr, run
        assert word or "cosy profile: sh" not in run.stderr, run.stderr


# Reads single bytes; locks a byte before each, from the beginning of the file or from the position.
LOCKS = """import fcntl, os, sys
file = os.open(sys.argv[1], os.O_RDONLY)
while os.read(file, 1):
    fcntl.lockf(file, fcntl.LOCK_SH, 1, 0, int(sys.argv[2]))
"""

# Has a file open before it is recorded, and reads it when it gets a line.
EARLIER = """import os, sys
file = os.open(sys.argv[1], os.O_RDONLY)
print(flush=True)
for line in sys.stdin:
    while os.read(file, 1):
        pass
    print(flush=True)
"""


def check_locks(folder: Path) -> None:
    """Locks end a window only if they are relative to the position, which only memory of the program tells."""
    data = folder / "locked"
    data.write_bytes(bytes(3000))
    for whence, served in ((os.SEEK_SET, True), (os.SEEK_CUR, False)):
        command = [sys.executable, "-S", "-c", LOCKS, str(data), str(whence)]
        reads = json.loads(profile("--json", "-", "--", *command))["cosy_run"]
        assert (reads["SERVED"] > 2500) == served, (whence, reads)


def check_earlier(folder: Path) -> None:
    """A file that a running program has open already may be its own, which the advice says it depends on."""
    data, report = folder / "earlier", folder / "earlier.json"
    data.write_bytes(bytes(3000))
    words = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-S", "-c", EARLIER, str(data)], **words) as server:
        try:
            server.stdout.readline()
            load = f"echo >/proc/{os.getpid()}/fd/{server.stdin.fileno()}"
            load += f"; read -r line </proc/{os.getpid()}/fd/{server.stdout.fileno()}"
            text = profile("--load", load, "--json", str(report), "-p", str(server.pid))
        finally:
            server.kill()
    found = json.loads(report.read_text())
    assert found["cosy_run"]["SERVED"] > 2900 and found["findings"][0]["way"] == "cosy run", text
    assert "itself opened" in found["findings"][0]["depends"], found["findings"][0]


def check_missing(folder: Path) -> None:
    """A program that is not there is told before anything is said of recording, and nothing is written."""
    kept, text = folder / "kept", folder / "text"
    text.write_text("no program")
    none = ("", "no-such-program", f"{folder}/none")
    for name, status in (*((name, 127) for name in none), (str(folder), 126), (str(text), 126)):
        words = ["--backend", "ptrace", "-o", str(kept), "--", name]
        run = subprocess.run([COSY, "profile", *words], capture_output=True, text=True, check=False)
        assert run.returncode == status and (name or '"": No such file') in run.stderr, run
        assert "recording" not in run.stderr and not kept.exists(), run


def check_title() -> None:
    """The title names the programs that made the calls, whoever made most of them first."""
    command = "head -c 1 /dev/zero >/dev/null; dd if=/dev/zero of=/dev/null bs=1 count=2000 status=none; cat </dev/null"
    text = profile("--", "sh", "-c", f"{command}; tail -c 1 </dev/null; true")
    report = json.loads(profile("--json", "-", "--", "sh", "-c", f"{command}; tail -c 1 </dev/null; true"))
    assert text.startswith("\n"), text  # the program may have left its last line unfinished
    title = text[1:].split(": ", 1)[0]
    assert re.fullmatch(r"\S*/dd, \S+ and 3 other programs", title), title
    programs = report["programs"]
    assert programs[0]["program"].endswith("/dd") and programs[0]["calls"] > 4000, programs
    assert len(programs) == 5 and sum(one["calls"] for one in programs) <= report["calls"], programs


# The loop is in one function and its calls are in another one, which the compiler puts into the first.
LOOP = """#include <fcntl.h>
#include <unistd.h>
static inline __attribute__((always_inline)) int look(int file, int i)
{
	char byte;
	return pread(file, &byte, 1, i) + getppid() + pread(file, &byte, 1, i + 1);
}
int main(int argc, char **argv)
{
	int all = 0, file = open(argv[argc - 1], O_RDONLY);
	for (int i = 0; i < 3000; i++)
		all += look(file, i);
	return all == 0;
}
"""


def check_build(folder: Path) -> None:
    """The best region's line reaches the compiler, which marks its loop; then the two programs are compared."""
    (folder / "loop.c").write_text(LOOP)
    plain, marked = folder / "loop", folder / "loop-cosy"
    subprocess.run(["cc", "-O2", "-g", "-o", plain, "loop.c"], cwd=folder, check=True)
    # As clang writes it, without a table of which addresses are in which unit.
    subprocess.run(["objcopy", "--remove-section", ".debug_aranges", plain], check=True)
    cosycc = Path(COSY).parent / "cosycc"
    command = f'{cosycc} -O2 -Rcosy -fcosy-suggest="$COSY_SUGGEST" -o {marked} {folder}/loop.c'
    words = ["--backend", "ptrace", "--verify=1", "--marked", str(marked), "--build"]
    run = subprocess.run(
        [COSY, "profile", *words, command, "--", str(plain), str(folder / "loop.c")],
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=False,
    )
    assert "loop.c:12\n" in run.stderr and "loop.c:11:2: remark: region compiled" in run.stderr, run
    subprocess.run([marked, folder / "loop.c"], env=os.environ | {"COSY_MODE": "native"}, check=True)
    if "erified:" not in run.stdout:
        assert run.returncode == 1 and "/dev/cosy cannot be opened" in run.stderr, run
    words[-1:] = ["--build", "exit 3"]
    profile(*words, "--", str(plain), str(folder / "loop.c"), status=1)
    profile("--build", "true", "--", str(plain), status=2)


def running(word: str) -> list[str]:
    """Processes that have a word in their command."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            command = path.read_bytes().split(b"\0")
        except OSError:
            continue
        if word.encode() in command:
            found.append(path.parent.name)
    return found


def check_reports(folder: Path) -> None:
    """Says that a report cannot be written before anything is recorded."""
    marker = folder / "began"
    for option in ("--json", "--html"):
        command = [COSY, "profile", option, "/nowhere/report", "--", "touch", str(marker)]
        run = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False)
        assert run.returncode == 2 and "/nowhere/report: No such file" in run.stderr, run
        assert not marker.exists(), option


def check_load(folder: Path) -> None:
    """Ends a server when its load has ended, also one that went into the background; and measures it so."""
    times, size = 10, 500
    file, at = folder / "served", folder / "socket"
    file.write_bytes(os.urandom(size))
    load = f"{sys.executable} {SERVER} load {at} {times}"
    for how in ("foreground", "background"):
        report = folder / "load.json"
        command = [sys.executable, SERVER, how, str(at), str(file)]
        arguments = ["--verify=1", "--json", str(report), "--load", load, "--", *command]
        run = subprocess.run(
            [COSY, "profile", "--backend", "ptrace", *arguments],
            capture_output=True,
            text=True,
            timeout=LIMIT,
            check=False,
        )
        assert "erified: cosy run" in run.stdout, (run.stdout, run.stderr)
        assert run.returncode == (0 if "processor time: in\n" in run.stdout else 1), run
        # A place may have several sites: another sequence may hold its first calls.
        reads = collections.Counter()
        for one in json.loads(report.read_text())["sites"]:
            if one["call"] == "read" and one["place"]:
                reads[one["place"]["address"]] += one["calls"]
        assert max(reads.values()) >= times * (size + 1), reads
        assert not running(str(at)), "a server goes on"
    # A process that was there before goes on, and is recorded for as long as the load takes.
    with subprocess.Popen([sys.executable, SERVER, "foreground", str(at), str(file)]) as server:
        try:
            text = profile("--load", load, "-p", str(server.pid))
            assert "calls, 1 process," in text, text
            assert server.poll() is None
        finally:
            server.kill()
    profile("--load", "exit 3", "--", SUBJECT, str(file), str(folder / "out"), status=1)
    seconds = f"1000.{os.getpid()}"  # a word that no other process of the machine has
    profile("--load", f"exec sleep {seconds}", "--", SUBJECT, str(file), str(folder / "out"), status=1)
    assert not running(seconds), "a load goes on"
    if not os.access("/dev/cosy", os.R_OK | os.W_OK):
        profile("--marked", SUBJECT, "--", SUBJECT, str(file), str(folder / "out"), status=1)


class Page(HTMLParser):
    """Checks the contents of a page that must ask for nothing and run nothing."""

    EMPTY = ("br", "meta", "path", "rect")
    TAGS = frozenset(
        (
            "html",
            "head",
            "meta",
            "title",
            "style",
            "body",
            "h1",
            "h2",
            "h3",
            "p",
            "span",
            "div",
            "dl",
            "dt",
            "dd",
            "code",
            "table",
            "tr",
            "th",
            "td",
            "thead",
            "tbody",
            "b",
            "br",
            "ul",
            "li",
            "svg",
            "path",
            "rect",
            "text",
        )
    )
    ATTRIBUTES = frozenset(
        (
            "lang",
            "charset",
            "content",
            "name",
            "http-equiv",
            "class",
            "id",
            "style",
            "role",
            "aria-label",
            "width",
            "height",
            "viewbox",
            "preserveaspectratio",
            "x",
            "y",
            "rx",
            "d",
        )
    )

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.words: list[str] = []
        self.tags: list[str] = []  # the class of the element that each is in
        self.classes: list[str] = []
        self.places: list[list[str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in self.TAGS, tag
        assert {name for name, _ in attrs} <= self.ATTRIBUTES, attrs
        if tag not in self.EMPTY:
            self.open.append(tag)
            self.classes.append(dict(attrs).get("class") or "")
        if tag == "tr":
            self.places.append([])
        if tag in ("td", "th"):
            self.places[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.EMPTY:
            assert self.open.pop() == tag, tag
            self.classes.pop()

    def handle_data(self, data: str) -> None:
        self.words.append(data)
        self.tags.append(self.classes[-1] if self.classes else "")
        if self.open and self.open[-1] in ("td", "th"):
            self.places[-1][-1] += data


def check_page(folder: Path, source: str, out: str) -> None:
    """The page is whole, has the same sums, and a name is nothing but a name in it and on the terminal."""
    hostile = folder / "<script src=x onerror='a'>&\x1b[31m\u202e\x9b"
    shutil.copy(SUBJECT, hostile)
    page, report = folder / "page.html", folder / "page.json"
    text = profile("--html", str(page), "--json", str(report), "--", str(hostile), source, out)
    assert "\x1b" not in text and "\u202e" not in text and "\x9b" not in text, text
    html = page.read_text()
    assert not any(ord(letter) < 32 and letter != "\n" for letter in html)
    assert "\u202e" not in html and "\x9b" not in html
    assert "url(" not in html and "//" not in html and "@import" not in html
    assert page.stat().st_size < 500_000
    parser = Page()
    parser.feed(html)
    parser.close()
    assert not parser.open, parser.open
    assert any("<script src=x" in word for word in parser.words)
    calls = json.loads(report.read_text())["calls"]
    last = max(i for i, row in enumerate(parser.places) if row[2:3] == ["all others"])
    first = max(i for i, row in enumerate(parser.places) if row[:1] == ["in calls"])
    assert sum(int(row[1].replace(",", "")) for row in parser.places[first + 1 : last + 1]) == calls
    lanes = (word for word, tag in zip(parser.words, parser.tags, strict=True) if tag == "lane")
    assert sum(int(lane.replace(",", "")) for lane in lanes) == calls


def check_rewritten() -> None:
    """Names and bytes that another thread rewrites and unmaps while they are looked at do no harm."""
    text = profile("--json", "-", "--", CROWD, "rewrite", str(20 * TURNS))
    report = json.loads(text)
    assert calls(report, "access") >= 20 * TURNS, text
    assert calls(report, "write") == 20 * TURNS, text
    assert "\x1b" not in text


def check_depths() -> None:
    """A place is found wherever in its page a frame lies, with the stack's end less than is read of it away."""
    bare = ["env", "-i"]
    if subprocess.run(["setarch", "-R", "true"], capture_output=True, check=False).returncode == 0:
        bare += ["setarch", "-R"]
    report = json.loads(profile("--json", "-", "--", *bare, CROWD, "depths", "160"))
    assert calls(report, "openat", "crowd_depths") == 160, [s for s in report["sites"] if s["call"] == "openat"]


def check_gaps() -> None:
    """What a thread computes after its last call counts: it ends, is killed, or goes on."""
    report = json.loads(profile("--json", "-", "--", CROWD, "compute", "100"))
    # No machine makes a hundred million iterations in less.
    assert report["user_ns"] > 10_000_000, report["user_ns"]
    bins = [b for lane in report["timeline"]["lanes"] for b in lane["bins"]]
    assert sum(b[2] for b in bins) > 10_000_000, bins
    report = json.loads(profile("--json", "-", "--", CROWD, "abandon", "100"))
    # The thread has computed for a tenth of a second, however long that takes on a busy machine.
    assert report["user_ns"] > 10_000_000, report["user_ns"]
    with subprocess.Popen([CROWD, "abandon", "1000000"]) as child:
        try:
            load = f"{CROWD} await 100 {child.pid}"
            report = json.loads(profile("--load", load, "--json", "-", "-p", str(child.pid)))
            assert report["user_ns"] > 10_000_000, report["user_ns"]
        finally:
            child.kill()


def check_attach() -> None:
    """A process that runs already is left as it was when the time is over."""
    with subprocess.Popen(["sh", "-c", "while read -r line; do :; done"], stdin=subprocess.PIPE) as child:
        try:
            report = json.loads(profile("-d", "0.2", "--json", "-", "-p", str(child.pid)))
            # All of the time, though calibration comes first.
            assert report["took_ns"] >= 200_000_000 and report["calls"] == 0, report
            assert "No system call was made" in profile("-d", "0.01", "-p", str(child.pid))
            assert child.poll() is None
        finally:
            assert child.stdin
            child.stdin.close()
        assert child.wait(LIMIT) == 1 or child.returncode == 0


def check_ended(folder: Path) -> None:
    """Of several processes those that have ended are left out by name, and the others are recorded."""
    with subprocess.Popen(["true"]) as gone:
        gone.wait()
    words = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with (
        subprocess.Popen([CROWD, "corpse", "1"], **words) as keeper,
        subprocess.Popen([CROWD, "serve", str(TURNS)], **words) as server,
    ):
        try:
            corpse = int(keeper.stdout.readline())
            server.stdout.readline()
            load = f"echo >/proc/{os.getpid()}/fd/{server.stdin.fileno()}"
            report = folder / "ended.json"
            command = [COSY, "profile", "--backend", "ptrace", "--json", str(report)]
            load += f"; read -r line </proc/{os.getpid()}/fd/{server.stdout.fileno()}"
            run = subprocess.run(
                [*command, "--load", load, "-p", f"{gone.pid},{server.pid},{corpse}"],
                capture_output=True,
                text=True,
                timeout=LIMIT,
                check=False,
            )
            assert run.returncode == 0, run
            for pid in (gone.pid, corpse):
                assert f"process {pid} has ended" in run.stderr, run.stderr
            assert calls(json.loads(report.read_text()), "getppid") == TURNS
            profile("-p", f"{gone.pid},{corpse}", status=1)
        finally:
            keeper.kill()
            server.kill()


def check_late_signal() -> None:
    """^C ends a recording, also one that comes just before it sleeps until a call is made."""
    if not LATE_SIGNAL:
        return
    with subprocess.Popen(["sleep", "1000"]) as child:
        try:
            run = subprocess.run(
                [COSY, "profile", "--backend", "ptrace", "--json", "-", "-p", str(child.pid)],
                capture_output=True,
                text=True,
                timeout=LIMIT,
                check=False,
                env=os.environ | {"LD_PRELOAD": LATE_SIGNAL},
            )
            assert run.returncode == 0, (run.returncode, run.stderr)
            assert json.loads(run.stdout)["processes"] == 1, run.stdout
            assert child.poll() is None
        finally:
            child.kill()


if __name__ == "__main__":
    main()
