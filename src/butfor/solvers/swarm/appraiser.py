"""What points are worth: judged together, one question to the model each time, within a budget of questions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from butfor.arrays import BoolArray, FloatArray, IntArray
from butfor.formulation.clearance import keeps
from butfor.problem.constraints.relations import Plausible
from butfor.problem.oracle import AbstractOracle
from butfor.problem.problem import JUDGED_APART, Problem
from butfor.solvers.solver import Budget
from butfor.solvers.swarm.pricing import Pricing


class SpentError(Exception):
    """The budget does not allow another question."""


@dataclass(frozen=True, eq=False)
class Appraised:
    """Some points: what the valid ones cost (the others infinity), how far off the target each is, and by which two numbers they
    are compared, the first one first.
    """

    cost: FloatArray
    distance: FloatArray
    first: FloatArray
    second: FloatArray


@dataclass(eq=False)
class Appraiser:
    """Asks the oracle and counts. With `pull`, points are compared by `pull` times the distance plus the cost."""

    problem: Problem
    oracle: AbstractOracle
    budget: Budget
    calls: float = np.inf
    pull: float | None = None
    asked: int = 0

    def __post_init__(self) -> None:
        self.pricing = Pricing(self.problem)

    def __call__(self, points: FloatArray, rows: IntArray) -> Appraised:
        """What the points are worth as changes of these rows; `SpentError` if they may not be asked about."""
        if self.asked >= self.calls or self.budget.spent():
            raise SpentError
        self.asked += 1
        problem = self.problem
        heard = self.oracle.ask(points, rows)
        price = self.pricing(points, rows)
        cost = price + heard.offset
        broken = self.broken(points, rows)
        valid = heard.met & (broken == 0) & np.isfinite(cost)
        if problem.margin and valid.any():
            valid[valid] = keeps(problem.model, problem.space, points[valid], problem.sets, problem.margin)
        cost = np.where(valid, cost, np.inf)
        if self.pull is not None:
            return Appraised(cost, heard.distance, broken, self.pull * -np.expm1(-heard.distance) + price)
        return Appraised(cost, heard.distance, np.where(valid, -1.0, heard.distance), np.where(valid, cost, broken))

    def broken(self, points: FloatArray, rows: IntArray) -> FloatArray:
        """How many relations each point breaks, a margin aside."""
        problem, count = self.problem, np.zeros(len(points))
        for relation in problem.relations:
            if isinstance(relation, Plausible):
                count += ~self.oracle.plausible(relation, points)
            elif not isinstance(relation, JUDGED_APART):
                count += ~relation.met(problem.space, problem.factuals[rows], points)
        return count


def ahead(first: FloatArray, second: FloatArray, of_first: FloatArray, of_second: FloatArray) -> BoolArray:
    """Where the first pair of numbers is better than the second, or as good."""
    return np.asarray((first < of_first) | ((first == of_first) & (second <= of_second)))


def foremost(first: FloatArray, second: FloatArray) -> IntArray:
    """The position of the best in each row of two tables of numbers."""
    least = first.min(axis=1, keepdims=True)
    return np.asarray(np.argmin(np.where(first == least, second, np.inf), axis=1))
