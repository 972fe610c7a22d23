#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Breaks one rule of the sandbox after the other, and looks whether its tests notice.

    mutants.py [--places] [FILE...]

Each mutant is one file of core/ with one place changed; sandbox_test and verify_test, which
leave nothing to chance, are built with it and must not both pass.  With --places only whether
each place is in its file, once.  Exit status 1: one was not noticed, or is not there any more.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

_CORE = Path(__file__).resolve().parents[1]
_TREE = _CORE.parent
_MODEL = ("alu", "checker", "differential", "lint", "reference", "world")
_TESTS = ("sandbox_test", "verify_test")
_FOLDERS = (_CORE, _CORE / "test", _TREE / "lib/test", _TREE / "include/uapi")
_FLAGS = ("-std=gnu11", "-w", "-D_GNU_SOURCE", *(f"-I{folder}" for folder in _FOLDERS))

MUTANTS = {
    "sandbox.c": [
        ("\tif (w->program->marks[at] & entries)\n\t\tcosy_piece", "\tif (0)\n\t\tcosy_piece"),
    ],
    "emit.c": [
        ("\t\treturn dst == COSY_AX;", "\t\treturn false;"),
        ("\te->turn++;\n\tcosy_emit_note", "\tcosy_emit_note"),
    ],
    "sandbox_flow.c": [
        ("if (slow && insn >= slow->first && insn < slow->end)", "if (0)"),
        ("slow && insn >= slow->first && insn < slow->end", "slow && insn >= slow->first && insn <= slow->end"),
    ],
    "sandbox_mem.c": [
        (
            "\temit_op_imm(e, BPF_AND, COSY_AX, w->how->size - 1);\n\tax_set(w, near, near->low);",
            "\tax_set(w, near, near->low);",
        ),
        (
            "\temit_op_imm(&w->code, BPF_AND, COSY_AX, w->how->size - 1);\n\tax_set(w, near, base);",
            "\tax_set(w, near, base);",
        ),
        ("w->how->size - (near->high - near->low);", "w->how->size - near->high;"),
        ("w->ax.turn == w->code.turn &&", ""),
        ("w->ax.at <= near->at)", "true)"),
        ("w->ax.group == near->group && ", ""),
        ("if (off < 0 || base < near->low)", "if (base < near->low)"),
        ("if (off < 0 || base < near->low)", "if (off < 0)"),
        ("\t\tslow = stub->entry;\n", ""),
    ],
    "sandbox_piece.c": [
        ("if (high - low > COSY_REACH)", "if (high - low > 8 * COSY_REACH)"),
        ("\t\t\tp->groups[i].value = NO_VALUE;", "\t\t\t;"),
        ("\t\tmeet_registers(p, p->regs, join->regs);", "\t\t;"),
        ("\t\tmeet_registers(p, join->regs, p->regs);", "\t\t;"),
        ("join->seen != (p->shapes[at] & MAX_JUMPS) || ", ""),
        ("\t\tif (insn->off)\n\t\t\tset_new(p, dst);\n\t\telse\n", "\t"),
        ("\tcase BPF_LDX:\n\t\tset_new(p, &p->regs[insn->dst_reg]);", "\tcase BPF_LDX:"),
        ("\tcase BPF_ALU:\n\t\tset_new(p, &p->regs[insn->dst_reg]);", "\tcase BPF_ALU:"),
        ("BPF_MODE(insn->code) == BPF_ATOMIC && reg < 10", "0"),
        ("\tdst->delta += src->delta;", ""),
        ("\tdst->value = p->value_cnt++;", "\tdst->value = b;"),
        ("distance + cosy_access_size(insn)", "distance + 1"),
        ("\t\t\t\t.high = cosy_access_size(insn)};", "\t\t\t\t.high = 1};"),
        ("\t\tif (group->last >= end)\n\t\t\tend = group->last + 1;", "\t\tend = group->last + 1;"),
        ("\t\t\tw->ax.at == join->ax.at;", "\t\t\ttrue;"),
        ("\t\t    join->ax.at != w->ax.at)", "\t\t    false)"),
        ("\tif (holds && !p->dead)", "\tif (0)"),
        ("\tif (w->ax.turn == turn)\n", ""),
        ("\t\tif (group->first < first)\n\t\t\tfirst", "\t\tfirst"),
    ],
    "verify.c": [
        ("if (base != COSY_AX || !v->masked)", "if (base != COSY_AX)"),
        ("if (base != COSY_AX || !v->masked)", "if (!v->masked)"),
        ("insn->off < 0 || insn->off > MAX", "insn->off > MAX"),
        ("insn->off < 0 || insn->off > MAX_OFFSET", "insn->off < 0"),
        ("\t\tarrive_at_target(v, at);", "\t\t;"),
        (" && (u32)insn->imm == v->size - 1", ""),
        ("insn->code == mask && ", ""),
        ("\t\tv->masked = v->entry = false;\n\t\tv->dead", "\t\tv->dead"),
        ("\tif (insn->dst_reg == 1)\n\t\tv->entry = false;", ""),
        ('\tif (insn->dst_reg == COSY_FP)\n\t\treturn "changes r10";', ""),
        ("is_load && base == 1 && v->entry", "is_load && base == 1"),
        ("\t\t\tv->places[target] |= PLACE_OTHER | PLACE_ANY;", "\t\t\tv->places[target] |= PLACE_OTHER;"),
        ("\t\t\tv->places[target] |= PLACE_OTHER | PLACE_ANY;", "\t\t\tv->places[target] |= PLACE_ANY;"),
        ("v->masked ? PLACE_MASKED : PLACE_ANY", "PLACE_MASKED"),
        ("(v->masked || v->dead) &&", ""),
        ("v->entry ? PLACE_ENTRY : PLACE_OTHER", "PLACE_ENTRY"),
        ("(v->entry || v->dead) &&", ""),
        ("target >= count || ", ""),
        ("target >= count || v->places[target] & PLACE_HALF", "target >= count"),
        ("insn->off < -(s32)v->code->stack_size ||", ""),
    ],
}


def _compile(source: Path, place: Path) -> Path:
    ret = place / f"{source.stem}.o"
    subprocess.run(["cc", *_FLAGS, "-c", source, "-o", ret], check=True)
    return ret


def _passes(test: str, objects: list[Path], place: Path) -> bool:
    program = place / test
    subprocess.run(["cc", *objects, "-o", program], check=True)
    try:
        return subprocess.run([program], capture_output=True, timeout=60).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def _try(name: str, text: str, objects: dict[str, Path], place: Path) -> bool:
    (place / name).write_text(text)
    changed = objects | {name: _compile(place / name, place)}
    for test in _TESTS:
        linked = [path for file, path in changed.items() if not file.endswith("_test.c") or file == f"{test}.c"]
        if not _passes(test, linked, place):
            return True
    return False


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--places", action="store_true", help="only look whether each place is in its file, once")
    parser.add_argument("files", nargs="*", metavar="FILE", help="of core/; otherwise all")
    options = parser.parse_args()
    missed = tried = 0
    with tempfile.TemporaryDirectory(prefix="cosy-mutant-") as directory:
        place = Path(directory)
        kept = place / "kept"
        kept.mkdir()
        sources = [*_CORE.glob("*.c"), *(_CORE / f"test/{name}.c" for name in (*_MODEL, *_TESTS))]
        objects = {} if options.places else {source.name: _compile(source, kept) for source in sources}
        for name, places in MUTANTS.items():
            if options.files and name not in options.files:
                continue
            text = (_CORE / name).read_text()
            for old, new in places:
                tried += 1
                if text.count(old) != 1:
                    print(f"{name}: {old!r} is there {text.count(old)} times")
                    missed += 1
                elif not options.places and not _try(name, text.replace(old, new), objects, place):
                    print(f"{name}: no test notices a change of {old!r}", flush=True)
                    missed += 1
    print(f"{tried - missed} of {tried} {'in place' if options.places else 'noticed'}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
