"""Step by step towards the target, each time by the push that comes nearest to it for what it costs."""

from __future__ import annotations

import numpy as np

from butfor.arrays import BoolArray, FloatArray, IntArray
from butfor.solvers.swarm.appraiser import Appraiser
from butfor.solvers.swarm.diverse import best_of_each
from butfor.solvers.swarm.hypercube import Hypercube
from butfor.solvers.swarm.pushes import Pushes

SHARES = 0.5 ** np.array([0.0, 1.0, 2.0, 3.0, 4.0, 6.0, 8.0])
"""Shares of what a number may be pushed."""

TRIED = 240
"""Pushes of one climber that are tried at once."""

AS_GOOD_AS_FREE = 1e-12
"""What costs less is as good as free."""

BATCH = 4_000_000
"""Coordinates of candidates that are held at once."""


class Climb:
    """Climbers, each from its own position, as a change of its row, by features `within` which it keeps, for less than `bar`.

    `toll` is the part of the bar that is no price of changes but what the target adds. `points` and `cost` are the cheapest
    valid one that each has passed (infinity: none).
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
        """At most so many steps: one question each for all climbers that still have something to spend."""
        going = np.arange(len(self.row))
        for _ in range(steps):
            going = going[(self.price[going] < self.most[going]) & (self.distance[going] > 0)]
            if not len(going):
                return
            going = self._step(going, rng.random(len(self.pushes.feature)), float(rng.uniform(0.7, 1.0)))

    def _step(self, going: IntArray, luck: FloatArray, stride: float) -> IntArray:
        """Try some pushes of each and make the best; who made one."""
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
        with np.errstate(invalid="ignore"):  # both may be infinitely far off
            gain = (self.distance[owner] - appraised.distance) / np.maximum(price - self.price[owner], AS_GOOD_AS_FREE)
        gain[(appraised.distance <= 0) | (price >= self.most[owner])] = 0.0
        best = best_of_each(owner, -gain)
        best = best[gain[best] > 0]
        whose = owner[best]
        self.positions[whose] = self.cube.encode(points[best], self.row[whose])
        self.price[whose], self.distance[whose] = price[best], appraised.distance[best]
        return whose

    def _affordable(self, going: IntArray, luck: FloatArray, stride: float) -> tuple[IntArray, FloatArray, FloatArray]:
        """Some pushes of some climbers that cost less than their bars: whose they are, the points, and the costs."""
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
