#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests how bench/packages builds a package with marks, by one of its own: packages_test.py COSYCC."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from packages import build, marks  # noqa: E402

COSYCC = Path(sys.argv.pop()).resolve()
SOURCE = """#include <stdio.h>
#include <unistd.h>

int main(void)
{
	char c;
	int count = 0;

	while (read(0, &c, 1) == 1)
		count++;
	printf("%d\\n", count);
	return 0;
}
"""
MARKED = (
    marks.Edit("count.c", "#include <stdio.h>\n", "#include <cosy/cosy.h>\n#include <stdio.h>\n"),
    marks.Edit("count.c", "\twhile (read", "\tCOSY_START;\n\twhile (read"),
    marks.Edit("count.c", "\tprintf", "\tCOSY_END;\n\tprintf"),
)


class Packages(unittest.TestCase):
    def setUp(self) -> None:
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.cache = Path(scratch.name)
        self.source = self.cache / "count" / "count-1.0"
        self.source.mkdir(parents=True)
        (self.source / "count.c").write_text(SOURCE)
        (self.source / "Makefile").write_text("count: count.c\n\t$(CC) -O2 -o $@ count.c\n")

    def build(self, edits: tuple[marks.Edit, ...], make: str = 'make -s CC="$CC" count') -> tuple[Path, Path]:
        package = marks.Package("true", make, {"count": "count"}, edits)
        with mock.patch.dict(marks.PACKAGES, {"count": package}):
            return build.build("count", self.cache, COSYCC)

    def test_both_ways_do_the_same_and_one_has_a_region(self) -> None:
        folders = self.build(MARKED)
        for folder in folders:
            done = subprocess.run([folder / "count"], input=b"12345", capture_output=True, check=True)
            self.assertEqual(done.stdout, b"5\n")
        said = (self.cache / "count" / "build.log").read_text()
        self.assertIn("region compiled", said)
        self.assertNotIn("cosy", (folders[0] / "count.c").read_text())

    def test_a_version_that_a_mark_does_not_fit_is_reported(self) -> None:
        with self.assertRaisesRegex(build.BuildError, r"count\.c: 0 times instead of once: 'for \(;;\)'"):
            self.build((marks.Edit("count.c", "for (;;)", ""),))
        with self.assertRaisesRegex(build.BuildError, "3 times instead of once: 'count'"):
            (self.source / "count.c").write_text("count count count")
            self.build((marks.Edit("count.c", "count", ""),), "touch count")

    def test_what_does_not_build_names_the_log(self) -> None:
        with self.assertRaisesRegex(build.BuildError, r"plain: bash -c .*: exit status 1; .*build\.log says why"):
            self.build(MARKED, "echo no >&2; false")


class Marks(unittest.TestCase):
    def test_each_job_has_a_package_with_its_program(self) -> None:
        for job in build.JOBS:
            self.assertIn(job.program, marks.PACKAGES[job.package].programs, job.name)


if __name__ == "__main__":
    unittest.main()
