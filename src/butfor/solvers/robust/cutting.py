"""The one loop that finds and proves robust answers: the cheapest row that may be one, a judge, and what is learned from it.

(Mutapcic and Boyd, "Cutting-set methods for robust convex optimization", 2009.) What is learned differs. Sums of trees learn
replies and boxes of rows that fail, networks learn shifts, oblique trees part the rows along planes, and round balls of sums of
trees keep out of zones.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from butfor.arrays import FloatArray
from butfor.log import LOG
from butfor.model.scores import ScoreSet
from butfor.problem.problem import Problem
from butfor.solvers.combine import SetAnswer
from butfor.solvers.outcome import Stopped, to_beat
from butfor.solvers.robust.bring_back import better
from butfor.solvers.solver import Budget

Cheapest = Callable[[Problem, ScoreSet, float, Budget], SetAnswer]
"""Finds the cheapest row of a problem without a ball, if one costs less than an upper bound."""


class OutOfTimeError(Exception):
    """The time ended before a ball was judged. Nothing may be said of it."""


class AbstractCutting(ABC):
    """A search for the cheapest row whose ball lies in one set of scores.

    `solve` is the loop. A kind of model says how to begin, which row costs least of those that may be robust, what is
    learned about that row, and whether a row is robust.

    - `best`, `bound`: the best answer, and what any robust row costs at least;
    - `rounds`: how often the cheapest row was asked for;
    - `until`: when the time of judges ends.

    When `solve` is called again, it goes on from what is known.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.best, self.bound, self.rounds, self.until = SetAnswer(None, np.inf, 0.0), 0.0, 0, np.inf

    @abstractmethod
    def begin(self, upper: float, budget: Budget) -> None:
        """Look for a first answer, and learn from it. It is called once per turn."""

    @abstractmethod
    def cheapest_left(self, ceiling: float, budget: Budget) -> SetAnswer:
        """The cheapest row that may be robust by all that was learned, if one costs less than a ceiling.

        Its `bound` is about all robust rows below the ceiling.
        """

    @abstractmethod
    def learn(self, found: SetAnswer, upper: float, budget: Budget) -> bool:
        """Judge the row that was found. It becomes the best answer, or never comes again. Whether to go on.

        Raises `OutOfTimeError` if the time ends before it was judged.
        """

    @abstractmethod
    def is_robust(self, point: FloatArray) -> bool:
        """Whether it is known that no neighbour of a point misses the target."""

    def is_full(self) -> bool:
        """Whether so much was learned that no more can be."""
        return False

    def solve(self, upper: float, budget: Budget) -> SetAnswer:
        """Go on until the answer is proven, or the time ends."""
        self.until = budget.until
        try:
            stopped = self._cut(upper, budget)
        except OutOfTimeError:
            stopped = Stopped.TIME
        return replace(self.best, bound=min(self.bound, self.best.cost), stopped=budget.stopped or stopped)

    def _cut(self, upper: float, budget: Budget) -> Stopped:
        """The loop. What costs least of all rows that may be robust is the answer, once it is robust."""
        self.begin(upper, budget)
        while not budget.spent() and not self.is_full():
            ceiling, self.rounds = min(upper, self.best.cost), self.rounds + 1
            found = self.cheapest_left(ceiling, budget)
            self.bound = max(self.bound, min(found.bound, ceiling))
            tell_round(self.rounds, self.bound, self.best.cost)
            if found.stopped:
                return found.stopped
            if found.point is None or is_closed(self.bound, ceiling) or not self.learn(found, upper, budget):
                break
        return Stopped.DONE if self.bound >= to_beat(min(upper, self.best.cost)) else Stopped.EFFORT

    def better(self, point: FloatArray, best: SetAnswer) -> SetAnswer | None:
        """A point as a better answer than another, if it is known to be one."""
        return better(self.problem, point, best, self.is_robust)

    def take(self, point: FloatArray) -> bool:
        """Keep a point as the best answer, if it is one."""
        found = self.better(point, self.best)
        self.best = found or self.best
        return found is not None


def tell_round(number: int, bound: float, cost: float) -> None:
    """One more round is over: no robust answer costs less than `bound`, and the best so far costs `cost`."""
    LOG.debug("robust answer, round %d: %.6g is the best so far, and none costs less than %.6g", number, cost, bound)


def is_closed(bound: float, ceiling: float) -> bool:
    """Whether a bound proves that no row is better than one that costs the ceiling."""
    return bound >= to_beat(ceiling, 1 / 2)
