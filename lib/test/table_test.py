#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""table_test.py TABLE: the table of calls that other languages read is whole and agrees with the kernel's numbers."""

import json
import re
import subprocess
import sys
import unittest


class Table(unittest.TestCase):
    def setUp(self) -> None:
        with open(sys.argv[1], encoding="ascii") as file:
            self.table = json.load(file)

    def test_numbers_are_the_kernel_s(self) -> None:
        headers = "#include <sys/syscall.h>\n"
        text = subprocess.run(["cc", "-E", "-dM", "-"], input=headers, capture_output=True, text=True, check=True)
        kernel = {name: int(number) for name, number in re.findall(r"__NR_(\w+) (\d+)", text.stdout)}
        named = [call for call in self.table["calls"] if call["name"] in kernel]
        self.assertGreater(len(named), 300)
        for call in named:
            self.assertEqual(call["number"], kernel[call["name"]], call["name"])

    def test_names_lead_to_rows(self) -> None:
        calls = {call["name"] for call in self.table["calls"]}
        operations = {operation["name"] for operation in self.table["operations"]}
        for operation in self.table["operations"]:
            self.assertLessEqual(set(operation["calls"]), calls, operation["name"])
        for function in self.table["functions"]:
            self.assertIn(function["call"], calls | operations, function["name"])

    def test_rows_are_there_once(self) -> None:
        for key in ("calls", "operations"):
            numbers = [row["number"] for row in self.table[key]]
            self.assertEqual(len(numbers), len(set(numbers)), key)

    def test_calls_have_arguments_or_a_reason(self) -> None:
        for call in self.table["calls"]:
            self.assertNotEqual("arguments" in call, "denied" in call, call["name"])
        for row in self.table["calls"] + self.table["operations"] + self.table["functions"]:
            self.assertRegex(row.get("arguments", ""), r"^[idulprsP0]{0,6}$", row["name"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
