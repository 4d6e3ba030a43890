"""Half-spaces of the decisions of an oblique tree, one after the other: what is known on the way down a search."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from butfor.arrays import BoolArray, FloatArray
from butfor.model.scores import ScoreSet

THIN = 1e-12
"""What lies between two half-spaces is only rounding if it is thinner than this, relative to 1 + the size of their ends."""


@dataclass(frozen=True, eq=False)
class HeldGates:
    """The scores `s` of all decisions with `rows @ s >= ends` (`>` where `strict`)."""

    rows: FloatArray
    ends: FloatArray
    strict: BoolArray

    def also(self, row: FloatArray, end: float, *, strict: bool = False) -> HeldGates | None:
        """The same with one more. None if it surely contradicts one that is there."""
        same, against = (self.rows == row).all(axis=1), (self.rows == -row).all(axis=1)
        between = -self.ends[against] - end
        thin = THIN * (1 + abs(end))
        if (between < np.where(self.strict[against] | strict, thin, -thin)).any():
            return None
        if (self.ends[same] >= end).any() and not strict:
            return self
        keep = ~(same & (self.ends <= end))
        return HeldGates(
            np.vstack([self.rows[keep], row]), np.append(self.ends[keep], end), np.append(self.strict[keep], strict)
        )

    def score_set(self) -> ScoreSet:
        """As a set of scores."""
        return ScoreSet(self.rows, self.ends, self.strict)

    def raised(self, by: FloatArray) -> HeldGates:
        """The same, further inside by so much of each score."""
        return HeldGates(self.rows, self.ends + np.abs(self.rows) @ by, np.zeros_like(self.strict))


def all_space(scores: int) -> HeldGates:
    """No half-space at all."""
    return HeldGates(np.zeros((0, scores)), np.zeros(0), np.zeros(0, dtype=np.bool_))
