"""A ball around a row: shifts of numbers, in the norm and with the radius that the user chose, and slips of levels."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from itertools import product

import numpy as np

from butfor.arrays import BoolArray, FloatArray
from butfor.model.grid_points import shifted
from butfor.neighbours.places import Grids
from butfor.neighbours.slips import NO_SLIPS, Slips

STEP_ROUNDING = 1e-9
"""A radius that is less than a whole number of steps by so small a share of one counts as that number."""

TINY_SHARE = 1e-12
"""A shift that is smaller than this share of the radius has no direction."""


class BallNorm(StrEnum):
    """How the shifts of several features are measured together."""

    LINF = "linf"
    """The largest of them: a box."""
    L2 = "l2"
    """The root of the sum of their squares."""
    L1 = "l1"
    """Their sum."""

    def dual(self, slope: FloatArray) -> FloatArray:
        """The largest value of each linear function (functions, shares) of the shares of a radius: the dual norm."""
        size = np.abs(slope)
        if self is BallNorm.LINF:
            return np.asarray(size.sum(axis=1))
        return np.asarray(np.linalg.norm(size, axis=1) if self is BallNorm.L2 else size.max(axis=1, initial=0.0))


@dataclass(frozen=True, eq=False)
class Ball:
    """The shifts `s` with `||s / radius|| <= 1`. A feature of radius 0 keeps its value.

    - `radius` (features): in the units of each feature;
    - `step`, `anchor` (features): the grid of each feature, `anchor + step k` (step 0: any number). Shifts are whole
      multiples of the step;
    - `slips`: what levels may slip to beside any shift. They take nothing of the radius.
    """

    norm: BallNorm
    radius: FloatArray
    step: FloatArray
    anchor: FloatArray
    slips: Slips = NO_SLIPS

    @cached_property
    def grids(self) -> Grids:
        """The grids of the features that are shifted."""
        return Grids(np.where(self.radius > 0, self.step, 0.0), self.anchor)

    @cached_property
    def most(self) -> FloatArray:
        """By how many steps each feature on a grid may be shifted."""
        steps = np.divide(self.radius, self.step, out=np.zeros(len(self.step)), where=self.step > 0)
        return np.floor(steps + STEP_ROUNDING)

    def low(self, point: FloatArray) -> FloatArray:
        """The lowest value of each feature in the ball around a point."""
        return self._shifted(point, -self.radius, -self.most)

    def high(self, point: FloatArray) -> FloatArray:
        """The highest value of each feature in the ball around a point."""
        return self._shifted(point, self.radius, self.most)

    def _shifted(self, points: FloatArray, shift: FloatArray, steps: FloatArray) -> FloatArray:
        """Points that are shifted by so much, or by so many steps."""
        out = np.array(np.broadcast_to(points + shift, np.broadcast_shapes(points.shape, shift.shape, steps.shape)))
        for j in np.flatnonzero(self.step > 0).tolist():
            out[..., j] = shifted(points[..., j], steps[..., j], float(self.step[j]), float(self.anchor[j]))
        return out

    def loss(self, slope: FloatArray) -> FloatArray:
        """By how much each linear score may fall within the ball: the dual norm of its slopes (scores, features)."""
        return self.norm.dual(slope * self.radius)

    def worst_shift(self, slope: FloatArray) -> FloatArray:
        """The shift in the ball by which a linear score with these slopes falls most."""
        size = np.abs(slope) * self.radius
        if self.norm is BallNorm.LINF:
            share = np.ones(len(size))
        elif self.norm is BallNorm.L2:
            share = size / (np.linalg.norm(size) or 1.0)
        else:
            share = (np.arange(len(size)) == size.argmax()).astype(np.float64)
        return np.asarray(-np.sign(slope) * share * self.radius)

    def sizes(self, shifts: FloatArray) -> FloatArray:
        """How long each of some shifts (n, features) is, as a share of the radius."""
        moved = self.radius > 0
        share = np.abs(shifts[:, moved]) / self.radius[moved]
        if self.norm is BallNorm.LINF:
            return np.asarray(share.max(axis=1, initial=0.0))
        return np.asarray(share.sum(axis=1) if self.norm is BallNorm.L1 else np.linalg.norm(share, axis=1))

    def factor(self, shift: FloatArray, rest: FloatArray) -> float | None:
        """By how much a shift is multiplied to end on the edge of a round ball, together with `rest`, another shift.

        None if the shift is too small to have a direction.
        """
        size, other = self.sizes(np.stack([shift, rest])).tolist()
        if size < TINY_SHARE:
            return None
        left = max(0.0, 1 - other if self.norm is BallNorm.L1 else 1 - other**2)
        return float(left / size if self.norm is BallNorm.L1 else np.sqrt(left) / size)

    def holds(self, shifts: FloatArray) -> BoolArray:
        """Which shifts (n, features) lie in the ball."""
        return np.asarray(self.sizes(shifts) <= 1 + 4 * np.finfo(np.float64).eps)

    @property
    def count(self) -> float:
        """How many neighbours a row has at most in a box (infinite if a feature may take any number)."""
        moved = self.radius > 0
        if not (self.step[moved] > 0).all():
            return np.inf
        return float(np.prod(2 * self.most[moved] + 1)) * self.slips.count

    def around(self, points: FloatArray) -> FloatArray:
        """All neighbours (n, count, features) of rows in a box on a grid, each row itself first. Some may come twice."""
        moved = np.flatnonzero(self.radius > 0)
        every = np.array(list(product(*(np.arange(-k, k + 1) for k in self.most[moved]))))
        steps = np.zeros((len(every), len(self.radius)))
        steps[:, moved] = every[np.argsort(np.abs(every).sum(axis=1), kind="stable")]
        return self.slips.every(self._shifted(points[:, None], np.zeros(len(self.radius)), steps))

    def some_around(self, rng: np.random.Generator, points: FloatArray, count: int) -> FloatArray:
        """Random neighbours (n, count, features) of rows, half of them on the edge of the ball."""
        shifts = self.sample(rng, count)
        steps = np.divide(shifts, self.step, out=np.zeros(shifts.shape), where=self.step > 0).round()
        return self.slips.some(rng, self._shifted(points[:, None], shifts, steps))

    def sample(self, rng: np.random.Generator, count: int) -> FloatArray:
        """Random shifts of the ball, half of them on its edge."""
        moved = np.flatnonzero(self.radius > 0)
        drawn = rng.uniform(-1.0, 1.0, (count, len(moved)))
        drawn[::4] = np.sign(drawn[::4])
        if self.norm is not BallNorm.LINF and len(moved):
            size = np.linalg.norm(drawn, ord=2 if self.norm is BallNorm.L2 else 1, axis=1, keepdims=True)
            drawn /= np.where(np.arange(count)[:, None] % 2, np.maximum(size, 1.0), size)
        shifts = np.zeros((count, len(self.radius)))
        shifts[:, moved] = drawn * self.radius[moved]
        whole = np.flatnonzero(self.step > 0)
        shifts[:, whole] = np.trunc(shifts[:, whole] / self.step[whole]) * self.step[whole]
        return shifts
