"""The cheapest row of a sum of trees whose ball meets the target: replies are collected that must be met all at once.

The robust counterpart gives a first answer. A cutting set proves it, or finds a cheaper one (Mutapcic and Boyd,
"Cutting-set methods for robust convex optimization", 2009). Where the textbook collects shifts, we collect replies,
which shift each row by its own shift. A row beside one that failed then fails in the same way, so few rounds suffice.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from butfor.arrays import BoolArray, FloatArray
from butfor.formulation.margins import tightened, widened
from butfor.model.adversary.search import Worst, worst_row
from butfor.model.ball import Ball, BallNorm
from butfor.model.counterpart import counterpart, in_rows
from butfor.model.negative_box import NegativeBox, keeping_out, own_cells
from butfor.model.regions import Regions, regions
from butfor.model.reply import reply
from butfor.model.scores import ScoreSet, at_least, everything
from butfor.model.side_by_side import side_by_side
from butfor.model.trees import Trees
from butfor.model.worst import worst_neighbours
from butfor.problem.oracle import Always
from butfor.problem.problem import Problem
from butfor.solvers.combine import SetAnswer
from butfor.solvers.outcome import TOLERANCE, Stopped
from butfor.solvers.robust.telling import tell_round
from butfor.solvers.solver import Budget

MOST_ROUNDS, FEW_ROUNDS = 1_000, 100
"""The largest number of rounds for a box, and for other balls. Boxes within a round ball never cut off all of its edge."""

NEAR_HALVINGS = 10
"""How often a round ball is halved to find a failing neighbour that is near."""

MOST_PUSHES, PUSH = 30, 1e-9
"""How often a point is pushed away from a failing neighbour, and how much further than needed."""

Cheapest = Callable[[Problem, ScoreSet, float, Budget], SetAnswer]
"""Finds the cheapest row of a problem without a ball, if one costs less than an upper bound."""

FailingBox = tuple[NegativeBox, FloatArray]
"""Rows that fail, and how far a shift may bring others among them."""


@dataclass(frozen=True, eq=False)
class CuttingSet:
    """Answers and bounds for a sum of trees, one set of scores and one ball."""

    cheapest: Cheapest
    problem: Problem
    score_set: ScoreSet
    ball: Ball
    model: Trees

    def solve(self, upper: float, budget: Budget) -> SetAnswer:
        """First an answer, and then replies until no cheaper row can stay valid under all of them."""
        if len(self.model.roots) == 1 and self.ball.norm is BallNorm.LINF:
            return self._clear_of_leaves(upper, budget)
        best = found = self._counterpart(upper, budget)
        copies, boxes = [self.model], list[FailingBox]()
        if best.point is not None:
            copies += self._failing(best.point, np.full(len(self.score_set.b), np.inf))[0]
        bound, stopped = 0.0, Stopped.EFFORT
        for number in range(MOST_ROUNDS if self.ball.norm is BallNorm.LINF else FEW_ROUNDS):
            ceiling = min(upper, best.cost)
            if budget.spent():
                break
            found = self._under(copies, boxes, ceiling, budget)
            bound, stopped = max(bound, found.bound), found.stopped
            tell_round(number + 1, bound, best.cost)
            if found.point is None or stopped or bound >= ceiling - TOLERANCE / 2 * (1 + abs(ceiling)):
                break
            replies, failing = self._failing(found.point, self._wide.b)
            if not replies and not failing:
                best = found
                break
            if self.ball.norm is not BallNorm.LINF:  # around boxes, the counterpart is nearly always as good
                best = self._pushed_out(found.point, best)
            copies, boxes, stopped = copies + replies, boxes + failing, Stopped.EFFORT
        if found.point is None and not stopped:
            bound = np.inf
        return replace(best, bound=min(bound, best.cost), stopped=budget.stopped or stopped)

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
        leaves = [leaf for leaf, out in zip(self.model.leaves, missing, strict=True) if out]
        model, reached = self.model, everything(self.model.scores)
        if leaves:
            model = keeping_out([(leaf.path, self.ball.radius) for leaf in leaves], self.model)
            reached = at_least(np.ones(1), -0.5)
        return self.cheapest(self._over(model, Always(False)), reached, upper, budget)

    def _counterpart(self, upper: float, budget: Budget) -> SetAnswer:
        """The cheapest row that surely stays valid: each tree gives its smallest leaf within the box."""
        lacking = frozenset(j for j, feature in enumerate(self.problem.space) if feature.missing)
        model = counterpart(self.model, self.score_set.A, self.ball.radius, lacking)
        if model is None:
            return SetAnswer(None, np.inf, 0.0)
        sure = tightened(self.score_set, self.problem)
        return self.cheapest(self._over(model, Always(False)), _plain(sure, len(sure.A)), upper, budget)

    def _pushed_out(self, point: FloatArray, best: SetAnswer) -> SetAnswer:
        """The better of an answer and a point that is pushed away from its failing neighbours, one after the other."""
        problem, least = self.problem, self._wide.b
        for _ in range(MOST_PUSHES):
            cost = float(problem.prices.total(problem.factuals, point[None])[0])
            if cost >= best.cost or not problem.admits(point[None])[0]:
                break
            worst = worst_neighbours(self.model, self.score_set.A, point, self.ball, least.tolist())
            missed = next((found.point for found, b in zip(worst, least, strict=True) if found.score < b), None)
            if missed is None:
                robust = self._failing(point, least) == ([], [])
                return replace(best, point=point, cost=cost) if robust else best
            pushed = self._away_from(missed, point)
            if pushed is None:
                break
            point = pushed
        return best

    def _away_from(self, missed: FloatArray, point: FloatArray) -> FloatArray | None:
        """A point that is pushed away from a failing neighbour, out of its ball; None if they are next to each other.

        Where that is enough, only features that have changed are pushed.
        """
        away = np.where(self.ball.radius > 0, np.nan_to_num(point - missed), 0.0)
        moved = np.where(point != self.problem.factuals[0], away, 0.0)
        pushed = moved if moved.any() else away
        factor = self.ball.factor(pushed, away - pushed)
        return None if factor is None else np.where(pushed == 0, point, missed + (1 + PUSH) * factor * pushed)

    def _under(self, copies: list[Trees], boxes: list[FailingBox], upper: float, budget: Budget) -> SetAnswer:
        """The cheapest row that may meet the target under some replies, and that no shift brings into the boxes.

        It bounds all robust rows.
        """
        wide, rows = self._wide, [in_rows(copy, self.score_set.A) for copy in copies]
        b, strict = np.tile(wide.b, len(rows)), np.tile(wide.strict, len(rows))
        if boxes:
            rows.append(keeping_out(boxes, self.model))
            b, strict = np.append(b, -0.5), np.append(strict, False)
        problem = self._over(side_by_side(rows[0], rows[1:]), Always(True))
        return self.cheapest(problem, _plain(replace(wide, b=b, strict=strict), len(b)), upper, budget)

    def _over(self, model: Trees, confirmation: Always) -> Problem:
        return replace(self.problem, model=model, robust=None, confirmation=confirmation)

    @cached_property
    def _wide(self) -> ScoreSet:
        """The scores that the estimator may accept, however it rounds."""
        return widened(self.score_set, self.problem)

    def _nearest(self, leaves: Regions, point: FloatArray, b: float, found: Worst) -> Worst:
        """A failing neighbour that is hardly further away than any. Much of the ball is left around it."""
        near, far = 0.0, 1.0
        for _ in range(NEAR_HALVINGS):
            share = (near + far) / 2
            ball = replace(self.ball, radius=share * self.ball.radius)
            closer = worst_row(leaves, point, ball.low(point), ball.high(point), ball.step, ball, b)
            if closer.score < b:
                far, found = share, closer
            else:
                near = share
        return found

    @cached_property
    def _rate(self) -> FloatArray:
        """What it costs to change each feature by a little. If that is nothing for some, a radius costs 1 for all."""
        radius = np.where(self.ball.radius > 0, self.ball.radius, 1.0)
        rate = np.where(self.ball.radius > 0, self.problem.prices.l1, 1.0)
        return rate if (rate > 0).all() else 1 / radius

    def _reach(self, leaves: Regions, point: FloatArray, failing: FloatArray) -> FloatArray:
        """A box of shifts in the ball, around a point with a neighbour that fails."""
        if self.ball.norm is BallNorm.LINF:
            return self.ball.radius
        low, high = leaves.around(failing)
        away = np.abs(failing - point)
        return self.ball.reach(np.where(away > 0, away, np.fmax(low - point, point - high)), self._rate)

    def _failing(self, point: FloatArray, least: FloatArray) -> tuple[list[Trees], list[FailingBox]]:
        """A reply for each inequality whose sum falls below `least` near a point.

        Where rounding decides about the worst neighbour, the estimator is asked. What it says holds for the same leaves.
        """
        worst = worst_neighbours(self.model, self.score_set.A, point, self.ball)
        replies, boxes, of_neighbours = list[Trees](), list[FailingBox](), self.problem.of_neighbours()
        for row, found, b in zip(self.score_set.A, worst, least, strict=True):
            fails = found.score < b
            if not fails and of_neighbours.meets(self.score_set, found.point):
                continue
            leaves = regions(self.model, row, point)
            if fails and b < np.inf and self.ball.norm is not BallNorm.LINF:
                found = self._nearest(leaves, point, float(b), found)
            reach = self._reach(leaves, point, found.point)
            if fails:
                replies.append(reply(self.model, row, reach, point, found.point))
            else:
                boxes.append((own_cells(self.model, leaves, found.point), reach))
        return replies, boxes


def _plain(score_set: ScoreSet, count: int) -> ScoreSet:
    """The set of scores that are themselves the left sides of the inequalities."""
    return replace(score_set, A=np.eye(count), below=0.0, above=0.0)
