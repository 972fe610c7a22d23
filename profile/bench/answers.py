# SPDX-License-Identifier: MIT
"""What was predicted of programs and what came of it; the page of docs/measured that shows it."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
TOP = HERE.parents[1]
sys.path[:0] = [str(TOP / "bench"), str(TOP / "run/bench")]

import versions  # noqa: E402  (bench/ is no package)
from report import narrow, table  # noqa: E402

PAGE = "predictions.md"
TITLE = "# Predicted and measured"
CLEAR = 5  # per cent of the processor time from which on a direction counts
WORSE = 2  # per cent that advice may cost


@dataclass
class Answer:
    """What was said of one program and what came of it; in per cent of its processor time."""

    name: str
    command: str
    calls: int
    low: int
    high: int
    measured: int
    noise: int
    within: bool
    plain_ms: float
    advised: bool

    @property
    def clear(self) -> bool:
        return abs(self.measured) > max(CLEAR, self.noise)

    @property
    def direction(self) -> bool:
        """Whether it went the way that was said, where it went anywhere clearly."""
        return not self.clear or self.advised == (self.measured > 0)

    @property
    def harmful(self) -> bool:
        return self.advised and self.measured + self.noise < -WORSE


def percent(part: float) -> int:
    """Returns whole per cent, within 100: what costs more than twice the time is not told apart."""
    return max(-100, min(100, round(100 * part)))


def judged(answers: list[Answer]) -> str:
    """Returns a paragraph that counts them."""
    total = len(answers)
    within = sum(one.within for one in answers)
    clear = [one for one in answers if one.clear]
    return (
        f"Within the range: {within} of {total}, {100 * within // max(total, 1)} % (the aim is 80). Where more than "
        f"{CLEAR} % and the noise were measured, the direction was right in {sum(one.direction for one in clear)} of "
        f"{len(clear)}. Advised, and then worse by more than {WORSE} % and the noise: "
        f"{sum(one.harmful for one in answers)}."
    )


def section_write(docs: Path, heading: str, paragraphs: list[str]) -> None:
    """Writes a section of the page, in the place of its earlier text, or as the last one."""
    path = docs / PAGE
    parts = (path.read_text() if path.exists() else TITLE).strip().split("\n\n## ")
    text = narrow("\n\n".join(paragraphs)).strip()
    mine = [at for at, part in enumerate(parts) if at and part.startswith(f"{heading}\n")]
    if mine:
        parts[mine[0]] = f"{heading}\n\n{text}"
    else:
        parts.append(f"{heading}\n\n{text}")
    path.write_text("\n\n## ".join(parts) + "\n")


__all__ = ["HERE", "TOP", "Answer", "judged", "percent", "section_write", "table", "versions"]
