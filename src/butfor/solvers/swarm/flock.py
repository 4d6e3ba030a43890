"""The particles of all rows and what they have seen. This is the state of the search loop."""

from __future__ import annotations

import numpy as np

from butfor.arrays import BoolArray, FloatArray
from butfor.solvers.swarm.appraiser import Appraiser, ahead, foremost
from butfor.solvers.swarm.ball_of_cost import BallOfCost
from butfor.solvers.swarm.hypercube import Hypercube
from butfor.solvers.swarm.kernels import move, take_over, uniform_pair

BEST = 4
"""One in `BEST` particles counts as one of the best."""


class Flock:
    """The particles of n rows.

    - `positions`, `velocities` (n, particles, size): where they are and how they move;
    - `own` (n, particles, size), `first`, `second` (n, particles): each particle's best position, and how good it is;
    - `points` (n, particles, features), `cost` (n, particles): each particle's cheapest valid point;
    - `last_points`, `last_cost`: the same for the present positions.
    """

    def __init__(self, cube: Hypercube, positions: FloatArray, groups: int) -> None:
        n, particles, _ = positions.shape
        self.cube, self.groups = cube, min(groups, particles)
        self.positions, self.velocities = positions, np.zeros_like(positions)
        self.rows = np.repeat(np.arange(n), particles)
        self.own = positions.copy()
        self.first, self.second = np.full((n, particles), np.inf), np.full((n, particles), np.inf)
        self.points = np.full((n, particles, len(cube.kind)), np.nan)
        self.cost = np.full((n, particles), np.inf)
        self.last_points, self.last_cost = self.points, self.cost

    def look(self, appraiser: Appraiser) -> BoolArray:
        """Appraise the present positions. Returns which rows have a cheaper valid point than before."""
        shape = self.cost.shape
        flat = self.positions.reshape(len(self.rows), -1)
        points = self.cube.decode(flat, self.rows)
        appraised = appraiser(points, self.rows)
        first, second, cost = (part.reshape(shape) for part in (appraised.first, appraised.second, appraised.cost))
        better = ahead(first, second, self.first, self.second)
        cheaper = cost < self.cost
        before = self.cost.min(axis=1)
        take_over(better.ravel(), flat, self.own.reshape(flat.shape))
        take_over(cheaper.ravel(), points, self.points.reshape(points.shape))
        self.first, self.second = np.where(better, first, self.first), np.where(better, second, self.second)
        self.cost = np.where(cheaper, cost, self.cost)
        self.last_points, self.last_cost = points.reshape(*shape, -1), cost
        return np.asarray(self.cost.min(axis=1) < before)

    def step(
        self, rng: np.random.Generator, weights: FloatArray, draws: FloatArray, ball: BallOfCost | None = None
    ) -> None:
        """Move all particles. With a `ball`, they are pulled back into it, and nothing else stops them.

        The random numbers are the same for every row, so that an answer does not depend on the other rows.
        """
        particles, size = self.positions.shape[1:]
        unit = uniform_pair(rng.integers(2**63), particles, size)
        r1, r2 = (_between(table, *ends) for table, ends in zip(unit, draws[:2].tolist(), strict=True))
        r3 = draws[2, 0] + (draws[2, 1] - draws[2, 0]) * rng.random(particles)
        leaders = [
            g + self.groups * foremost(self.first[:, g :: self.groups], self.second[:, g :: self.groups])
            for g in range(self.groups)
        ]
        lead = np.stack([own[at] for own, at in zip(self.own, np.column_stack(leaders), strict=True)])
        mean = self._mean_of_best() if weights[3] else np.zeros(self.positions[:, 0].shape)
        lower, upper = self.cube.lower, self.cube.upper
        if ball is not None:
            lower, upper = np.full_like(lower, -np.inf), np.full_like(upper, np.inf)
        self.positions, self.velocities = move(
            self.positions, self.velocities, self.own, lead, mean, lower, upper, weights, r1, r2, r3
        )
        if ball is not None:
            self.positions = ball.restricted(self.positions)

    def _mean_of_best(self) -> FloatArray:
        count = max(1, self.first.shape[1] // BEST)
        rank = self.first + np.arctan(self.second) / 2  # one number that orders almost as the pair does
        order = np.argpartition(rank, count - 1, axis=1)[:, :count]
        return np.stack([own[at].mean(axis=0) for own, at in zip(self.own, order, strict=True)])


def _between(unit: FloatArray, low: float, high: float) -> FloatArray:
    """Turn numbers in [0, 1) into numbers in [low, high)."""
    return unit if (low, high) == (0.0, 1.0) else low + (high - low) * unit
