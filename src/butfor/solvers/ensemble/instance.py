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
        price = np.where(able, self.price, np.inf)
        least = self._least(price)
        return np.asarray(price + self._of_each_cell(least.sum() - least) < ceiling)

    def nearby(self, able: BoolArray) -> Iterator[BoolArray]:
        """In a large ensemble, those of the cells that cost least beyond the cheapest of their feature, and then more of them."""
        least = self._least(self.price)
        if len(self.leaves.value) <= effort.NEAR_LEAVES or not np.isfinite(least).all():
            return
        beyond = self.price - self._of_each_cell(least)
        for radius in np.quantile(beyond[able], effort.NEAR_SHARES, method="lower").tolist():
            yield able & (beyond <= radius)

    def _least(self, price: FloatArray) -> FloatArray:
        """The least price in each feature."""
        return np.minimum.reduceat(price, self.leaves.start[:-1])

    def _of_each_cell(self, of_features: FloatArray) -> FloatArray:
        """What is known of each feature, for each of its cells."""
        return np.repeat(of_features, np.diff(self.leaves.start))
