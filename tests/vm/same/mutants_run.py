# SPDX-License-Identifier: MIT
"""Guards of running, loading and keeping compounds, and of the device."""

from mutant import Mutant

MUTANTS: list[Mutant] = []
