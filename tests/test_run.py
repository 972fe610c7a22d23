# SPDX-License-Identifier: MIT
"""Tests which tests are chosen, and which skips are failures."""

from __future__ import annotations

import tempfile
import unittest
from pathlib import Path

import run


def _tests() -> list[run.Test]:
    rows = {
        "core/verify_test": {"unit"},
        "check-format": {"check"},
        "run/fuzz": {"unit"},
        "vm-guest-6.1": {"vm"},
        "vm-guest-6.12": {"vm"},
        "vm-guest-short-6.1": {"vm", "any-kernel", "quick"},
        "vm-guest-short-6.12": {"vm", "any-kernel", "quick"},
        "vm-harness-Ends": {"vm", "own-folder"},
        "vm-lib-heap-6.1": {"vm", "any-kernel"},
        "vm-lib-heap-6.12": {"vm", "any-kernel"},
        "vm-same-tmpfs-6.12": {"vm", "long"},
        "constructs-O3": {"lit", "nightly"},
    }
    return [run.Test(number, name, labels) for number, (name, labels) in enumerate(rows.items(), 1)]


class Choice(unittest.TestCase):
    def chosen(self, scale: str, kernel: str = "6.12", folders: tuple[str, ...] = (), **cost: float) -> set[str]:
        return {test.name for test in run.choose(_tests(), scale, kernel, list(folders), cost)}

    def test_the_commit_chooses_the_kernel(self) -> None:
        chosen = {run.chosen_kernel(_tests(), f"{commit:08x}ffffffff") for commit in range(4)}
        self.assertEqual(chosen, {"6.1", "6.12"})
        self.assertEqual(run.chosen_kernel(_tests(), ""), "6.1", "without a commit")

    def test_everything_runs_at_night(self) -> None:
        self.assertEqual(len(self.chosen("nightly")), len(_tests()) - 2, "all except what is a part of others")

    def test_one_kernel_is_enough_for_what_does_not_depend_on_it(self) -> None:
        everything = self.chosen("test")
        self.assertLessEqual({"vm-guest-6.1", "vm-guest-6.12", "vm-lib-heap-6.12", "vm-same-tmpfs-6.12"}, everything)
        self.assertFalse({"vm-lib-heap-6.1", "constructs-O3", "vm-guest-short-6.12"} & everything)

    def test_what_a_folder_alone_can_break_is_tested_when_it_changes(self) -> None:
        for scale in ("quick", "test"):
            self.assertNotIn("vm-harness-Ends", self.chosen(scale, folders=("kmod",)))
            self.assertIn("vm-harness-Ends", self.chosen(scale, folders=("kmod", "tests/vm")))

    def test_a_first_answer_is_the_core_and_what_changed(self) -> None:
        core = {"core/verify_test", "check-format", "vm-guest-short-6.12"}
        self.assertEqual(self.chosen("quick"), core)
        self.assertEqual(self.chosen("quick", folders=("run", "kmod")), core | {"run/fuzz"} | self.kmod())
        self.assertEqual(self.chosen("quick", "6.1"), core - {"vm-guest-short-6.12"} | {"vm-guest-short-6.1"})

    def kmod(self) -> set[str]:
        return {"vm-guest-6.12", "vm-lib-heap-6.12"}

    def test_what_takes_too_long_is_left_out_of_a_first_answer(self) -> None:
        cost = {"vm-guest-6.12": run.QUICK, "run/fuzz": 1.0}
        chosen = self.chosen("quick", folders=("run", "kmod"), **cost)
        self.assertIn("run/fuzz", chosen)
        self.assertNotIn("vm-guest-6.12", chosen)

    def test_the_nearest_folder_counts(self) -> None:
        files = ["tests/vm/guest/view.c", "kmod/view.c", "README.md", "tests/vm/vm.py"]
        self.assertEqual(run.changed_folders(files), ["kmod", "tests/vm", "tests/vm/guest"])


class Skips(unittest.TestCase):
    def test_a_test_and_its_parts(self) -> None:
        suite = "ok      view (1 s)\nskipped retry: SKIP: only root sets the limit\n"
        self.assertEqual(list(run.skips("t", False, suite)), [run.Skip("t/retry", "only root sets the limit")])
        python = "test_page (__main__.Page.test_page) ... skipped 'no browser'\n"
        self.assertEqual(list(run.skips("t", False, python)), [run.Skip("t/test_page", "no browser")])
        self.assertEqual(list(run.skips("t", True, "SKIP: no spin\n")), [run.Skip("t", "no spin")])
        self.assertEqual(list(run.skips("t", True, "")), [run.Skip("t", "it does not say why")])
        self.assertEqual(list(run.skips("t", False, "ok      view (1 s)\n")), [])

    def test_results_of_ctest(self) -> None:
        results = """<testsuite>
            <testcase name="a" status="notrun"><skipped message="SKIP_RETURN_CODE=77"/>
              <system-out>SKIP: no spin</system-out></testcase>
            <testcase name="b" status="run"><system-out>skipped c: SKIP: no d</system-out></testcase>
            <testcase name="e" status="fail"><failure message=""/><system-out>no</system-out></testcase>
        </testsuite>"""
        with tempfile.NamedTemporaryFile("w") as stream:
            stream.write(results)
            stream.flush()
            found = run.found_skips(Path(stream.name))
        self.assertEqual(found, [run.Skip("a", "no spin"), run.Skip("b/c", "no d")])

    def test_only_what_is_listed_is_expected(self) -> None:
        known = run.expected("# why\n*-root vm-guest*/retry only root\ntrixie-* a b\n", "bookworm-root")
        self.assertTrue(run.is_expected(run.Skip("vm-guest-nobody-6.1/retry", "only root sets it"), known))
        self.assertFalse(run.is_expected(run.Skip("vm-guest-nobody-6.1/retry", "no module"), known), "another reason")
        self.assertFalse(run.is_expected(run.Skip("a", "b"), known), "another system")

    def test_each_line_of_the_list_has_three_parts(self) -> None:
        for line in run.EXPECTED.read_text().splitlines():
            if line and not line.startswith("#"):
                self.assertEqual(len(line.split(None, 2)), 3, line)


if __name__ == "__main__":
    unittest.main()
