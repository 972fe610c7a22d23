# SPDX-License-Identifier: MIT
"""Compares completions with the tables by which commands read their options, and completes in bash, zsh and fish."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TREE = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ["COSY_BUILD"])
sys.path.insert(0, str(TREE / "packaging"))

import completions  # noqa: E402

KINDS = {"no": (False, False), "required": (True, False), "optional": (True, True)}


def table(source: str) -> dict[str, tuple[bool, bool]]:
    """Reads a table for getopt_long: whether each long option has an argument, and may have one."""
    text = (TREE / source).read_text()
    rows = re.findall(r'^\t\t\{"([\w-]+)", (\w+)_argument, NULL, ', text, re.M)
    return {f"--{name}": KINDS[kind] for name, kind in rows}


def short(source: str) -> set[str]:
    """Returns the short options that getopt_long is called with, except -h."""
    found = re.search(r'getopt_long\(argc, argv, "\+?:([\w:]*)"', (TREE / source).read_text())
    assert found
    return {f"-{letter}" for letter in found[1].replace(":", "") if letter != "h"}


def completed(command: str, *words: str) -> set[str]:
    """Returns what bash offers for the last word."""
    script = 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); '
    script += f'_{command} 2>/dev/null; printf "%s\\n" "${{COMPREPLY[@]}}"'
    file = BUILD / "completions/bash" / command
    done = subprocess.run(
        ["bash", "--norc", "-c", script, "bash", file, command, *words], check=True, stdout=subprocess.PIPE, text=True
    )
    return set(done.stdout.split())


# Types a line into an interactive zsh. $1: the folder of completions, $2: the line. Its own compadd
# prints the matches that are offered.
ZSH = """
zmodload zsh/zpty
zpty shell env TERM=dumb zsh -f -i
zpty -w shell "fpath=(${(q)1} \\$fpath); PROMPT=; unsetopt prompt_cr prompt_sp
autoload -Uz compinit && compinit -u -D
compadd() {
	local -a hits
	if [[ \\${@[1,(i)(-|--)]} == *-(O|A|D)\\ * ]]; then
		builtin compadd \\"\\$@\\"
		return
	fi
	builtin compadd -A hits \\"\\$@\\"
	print -rl -- \\${hits/#/match:}
	builtin compadd \\"\\$@\\"
}
offer() { compstate[list]=; _main_complete; compstate[list]=; compstate[insert]=; print the-\\end }
zle -C offer list-choices offer
bindkey '^T' offer
print rea\\dy"
zpty -r shell output '*ready*'
zpty -w -n shell "$2"$'\\024'
zpty -r shell output '*the-end*'
zpty -d shell
print -r -- $output
"""


def completed_zsh(line: str) -> set[str]:
    """Returns what zsh offers for the last word of a line."""
    command = ["zsh", "-f", "-c", ZSH, "zsh", str(BUILD / "completions/zsh"), line]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return set(re.findall(r"match:(\S+)", done.stdout))


def completed_fish(line: str) -> set[str]:
    """Returns what fish offers for the last word of a line."""
    folder = BUILD / "completions/fish"
    script = f"set fish_complete_path {folder}; complete -C {line!r}"
    # It loads completions only of commands that exist.
    path = f"{BUILD}/bin:{os.environ['PATH']}"
    with tempfile.TemporaryDirectory(prefix="cosy-fish-") as home:
        done = subprocess.run(
            ["fish", "--no-config", "-c", script],
            check=True,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"PATH": path, "HOME": home, "XDG_CONFIG_HOME": home, "XDG_DATA_HOME": home},
        )
    return {row.partition("\t")[0] for row in done.stdout.splitlines()}


class Tables(unittest.TestCase):
    def check(self, options: list[completions.Option], source: str) -> None:
        long = {o.name: (bool(o.argument), o.optional) for o in options if o.name.startswith("--")}
        self.assertGreater(len(long), 5)
        self.assertEqual(long, table(source), f"--help and the table in {source} differ")
        self.assertEqual({o.name for o in options if not o.name.startswith("--")}, short(source))
        for option in options:
            self.assertTrue(option.what, f"{source}: {option.name} is not explained")

    def test_run(self) -> None:
        self.check(completions.options(completions.said(str(BUILD / "bin/cosy"), "run", "--help")), "command/run.c")

    def test_profile(self) -> None:
        self.check(
            completions.options(completions.said(str(BUILD / "bin/cosy"), "profile", "--help")), "profile/main.c"
        )

    def test_cosyd(self) -> None:
        self.check(completions.options(completions.said(str(BUILD / "bin/cosyd"), "--help")), "cosyd/main.c")

    def test_cosycc(self) -> None:
        driver = (TREE / "compiler/driver/arguments.cpp").read_text()
        text = completions.said(str(BUILD / "bin/cosycc"), "--help").partition("COSY'S OPTIONS:\n")[2]
        options = completions.options(text)
        self.assertGreater(len(options), 5)
        for option in options:
            self.assertIn(f'"{option.name}', driver, "cosycc does not read an option that it lists")


class Bash(unittest.TestCase):
    def test_commands(self) -> None:
        listed = re.findall(r'^\t\{"(\w+)", ', (TREE / "command/main.c").read_text(), re.M)
        self.assertEqual(completed("cosy", ""), {*listed, "--help", "--version"})
        self.assertEqual(completed("cosy", "pro"), {"profile"})

    def test_options(self) -> None:
        self.assertEqual(completed("cosy", "run", "--st"), {"--stats"})
        self.assertEqual(completed("cosy", "run", "--relax", "=", "tr"), {"trunc"})
        self.assertEqual(completed("cosy", "run", "--relax", "="), {"trunc", "coalesce", "reflink", "none"})
        self.assertEqual(completed("cosy", "profile", "--backend", "f"), {"fentry"})
        self.assertIn("-p", completed("cosy", "profile", "-"))
        self.assertEqual(completed("cosyd", "--user-f"), {"--user-files"})
        self.assertEqual(completed("cosycc", "-Wer"), {"-Werror=cosy"})

    def test_programs(self) -> None:
        self.assertIn("bash", completed("cosy", "run", "--stats", "bas"))
        self.assertIn("bash", completed("cosy", "profile", "-o", "recording", "bas"))
        self.assertEqual(completed("cosy", "run", "ls", "--st"), set())


class Others(unittest.TestCase):
    """zsh and fish. Both also offer what begins otherwise when nothing else fits, so words are chosen that fit."""

    def check(self, line: str, expected: set[str]) -> None:
        self.assertEqual(completed_zsh(line), expected, f"zsh: {line}")
        self.assertEqual(completed_fish(line), expected, f"fish: {line}")

    def test_commands(self) -> None:
        self.check("cosy pro", {"profile"})
        self.check("cosy do", {"doctor"})

    def test_options(self) -> None:
        self.check("cosy run --st", {"--stats"})
        self.check("cosy profile --backend f", {"fentry"})
        self.check("cosyd --user-f", {"--user-files"})
        self.check("cosycc -Wer", {"-Werror=cosy"})

    def test_programs(self) -> None:
        for line in ("cosy run bas", "cosy run --stats bas", "cosy profile -o recording bas"):
            for offered in (completed_zsh(line), completed_fish(line)):
                self.assertIn("bash", offered, line)
                self.assertNotIn("--stats", offered)


if __name__ == "__main__":
    unittest.main(verbosity=2)
