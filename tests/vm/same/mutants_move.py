# SPDX-License-Identifier: MIT
"""Further guards of moving pages, views and specialised calls."""

from mutant import Mutant

MUTANTS: list[Mutant] = []
