"""What the estimator and the constraints themselves say of the answers: never a solver's word."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from butfor.arrays import BoolArray, FloatArray, IntArray
from butfor.estimator.prediction import Prediction
from butfor.problem.constraints.constraint import Changes, all_hold
from butfor.problem.constraints.restrictions import admissible
from butfor.problem.problem import Problem
from butfor.problem.question import Question
from butfor.problem.referee import Referee
from butfor.solvers.outcome import TOLERANCE, Outcome
from butfor.space import frames

PREDICTION, CONSTRAINTS, COST = 0, 1, 2
"""The checks of an answer, by their columns."""

CHECKS = {
    PREDICTION: "the model predicts {target}",
    CONSTRAINTS: "all constraints hold",
    COST: "the cost is as claimed",
}


@dataclass(frozen=True, eq=False)
class Verdict:
    """For each answer: the checks passed (a column per `CHECKS`), the cost, what the estimator says of it."""

    passed: BoolArray
    cost: FloatArray
    after: list[Any]

    def failed(self, check: int) -> BoolArray:
        """Which answers failed a check."""
        return np.asarray(~self.passed[:, check])


@dataclass(frozen=True, eq=False)
class Verifier:
    """Answers to one question are predicted, checked against the constraints and priced again."""

    question: Question
    referee: Referee
    factuals: FloatArray
    before: Prediction

    def take(self, rows: IntArray) -> Verifier:
        """The same for some of the rows."""
        return replace(self, factuals=self.factuals[rows], before=self.before.take(rows))

    def verify(self, outcome: Outcome) -> Verdict:
        """What holds of each answer."""
        at = np.flatnonzero(outcome.found())
        passed = np.ones((len(outcome), len(CHECKS)), dtype=np.bool_)
        cost, after = outcome.cost.copy(), [None] * len(outcome)
        if not len(at):
            return Verdict(passed, cost, after)
        target, prices = self.question.target, self.question.prices
        changes = self._changes(outcome.row[at], outcome.points[at])
        passed[at, PREDICTION] = target.met(changes.before, changes.after)
        passed[at, CONSTRAINTS] = respected(self.question, changes, self.referee)
        cost[at] = prices.total(changes.start, changes.points) + target.offsets(changes.after, len(at))
        passed[at, COST] = np.abs(outcome.cost[at] - cost[at]) <= TOLERANCE * (1 + np.abs(cost[at]))
        for i, output in zip(at, target.outputs(changes.after), strict=True):
            after[i] = output
        return Verdict(passed, cost, after)

    def already(self, rows: IntArray, problem: Problem) -> BoolArray:
        """Which rows of a problem meet the target as they are, at no cost and against no constraint."""
        target, some = self.question.target, self.before.take(rows)
        met = target.met(some, some)
        if not met.any() or target.offsets(some, len(rows)).any() or self.question.judged or problem.pool:
            return np.zeros(len(rows), dtype=np.bool_)
        return met & problem.admits(problem.factuals)

    def _changes(self, rows: IntArray, points: FloatArray) -> Changes:
        """Points as changes of rows, predicted by the estimator in the user's own kind of table."""
        reading, start = self.referee.reading, self.factuals[rows]
        table = reading.space.decode(points, frames.take(self.before.table, rows), start)
        return Changes(start, points, self.before.take(rows), Prediction(reading.source, table))


def respected(question: Question, changes: Changes, referee: Referee) -> BoolArray:
    """Which changes keep every constraint, each judged by its own rule, and the values that columns take."""
    inside = admissible(referee.space, changes.start, question.constraints).admits(changes.points)
    return inside & all_hold(question.constraints, changes, referee)
