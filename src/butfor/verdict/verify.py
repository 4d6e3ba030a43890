"""What the estimator and the constraints themselves say of the answers: never a solver's word."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from butfor.arrays import BoolArray, FloatArray, IntArray
from butfor.formulation.plausibility import Likenesses
from butfor.importers.read import Reading
from butfor.problem.problem import Problem
from butfor.problem.question import Asked
from butfor.problem.targets.target import Prediction
from butfor.solvers.solver import TOLERANCE, Outcome
from butfor.space import frames
from butfor.verdict.constraints import Moves, all_kept

CHECKS = ("the model predicts {target}", "all constraints hold", "the cost is as claimed")


@dataclass(frozen=True, eq=False)
class Verdict:
    """Of each answer: the checks passed, the cost, the prediction."""

    passed: BoolArray
    cost: FloatArray
    after: list[Any]


@dataclass(frozen=True, eq=False)
class Bench:
    """Where answers to one question are judged: every point is predicted, checked against the constraints and priced again."""

    reading: Reading
    likenesses: Likenesses
    asked: Asked
    factuals: FloatArray
    before: Prediction

    def rows(self, chosen: IntArray) -> Bench:
        """The bench for some of the rows."""
        return replace(self, factuals=self.factuals[chosen], before=self.before.take(chosen))

    def judge(self, outcome: Outcome) -> Verdict:
        """What holds of each answer."""
        at = np.flatnonzero(outcome.found())
        passed = np.ones((len(outcome.row), len(CHECKS)), dtype=np.bool_)
        cost, after = outcome.cost.copy(), [None] * len(outcome.row)
        if not len(at):
            return Verdict(passed, cost, after)
        rows, points = outcome.row[at], outcome.points[at]
        start, asked = self.factuals[rows], self.asked
        table = frames.take(self.before.table, rows)
        said = Prediction(self.reading.source, self.reading.space.decode(points, table, start))
        moves = Moves(start, points, self.before.take(rows), said)
        passed[at, 0] = asked.target.met(moves.before, said)
        passed[at, 1] = all_kept(asked.constraints, moves, self.reading, self.likenesses, asked.target)
        cost[at] = asked.prices.total(start, points) + asked.target.offsets(said, len(at))
        passed[at, 2] = np.abs(outcome.cost[at] - cost[at]) <= TOLERANCE * (1 + np.abs(cost[at]))
        for i, answer in zip(at, asked.target.said(said), strict=True):
            after[i] = answer
        return Verdict(passed, cost, after)

    def already(self, rows: IntArray, problem: Problem) -> BoolArray:
        """Which rows of a problem meet the target as they are, at no cost and against no constraint."""
        target, some = self.asked.target, self.before.take(rows)
        met = target.met(some, some)
        if not met.any() or target.offsets(some, len(rows)).any() or problem.judged_apart or problem.pool:
            return np.zeros(len(rows), dtype=np.bool_)
        return met & problem.admits(problem.factuals)
