"""The ball in which particles stay, as Kovalev and Utkin (arXiv 2006.16793, section 7) have it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from butfor.arrays import FloatArray
from butfor.solvers.swarm.hypercube import Hypercube
from butfor.solvers.swarm.layout import NUMBER


@dataclass(frozen=True, eq=False)
class BallOfCost:
    """Around each factual, the positions that cost at most `most` by squared prices, cut with the hypercube.

    `most` (n): the cost of the cheapest real row; infinite if there is none, and then only the hypercube is left.
    """

    cube: Hypercube
    most: FloatArray

    @cached_property
    def stretch(self) -> FloatArray:
        """By how much each coordinate of a number is stretched until the ball is round; 0 for other coordinates."""
        cube, out = self.cube, np.zeros(self.cube.size)
        numbers = np.flatnonzero(cube.kind == NUMBER)
        out[cube.first[numbers]] = np.sqrt(cube.problem.prices.l2[numbers]) * cube.width[numbers]
        return out

    def drawn(self, count: int, rng: np.random.Generator) -> FloatArray:
        """Positions drawn evenly from the ball, and restricted. The same numbers are drawn for every row."""
        cube, moving = self.cube, self.stretch > 0
        d = int(moving.sum())
        step = rng.standard_normal((count, d))
        step *= (rng.random(count) ** (1 / max(d, 1)) / np.linalg.norm(step, axis=1))[:, None]
        anywhere = rng.random((count, d))
        out = np.repeat(cube.home[:, None], count, axis=1)
        for row, most in enumerate(self.most):
            low, high = cube.lower[row, moving], cube.upper[row, moving]
            in_ball = cube.home[row, moving] + np.sqrt(most) * step / self.stretch[moving]
            out[row][:, moving] = in_ball if np.isfinite(most) else low + anywhere * (high - low)
        return self.restricted(out)

    def restricted(self, positions: FloatArray) -> FloatArray:
        """The restriction procedure: pull positions (n, particles, size) back to the sphere, and then into the hypercube.

        `z = x + min(|z - x|, R) (z - x) / |z - x|`, and each coordinate between its ends.
        """
        home = self.cube.home[:, None]
        gap = positions - home
        length = np.linalg.norm(gap * self.stretch, axis=2)
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.fmin(np.sqrt(self.most)[:, None] / length, 1.0)[:, :, None]
        back = np.where(self.stretch > 0, home + share * gap, positions)
        return np.clip(back, self.cube.lower[:, None], self.cube.upper[:, None])
