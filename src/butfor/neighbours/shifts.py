"""The shifts that an adversary may choose from: a box around 0, and perhaps a round ball within it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from butfor.arrays import FloatArray
from butfor.neighbours.ball import Ball, BallNorm


@dataclass(frozen=True, eq=False)
class Shifts:
    """The shifts between `low` and `high`, in whole steps (step 0: any number). With a round `ball`, also within that."""

    low: FloatArray
    high: FloatArray
    step: FloatArray
    ball: Ball | None = None

    def most(self, slopes: FloatArray) -> FloatArray:
        """By how much each linear score (scores, features) may rise, if steps are not heeded."""
        risen = np.asarray(np.maximum(slopes * self.low, slopes * self.high).sum(axis=1))
        return risen if self.ball is None else np.minimum(risen, self.ball.loss(slopes))

    def brought_in(self, shift: FloatArray) -> FloatArray:
        """A shift near to another one that lies in the box, in the ball and on the grid."""
        whole = np.where(self.step > 0, self.step, 1.0)
        inside = np.where(self.step > 0, np.round(shift / whole) * whole, shift)
        inside = np.clip(inside, self.low, self.high)
        size = 1.0 if self.ball is None else float(self.ball.sizes(inside[None])[0])
        return np.asarray(inside / max(1.0, size))

    def parts(self, j: int, at: float) -> list[Shifts]:
        """What lies on both sides of a shift of feature `j` that is between two whole steps, or at one."""
        step = self.step[j]
        below, above = step * np.floor(at / step), step * np.ceil(at / step)
        ends = [(self.low[j], below), (above, self.high[j])]
        if below == above:
            ends = [(self.low[j], at - step), (at, at), (at + step, self.high[j])]
        return [self._between(j, low, high) for low, high in ends if low <= high]

    def _between(self, j: int, low: float, high: float) -> Shifts:
        lows, highs = self.low.copy(), self.high.copy()
        lows[j], highs[j] = low, high
        return replace(self, low=lows, high=highs)


def shifts_of(ball: Ball, point: FloatArray) -> Shifts:
    """The shifts of a ball around a point. What is missing there is not shifted."""
    radius = np.where(np.isnan(point), 0.0, ball.radius)
    round_ball = None if ball.norm is BallNorm.LINF else replace(ball, radius=radius)
    return Shifts(-radius, radius, ball.step, round_ball)


def shifts_into(low: FloatArray, high: FloatArray, point: FloatArray, step: FloatArray) -> Shifts:
    """The shifts from a point into a box."""
    known = ~np.isnan(point)
    x = np.where(known, point, 0.0)
    return Shifts(np.where(known, low - x, 0.0), np.where(known, high - x, 0.0), step)
