"""A sum of trees and a ball: who of the neighbours misses the target, and problems without a ball that say something of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from butfor.arrays import BoolArray, FloatArray
from butfor.formulation.margins import tightened, widened
from butfor.model.scores import ScoreSet, at_least, everything
from butfor.model.side_by_side import side_by_side
from butfor.model.trees import Trees
from butfor.neighbours.ball import Ball
from butfor.neighbours.trees.counterpart import counterpart, in_rows
from butfor.neighbours.trees.negative_box import NegativeBox, keeping_out, out_of_leaves, own_cells
from butfor.neighbours.trees.regions import regions
from butfor.neighbours.trees.reply import reply
from butfor.neighbours.worst import worst_neighbours
from butfor.problem.oracle import Always
from butfor.problem.problem import Problem
from butfor.solvers.combine import SetAnswer
from butfor.solvers.robust.cutting import Cheapest, OutOfTimeError
from butfor.solvers.solver import Budget


class Missed(NamedTuple):
    """A neighbour that misses an inequality.

    - `row`, `least`: the sum `row @ scores` must not fall below `least`;
    - `neighbour`: where it does, or where the estimator says so, because rounding decides;
    - `below`: whether it does.
    """

    row: FloatArray
    least: float
    neighbour: FloatArray
    below: bool


@dataclass(frozen=True, eq=False)
class TreesInBall:
    """A sum of trees whose scores must lie in one set, everywhere in a ball around the only row's answer."""

    cheapest: Cheapest
    problem: Problem
    score_set: ScoreSet
    ball: Ball
    model: Trees

    @cached_property
    def wide(self) -> ScoreSet:
        """The scores that the estimator may accept, however it rounds."""
        return widened(self.score_set, self.problem)

    @cached_property
    def sure(self) -> ScoreSet:
        """The scores that the estimator accepts, however it rounds."""
        return tightened(self.score_set, self.problem)

    # ----------------------------------------------------------------------------------------------------------- judges

    def any_missed(self, point: FloatArray, until: float) -> FloatArray | None:
        """A neighbour of a point that surely misses an inequality, if there is one."""
        least = self.wide.b.tolist()
        worst = worst_neighbours(self.model, self.score_set.A, point, self.ball, least, until)
        return next((found.point for found, b in zip(worst, least, strict=True) if found.score < b), None)

    def missed(self, point: FloatArray, least: FloatArray, until: float) -> list[Missed]:
        """The inequalities that a neighbour of a point misses.

        Where rounding decides about the worst neighbour, the estimator is asked. What it says holds for the same leaves.
        Raises `OutOfTimeError` if the time ends before that is known.
        """
        worst = worst_neighbours(self.model, self.score_set.A, point, self.ball, until=until)
        if any(np.isnan(found.score) for found in worst):
            raise OutOfTimeError
        of_neighbours = self.problem.of_neighbours()
        return [
            Missed(row, b, found.point, found.score < b)
            for row, found, b in zip(self.score_set.A, worst, least.tolist(), strict=True)
            if found.score < b or not of_neighbours.meets(self.score_set, found.point)
        ]

    def is_robust(self, point: FloatArray, until: float) -> bool:
        """Whether it is known that no neighbour of a point misses the target."""
        try:
            return self.any_missed(point, until) is None and not self.missed(point, self.wide.b, until)
        except OutOfTimeError:
            return False

    def failing(self, point: FloatArray, least: FloatArray, until: float) -> tuple[list[Trees], list[NegativeBox]]:
        """A reply for each sum that falls below `least` near a point. Where rounding decides, the rows that fail instead."""
        replies, boxes = list[Trees](), list[NegativeBox]()
        for missed in self.missed(point, least, until):
            if missed.below:
                replies.append(reply(self.model, missed.row, self.ball, point, missed.neighbour))
            else:
                leaves = regions(self.model, missed.row, missed.neighbour)
                boxes.append(own_cells(self.model, leaves, missed.neighbour))
        return replies, boxes

    # --------------------------------------------------------------------------------------------- problems without a ball

    def counterpart(self, upper: float, budget: Budget) -> SetAnswer:
        """The cheapest row that surely stays valid: each tree gives its smallest leaf within the box."""
        lacking = frozenset(j for j, feature in enumerate(self.problem.space) if feature.missing)
        model = counterpart(self.model, self.score_set.A, self.ball, lacking)
        if model is None:
            return SetAnswer(None, np.inf, 0.0)
        return self.cheapest(self._over(model, Always(False)), _plain(self.sure, len(self.sure.A)), upper, budget)

    def under(self, copies: Sequence[Trees], boxes: Sequence[NegativeBox], upper: float, budget: Budget) -> SetAnswer:
        """The cheapest row that may meet the target under some replies, and of which no neighbour is in the boxes.

        It bounds all robust rows.
        """
        wide, rows = self.wide, [in_rows(copy, self.score_set.A) for copy in copies]
        b, strict = np.tile(wide.b, len(rows)), np.tile(wide.strict, len(rows))
        if boxes:
            rows.append(keeping_out(boxes, self.ball, self.model))
            b, strict = np.append(b, -0.5), np.append(strict, False)
        problem = self._over(side_by_side(rows[0], rows[1:]), Always(True))
        return self.cheapest(problem, _plain(replace(wide, b=b, strict=strict), len(b)), upper, budget)

    def clear_of_leaves(self, upper: float, budget: Budget) -> SetAnswer:
        """For one tree: the cheapest row of which no neighbour is in a leaf that misses the target. Nothing is left to learn."""
        scores = self.model.base + self.model.value[[leaf.node for leaf in self.model.leaves]]
        doubt = self.problem.doubt(self.score_set)
        perhaps, surely = self.score_set.perhaps(scores, doubt), self.score_set.surely(scores, doubt)
        lowest = self._clear_of(~perhaps, upper, budget)
        if np.array_equal(perhaps, surely):
            return lowest
        return replace(self._clear_of(~surely, upper, budget), bound=lowest.bound)

    def _clear_of(self, missing: BoolArray, upper: float, budget: Budget) -> SetAnswer:
        """The cheapest row of which no neighbour is in some of the leaves."""
        model, reached = self.model, everything(self.model.scores)
        if missing.any():
            model, reached = out_of_leaves(self.model, missing, self.ball), at_least(np.ones(1), -0.5)
        return self.cheapest(self._over(model, Always(False)), reached, upper, budget)

    def _over(self, model: Trees, confirmation: Always) -> Problem:
        return replace(self.problem, model=model).with_demands(ball=None).with_witnesses(confirmation=confirmation)


def _plain(score_set: ScoreSet, count: int) -> ScoreSet:
    """The set of scores that are themselves the left sides of the inequalities."""
    return replace(score_set, A=np.eye(count), below=0.0, above=0.0)
