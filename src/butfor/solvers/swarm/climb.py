"""Climb step by step towards the target. Each step is the push that gains most for what it costs."""

from __future__ import annotations

import numpy as np

from butfor.arrays import BoolArray, FloatArray, IntArray
from butfor.solvers.swarm.appraiser import Appraiser
from butfor.solvers.swarm.diverse import best_of_each
from butfor.solvers.swarm.hypercube import BATCH, Hypercube
from butfor.solvers.swarm.pushes import Pushes

SHARES = 0.5 ** np.array([0.0, 1.0, 2.0, 3.0, 4.0, 6.0, 8.0])
"""The sizes of pushes, as shares of the largest possible push of a number."""

TRIED = 240
"""How many pushes of one climber are tried at once."""

AS_GOOD_AS_FREE = 1e-12
"""A smaller cost counts as nothing."""


class Climb:
    """Climbers. Each starts from its own position and looks for a valid point that is cheaper than its bar.

    - `row` (climbers): the row that the climber's point is a change of;
    - `positions` (climbers, size): where it is;
    - `bar` (climbers): its point must cost less than this;
    - `toll` (climbers): the part of the bar that is not the price of changes, but is added by the target;
    - `within` (climbers, features): the features that it may push.

    The result is in `points` and `cost`: the cheapest valid point that each climber has passed (cost infinite: none).
    """

    def __init__(
        self, cube: Hypercube, appraiser: Appraiser, row: IntArray, positions: FloatArray, bar: FloatArray,
        toll: FloatArray, within: BoolArray,
    ) -> None:  # fmt: skip
        self.cube, self.appraiser, self.row, self.within = cube, appraiser, row, within
        self.positions, self.bar, self.most = positions, bar, bar - toll
        here = cube.decode(positions, row)
        self.price, self.distance = appraiser.pricing(here, row), appraiser(here, row).distance
        self.points, self.cost = np.full(here.shape, np.nan), np.full(len(row), np.inf)
        self.pushes = Pushes.of(cube, SHARES)

    def run(self, steps: int, rng: np.random.Generator) -> None:
        """Take at most `steps` steps. Each is one call of the model for all climbers that can still spend something."""
        going = np.arange(len(self.row))
        for _ in range(steps):
            going = going[(self.price[going] < self.most[going]) & (self.distance[going] > 0)]
            if not len(going):
                return
            going = self._step(going, rng.random(len(self.pushes.feature)), float(rng.uniform(0.7, 1.0)))

    def _step(self, going: IntArray, luck: FloatArray, stride: float) -> IntArray:
        """Try some pushes of each climber and make the best one. Returns the climbers that made one."""
        many = max(1, BATCH // (TRIED * self.cube.size))
        parts = [self._affordable(going[at : at + many], luck, stride) for at in range(0, len(going), many)]
        owner, points, price = parts[0] if len(parts) == 1 else map(np.concatenate, zip(*parts, strict=True))
        if not len(owner):
            return going[:0]
        appraised = self.appraiser(points, self.row[owner])
        best = best_of_each(owner, appraised.cost)
        best = best[appraised.cost[best] < self.bar[owner[best]]]
        whose = owner[best]
        self.points[whose], self.cost[whose] = points[best], appraised.cost[best]
        self.bar[whose], self.most[whose] = appraised.cost[best], price[best]
        with np.errstate(invalid="ignore"):  # both distances may be infinite
            gain = (self.distance[owner] - appraised.distance) / np.maximum(price - self.price[owner], AS_GOOD_AS_FREE)
        gain[(appraised.distance <= 0) | (price >= self.most[owner])] = 0.0
        best = best_of_each(owner, -gain)
        best = best[gain[best] > 0]
        whose = owner[best]
        self.positions[whose] = self.cube.encode(points[best], self.row[whose])
        self.price[whose], self.distance[whose] = price[best], appraised.distance[best]
        return whose

    def _affordable(self, going: IntArray, luck: FloatArray, stride: float) -> tuple[IntArray, FloatArray, FloatArray]:
        """Some pushes below their climbers' bars: their climbers, their points and their prices."""
        cube, row, spare = self.cube, self.row[going], (self.most - self.price)[going]
        able = self.pushes.able(cube, row) & self.within[going][:, self.pushes.feature]
        drawn = np.argsort(np.where(able, luck, 2.0), axis=1)[:, :TRIED]
        at, column = np.nonzero(np.take_along_axis(able, drawn, axis=1))
        reach = stride * cube.reach(spare)
        pushed = self.pushes.pushed(cube, row, self.positions[going], reach, at, drawn[at, column])
        owner, rows = going[at], row[at]
        points = cube.decode(pushed, rows)
        price = self.appraiser.pricing(points, rows)
        worth = price < self.most[owner] - AS_GOOD_AS_FREE * (1 + self.most[owner])
        return (owner, points, price) if worth.all() else (owner[worth], points[worth], price[worth])
