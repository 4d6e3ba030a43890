"""What became of the claims of some answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

REFUSED = "a row that the estimator refuses may be accepted within the rounding of its sums"
BESIDE = (
    "numbers beside what floats hold, such as next to a point of a grid, count as admissible, and cost a little less"
)
BEYOND_OTHER_END = "a cheaper row reaches the end that the row misses, and goes beyond the other one"
"""Why a claim is not proven, or less of it."""


@dataclass(frozen=True)
class Proven:
    """What became of the claim of one answer.

    - `name`: the answer;
    - `file`: the file of its proof; None if there is none;
    - `below`: no admissible row costs less; infinite if there is none at all, 0 if nothing is proven;
    - `words`: what the checker says, or why nothing is proven;
    - `near`: the file of the proof that a robust answer keeps what is wanted in its whole box; None if there is none;
    - `less`: why less is proven than was claimed; empty if that is not so.
    """

    name: str
    file: Path | None
    below: float
    words: str
    near: Path | None = None
    less: str = ""

    @property
    def verified(self) -> bool:
        """Whether there is a proof, which the checker accepted."""
        return self.file is not None


@dataclass(frozen=True, eq=False)
class Proofs(Sequence[Proven]):
    """The proofs of answers in a folder. Print it to see what is proven."""

    folder: Path
    each: tuple[Proven, ...]

    def __len__(self) -> int:
        return len(self.each)

    def __getitem__(self, index: Any) -> Any:
        return self.each[index]

    @property
    def verified(self) -> int:
        """How many answers have a proof."""
        return sum(one.verified for one in self.each)

    def __repr__(self) -> str:
        reasons: dict[str, int] = {}
        for one in self.each:
            if not one.verified:
                reasons[one.words] = reasons.get(one.words, 0) + 1
        told = [f"  {count} not proven: {why}" for why, count in reasons.items()]
        less = Counter(one.less for one in self.each if one.less)
        told = [*(f"  {count} of them to less than was claimed: {why}" for why, count in less.items()), *told]
        if near := sum(one.near is not None for one in self.each):
            told.append(f"  {near} are proven to keep what is wanted in their whole box")
        return "\n".join([f"{self.verified} of {len(self)} answers are proven, in {self.folder}", *told])
