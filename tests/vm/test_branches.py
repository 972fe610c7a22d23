# SPDX-License-Identifier: MIT
"""What the module's assembly does around each call of C, by the module's code.

A compound's branches must not steer the kernel's, so they are forgotten before C runs; what C leaves in the
processor's buffers must not be there for the compound.  Emulated processors have neither, so no program can tell
whether it is done: the built module is disassembled.  docs/inside/security.md has the argument.
"""

from __future__ import annotations

import functools
import os
import re
import subprocess
import unittest
from dataclasses import dataclass, field
from pathlib import Path

import kernels
import module
from cache import TREE

KERNEL = os.environ.get("COSY_TEST_KERNEL", "6.12")
# Functions of our assembly that no compound comes by on its way into C, or that C calls.
_OF_C = ("cosy_untrain_returns", "cosy_clear_and_zero", "cosy_clear_and_move", "cosy_clear_buffers", "cosy_enter")
_FORGET = "f3 48 0f 1e f8"  # IBHF, which disassemblers show in several ways
_ZERO = ("edi", "esi", "edx", "ecx", "r8d")
# These zero registers when no C has run since the compound, or on the way out to user mode.
_ZERO_WITHOUT_C = {"cosy_thunk_getpid", "cosy_leave"}
# After these calls of C nothing needs to be cleared: it accesses the user's own memory only, or another call follows.
_NOTHING_TO_CLEAR = {"cosy_frame_push", "cosy_frame_pop", "cosy_held_drop_for"}
# What ends a stretch of code that is gone through from its first instruction to its last.
_FLOW = re.compile(r"(call|jmp|ret|j[a-z]+)\b")


@dataclass
class Instruction:
    """One instruction: its address, its bytes and its text, and the symbol that it refers to."""

    address: int
    bytes: str
    text: str
    symbol: str = ""


@dataclass
class Code:
    """The module's code: functions by name, and what is put in place of instructions on some processors."""

    functions: dict[str, list[Instruction]] = field(default_factory=dict)
    replaced: dict[int, set[str]] = field(default_factory=dict)  # functions called instead, by address


def _objdump(path: Path, *options: str) -> str:
    return subprocess.run(["objdump", *options, path], check=True, text=True, stdout=subprocess.PIPE).stdout


def _functions(path: Path, section: str) -> dict[str, list[Instruction]]:
    functions: dict[str, list[Instruction]] = {}
    current: list[Instruction] = []
    for line in _objdump(path, "-dr", "--insn-width=16", "-j", section).splitlines():
        if name := re.fullmatch(r"[0-9a-f]+ <(.+)>:", line):
            current = functions.setdefault(name[1], [])
        elif code := re.match(r" *([0-9a-f]+):\t([0-9a-f ]+)\t(.*)", line):
            current.append(Instruction(int(code[1], 16), code[2].strip(), code[3].strip()))
        elif to := re.match(r"\t+ *[0-9a-f]+: R_X86_64_(?:PLT32|PC32)\t([^-+\s]+)", line):
            current[-1].symbol = to[1]
    return functions


@functools.cache
def code() -> Code:
    """Returns the built module's code."""
    path = module.build(kernels.find(KERNEL))
    found = Code(_functions(path, ".text"))
    calls = {
        instruction.address: instruction.symbol
        for instructions in _functions(path, ".altinstr_replacement").values()
        for instruction in instructions
        if instruction.text.startswith("call")
    }
    places = re.findall(
        r"R_X86_64_PC32 +(\.text|\.altinstr_replacement)(?:\+0x([0-9a-f]+))?$",
        _objdump(path, "-r", "-j", ".altinstructions"),
        re.M,
    )
    for (section, old), (_, new) in zip(places[::2], places[1::2], strict=True):
        if section == ".text":
            found.replaced.setdefault(int(old or "0", 16), set()).add(calls.get(int(new or "0", 16), ""))
    return found


def _assembly() -> set[str]:
    """Returns the functions of the module's assembly that compounds run."""
    sources = "".join(path.read_text() for path in (TREE / "kmod/run").glob("*.S"))
    named = re.findall(r"SYM_(?:CODE_START|CODE_START_LOCAL|FUNC_START|START)\((cosy_\w+)", sources)
    thunks = [name for name in code().functions if name.startswith("cosy_thunk_")]
    return {*named, *thunks} - set(_OF_C)


def _calls_of_c() -> list[tuple[str, list[Instruction], int]]:
    """Returns each call of C in it: the function, its instructions, and which of them it is."""
    assembly = _assembly()
    found = []
    for name in sorted(assembly & code().functions.keys()):
        instructions = code().functions[name]
        for at, instruction in enumerate(instructions):
            target = instruction.symbol
            if instruction.text.startswith("call") and target and target not in (*assembly, *_OF_C):
                found.append((name, instructions, at))
    return found


def _stretch_before(instructions: list[Instruction], at: int) -> list[Instruction]:
    """Returns the instructions that are run before this one whenever it is, back to the next branch."""
    first = at
    while first and not _FLOW.match(instructions[first - 1].text):
        first -= 1
    return instructions[first:at]


def _instead_after(instructions: list[Instruction], at: int) -> set[str]:
    """Returns what is called in place of instructions on some processors, from here to the next return or jump."""
    called: set[str] = set()
    for instruction in instructions[at + 1 :]:
        called |= code().replaced.get(instruction.address, set())
        if re.match(r"(jmp|ret)\b", instruction.text):
            break
    return called


class Branches(unittest.TestCase):
    def test_there_are_calls_of_c(self) -> None:
        self.assertGreater(len(_calls_of_c()), 20)

    def test_branches_are_forgotten_before_each_call_of_c(self) -> None:
        for name, instructions, at in _calls_of_c():
            with self.subTest(f"{name}, {instructions[at].symbol} at {instructions[at].address:#x}"):
                before = _stretch_before(instructions, at)
                self.assertIn(_FORGET, [instruction.bytes for instruction in before])

    def test_processors_that_need_more_get_it_there(self) -> None:
        known = {name for names in code().replaced.values() for name in names}
        wanted = {"cosy_untrain_returns", "clear_bhb_loop"} & known
        self.assertIn("cosy_untrain_returns", wanted, "this module untrains no returns")
        for name in _assembly() & code().functions.keys():
            for index, instruction in enumerate(code().functions[name]):
                if instruction.bytes != _FORGET:
                    continue
                # The loop is called in place of padding right before.
                near = [other.address for other in code().functions[name][max(0, index - 5) : index + 1]]
                done = {called for address in near for called in code().replaced.get(address, set())}
                with self.subTest(f"{name} at {instruction.address:#x}"):
                    self.assertLessEqual(wanted, done)

    def test_buffers_are_cleared_where_registers_are_zeroed_after_c(self) -> None:
        places = 0
        for name in (_assembly() & code().functions.keys()) - _ZERO_WITHOUT_C:
            instructions = code().functions[name]
            for at in range(len(instructions) - len(_ZERO)):
                texts = [" ".join(other.text.split()) for other in instructions[at : at + len(_ZERO)]]
                if texts != [f"xor %{register},%{register}" for register in _ZERO]:
                    continue
                places += 1
                with self.subTest(f"{name} at {instructions[at].address:#x}"):
                    self.assertIn("cosy_clear_and_zero", code().replaced.get(instructions[at].address, set()))
        self.assertGreater(places, 10)

    def test_buffers_are_cleared_after_each_call_of_c(self) -> None:
        excepted = set()
        for name, instructions, at in _calls_of_c():
            target = instructions[at].symbol
            if target in _NOTHING_TO_CLEAR:
                excepted.add(target)
                continue
            with self.subTest(f"{name}, {target} at {instructions[at].address:#x}"):
                self.assertTrue({"cosy_clear_and_zero", "cosy_clear_buffers"} & _instead_after(instructions, at))
        self.assertEqual(excepted, _NOTHING_TO_CLEAR)

    def test_buffers_are_cleared_on_the_way_in(self) -> None:
        instructions = code().functions["cosy_enter"]
        at = next(index for index, other in enumerate(instructions) if re.search(r"\bcall\b", other.text))
        before = {called for other in instructions[:at] for called in code().replaced.get(other.address, set())}
        self.assertIn("cosy_clear_and_move", before)


if __name__ == "__main__":
    unittest.main()
