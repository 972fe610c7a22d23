# SPDX-License-Identifier: MIT
"""How long random tests go on: for a number of steps, never for a time.  tests/scale.h is the same in C.

Long lists are shared among commits: each commit tests a share of them, the night all.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TypeVar

Item = TypeVar("Item")

_FACTORS = {"quick": 1 / 8, "test": 1, "nightly": 16}


def name() -> str:
    """Returns COSY_SCALE: quick, test or nightly."""
    scale = os.environ.get("COSY_SCALE") or "test"
    if scale not in _FACTORS:
        raise SystemExit(f"COSY_SCALE={scale}: neither {' nor '.join(_FACTORS)}")
    return scale


def steps(count: int) -> int:
    """Returns how many steps a random test makes, of which `count` are right for `make test`."""
    return max(1, int(count * _FACTORS[name()]))


def limit(seconds: float) -> float:
    """Returns how long a machine may take that may take `seconds` in `make test`."""
    return seconds * max(1, _FACTORS[name()])


def share(items: Sequence[Item], shares: int) -> Sequence[Item]:
    """Returns each `shares`th item from the one on that COSY_TURN chooses, a number by tests/run.py; all at night."""
    turn = int(os.environ.get("COSY_TURN") or "0")
    return items if name() == "nightly" else items[turn % shares :: shares]
