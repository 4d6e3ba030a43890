"""The cheapest row of a sum of trees whose ball meets the target: replies are collected that must be met all at once.

The robust counterpart gives a first answer. A cutting set proves it, or finds a cheaper one (Mutapcic and Boyd,
"Cutting-set methods for robust convex optimization", 2009). Where the textbook collects shifts, we collect replies,
which shift each row by its own shift. A row beside one that failed then fails in the same way, so few rounds suffice.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from butfor.arrays import BoolArray, FloatArray, IntArray
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
from butfor.solvers.outcome import Stopped
from butfor.solvers.robust.deep_inside import deepest_rows
from butfor.solvers.robust.rounds import OutOfTimeError, is_closed, tell_round
from butfor.solvers.solver import Budget

MOST_ROUNDS = 1_000
"""The largest number of rounds."""

Cheapest = Callable[[Problem, ScoreSet, float, Budget], SetAnswer]
"""Finds the cheapest row of a problem without a ball, if one costs less than an upper bound."""


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


FailingBox = tuple[NegativeBox, FloatArray]
"""Rows that fail, and how far a shift may bring others among them."""


TAKEN_BACK, BACK_HALVINGS, BACK_GAIN = 3, 14, 1e-4
"""How often all changes of an answer are taken back in turn, how often each way is halved, and what must be gained."""


@dataclass(eq=False)
class CuttingSet:
    """Answers and bounds for a sum of trees, one set of scores and one ball.

    `best`, `bound`, `copies` and `boxes` are what is known so far. When `solve` is called again, it goes on from there.
    """

    cheapest: Cheapest
    problem: Problem
    score_set: ScoreSet
    ball: Ball
    model: Trees

    def __post_init__(self) -> None:
        self.best, self.bound, self.until = SetAnswer(None, np.inf, 0.0), 0.0, np.inf
        self.copies, self.boxes = [self.model], list[FailingBox]()

    def solve(self, upper: float, budget: Budget) -> SetAnswer:
        """Go on until the answer is proven, or the time ends."""
        self.until = budget.until
        try:
            return self._solve(upper, budget)
        except OutOfTimeError:
            return self._known(budget.stopped or Stopped.TIME)

    def _solve(self, upper: float, budget: Budget) -> SetAnswer:
        """First an answer, and then replies until no cheaper row can stay valid under all of them."""
        if len(self.model.roots) == 1:
            return self._clear_of_leaves(upper, budget)
        self._begin(upper, budget)
        stopped = Stopped.EFFORT
        for number in range(MOST_ROUNDS):
            ceiling = min(upper, self.best.cost)
            if budget.spent():
                break
            found = self._under(ceiling, budget)
            self.bound, stopped = max(self.bound, min(found.bound, ceiling)), found.stopped
            tell_round(number + 1, self.bound, self.best.cost)
            if found.point is None or stopped or is_closed(self.bound, ceiling):
                break
            replies, failing = self._failing(found.point, self._wide.b)
            if not replies and not failing:
                self.best = found
                break
            self.copies, self.boxes, stopped = self.copies + replies, self.boxes + failing, Stopped.EFFORT
        return self._known(budget.stopped or stopped)

    def _begin(self, upper: float, budget: Budget) -> None:
        """A first answer, and the replies to it."""
        if self.best.point is None:
            self.best = self._counterpart(upper, budget)
            if self.best.point is None:  # deep trees have none that is small enough
                self.best = self.among_rows(budget)
            if self.best.point is not None:
                self.copies += self._failing(self.best.point, np.full(len(self.score_set.b), np.inf))[0]

    def _known(self, stopped: Stopped) -> SetAnswer:
        """The best answer and the bound so far."""
        return replace(self.best, bound=min(self.bound, self.best.cost), stopped=stopped)

    def _clear_of_leaves(self, upper: float, budget: Budget) -> SetAnswer:
        """For one tree: the cheapest row that no shift brings into a leaf that misses the target."""
        scores = self.model.base + self.model.value[[leaf.node for leaf in self.model.leaves]]
        doubt = self.problem.doubt(self.score_set)
        perhaps, surely = self.score_set.perhaps(scores, doubt), self.score_set.surely(scores, doubt)
        lowest = self._clear_of(~perhaps, upper, budget)
        if np.array_equal(perhaps, surely):
            return lowest
        return replace(self._clear_of(~surely, upper, budget), bound=lowest.bound)

    def _clear_of(self, missing: BoolArray, upper: float, budget: Budget) -> SetAnswer:
        """The cheapest row that no shift brings into some of the leaves."""
        model, reached = self.model, everything(self.model.scores)
        if missing.any():
            model, reached = out_of_leaves(self.model, missing, self.ball.radius), at_least(np.ones(1), -0.5)
        return self.cheapest(self._over(model, Always(False)), reached, upper, budget)

    def _counterpart(self, upper: float, budget: Budget) -> SetAnswer:
        """The cheapest row that surely stays valid: each tree gives its smallest leaf within the box."""
        lacking = frozenset(j for j, feature in enumerate(self.problem.space) if feature.missing)
        model = counterpart(self.model, self.score_set.A, self.ball.radius, lacking)
        if model is None:
            return SetAnswer(None, np.inf, 0.0)
        sure = tightened(self.score_set, self.problem)
        return self.cheapest(self._over(model, Always(False)), _plain(sure, len(sure.A)), upper, budget)

    def _under(self, upper: float, budget: Budget) -> SetAnswer:
        """The cheapest row that may meet the target under some replies, and that no shift brings into the boxes.

        It bounds all robust rows.
        """
        wide, rows = self._wide, [in_rows(copy, self.score_set.A) for copy in self.copies]
        b, strict = np.tile(wide.b, len(rows)), np.tile(wide.strict, len(rows))
        if self.boxes:
            rows.append(keeping_out(self.boxes, self.model))
            b, strict = np.append(b, -0.5), np.append(strict, False)
        problem = self._over(side_by_side(rows[0], rows[1:]), Always(True))
        return self.cheapest(problem, _plain(replace(wide, b=b, strict=strict), len(b)), upper, budget)

    def among_rows(self, budget: Budget) -> SetAnswer:
        """A training row that is robust, brought back as far as its ball allows."""
        rows = deepest_rows(self.problem, tightened(self.score_set, self.problem))
        robust = (self._if_robust(row, self.best) for row in rows if not budget.spent())
        return self._taken_back(next((better for better in robust if better is not None), self.best), budget)

    def _taken_back(self, best: SetAnswer, budget: Budget) -> SetAnswer:
        """The answer, with one change after the other taken back as far as its ball allows."""
        for _ in range(TAKEN_BACK if best.point is not None else 0):
            assert best.point is not None
            before, changed = best.cost, np.flatnonzero(best.point != self.problem.factuals[0])
            together = [] if self.problem.prices.is_added else [changed]
            for columns in [*together, *changed[:, None]]:
                best = self._back(best, columns, budget)
            if best.cost > (1 - BACK_GAIN) * before:
                break
        return best

    def _back(self, best: SetAnswer, columns: IntArray, budget: Budget) -> SetAnswer:
        """The answer with some features as they were or, if they are real numbers, as near to that as the ball allows."""
        assert best.point is not None
        start, end, domain = best.point, self.problem.factuals[0], self.problem.domain
        real = (domain.step[columns] == 0) & np.isfinite(end - start)[columns] & ~np.isin(columns, list(domain.levels))
        near, far, share = 0.0, 1.0, 1.0
        for _ in range(1 + (BACK_HALVINGS if real.any() else 0)):
            if near == far or budget.spent():
                break
            point, moved = start.copy(), columns if share == 1 else columns[real]
            point[moved] = end[moved] if share == 1 else start[moved] + share * (end - start)[moved]
            better = self._if_robust(point, best)
            if better is None:
                far = share
            else:
                best, near = better, share
            share = (near + far) / 2
        return best

    def _is_better(self, point: FloatArray, best: SetAnswer) -> bool:
        return self._cost(point) < best.cost and bool(self.problem.admits(point[None])[0])

    def _cost(self, point: FloatArray) -> float:
        return float(self.problem.prices.total(self.problem.factuals, point[None])[0])

    def _if_robust(self, point: FloatArray, best: SetAnswer) -> SetAnswer | None:
        """A point as the better answer, if it is known to be one. Columns of float32 hold it as it is rounded."""
        point = np.where(self.problem.domain.single, point.astype(np.float32), point)
        if not self._is_better(point, best) or self._any_missed(point) is not None:
            return None
        try:
            missed = self._missed(point, self._wide.b)
        except OutOfTimeError:
            return None
        return None if missed else replace(best, point=point, cost=self._cost(point))

    def _any_missed(self, point: FloatArray) -> FloatArray | None:
        """A neighbour of a point that surely misses an inequality, if there is one."""
        least = self._wide.b.tolist()
        worst = worst_neighbours(self.model, self.score_set.A, point, self.ball, least, self.until)
        return next((found.point for found, b in zip(worst, least, strict=True) if found.score < b), None)

    def _over(self, model: Trees, confirmation: Always) -> Problem:
        return replace(self.problem, model=model).with_demands(ball=None).with_witnesses(confirmation=confirmation)

    @cached_property
    def _wide(self) -> ScoreSet:
        """The scores that the estimator may accept, however it rounds."""
        return widened(self.score_set, self.problem)

    def _failing(self, point: FloatArray, least: FloatArray) -> tuple[list[Trees], list[FailingBox]]:
        """A reply for each sum that falls below `least` near a point. Where rounding decides, the rows that fail instead."""
        replies, boxes, radius = list[Trees](), list[FailingBox](), self.ball.radius
        for missed in self._missed(point, least):
            if missed.below:
                replies.append(reply(self.model, missed.row, radius, point, missed.neighbour))
            else:
                leaves = regions(self.model, missed.row, point)
                boxes.append((own_cells(self.model, leaves, missed.neighbour), radius))
        return replies, boxes

    def _missed(self, point: FloatArray, least: FloatArray) -> list[Missed]:
        """The inequalities that a neighbour of a point misses.

        Where rounding decides about the worst neighbour, the estimator is asked. What it says holds for the same leaves.
        Raises `OutOfTimeError` if the time ends before that is known.
        """
        worst = worst_neighbours(self.model, self.score_set.A, point, self.ball, until=self.until)
        if any(np.isnan(found.score) for found in worst):
            raise OutOfTimeError
        of_neighbours = self.problem.of_neighbours()
        return [
            Missed(row, b, found.point, found.score < b)
            for row, found, b in zip(self.score_set.A, worst, least.tolist(), strict=True)
            if found.score < b or not of_neighbours.meets(self.score_set, found.point)
        ]


def _plain(score_set: ScoreSet, count: int) -> ScoreSet:
    """The set of scores that are themselves the left sides of the inequalities."""
    return replace(score_set, A=np.eye(count), below=0.0, above=0.0)
