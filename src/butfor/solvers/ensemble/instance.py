"""The question of one row, over all leaves of an ensemble."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from butfor.arrays import BoolArray, FloatArray
from butfor.solvers.ensemble import effort
from butfor.solvers.ensemble.leaves import LeafTable
from butfor.solvers.ensemble.limits import CellLimits


@dataclass(frozen=True, eq=False)
class Instance:
    """The question of one row: the cheapest cells whose leaves reach the goal.

    The cells of all features are numbered side by side.

    leaves: the leaves of the ensemble
    score (leaves, scores): what each leaf adds to each score
    goal (scores): what the scores must at least sum to
    firm (scores): sums from which on there is no doubt that the row is an answer
    price (cells): what each cell costs; infinite if the row cannot have it
    limits: what each cell counts towards limits
    """

    leaves: LeafTable
    score: FloatArray
    goal: FloatArray
    firm: FloatArray
    price: FloatArray
    limits: CellLimits

    def affordable(self, able: BoolArray, ceiling: float) -> BoolArray:
        """Those of the cells that a row below the ceiling may have."""
        price, start = np.where(able, self.price, np.inf), self.leaves.start
        least = np.minimum.reduceat(price, start[:-1])
        others = least.sum() - least
        return np.asarray(price + np.repeat(others, np.diff(start)) < ceiling)

    def nearby(self, able: BoolArray) -> Iterator[BoolArray]:
        """In a large ensemble, those of the cells that cost least beyond the cheapest of their feature, and then more of them."""
        start = self.leaves.start
        least = np.minimum.reduceat(self.price, start[:-1])
        if len(self.leaves.value) <= effort.NEAR_LEAVES or not np.isfinite(least).all():
            return
        beyond = self.price - np.repeat(least, np.diff(start))
        for radius in np.quantile(beyond[able], effort.NEAR_SHARES, method="lower").tolist():
            yield able & (beyond <= radius)
