"""Half-spaces of the decisions of an oblique tree, one after the other: what is known on the way down a search."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from butfor.arrays import BoolArray, FloatArray
from butfor.model.scores import ScoreSet

THIN = 1e-12
"""What lies between two half-spaces is only rounding if it is thinner than this share of what shifts can change there."""


@dataclass(frozen=True, eq=False)
class HeldGates:
    """The scores `s` of all decisions with `rows @ s >= ends` (`>` where `strict`).

    `changed` (scores): by how much shifts can change each at most. It is the unit of `THIN`, as decisions have none.
    """

    rows: FloatArray
    ends: FloatArray
    strict: BoolArray
    changed: FloatArray

    def also(self, row: FloatArray, end: float, *, strict: bool = False) -> HeldGates | None:
        """The same with one more. None if it surely contradicts one that is there."""
        same, against = (self.rows == row).all(axis=1), (self.rows == -row).all(axis=1)
        between = -self.ends[against] - end
        thin = THIN * float(np.abs(row) @ self.changed)
        if np.where(self.strict[against] | strict, between <= thin, between < -thin).any():
            return None
        if (self.ends[same] >= end).any() and not strict:
            return self
        keep = ~(same & (self.ends <= end))
        rows, ends = np.vstack([self.rows[keep], row]), np.append(self.ends[keep], end)
        return replace(self, rows=rows, ends=ends, strict=np.append(self.strict[keep], strict))

    def score_set(self) -> ScoreSet:
        """As a set of scores."""
        return ScoreSet(self.rows, self.ends, self.strict)

    def raised(self, by: FloatArray) -> HeldGates:
        """The same, further inside by so much of each score."""
        return replace(self, ends=self.ends + np.abs(self.rows) @ by, strict=np.zeros_like(self.strict))


def all_space(changed: FloatArray) -> HeldGates:
    """No half-space at all."""
    return HeldGates(np.zeros((0, len(changed))), np.zeros(0), np.zeros(0, dtype=np.bool_), changed)
