"""Sums of scores that stay above a threshold by so many standard deviations of their own: second-order cones."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from butfor.arrays import FloatArray
from butfor.model.scores import AbstractConvex, Doubt


@dataclass(frozen=True, eq=False)
class Cone(AbstractConvex):
    """The scores with `rows[i] s - |rows[i, 0]| |spread s| >= b[i]` for each i.

    The first score is the estimator's. The others are `spread @ s`, whose norm is so many standard deviations of it. It is
    convex, because a norm is.

    - `rows` (inequalities, scores), `b` (inequalities), `spread` (parts, scores);
    - `unit`: what an excess of 1 is in scores, so that it is small for scores of any size;
    - `doubt`: how far from the edge rounding decides, in scores; `spare`: how far the edge was moved outwards, in units.
    """

    rows: FloatArray
    b: FloatArray
    spread: FloatArray
    unit: float
    doubt: float = 0.0
    spare: float = 0.0

    def excesses(self, scores: FloatArray) -> FloatArray:
        return np.asarray(self._short(scores).max(axis=1) - self.spare)

    def _short(self, scores: FloatArray) -> FloatArray:
        """By how much each row falls short of each inequality. It is rounded in the same way whatever the other rows are."""
        own = scores[:, : self.rows.shape[1]]
        parts, sums = (np.einsum("ij,sj->is", own, each) for each in (self.spread, self.rows))
        away = np.abs(self.rows[:, 0]) * np.linalg.norm(parts, axis=1, keepdims=True)
        return np.asarray((self.b - sums + away) / self.unit)

    def widened(self, doubt: Doubt) -> Cone:
        return self.relaxed(self._off(doubt))

    def tightened(self, doubt: Doubt) -> Cone:
        return self.relaxed(-self._off(doubt))

    def _off(self, doubt: Doubt) -> float:
        """How far from the edge rounding decides, in units."""
        each = doubt.scores[: self.rows.shape[1]]
        away = np.abs(self.rows[:, 0]) * np.linalg.norm(np.abs(self.spread) @ each)
        return float((np.abs(self.rows) @ each + away).max() + self.doubt) / self.unit

    def relaxed(self, by: float) -> Cone:
        return replace(self, spare=self.spare + by, doubt=0.0)

    def tangent(self, scores: FloatArray) -> tuple[FloatArray, float]:
        """That of the inequality that is missed most."""
        own = scores[: self.rows.shape[1]]
        i = int(np.argmax(self._short(scores[None])[0]))
        parts = self.spread @ own
        size = max(float(np.linalg.norm(parts)), np.finfo(np.float64).tiny)
        gradient = np.zeros_like(scores)
        gradient[: len(own)] = (np.abs(self.rows[i, 0]) * (self.spread.T @ parts) / size - self.rows[i]) / self.unit
        return -gradient, self.excess(scores) - float(gradient @ scores)
