#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A plot that was made compact shows the same, and the committed ones are compact."""

from __future__ import annotations

import re
import sys
import unittest
from pathlib import Path
from xml.etree import ElementTree

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from svg import compact

PLOTS = Path(__file__).resolve().parents[2] / "docs" / "measured" / "plots"
PLOT = """<?xml version="1.0"?>
<svg viewBox="0 0 864 648" xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink">
 <metadata>Matplotlib</metadata>
 <defs><style type="text/css">*{stroke-linecap: butt}</style></defs>
 <g id="patch_1"><!-- a dot -->
  <g>
   <path id="m9cc8" d="M 0 -0.0123
L 0.04999 3.5
z
" style="stroke: #000000"/>
  </g>
  <use xlink:href="#m9cc8" x="111.880398" y="195" style="stroke: #000000"/>
  <text x="1.25">2.5 ms</text>
 </g>
</svg>
"""


class Compact(unittest.TestCase):
    def test_same(self) -> None:
        small = compact(PLOT)
        ElementTree.fromstring(small)
        self.assertIn('<path id="m9cc8" d="M 0 0 L 0 3.5 z " class="s0"/>', small)
        self.assertIn('<use xlink:href="#m9cc8" x="111.9" y="195" class="s0"/>', small)
        self.assertIn(".s0{stroke: #000000}", small)
        self.assertIn(">2.5 ms</text>", small)
        for gone in ("Matplotlib", "patch_1", "a dot", "style=", "?xml"):
            self.assertNotIn(gone, small)

    def test_committed(self) -> None:
        plots = sorted(PLOTS.glob("*.svg"))
        self.assertTrue(plots)
        for path in plots:
            with self.subTest(path.name):
                text = path.read_text()
                ElementTree.fromstring(text)
                self.assertEqual(re.findall(r"\d\.\d{2,}", text), [])
                self.assertLess(len(text), 64 << 10)


if __name__ == "__main__":
    unittest.main()
