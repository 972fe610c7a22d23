#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs random sequences of ioctls and calls on /dev/cosy in a virtual machine.

    fuzz.py --build build [--kernel 6.12-kasan] [--sequences N | --seconds N] [--seed N]
    fuzz.py --build build --replay FILE		those of the file again, --times each
    fuzz.py --build build --corpus FILE --minimize --keep FILE

With a kernel of tests/vm/debug/ the sequences are guided by the coverage of cosy.ko: those that
reached something new are mutated, are read from the file --corpus, and are written to --keep.
--minimize keeps those of the corpus that all points need; on other kernels those that all counters of
the module need to change. There a sequence depends on the seed and its number alone, and a process
executes up to --lot of them. When a sequence fails, or
the machine does, what was under way is printed, written to a file, and the command to do it again
with it.
Exit status: vm.py's.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

_VM = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(_VM))
import scale  # noqa: E402

_TREE = _VM.parents[1]
_SEQUENCES = 400  # of `make test`
CORPUS = _TREE / "tests/fuzz/corpus/module.txt"
# As in journal.c.
_NOTE, _KEPT, _SIZE = 16384, 1 << 20, 16 << 20


def _text(data: bytes) -> str:
    return data.split(b"\0", 1)[0].decode(errors="replace")


def _written_out(note: str, options: argparse.Namespace) -> str:
    """Returns a note as sequences: where it has only which they are, they are made again."""
    if not note.startswith("# lot "):
        return note
    first, count = note.split()[2:4]
    command = [str(_program(options)), "--print", "--seed", str(options.seed), "--first", first, "--sequences", count]
    return subprocess.run(command, text=True, capture_output=True, check=True).stdout


def _notes(journal: Path, options: argparse.Namespace) -> list[str]:
    """Returns what each worker was executing."""
    data = journal.read_bytes()
    notes = (_text(data[at * _NOTE : (at + 1) * _NOTE]) for at in range(_workers(options)))
    return [_written_out(note, options) for note in notes if note]


def _program(options: argparse.Namespace) -> Path:
    return options.build / "tests/vm/fuzz/fuzz_module"


def _instrumented(kernel: str) -> bool:
    return "-" in kernel


def _workers(options: argparse.Namespace) -> int:
    """Returns how many sequences are executed at once: more than processors, since they wait now and then."""
    return options.smp if _instrumented(options.kernel) else 3 * options.smp


def _machine(options: argparse.Namespace, journal: Path) -> list[str]:
    """Returns the command that boots the machine."""
    arguments = [sys.executable, str(_VM / "vm.py"), "run", "--kernel", options.kernel, "--tree", str(options.tree)]
    arguments += ["--smp", str(options.smp), "--mem", str(options.mem), "--put", str(_program(options))]
    arguments += ["--timeout", str(options.timeout or 0)]
    arguments += ["--drive", str(journal)]
    for module in () if _instrumented(options.kernel) else ("virtio_pci", "virtio_blk"):
        arguments += ["--load", module]
    if not _instrumented(options.kernel):
        # QEMU takes a byte at a time in `rep stosb` and `rep movsb`.  Without them the kernel clears by words.
        arguments += ["--cpu", "max,-erms,-fsrm"]
    if options.slub_debug:
        arguments += ["--append", "slub_debug=FZPU"]
    for path in (options.corpus, options.replay):
        arguments += ["--put", str(path)] if path else []
    inside = ["/t/fuzz_module", "--seed", str(options.seed), "--first", str(options.first)]
    inside += ["--workers", str(_workers(options)), "--sequences", str(options.sequences)]
    inside += ["--seconds", str(options.seconds), "--memory", str(options.memory)]
    # Everything takes longer there, forks above all.
    inside += ["--patience", "8" if _instrumented(options.kernel) else "1"]
    inside += ["--lot", str(options.lot), "--times", str(options.times)]
    if options.corpus:
        inside += ["--corpus", f"/t/{options.corpus.name}"]
    if options.replay:
        inside += ["--replay", f"/t/{options.replay.name}"]
    if options.minimize:
        inside += ["--minimize"]
    return [*arguments, "--", *inside]


def _points(module: Path) -> int:
    """Returns how many points of a cosy.ko tell that they are reached."""
    said = subprocess.run(["readelf", "-rW", module], text=True, capture_output=True, check=True).stdout
    return said.count("__sanitizer_cov_trace_pc")


def _tell_coverage(options: argparse.Namespace, reached: list[str]) -> None:
    """Says how many points of the module were reached, and where the others are."""
    command = [sys.executable, str(_VM / "vm.py"), "build", "--kernel", options.kernel, "--tree", str(options.tree)]
    module = Path(subprocess.run(command, text=True, capture_output=True, check=True).stdout.split()[-1])
    print(f"coverage: {len(reached)} of {_points(module)} points of {module.name}")


def _run(options: argparse.Namespace, journal: Path) -> tuple[int, list[str]]:
    """Runs the machine and passes on what it says.  Returns its status and the points that were reached."""
    reached: list[str] = []
    with subprocess.Popen(_machine(options, journal), text=True, errors="replace", stdout=subprocess.PIPE) as machine:
        assert machine.stdout
        for line in machine.stdout:
            if line.startswith("reached "):
                reached = line.split()[1:]
            else:
                print(line, end="", flush=True)
    return machine.returncode, reached


def _tell_failure(options: argparse.Namespace, notes: list[str]) -> None:
    failed = options.build / f"tests/vm/fuzz/failed-{options.kernel}-{options.seed}.txt"
    text = "\n".join(note.rstrip("\n") + "\n" for note in notes)
    if not notes:
        return
    failed.write_text(text)
    print(f"under way, one for each worker:\n{text}")
    print(f"again: {os.path.relpath(__file__)} --build {options.build} --kernel {options.kernel} --replay {failed}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, required=True, help="where user space is built")
    parser.add_argument("--kernel", default="6.12", metavar="SERIES")
    parser.add_argument("--tree", type=Path, default=_TREE, help="where cosy.ko's sources are")
    parser.add_argument("--smp", type=int, default=2, metavar="N", help="processors")
    parser.add_argument("--mem", type=int, default=512, metavar="MB")
    parser.add_argument("--memory", type=int, default=0, metavar="MB", help="of all sequences together; 0: all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, metavar="N", help="number of the first sequence")
    parser.add_argument("--sequences", type=int, metavar="N", help=f"default {_SEQUENCES}, scaled by COSY_SCALE")
    parser.add_argument("--seconds", type=int, default=0, help="rather than a number of sequences")
    parser.add_argument("--lot", type=int, default=32, metavar="N", help="sequences that one process may execute")
    parser.add_argument("--times", type=int, default=50, metavar="N", help="that --replay executes each sequence")
    parser.add_argument("--timeout", type=int, default=0, metavar="SECONDS", help="of the machine; 0: none")
    parser.add_argument("--corpus", type=Path, metavar="FILE", help="sequences to begin with")
    parser.add_argument("--keep", type=Path, metavar="FILE", help="where the corpus goes")
    parser.add_argument("--replay", type=Path, metavar="FILE")
    parser.add_argument("--minimize", action="store_true", help="execute --corpus, and keep what is needed")
    parser.add_argument("--slub-debug", action="store_true", help="have the allocator watch")
    options = parser.parse_args()
    if options.sequences is None:
        options.sequences = scale.steps(_SEQUENCES)
    if _instrumented(options.kernel):
        options.mem = max(options.mem, 1536)
        if options.corpus is None and not options.replay and CORPUS.exists():
            options.corpus = CORPUS
    with tempfile.TemporaryDirectory(prefix="cosy-fuzz-") as folder:
        journal = Path(folder) / "journal"
        with open(journal, "wb") as stream:
            stream.truncate(_SIZE)
        status, reached = _run(options, journal)
        if reached:
            _tell_coverage(options, reached)
        kept = _text(journal.read_bytes()[_KEPT:])
        if options.keep and kept:
            options.keep.parent.mkdir(parents=True, exist_ok=True)
            options.keep.write_text(kept)
        if status not in (0, 77):
            _tell_failure(options, _notes(journal, options))
    return status


if __name__ == "__main__":
    sys.exit(main())
