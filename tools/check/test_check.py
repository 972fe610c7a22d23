# SPDX-License-Identifier: MIT
"""Tests of the checks: each finds what it is there for, and nothing else."""

from __future__ import annotations

import json
import shutil
import tempfile
import unittest
from collections.abc import Callable, Iterator
from pathlib import Path
from unittest import mock

import circles
import contents
import documents
import figures
import llvm
import names
import naming
import sentences
import tables
import words

GUARDS = """\
/* GUARD(NAME, "relied on", "breaks it", "then") */
GUARD(READ_ONLY, "a lease", "a writer, or "
      "a truncation", "ordinary")
GUARD(NONE, "nothing", "-", "-")
"""


class Check(unittest.TestCase):
    """A tree of a test's own."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.top = Path(folder.name)

    def write(self, **files: str) -> None:
        """Writes files; __ stands for a slash and _md for .md, and so on."""
        for name, text in files.items():
            path = self.top / ".".join(name.replace("__", "/").rsplit("_", 1))
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def found(self, faults: Callable[[Path], Iterator[str]]) -> list[str]:
        """What a check says of the tree."""
        return list(faults(self.top))


class Circles(Check):
    def circles(self, known: set[str]) -> list[str]:
        (self.top / "lib").mkdir(exist_ok=True)
        return list(circles.faults(self.top, known))

    def test_calls(self) -> None:
        self.write(
            kmod__a_c='#include "b.h"\nint a(void)\n{\n\treturn b();\n}\n',
            kmod__b_h="int b(void);\n",
            kmod__b_c="int a(void);\nint b(void)\n{\n\treturn a();\n}\n",
            kmod__c_c="/* a() */ struct a c;\nint c(struct c *c)\n{\n\treturn c->a + b();\n}\n",
        )
        self.assertEqual(
            self.circles(set()),
            [
                "kmod/a.c is in a circle of 2 files: it uses b.c",
                "kmod/b.c is in a circle of 2 files: it uses a.c",
            ],
        )
        self.assertEqual(self.circles({"kmod/a.c", "kmod/b.c"}), [])

    def test_headers(self) -> None:
        self.write(
            kmod__a_h='#include "b.h"\nint a(void);\n',
            kmod__a_c='#include "a.h"\nint a(void)\n{\n\treturn 1;\n}\n',
            kmod__b_h="int a(void);\nstatic inline int b(void)\n{\n\treturn a();\n}\n",
        )
        self.assertEqual(
            self.circles(set()),
            [
                "kmod/a.c is in a circle of 3 files: it uses a.h",
                "kmod/a.h is in a circle of 3 files: it uses b.h",
                "kmod/b.h is in a circle of 3 files: it uses a.c",
            ],
        )

    def test_next(self) -> None:
        self.write(
            run__a_c='#include "b.h"\nint close(int fd)\n{\n\treturn b(fd);\n}\n',
            run__b_h="int b(int fd);\n",
            run__b_c="int b(int fd)\n{\n\treturn NEXT(close)(fd);\n}\n",
        )
        self.assertEqual(self.circles(set()), [])
        self.write(run__b_c="int b(int fd)\n{\n\treturn close(fd);\n}\n")
        self.assertEqual(
            self.circles(set()),
            ["run/a.c is in a circle of 2 files: it uses b.c", "run/b.c is in a circle of 2 files: it uses a.c"],
        )

    def test_variable_named_like_a_function(self) -> None:
        self.write(
            run__a_c='#include "b.h"\nint signal(int number)\n{\n\treturn b(number);\n}\n',
            run__b_h="int b(int number);\n",
            run__b_c="int b(int signal)\n{\n\treturn signal + 1;\n}\n",
        )
        self.assertEqual(self.circles(set()), [])
        self.write(run__b_c="int b(int number)\n{\n\treturn signal(number);\n}\n")
        self.assertEqual(
            self.circles(set()),
            ["run/a.c is in a circle of 2 files: it uses b.c", "run/b.c is in a circle of 2 files: it uses a.c"],
        )

    def test_classes(self) -> None:
        self.write(
            compiler__pass__a_h="struct A { void has(); };\n",
            compiler__pass__a_cpp='#include "a.h"\n#include "b.h"\nvoid A::has() {}\n',
            compiler__pass__b_h="struct B { void in(); };\n",
            compiler__pass__b_cpp='#include "b.h"\nvoid B::in() { has(); }\n',
        )
        self.assertEqual(self.circles(set()), [])
        self.write(compiler__pass__b_cpp='#include "b.h"\n#include "a.h"\nvoid B::in() {}\n')
        self.assertEqual(
            self.circles(set()),
            [
                "compiler/pass/a.cpp is in a circle of 2 files: it uses b.cpp",
                "compiler/pass/b.cpp is in a circle of 2 files: it uses a.cpp",
            ],
        )

    def test_none_left(self) -> None:
        self.write(
            kmod__a_h="int slow(void);\nstatic inline int a(void)\n{\n\treturn slow();\n}\n",
            kmod__a_c='#include "a.h"\nint slow(void)\n{\n\treturn 1;\n}\n',
        )
        self.assertEqual(self.circles({"kmod/a.c"}), ["kmod/a.c is in no circle any more: delete it from circles.txt"])


class Contents(Check):
    def test_names(self) -> None:
        self.write(
            kmod__main_c="// head\n/*\n *\ta.c\tone\n *\n *\tx/\t\tsome\n *\t  b.c, b.h\ttwo\n *\t  d.c\tnone\n */\n",
            kmod__a_c="",
            kmod__x__b_c="",
            kmod__x__b_h="",
            kmod__x__c_S="",
        )
        self.assertEqual(
            self.found(contents.faults),
            ["kmod/x/c.S is not in the contents of kmod/main.c", "kmod/main.c names x/d.c, which does not exist"],
        )


class Documents(Check):
    def test_links(self) -> None:
        self.write(
            README_md="[one](docs/one.md#its-second-part) [none](docs/none.md) [web](https://a.org) `[no](link)`\n",
            docs__one_md="# One\n## Its *second* part\n[up](../README.md) [here](#none)\n```\n[code](x)\n```\n",
        )
        self.assertEqual(
            self.found(documents.faults),
            [
                "README.md:1: docs/none.md does not exist",
                "docs/one.md:3: this document has no heading #none",
            ],
        )

    def test_orphans(self) -> None:
        self.write(
            README_md="[one](docs/one.md) [folder](folder)\n",
            docs__one_md="[two](two.md)\n",
            docs__two_md="",
            docs__three_md="[one](one.md)\n",
            folder__README_md="",
        )
        self.assertEqual(self.found(documents.faults), ["docs/three.md: no links lead there from README.md"])

    def test_width(self) -> None:
        long = "x" * 101
        self.write(README_md=f"{long[1:]}\n{long}\n| {long} |\n```\n{long}\n```\n")
        self.assertEqual(self.found(documents.faults), ["README.md:2: more than 100 columns"])

    def test_names(self) -> None:
        self.write(README_md="", lib__a_c="/* docs/none.md and /usr/share/docs/x.md */\n")
        self.assertEqual(self.found(documents.faults), ["lib/a.c:1: docs/none.md does not exist"])


class Names(Check):
    def test_names(self) -> None:
        self.write(
            lib__a_c="/* cosy_old, cosy_new, cosy_view_* and COSY_OP_ctx,\n * COSY_OP_none */\nint cosy_new;\n",
            lib__b_h='#define OP(name) COSY_OP_##name\n#define X "/* no comment: cosy_text */"\n',
            lib__ops_def="OP(ctx)\n",
            docs__a_md="cosy_text, cosy_fast(3), cosy_gone\n",
            man__cosy_fast_3="",
        )
        (self.top / "man/cosy_fast.3").write_text("")
        self.assertEqual(
            self.found(names.faults),
            [
                "lib/a.c:1: nothing is called cosy_old",
                "lib/a.c:2: nothing is called COSY_OP_none",
                "docs/a.md:1: nothing is called cosy_gone",
            ],
        )


class Llvm(Check):
    def test_versions(self) -> None:
        self.write(
            CMakeLists_txt='set(COSY_LLVM 20 CACHE STRING "Version")\n',
            tools__packages_txt="clang-20\nlibclang-19-dev\nllvm-20-tools\nlinux-headers-19\n",
        )
        self.assertEqual(llvm.version(self.top), "20")
        self.assertEqual(self.found(llvm.faults), ["tools/packages.txt:2: libclang-19, but COSY_LLVM is 20"])


class Tables(Check):
    def test_list(self) -> None:
        self.write(lib__guards_def=GUARDS)
        text = "before\n<!-- list: lib/guards.def -->\nold\n<!-- end of list -->\nafter\n"
        self.write(docs__a_md=text)
        self.assertEqual(
            self.found(tables.faults), ["docs/a.md: the list is not that of lib/guards.def; `make tables` writes it"]
        )
        new = tables.updated(text, self.top)
        self.assertEqual(
            new.splitlines()[2:4],
            [
                "- **READ_ONLY**: a lease. *Broken by:* a writer, or a truncation. *Then:* ordinary.",
                "- **NONE**: nothing.",
            ],
        )
        self.write(docs__a_md=new)
        self.assertEqual(self.found(tables.faults), [])

    def test_names(self) -> None:
        self.write(lib__guards_def=GUARDS, docs__a_md="<!-- names all of: lib/guards.def -->\nREAD_ONLY only\n")
        self.assertEqual(self.found(tables.faults), ["docs/a.md: NONE of lib/guards.def is not explained"])

    def test_names_of_a_macro(self) -> None:
        text = (
            'COSY_CALL(1, open, "r", 0)\nCOSY_FAST_CALL(2, read, "ip", A | B, KEPT)\nCOSY_FAST_CALL(3, stat, "r", 0)\n'
        )
        self.write(core__ops_def=text, docs__a_md="<!-- names all COSY_FAST_CALL of: core/ops.def -->\n`read`\n")
        self.assertEqual(self.found(tables.faults), ["docs/a.md: stat of core/ops.def is not explained"])


class Sentences(Check):
    def said(self, text: str) -> list[str]:
        """Returns the kinds of faults of a document."""
        self.write(README_md=text)
        return [fault.split(": ")[1] for fault in self.found(sentences.faults)]

    def test_refused(self) -> None:
        for text, fault in (
            ("What is lost is counted.", "names no subject"),
            ("It counts. Who asks is told.", "names no subject"),
            ("It counts gains, and what is lost.", "names no subject"),
            ("It shows what becomes of it.", "'becomes of'"),
            ("That cost two thirds of it.", "a fraction in words"),
            ("It took half as long.", "a fraction in words"),
            ("Pipes are served, too.", "a trailing 'too'"),
            ("Each round makes a call.", "'round'"),
            (" ".join(["word"] * 36) + ".", "36 words, more than 35"),
            ("| cell | What is lost |", "names no subject"),
            ("- an item.\n  Who asks is told.", "names no subject"),
        ):
            with self.subTest(text):
                self.assertEqual(self.said(f"# Title\n\n{text}\n"), [fault])

    def test_allowed(self) -> None:
        cells, items = " | ".join(["word"] * 40), "\n".join(["- one item"] * 40)
        text = f"""\
# What it does not look at

What is lost? Who knows what to do, and what to leave? It says which, and why.
The third kernel rounds up, round trips are dear, and "what is lost, too" is quoted.
`becomes of` and [what](x.md) is too much. See above, e.g. there. It ends. It begins.

```
What is code.
```

| {cells} |

{items}
"""
        self.assertEqual(self.said(text), [])

    def test_manual(self) -> None:
        text = """\
.TH X 1
.SH SYNOPSIS
What stands here is no sentence.
.SH NOTES
.TP
.B What is a term
The text of
.BR write (2),
too long by no means.
.nf
What is an example.
.fi
.PP
Names that
.B read
serves, too.
"""
        (self.top / "man").mkdir()
        (self.top / "man" / "x.1").write_text(text)
        self.assertEqual(
            self.found(sentences.faults), ["man/x.1:14: a trailing 'too': 'too' in 'Names that read serves, too.'"]
        )

    def test_inside(self) -> None:
        for text, fault in (
            ("It waits for who asks.", "names no subject"),
            ("It has two locks, of which one is taken.", "'of which'"),
            ("The daemon is told.", "'told'"),
            ("A page stays for as long as the RUN lasts.", "'for ever'"),
        ):
            with self.subTest(text=text):
                self.write(README_md=text + "\n", docs__inside__fast_md=text + "\n")
                (found,) = self.found(sentences.faults)
                self.assertTrue(found.startswith(f"docs/inside/fast.md:1: {fault}: "), found)

    def test_list(self) -> None:
        self.write(
            README_md="What is lost is quoted.\n",
            tools__check__sentences_txt="# file, part\nREADME.md\tis lost\nREADME.md\tis gone\n",
        )
        self.assertEqual(
            self.found(sentences.faults), ["tools/check/sentences.txt: nothing needs 'is gone' of README.md"]
        )


class Words(Check):
    def test_words(self) -> None:
        self.write(
            tools__check__renamed_txt="# old, new\n\\bmax_ops\\b\tsteps\nlook around\tsafepoint\tkmod\n",
            kmod__a_c="/* look around at max_ops2 */\nint max_ops;\n",
            lib__a_c="/* look around */\n",
        )
        (self.top / "CHANGELOG.md").write_text("max_ops is gone\n")
        self.assertEqual(
            self.found(words.faults),
            [
                "kmod/a.c:1: look around is called safepoint now",
                "kmod/a.c:2: max_ops is called steps now",
            ],
        )


MEASURED = """\
# Results
## read1
|  | on | plain | COSY |
| --- | --- | --- | --- |
| size 1 | tmpfs | 1,323 | **360 (-73 %)** |
| size 1 | ext4 | 1,443 | 357 (-75 %) |
## exec
| preloaded | us | more |
|---|---|---|
| `lib.so` | 483.0 | +20.9 |
"""
DEFINED = """\
# comment: none
read: page[read1 | size 1, tmpfs | COSY]
less: 100 - 100 * page[read1 | size 1, ext4 | COSY] / page[read1 | size 1, ext4 | plain]
more: page[exec | lib.so | more]
"""


class Figures(Check):
    def setUp(self) -> None:
        super().setUp()
        self.write(docs__measured__page_md=MEASURED, docs__measured__figures_txt=DEFINED)

    def test_right(self) -> None:
        self.write(README_md="takes 360<!--=read--> instructions, 75<!--=less--> % less, 20.9<!--=more--> us\n")
        self.assertEqual(self.found(figures.faults), [])

    def test_stale(self) -> None:
        text = "takes 1,340<!--=read-->, 75.3<!--=less--> % less,\n21<!--=more--> us\n"
        self.write(README_md=text)
        self.assertEqual(self.found(figures.faults), ["README.md:1: read is 360 by now, not 1,340"])
        new = figures.updated(text, figures.Figures(self.top))
        self.assertEqual(new.split()[1], "360<!--=read-->,")

    def test_constant(self) -> None:
        text = "#define COSY_READ 340 /*=read*/\n#define COSY_LESS 75 /*=less*/\n/*=more*/ takes 5 instructions\n"
        self.write(core__costs_h=text, README_md="21<!--=more-->\n")
        self.assertEqual(self.found(figures.faults), ["core/costs.h:1: read is 360 by now, not 340"])
        self.assertEqual(figures.updated(text, figures.Figures(self.top)), text.replace("340", "360"))

    def test_unknown(self) -> None:
        self.write(
            docs__measured__figures_txt="gone: page[read1 | size 2, tmpfs | COSY]\nidle: 1 + 1\nodd: max(1, 2)\n",
            README_md="1<!--=gone--> 2<!--=nothing--> 3<!--=odd-->\n",
        )
        self.assertEqual(
            self.found(figures.faults),
            [
                "README.md:1: gone: page.md has no [read1 | size 2, tmpfs | COSY]",
                "README.md:1: nothing: docs/measured/figures.txt does not define it",
                "README.md:1: odd: not a sum, difference, product or ratio",
                "docs/measured/figures.txt: nothing uses idle",
            ],
        )

    def test_unnamed(self) -> None:
        text = "360<!--=read--> 75<!--=less--> 21<!--=more-->\n1,460 instructions, 5 to 20 ns, 4 KB\n"
        self.write(README_md=text)
        self.assertEqual(
            self.found(figures.faults),
            [
                "README.md:2: '1,460 instructions' has no name in docs/measured/figures.txt",
                "README.md:2: '5 to 20 ns' has no name in docs/measured/figures.txt",
            ],
        )

    def test_share(self) -> None:
        named = "360<!--=read--> 75<!--=less--> 21<!--=more-->\n"
        example = "```\nsaves 40 %\n```\n<!-- measured: x -->\n| 5 us |\n<!-- end of measured -->\n"
        self.write(README_md=named + example, docs__use__page_md="saves 40 %, 3 us\n", bench__page_md="saves 40 %\n")
        self.assertEqual(
            self.found(figures.faults),
            [f"docs/use/page.md:1: {bare!r} has no name in docs/measured/figures.txt" for bare in ("40 %", "3 us")],
        )


@unittest.skipUnless(shutil.which(naming.CLANG_TIDY), f"{naming.CLANG_TIDY} is not installed")
class Naming(Check):
    def test_kinds(self) -> None:
        self.write(
            lib__a_c="#define lower 1\nenum { Mixed, FINE };\nstatic int Variable, fine_ = 1;\nint __its_own(void);\n",
            other__b_c="int Elsewhere;\n",
        )
        shutil.copy(naming.tree.TOP / ".clang-tidy", self.top / ".clang-tidy")
        build = self.top / "build"
        build.mkdir()
        entry = {"directory": str(self.top), "command": "cc -fno-tree-loop-im -c lib/a.c", "file": "lib/a.c"}
        (build / "compile_commands.json").write_text(json.dumps([entry]))
        chosen = naming.commands(build, [], False, self.top)
        self.assertEqual(
            [fault.partition(" [")[0] for fault in naming.examine(chosen, self.top)[0]],
            [
                "lib/a.c:1:9: error: invalid case style for macro definition 'lower'",
                "lib/a.c:2:8: error: invalid case style for enum constant 'Mixed'",
                "lib/a.c:3:12: error: invalid case style for variable 'Variable'",
            ],
        )

    def test_what_was_right_is_looked_at_again_when_it_or_a_header_changes(self) -> None:
        self.write(lib__a_c='#include "a.h"\nstatic int fine;\n', lib__a_h="#include <b.h>\n", lib__b_h="int right;\n")
        rules = self.top / ".clang-tidy"
        shutil.copy(naming.tree.TOP / ".clang-tidy", rules)
        kept = self.top / "kept"
        chosen = [
            {
                "directory": str(self.top),
                "command": f"cc -I{self.top}/lib -c lib/a.c",
                "file": str(self.top / "lib/a.c"),
            }
        ]
        looked_at: list[int] = []
        examine = naming.examine

        def counted(left: list[dict[str, str]], top: Path) -> tuple[list[str], bool]:
            looked_at.append(len(left))
            return examine(left, top)

        with mock.patch.object(naming, "examine", counted):
            for text, faults in (("int right;\n", 0), ("int right;\n", 0), ("int Wrong;\n", 1), ("int Wrong;\n", 1)):
                self.write(lib__b_h=text)
                self.assertEqual(len(naming.check(chosen, kept, self.top)), faults, text)
            self.write(lib__b_h="int right;\n")
            rules.write_text(rules.read_text() + "# changed\n")
            self.assertEqual(naming.check(chosen, kept, self.top), [])
        self.assertEqual(looked_at, [1, 0, 1, 1, 1])


if __name__ == "__main__":
    unittest.main()
