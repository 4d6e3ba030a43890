"""One inequality of an additive model: the knapsack over pieces of columns, which become narrower where the choice needs it.

With the lines above all pieces, the cheapest choice bounds every answer. With those below, it is an answer. The pieces that
either chose are cut, until both cost the same. A choice of single numbers that the estimator refuses is left out. Each choice
is that of `linear_knapsack`, whose compiled search is used.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from butfor.arrays import FloatArray
from butfor.formulation.choices import choice_table
from butfor.formulation.margins import tightened, widened
from butfor.frontier import Frontier
from butfor.model.questions import ModelKind, evaluate
from butfor.model.scores import UNIT_DOUBLE, ScoreSet
from butfor.problem.form import ConstraintKind, Form, coupled
from butfor.problem.problem import Problem
from butfor.solvers.additive.lines import BentColumn
from butfor.solvers.combine import SetAnswer, over_score_sets, row_by_row
from butfor.solvers.linear.near import looked_at_closely
from butfor.solvers.linear.options import Options
from butfor.solvers.outcome import Outcome, Stopped, tolerated
from butfor.solvers.solver import AbstractSolver, Budget, Support
from butfor.space.space import same

CHOICE_NODES = 20_000
"""How often one choice is branched on."""

PIECE_ROUNDS = 1000
"""How often pieces are cut, or choices left out."""

NO_BOX = np.array([-np.inf, np.inf])
"""No feature must gain more than the first, or less than the second."""


class AdditiveKnapsack(AbstractSolver):
    """Knapsacks over pieces that are cut ever finer. Guarantee: optimal (to 1e-6), or a proven bound."""

    name = "additive_knapsack"
    row_by_row = True
    does = "sums of functions of single columns (logarithms, splines, naive Bayes): a knapsack over pieces, refined"

    def accepts(self, form: Form) -> Support:
        if form.model is not ModelKind.ADDITIVE:
            return Support(False, f"it takes sums of functions of single columns, and the model is a {form.model}")
        if form.inequalities > 1 or form.curved:
            return Support(False, "the target is more than one inequality, and it takes one")
        why = coupled(form, {ConstraintKind.AT_MOST})
        return Support(not why, why or "one inequality over functions of single columns is a knapsack of their pieces")

    def solve(self, problem: Problem, budget: Budget, k: int = 1, seed: int = 0) -> Outcome:
        def solve(rows: Problem) -> Outcome:
            return row_by_row(
                rows,
                budget,
                lambda one: over_score_sets(one, lambda some, limit: PieceSearch(one, some, limit).solve(budget)),
            )

        found = looked_at_closely(problem, solve(problem), solve)
        left = ~found.settled() & (found.stopped == Stopped.DONE)  # rounding is in the way, and a swarm may do better
        return replace(found, stopped=np.where(left, Stopped.EFFORT, found.stopped))


class Choice(NamedTuple):
    """A choice of all columns.

    - `bound`: what nothing that gains enough is below (infinite: there is nothing);
    - `point`: the row (None: there is none);
    - `begin` (columns): where the pieces begin that it chose; `single`: whether all values in each of them gain the same.
    """

    bound: float
    point: FloatArray | None
    begin: FloatArray
    single: bool


class Barred(NamedTuple):
    """The piece of a column that begins at a number: it must be chosen (`kept`), or must not be."""

    column: int
    begin: float
    kept: bool


class PieceSearch:
    """The search for one row and one score set, for a point that costs less than `limit`."""

    def __init__(self, problem: Problem, score_set: ScoreSet, limit: float) -> None:
        self.problem, self.score_set, self.limit = problem, score_set, limit
        self.weights = score_set.A[0] if len(score_set.A) else np.zeros(score_set.A.shape[1])
        features = np.flatnonzero(problem.domain.movable | (~problem.domain.stay).any(axis=0))
        self.columns = [BentColumn(problem, self.weights, j) for j in features.tolist()]
        self.lines = [column.lines() for column in self.columns]
        self.point: FloatArray | None = None
        self.cost = np.inf

    def solve(self, budget: Budget) -> SetAnswer:
        """Cut pieces until the answer is proven. A choice of pieces too narrow to cut is left out if it is no answer."""
        now = float((evaluate(self.problem.model, self.problem.factuals) @ self.weights)[0])
        least, firm = (
            float(some.b[..., 0].item()) - now if len(some.A) else -np.inf
            for some in (widened(self.score_set, self.problem), tightened(self.score_set, self.problem))
        )
        open_ = Frontier[tuple[Barred, ...]](self._ceiling)
        open_.put(0.0, ())
        finer = True
        for _ in range(PIECE_ROUNDS):
            if not open_.is_open or budget.spent():
                break
            floor, node = open_.pop()
            slack = self._slack(now)
            above = self._choice(least - slack, firm + slack, node, above=True)
            below = self._choice(firm + slack, firm + slack, (), above=False) if finer else above
            if below.bound < self.cost:
                self._takes(below.point)
            bound = max(floor, above.bound)
            if above.point is None:
                continue
            if bound >= self._ceiling():
                open_.settle(bound)
                continue
            taken = self._takes(above.point)
            finer = self._cut(above.point, below.point)
            if taken and self.cost <= bound + tolerated(bound) / 4:
                open_.settle(bound)
            elif finer:
                open_.put(bound, node)
            elif taken:
                open_.settle(bound)
            else:
                moving = self._moving(above.point)
                for part in self._without(node, above.begin, moving):
                    open_.put(bound, part)
                if moving or not above.single:
                    open_.settle(bound)
        stopped = (budget.stopped or Stopped.EFFORT) if open_.is_open else Stopped.DONE
        return SetAnswer(self.point, self.cost, min(open_.lowest, self.cost), stopped)

    def _ceiling(self) -> float:
        return min(self.limit, self.cost - tolerated(self.cost) / 4 if self.cost < np.inf else np.inf)

    def _takes(self, point: FloatArray | None) -> bool:
        """Whether a point is an answer. It is kept if it is cheaper."""
        if point is None or not self.problem.reached(self.score_set, point):
            return False
        cost = float(self.problem.prices.total(self.problem.factuals, point[None])[0])
        if cost < self.cost:
            self.point, self.cost = point, cost
        return True

    def _cut(self, *points: FloatArray | None) -> bool:
        """Cut the pieces that some points chose. Whether one was wide enough."""
        cut = {
            k
            for point in points
            for k, column in enumerate(self.columns)
            if point is not None and column.refine(float(point[column.j]), self.lines[k])
        }
        for k in cut:
            self.lines[k] = self.columns[k].lines()
        return bool(cut)

    def _moving(self, point: FloatArray) -> set[int]:
        """The columns of real numbers that moved. The float beside a refused one is as good, and there are too many of them."""
        moved = self.problem.domain.reals() & ~same(point, self.problem.factuals[0])
        return {k for k, column in enumerate(self.columns) if moved[column.j]}

    def _without(self, node: tuple[Barred, ...], begin: FloatArray, moving: set[int]) -> Iterator[tuple[Barred, ...]]:
        """All other choices of a node, in parts: the first columns as they are, and the next one otherwise.

        Those of the `moving` columns are left out.
        """
        told = {barred.column for barred in node if barred.kept} | moving
        kept = node
        for k in (k for k in range(len(begin)) if k not in told):
            yield (*kept, Barred(k, float(begin[k]), kept=False))
            kept = (*kept, Barred(k, float(begin[k]), kept=True))

    def _slack(self, now: float) -> float:
        """By how much our own sums of gains may be off."""
        return 4 * (len(self.lines) + 2) * UNIT_DOUBLE * (abs(now) + sum(lines.size for lines in self.lines))

    def _choice(self, need: float, aim: float, node: tuple[Barred, ...], *, above: bool) -> Choice:
        """The cheapest choice of a node that gains enough by the lines above (or below) all pieces.

        Where numbers are continuous, the point gains `aim`, as far as it can.
        """
        from butfor.solvers.linear.knapsack_kernels import cheapest_choices

        options = self._options(node, above=above)
        boxes = np.tile(NO_BOX[None, :, None], (1, 1, len(self.columns)))
        pick, far, cost, bound, _ = cheapest_choices(
            options.stacked(), options.table.start, boxes, np.array([need]), np.array([aim]), self.problem.most_changes,
            0.0, CHOICE_NODES,
        )  # fmt: skip
        begin = options.table.begin[0, pick[0]]
        point = None if np.isinf(cost[0]) else options.points(self.problem, pick, far)[0]
        at = (pick[0] - options.table.start[:-1]).tolist()
        single = all(lines.single[i] for lines, i in zip(self.lines, at, strict=True))
        return Choice(float(bound[0]), point, begin, single)

    def _options(self, node: tuple[Barred, ...], *, above: bool) -> Options:
        """The choices of a node, with the gains that they have at most (or at least)."""
        runs, gains, rates = [], [np.empty(0)], [np.empty(0)]
        for k, lines in enumerate(self.lines):
            rises = lines.rate > 0
            end, able = np.where(rises, lines.runs.end, lines.runs.begin), lines.runs.able.copy()
            for barred in (barred for barred in node if barred.column == k):
                able &= same(lines.runs.begin, np.array(barred.begin)) == barred.kept
            runs.append(lines.runs._replace(end=end, able=able, way=np.where(rises, lines.runs.way, 0.0)))
            gains.append(lines.begin + lines.above if above else lines.begin - np.where(rises, lines.below, 0.0))
            rates.append(np.where(rises, lines.rate, 0.0))
        features = np.array([column.j for column in self.columns], dtype=np.intp)
        return Options(choice_table(self.problem, features, runs), np.concatenate(gains)[None], np.concatenate(rates))
