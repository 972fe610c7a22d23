#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks the English of documents: finds sentences that would have to be read twice.

    sentences.py		checks README, docs/use, man pages and the other documents of SOURCES
    sentences.py FILE...	checks these documents (*.md) and man pages instead

A fault is a headless relative ("What is lost is counted.") at the start of a sentence or after a
comma, "becomes of", a fraction in words, a trailing ", too", "round" for iteration, and a sentence
of more than WORDS words.  In docs/inside a headless relative after a preposition ("by who asks") is
one as well, and so are "of which", "is told", "for ever" and "for as long as".  Code, headings and
quotations are not checked.  sentences.txt allows single sentences, a line each: file, tab, a part
of the sentence.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import tree

WORDS = 35
SOURCES = (
    "README.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "CHANGELOG.md",
    "docs/README.md",
    "docs/use/*.md",
    "docs/inside/*.md",
    "docs/glossary.md",
    "docs/measured/attacks.md",
    "docs/measured/moving-parts.md",
    "man/*.[1-8]",
)
ALLOWED = Path("tools/check/sentences.txt")

NUMBER = r"(?:an?|one|two|three|four|five|six|seven|eight|nine|some)"
PART = (
    r"(?:halves|thirds?|quarters?|fifths?|sixths?|sevenths?|eighths?|ninths?|tenths?|elevenths?|twelfths?"
    r"|(?:thir|four|fif|six|seven|eigh|nine)teenths?|(?:twen|thir|for|fif|six|seven|eigh|nine)tieths?"
    r"|hundredths?|thousandths?)"
)
RULES = (
    (re.compile(r"^(?:And |But |So )?(?:Who|Whoever|What(?! to\b)|Whose)\b(?!.*\?\W*$)"), "names no subject"),
    (re.compile(r"[,;:] (?:(?:and|but|or) )?(?:what(?! to\b)|whoever)\b(?!.*\?\W*$)"), "names no subject"),
    (re.compile(r"\bbec(?:omes?|ame|oming) of\b|\bwhat is made of\b", re.I), "'becomes of'"),
    (
        re.compile(
            rf"\b{NUMBER} {PART}(?= (?:of|as|less|more|the)\b|[^\w\s]|$)|\bhalf (?:of|as|an?|the)\b"
            r"|\bby half\b|\bevery second of\b",
            re.I,
        ),
        "a fraction in words",
    ),
    (re.compile(r", too(?=[^\w\s]|$)"), "a trailing 'too'"),
    (re.compile(r"(?<!all )(?<!go )(?<!other way )\brounds?\b(?! (?:up|down|to|off|trips?|numbers?)\b)"), "'round'"),
)
# For maintainers' pages as well.
INSIDE = "docs/inside/"
INSIDE_RULES = (
    (
        re.compile(r"\b(?:about|at|by|for|from|in|of|on|than|to|with) (?:what(?! to\b)|whoever|whom?)\b(?!.*\?\W*$)"),
        "names no subject",
    ),
    (re.compile(r"\bof (?:which|whom)\b"), "'of which'"),
    (re.compile(r"\b(?:is|are|was|were|be|been) told\b|\btells? of\b"), "'told'"),
    (re.compile(r"\bfor ever\b|\bfor as long as\b"), "'for ever'"),
)

# An abbreviation's full stop ends no sentence, and neither does one before a small letter.
END = re.compile(r"(?<!\be\.g)(?<!\bi\.e)(?<!\bvs)[.!?][)\"*]*\s+(?=[\"'(*]?[A-Z0-9`/-])")


def _plain(text: str) -> str:
    """The readable words of Markdown text: links by their words, code as one word."""
    text = re.sub(r"<!--.*?-->", "", text, flags=re.S)
    text = re.sub(r"`[^`]*`", "CODE", text)
    text = re.sub(r"!?\[([^\]]*)\]\([^)\s]*\)", r"\1", text)
    return re.sub(r"\*\*|(?<!\w)[*_]|[*_](?!\w)", "", text)


def markdown(text: str) -> Iterator[tuple[int, str]]:
    """The paragraphs, items and cells of a document, with the lines where they begin."""
    text = re.sub(r"^```.*?^```$", lambda code: "\n" * code[0].count("\n"), text, flags=re.M | re.S)
    text = re.sub(r"<!--.*?-->", lambda note: "\n" * note[0].count("\n"), text, flags=re.S)
    start, lines = 0, []
    for number, line in enumerate([*text.splitlines(), ""], 1):
        item = re.match(r"\s*(?:[-*]|\d+\.) +", line)
        alone = line.startswith(("#", "|", "\t", "    ")) and not (lines and line.startswith("    "))
        if lines and (not line.strip() or item or alone):
            yield start, _plain(" ".join(lines))
            lines = []
        if line.startswith("|"):
            for cell in line.strip("|").split("|"):
                yield number, _plain(cell.strip())
        elif line.strip() and not alone:
            start = start if lines else number
            lines.append((line[item.end() :] if item else line).strip())


def _unquoted(word: str) -> str:
    return word.replace('"', "")


def manual(text: str) -> Iterator[tuple[int, str]]:
    """The paragraphs of a man page, with the lines where they begin."""
    start, words, literal, label, prose = 0, [], False, False, True
    for number, line in enumerate([*text.splitlines(), ".PP"], 1):
        if line.startswith((".nf", ".EX")):
            literal = True
        elif line.startswith((".fi", ".EE")):
            literal = False
        if literal or line.startswith('.\\"'):
            continue
        macro = re.match(r"\.([A-Z]+)\s*(.*)", line)
        if macro and macro[1] == "SH":
            prose = macro[2].strip('"') not in ("SYNOPSIS", "SEE ALSO")
        if macro and macro[1] not in ("B", "I", "BR", "RB", "BI", "IB", "IR", "RI"):
            if words:
                yield start, " ".join(words)
                words = []
            # The next line is a term, or a heading's: no sentence.
            label = macro[1] == "TP"
            continue
        if line.startswith("."):
            if not macro:
                continue
            parts = re.findall(r'"[^"]*"|\S+', macro[2])
            text = ("" if len(macro[1]) == 2 else " ").join(map(_unquoted, parts))
        else:
            text = line
        if label or not prose:
            label = False
            continue
        start = start if words else number
        words.append(re.sub(r"\\f[BIRP]|\\&|\\c", "", text).replace("\\-", "-").replace("\\(dq", '"'))
        # A line ends where its sentence does.
        if re.search(r"[.!?:]$", words[-1]):
            yield start, " ".join(words)
            words = []


def sentences(text: str) -> Iterator[str]:
    """The sentences of a paragraph; what is quoted is one word."""
    text = re.sub(r'"[^"]*"', "QUOTE", text)
    at = 0
    for end in END.finditer(text):
        yield text[at : end.end()].strip()
        at = end.end()
    if text[at:].strip():
        yield text[at:].strip()


def said(sentence: str, inside: bool) -> Iterator[str]:
    """The faults of a sentence; `inside`: of a page of docs/inside."""
    for pattern, fault in (*RULES, *(INSIDE_RULES if inside else ())):
        if found := pattern.search(sentence):
            yield f"{fault}: {found[0].strip(' ,;:')!r} in {sentence[:60]!r}"
    count = len([word for word in sentence.split() if re.search(r"\w", word)])
    if count > WORDS:
        yield f"{count} words, more than {WORDS}: {sentence[:60]!r}"


def allowed(top: Path) -> list[tuple[str, str]]:
    """The files and parts of sentences that are allowed."""
    if not (top / ALLOWED).exists():
        return []
    lines = (top / ALLOWED).read_text().splitlines()
    return [(name, part) for name, _, part in (line.partition("\t") for line in lines) if part and name[0] != "#"]


def faults(top: Path, paths: list[Path] | None = None) -> Iterator[str]:
    """The faults, a line each, also unneeded entries of the list of allowed parts."""
    allow, used = allowed(top), set()
    for path in paths or [path for source in SOURCES for path in sorted(top.glob(source))]:
        name = str(path.relative_to(top)) if path.is_relative_to(top) else str(path)
        paragraphs = markdown if path.suffix == ".md" else manual
        for number, paragraph in paragraphs(path.read_text()):
            for sentence in sentences(paragraph):
                for fault in said(sentence, name.startswith(INSIDE)):
                    right = {(file, part) for file, part in allow if file == name and part in sentence}
                    used |= right
                    if not right:
                        yield f"{name}:{number}: {fault}"
    if not paths:
        for name, part in allow:
            if (name, part) not in used:
                yield f"{ALLOWED}: nothing needs {part!r} of {name}"


if __name__ == "__main__":
    sys.exit(tree.verdict("sentences", faults(tree.TOP, [Path(name).resolve() for name in sys.argv[1:]] or None)))
