"""Appraise many points in one call of the model, within a budget of calls."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from butfor.arrays import BoolArray, FloatArray, IntArray
from butfor.model.clearance import stays_clear
from butfor.problem.oracle import AbstractOracle
from butfor.problem.problem import Problem
from butfor.solvers.outcome import Stopped
from butfor.solvers.solver import Budget
from butfor.solvers.swarm.pricing import Pricing


class SpentError(Exception):
    """The budget allows no further call of the model. `why` says which limit was reached."""

    def __init__(self, why: Stopped) -> None:
        self.why = why
        super().__init__(why.words)


@dataclass(frozen=True, eq=False)
class Appraised:
    """What is known about some points.

    - `cost`: the cost of the point, infinite if it is not valid;
    - `distance`: how far it is from the target;
    - `first`, `second`: two numbers by which points are compared; `second` counts only if `first` is equal.
    """

    cost: FloatArray
    distance: FloatArray
    first: FloatArray
    second: FloatArray


@dataclass(eq=False)
class Appraiser:
    """Appraises points with the oracle, and counts its calls (`asked`).

    With `pull`, points are compared by `pull` times what they lack plus the cost.
    """

    problem: Problem
    oracle: AbstractOracle
    budget: Budget
    calls: float = np.inf
    pull: float | None = None
    asked: int = 0

    def __post_init__(self) -> None:
        self.pricing = Pricing(self.problem)

    def __call__(self, points: FloatArray, rows: IntArray) -> Appraised:
        """Appraise points as changes of the given rows. Raises `SpentError` if no further call is allowed."""
        if self.asked >= self.calls:
            raise SpentError(Stopped.CALLS)
        if self.budget.spent():
            raise SpentError(self.budget.stopped)
        self.asked += 1
        problem = self.problem
        response = self.oracle.ask(points, rows)
        price = self.pricing(points, rows)
        cost = price + response.offset
        broken = self.broken(points, rows)
        valid = response.met & (broken == 0) & np.isfinite(cost)
        if problem.demands.margin and valid.any():
            valid[valid] = stays_clear(
                problem.model, problem.space, points[valid], problem.score_sets, problem.demands.margin
            )
        cost = np.where(valid, cost, np.inf)
        if self.pull is not None:
            lacking = response.distance if response.lacking is None else response.lacking()
            return Appraised(cost, response.distance, broken, self.pull * lacking + price if self.pull else price)
        return Appraised(
            cost, response.distance, np.where(valid, -1.0, response.distance), np.where(valid, cost, broken)
        )

    def broken(self, points: FloatArray, rows: IntArray) -> FloatArray:
        """The number of relations and judged constraints that each point breaks."""
        problem, count = self.problem, np.zeros(len(points))
        for relation in problem.relations:
            count += ~relation.holds_between(problem.space, problem.factuals[rows], points)
        for constraint in problem.demands.judged:
            assert problem.witnesses.referee is not None
            count += ~constraint.admits(points, problem.witnesses.referee)
        return count


def ahead(first: FloatArray, second: FloatArray, of_first: FloatArray, of_second: FloatArray) -> BoolArray:
    """Where the first pair of numbers is at least as good as the second."""
    return np.asarray((first < of_first) | ((first == of_first) & (second <= of_second)))


def foremost(first: FloatArray, second: FloatArray) -> IntArray:
    """The position of the best pair in each row of two tables of numbers."""
    least = first.min(axis=1, keepdims=True)
    return np.asarray(np.argmin(np.where(first == least, second, np.inf), axis=1))
