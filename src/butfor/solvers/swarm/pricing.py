"""Prices of many points at once. If they are sums of rates and tables, a compiled loop is used."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from butfor.arrays import FloatArray, IntArray
from butfor.problem.problem import Problem
from butfor.solvers.swarm.kernels import add_prices
from butfor.solvers.swarm.layout import RatesAndTables


@dataclass(frozen=True, eq=False)
class Pricing:
    """What points cost as changes of the rows of a problem."""

    problem: Problem

    def __call__(self, points: FloatArray, rows: IntArray) -> FloatArray:
        """The cost of each point as a change of its row."""
        if self._plain is None:
            return self.problem.prices.total(self.problem.factuals[rows], points)
        return np.asarray(add_prices(points, rows, self.problem.factuals, self._plain))

    @cached_property
    def _plain(self) -> RatesAndTables | None:
        """Rates and tables for the compiled loop; None if the prices have other parts."""
        prices = self.problem.prices
        if prices.calls or prices.has_linf or prices.Q is not None:
            return None
        features = len(self.problem.space)
        side = np.array([len(prices.tables.get(j, ())) for j in range(features)], dtype=np.intp)
        place = np.concatenate([[0], np.cumsum(side**2)])[:-1].astype(np.intp)
        table = np.concatenate([np.empty(0), *(prices.tables[j].ravel() for j in range(features) if side[j])])
        return RatesAndTables(prices.l0, prices.l1, prices.l2, prices.missing, place, side, table)
