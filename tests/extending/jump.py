"""A private cost: a price that jumps where a number moves far. It needs this file, and nothing in the package."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from butfor.arrays import FloatArray
from butfor.problem.costs import Term
from butfor.problem.prices import Prices
from butfor.space.space import Space


@dataclass(frozen=True)
class Jump(Term):
    """Each number that moves by more than a share of its range costs a fee, each other change nothing. Levels are free."""

    share: float
    fee: float = 1.0

    def add_to(self, prices: Prices, weight: float, space: Space) -> Prices:
        calls = {
            j: (weight * self.fee, partial(_far, self.share * feature.range))
            for j, feature in enumerate(space.features)
            if feature.levels is None
        }
        return prices.with_calls(calls)


def _far(least: float, before: float, after: FloatArray) -> FloatArray:
    return np.asarray(np.abs(after - before) > least, dtype=np.float64)
