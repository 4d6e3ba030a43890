"""The search for the cheapest row of an ensemble whose cells leave something to decide."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np

from butfor.arrays import FloatArray, IntArray
from butfor.solvers.combine import SetAnswer
from butfor.solvers.ensemble.instance import Instance
from butfor.solvers.ensemble.search import LeafSearch
from butfor.solvers.outcome import Stopped, tolerated
from butfor.solvers.solver import Budget


class Inside(NamedTuple):
    """What is known about the rows of some cells: the cheapest answer that was found, its cost, and a bound."""

    point: FloatArray | None
    cost: float
    bound: float

    @property
    def proven(self) -> bool:
        """Whether the answer costs no more than the bound."""
        return self.cost <= self.bound + tolerated(self.bound) / 4


NOTHING = Inside(None, np.inf, np.inf)


class AbstractCellSearch(ABC):
    """The search for one row, for a point that is cheaper than `upper`. `value` (cells) is the cheapest value of each cell.

    `settled` is the least bound of the cells that were looked into: what is left there is within a tolerance, unless
    rounding hides an answer, or the time ended.
    """

    def __init__(self, question: Instance, value: FloatArray, upper: float) -> None:
        self.question, self.value = question, value
        self.search = LeafSearch(question, upper, self._confirmed)
        self.best, self.settled = NOTHING, np.inf
        self.known: dict[bytes, Inside] = {}

    @abstractmethod
    def inside(self, cells: IntArray) -> Inside:
        """What is known of the rows of some cells."""

    def run(self, budget: Budget) -> SetAnswer:
        """Search until the best row is proven or the budget is spent."""
        self.budget, search = budget, self.search
        search.run(budget)
        if search.best is not None and search.best.tobytes() not in self.known:  # it was beyond doubt
            self.best = Inside(self.value[search.best], search.upper, search.upper)
        bound = min(search.lower, self.settled)
        stopped = budget.stopped if bound < min(self.best.cost, search.upper) else Stopped.DONE
        return SetAnswer(self.best.point, self.best.cost, min(bound, self.best.cost), stopped)

    def _confirmed(self, cells: IntArray) -> bool:
        """Whether the cheapest values of the cells are an answer. If other values are, it is kept, too."""
        key = cells.tobytes()
        if key not in self.known:
            self.known[key] = self.inside(cells)
        found = self.known[key]
        self.settled = min(self.settled, found.bound)
        if found.cost < self.best.cost:
            self.best = found
        price = float(self.question.price[cells].sum())
        if found.cost <= price + tolerated(price) / 4:
            return True
        self.search.upper = min(self.search.upper, found.cost)
        return False
