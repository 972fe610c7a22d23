#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes completions for bash, zsh and fish from what each command's --help lists.

    completions.py OUT --cosy build/bin/cosy --cosyd build/bin/cosyd --cosycc build/bin/cosycc

Writes OUT/bash/NAME, OUT/zsh/_NAME and OUT/fish/NAME.fish. tests/install/test_completions.py compares
the options with the tables that the commands read their command lines by.
"""

from __future__ import annotations

import argparse
import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

# Arguments that are one of a few words.
WORDS = {
    "--relax": ("trunc", "coalesce", "reflink", "none"),
    "--backend": ("fentry", "tracepoint", "ptrace"),
}
# What arguments of these names are; others are free text.
FILES = {"FILE", "<file>:<line>", "PATH", "PROGRAM", "FILE..."}

_OPTION = re.compile(r"^  (--?[\w-]+(?:=[a-z]\w*)?)(\[?)(?:(=)| (?=[A-Z<]))?([A-Z<][^ \]]*)?\]?(?:  +(\S.*))?$")
_COMMAND = re.compile(r"^  cosy (\w+)(?: (\[?[A-Z]\S*))? +(\S.*)$")


@dataclass
class Option:
    name: str
    argument: str  # its name, or ""
    joined: bool  # NAME=ARGUMENT, not NAME ARGUMENT
    optional: bool
    what: str

    @property
    def words(self) -> tuple[str, ...]:
        return WORDS.get(self.name, ())


@dataclass
class Command:
    name: str  # as a shell function's
    operand: str = ""
    what: str = ""
    options: list[Option] = field(default_factory=list)


def options(text: str) -> list[Option]:
    """Reads the options of a text that --help prints."""
    found: list[Option] = []
    for line in text.splitlines():
        option = _OPTION.match(line)
        if option:
            found.append(
                Option(option[1], option[4] or "", bool(option[3]), bool(option[2]), (option[5] or "").strip())
            )
        elif found and line.startswith(" " * 20) and line.strip():
            found[-1].what = f"{found[-1].what} {line.strip()}".strip()
        elif not line.strip() and found:
            break
    return found


def said(*command: str) -> str:
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def commands(cosy: str) -> list[Command]:
    """Returns the subcommands of `cosy`."""
    found = []
    for line in said(cosy, "help").splitlines():
        row = _COMMAND.match(line)
        if row:
            text = said(cosy, row[1], "--help") if row[1] != "help" else ""
            found.append(Command(row[1], row[2] or "", row[3], options(text)))
    return found


# --- bash -------------------------------------------------------------------------------------


def _bash_value(option: Option) -> str:
    if option.words:
        return f'COMPREPLY=($(compgen -W "{" ".join(option.words)}" -- "${{word##*,}}"))'
    if option.argument in FILES:
        return 'COMPREPLY=($(compgen -f -- "$word"))'
    return "COMPREPLY=()"


def _bash_options(command: Command, indent: str) -> list[str]:
    """Returns lines that complete an option or its argument, and return; they fall through otherwise."""
    lines = [f'{indent}case "$before" in']
    for option in command.options:
        if option.argument and not option.optional:
            lines.append(f"{indent}{option.name}) {_bash_value(option)}; return ;;")
    lines.append(f"{indent}esac")
    names = " ".join(o.name + ("=" if o.joined and not o.optional else "") for o in command.options)
    lines += [
        f"{indent}if [[ $word == -* ]]; then",
        f'{indent}\tCOMPREPLY=($(compgen -W "{names}" -- "$word"))',
        f"{indent}\t[[ ${{COMPREPLY-}} != *= ]] || compopt -o nospace",
        f"{indent}\treturn",
        f"{indent}fi",
    ]
    return lines


def _bash_program(command: Command) -> list[str]:
    """Returns lines that find the program among the words; what comes after it is the program's."""
    apart = [o.name for o in command.options if o.argument and not o.joined and not o.optional]
    return [
        "\t\tlocal first=2",
        "\t\twhile ((first < COMP_CWORD)); do",
        "\t\t\tcase ${COMP_WORDS[first]} in",
        f"\t\t\t{' | '.join(['=', *apart])}) ((first += 2)) ;;",
        "\t\t\t-*) ((first++)) ;;",
        "\t\t\t*) break ;;",
        "\t\t\tesac",
        "\t\tdone",
        "\t\tif ((first < COMP_CWORD)); then",
        "\t\t\t_command_offset $first",
        "\t\t\treturn",
        "\t\tfi",
        *_bash_options(command, "\t\t"),
        "\t\t((first == COMP_CWORD)) || return",
    ]


# Without the package bash-completion.
_BASH_OFFSET = """\
declare -F _command_offset >/dev/null || _command_offset() {
	COMPREPLY=()
	(($1 != COMP_CWORD)) || COMPREPLY=($(compgen -c -- "${COMP_WORDS[COMP_CWORD]}"))
}"""

# The word before the one at the cursor; bash takes "=" for a word of its own.
_BASH_HEAD = """\
	local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
	if [[ $word == = ]]; then
		word=
	elif [[ $before == = ]]; then
		before=${COMP_WORDS[COMP_CWORD - 2]}
	fi"""


def bash(name: str, listed: list[Command], own: Command) -> str:
    lines = [f"# bash completion for {name}", *([_BASH_OFFSET] if listed else []), f"_{name}() {{", _BASH_HEAD]
    if listed:
        lines += ["\tif ((COMP_CWORD == 1)); then"]
        words = " ".join([command.name for command in listed] + ["--help", "--version"])
        lines += [
            f'\t\tCOMPREPLY=($(compgen -W "{words}" -- "$word"))',
            "\t\treturn",
            "\tfi",
            "\tcase ${COMP_WORDS[1]} in",
        ]
        for command in listed:
            lines.append(f"\t{command.name})")
            if command.operand.startswith("PROGRAM"):
                lines += _bash_program(command)
            elif command.options:
                lines += _bash_options(command, "\t\t")
            if command.operand.startswith("PROGRAM"):
                lines += ["\t\t_command_offset $first"]
            elif command.name == "help":
                words = " ".join(other.name for other in listed)
                lines.append(f'\t\tCOMPREPLY=($(compgen -W "{words}" -- "$word"))')
            elif command.operand:
                lines.append('\t\tCOMPREPLY=($(compgen -f -- "$word"))')
            lines.append("\t\t;;")
        lines.append("\tesac")
    else:
        lines += _bash_options(own, "\t")
        lines.append('\tCOMPREPLY=($(compgen -f -- "$word"))')
    lines += ["}", f"complete -o bashdefault -o default -F _{name} {' '.join(_programs(name))}"]
    return "\n".join(lines) + "\n"


def _programs(name: str) -> tuple[str, ...]:
    return ("cosycc", "cosyc++") if name == "cosycc" else (name,)


# --- zsh --------------------------------------------------------------------------------------


def _zsh_quoted(text: str) -> str:
    return re.sub(r"([\[\]:\\])", r"\\\1", text).replace("'", "'\\''")


def _zsh_option(option: Option) -> str:
    spec = option.name
    if option.argument:
        spec += "=-" if option.joined else ""
    spec += f"[{_zsh_quoted(option.what)}]"
    if option.argument:
        colon = "::" if option.optional else ":"
        action = ""
        if option.words:
            action = f"({' '.join(option.words)})"
        elif option.argument in FILES:
            action = "_files"
        spec += f"{colon}{_zsh_quoted(option.argument)}:{action}"
    return f"'{spec}'"


def _zsh_operand(operand: str) -> str:
    if operand.startswith("PROGRAM"):
        return "'*:::program:_normal'"
    return "'*:file:_files'" if operand else ""


def _zsh_arguments(command: Command, indent: str) -> str:
    parts = [_zsh_option(option) for option in command.options] + [_zsh_operand(command.operand)]
    stop = "-S -A '-*' " if command.operand.startswith("PROGRAM") else ""
    return f" \\\n{indent}\t".join([f"{indent}_arguments {stop}".rstrip(), *(part for part in parts if part)])


def zsh(name: str, listed: list[Command], own: Command) -> str:
    lines = [f"#compdef {' '.join(_programs(name))}", ""]
    if not listed:
        own.operand = own.operand or "FILE"
        return "\n".join([*lines, _zsh_arguments(own, "")]) + "\n"
    # $commands is zsh's own table, by which it completes programs.
    lines += ["local -a subcommands=("]
    lines += [f"\t'{command.name}:{_zsh_quoted(command.what)}'" for command in listed]
    lines += [")", "if ((CURRENT == 2)); then", "\t_describe command subcommands", "\treturn", "fi"]
    lines += ["shift words", "((CURRENT--))", "case $words[1] in"]
    for command in listed:
        if command.name == "help":
            lines += ["help) _describe command subcommands ;;"]
        elif command.options or command.operand:
            lines += [f"{command.name})", _zsh_arguments(command, "\t"), "\t;;"]
    lines += ["esac"]
    return "\n".join(lines) + "\n"


# --- fish -------------------------------------------------------------------------------------


def _fish_quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _fish_option(program: str, option: Option, condition: str) -> str:
    if option.name.startswith("--"):
        flag = f"-l {option.name[2:]}"
    else:
        flag = f"-s {option.name[1:]}" if len(option.name) == 2 else f"-o {option.name[1:]}"
    words = [f"complete -c {program}", condition, flag]
    if option.argument and not option.optional:
        words.append("-r" if option.argument in FILES else "-x")
    if option.words:
        words.append(f"-a {_fish_quoted(' '.join(option.words))}")
    words.append(f"-d {_fish_quoted(option.what)}")
    return " ".join(word for word in words if word)


def fish(name: str, listed: list[Command], own: Command) -> str:
    lines = []
    for program in _programs(name):
        for option in own.options:
            lines.append(_fish_option(program, option, ""))
    for command in listed:
        first = f"complete -c {name} -n __fish_use_subcommand -f -a {command.name}"
        lines.append(f"{first} -d {_fish_quoted(command.what)}")
        condition = f"-n '__fish_seen_subcommand_from {command.name}'"
        lines += [_fish_option(name, option, condition) for option in command.options]
        if command.operand.startswith("PROGRAM"):
            # It passes over these options with their arguments. "-" ends its own options.
            apart = " ".join(
                ["-", *(o.name for o in command.options if o.argument and not o.joined and not o.optional)]
            )
            lines.append(f"complete -c {name} {condition} -x -a '(__fish_complete_subcommand --fcs-skip=2 {apart})'")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    for name in ("cosy", "cosyd", "cosycc"):
        parser.add_argument(f"--{name}", required=True)
    given = parser.parse_args()
    tables = {
        "cosy": (commands(given.cosy), Command("cosy")),
        "cosyd": ([], Command("cosyd", options=options(said(given.cosyd, "--help")))),
        "cosycc": (
            [],
            Command("cosycc", options=options(said(given.cosycc, "--help").partition("COSY'S OPTIONS:\n")[2])),
        ),
    }
    for name, (listed, own) in tables.items():
        for shell, file, text in (
            ("bash", name, bash(name, listed, own)),
            ("zsh", f"_{name}", zsh(name, listed, own)),
            ("fish", f"{name}.fish", fish(name, listed, own)),
        ):
            path = given.out / shell / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)


if __name__ == "__main__":
    main()
