"""One linear inequality over whole numbers, categories and continuous numbers, exactly: a small knapsack.

Each feature has options, and each option costs something and gains some of the score. The cheapest choice must gain
enough: a knapsack in which one option of each feature is taken (Sinha and Zoltners, "The multiple-choice knapsack
problem", Operations Research 27, 1979). For a price m per gain, each feature can be looked at alone:

    optimum  >=  max over m >= 0 of  m need + sum over features of min over options [cost - m gain].

A limit on the number of changes keeps the features that save most, which is exact, too. If the two choices on both
sides of the best m differ, the feature that differs most is cut into smaller and larger gains. Whole numbers are not
listed: an option is a run of them along which the cost is convex.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from butfor.arrays import BoolArray, FloatArray, IntArray
from butfor.formulation.margins import falls_alone, tightened, widened
from butfor.frontier import Frontier
from butfor.model.linear import Linear
from butfor.model.questions import ModelKind, evaluate
from butfor.model.rounding import rounding
from butfor.model.scores import UNIT_DOUBLE, ScoreSet, at_least
from butfor.problem.form import ConstraintKind, Form, coupled
from butfor.problem.problem import Problem
from butfor.solvers.combine import ROWS_TOGETHER, in_parts, over_sets_of_rows, with_highest
from butfor.solvers.linear.exact import rounded_out
from butfor.solvers.linear.farthest import farthest
from butfor.solvers.linear.near import looked_at_closely
from butfor.solvers.linear.options import Options, options_of
from butfor.solvers.outcome import Outcome, Stopped, tolerated
from butfor.solvers.solver import AbstractSolver, Budget, Support

EFFORT, MORE_EFFORT = 500, 100_000
"""How often a row is branched on at first, and how often if that was not enough."""

MOST_TOLD = 50
"""After how many refusals of one row the search goes on in the tightened set."""


class LinearKnapsack(AbstractSolver):
    """Branch and bound over the options of one linear inequality. Guarantee: optimal, or a proven bound."""

    name = "linear_knapsack"
    does = "linear models, whole numbers, categories and continuous numbers: branch and bound over one inequality"
    block = 2048
    takes_per_row = True

    def accepts(self, form: Form) -> Support:
        if form.model is not ModelKind.LINEAR:
            return Support(False, f"it takes a linear model, and the model is a {form.model}")
        if form.inequalities > 1 or form.curved:
            return Support(False, f"the target needs {form.inequalities} score inequalities at once; it takes one")
        why = coupled(form, {ConstraintKind.MARGIN, ConstraintKind.AT_MOST})
        return Support(not why, why or "one inequality, and prices that add up over columns, are a knapsack")

    def solve(self, problem: Problem, budget: Budget, k: int = 1, seed: int = 0) -> Outcome:
        def solve_part(part: Problem) -> Outcome:
            return looked_at_closely(part, _solve_rows(part, budget), lambda one: _solve_rows(one, budget))

        return in_parts(problem, budget, ROWS_TOGETHER, solve_part)


def _solve_rows(problem: Problem, budget: Budget) -> Outcome:
    """The best answer of each row over all score sets."""

    def in_one_set(score_set: ScoreSet) -> Outcome:
        found = _solve_set(problem, score_set, budget)
        return Outcome(np.arange(len(problem)), found.points, found.cost, found.bound, found.stopped)

    return with_highest(problem, over_sets_of_rows(problem, in_one_set), farthest)


class _Found(NamedTuple):
    """What is known about the rows in one score set.

    - `points`, `cost`: the best points, and their costs; `exact`: their costs before they were rounded to float32;
    - `bound`, `stopped`: the proven bounds, and why the search stopped;
    - `gain` (n, features): what each used feature gains; `clear`: whether all its other options gain clearly more or less.
    """

    points: FloatArray
    cost: FloatArray
    exact: FloatArray
    bound: FloatArray
    stopped: IntArray
    gain: FloatArray
    clear: BoolArray

    def keep(self, row: int, one: Problem, part: ScoreSet, point: FloatArray) -> bool:
        """Whether a point is an answer to this row, whose problem is `one`. It is kept if it is cheaper."""
        if not one.reached(part, point):
            return False
        cost = one.prices.total(one.factuals, point[None])[0]
        if cost < self.cost[row]:
            self.points[row], self.cost[row] = point, cost
        return True


def _solve_set(problem: Problem, score_set: ScoreSet, budget: Budget) -> _Found:
    """The bound is proven over the widened set, and a point that it finds there is taken if the estimator takes it.

    If not, the search is repeated in the tightened set. If continuous numbers had to go much further to be sure, the
    estimator is asked about the nearer point, too.
    """
    wide, tight = widened(score_set, problem), tightened(score_set, problem)
    inner = replace(tight, b=tight.b + _own_rounding(problem, score_set))
    found = _cheapest(problem, wide, inner, budget)
    surely = tight.holds(evaluate(problem.model, found.points))
    dear = surely & (found.stopped == Stopped.DONE) & (found.exact > found.bound + tolerated(found.bound))
    for row in np.flatnonzero(np.isfinite(found.cost) & (dear | ~surely)).tolist():
        one, part = problem.take(np.array([row])), score_set.take(np.array([row]))
        outer, nearer = (some.take(np.array([row])) for some in (wide, inner))
        if dear[row]:
            found.keep(row, one, part, _cheapest(one, outer, outer, budget).points[0])
            continue
        if one.reached(part, found.points[row]):
            continue
        if falls_alone(one, part):
            found.bound[row], point = _next(one, part, outer, nearer, budget)
            if point is not None:
                found.cost[row] = np.inf
                found.keep(row, one, part, point)
                continue
        inside = _cheapest(one, tight.take(np.array([row])), nearer, budget)
        found.points[row], found.cost[row] = inside.points[0], inside.cost[0]
        told = np.isinf(inside.cost[0]) and one.most_changes >= len(one.space) and falls_alone(one, part)
        if told and not found.keep(row, one, part, farthest(one, part.A[0])[0]):
            found.bound[row] = np.inf
    return found


def _next(
    one: Problem, part: ScoreSet, outer: ScoreSet, nearer: ScoreSet, budget: Budget
) -> tuple[float, FloatArray | None]:
    """A bound for the only row, and the cheapest point that the estimator takes, if it is found.

    A refused point tells of all points in which no feature gains more (see `falls_alone`). The others lie in one box
    for each feature: this one gains more than in the refused point, and those before it do not.
    """
    root = _cheapest(one, outer, nearer, budget)
    waiting = Frontier[tuple[FloatArray, _Found, int]](lambda: np.inf)
    waiting.put(float(root.bound[0]), (_everywhere(root.gain)[0], root, 0))
    for _ in range(MOST_TOLD):
        bound, (box, found, at) = waiting.pop()
        if np.isinf(found.cost[at]) or one.reached(part, found.points[at]):
            return bound, found.points[at] if np.isfinite(found.cost[at]) else None
        if not found.clear[at] or budget.spent():
            return bound, None
        features = found.gain.shape[1]
        boxes = np.repeat(box[None], features, axis=0)
        for j in range(features):
            boxes[j, 1, :j] = np.minimum(boxes[j, 1, :j], found.gain[at, :j])
            boxes[j, 0, j] = max(boxes[j, 0, j], found.gain[at, j])
        more = _cheapest(one.take(np.zeros(features, dtype=np.intp)), outer, nearer, budget, boxes)
        for j in range(features):
            waiting.put(max(bound, float(more.bound[j])), (boxes[j], more, j))
        if not waiting:
            return np.inf, None
    return waiting.lowest, None


def _everywhere(gain: FloatArray) -> FloatArray:
    """Boxes (n, 2, features) that bound no gain."""
    return np.stack([np.full(gain.shape, -np.inf), np.full(gain.shape, np.inf)], axis=1)


def _own_rounding(problem: Problem, score_set: ScoreSet) -> FloatArray:
    """By how much our own sums may be off. Continuous numbers go further by that."""
    assert isinstance(problem.model, Linear)
    sharp = replace(problem.model, blur=np.zeros(1))
    return rounding(sharp, score_set.A, problem.domain.extent, UNIT_DOUBLE)


def _cheapest(
    problem: Problem, wanted: ScoreSet, aimed: ScoreSet, budget: Budget, boxes: FloatArray | None = None
) -> _Found:
    """The cheapest points of all rows in `wanted`. Continuous numbers go on into `aimed`, which lies inside it.

    `boxes` (n, 2, features) bounds what each used feature gains: more than the first number, at most the second.
    """
    from butfor.solvers.linear.knapsack_kernels import cheapest_choices

    n = len(problem)
    if not len(wanted.A):
        wanted = aimed = at_least(np.zeros(wanted.A.shape[1]), 0.0)
    options = options_of(problem, wanted.A[0])
    now = evaluate(problem.model, problem.factuals) @ wanted.A[0]
    slack = _slack(options, now)
    need, aim = (np.broadcast_to(part.b[..., 0] - now, n) for part in (wanted, aimed))
    need, aim, most = need - slack, np.maximum(need, aim) + slack, problem.most_changes
    tables, start, quantum = options.stacked(), options.table.start, options.quantum()
    if boxes is None:
        boxes = _everywhere(np.empty((n, len(options.table.features))))
    pick, far, cost, bound, done = cheapest_choices(tables, start, boxes, need, aim, most, quantum, EFFORT)
    for row in np.flatnonzero(~done):
        if budget.spent():
            break
        one = slice(row, row + 1)
        again = cheapest_choices(tables[one], start, boxes[one], need[one], aim[one], most, quantum, MORE_EFFORT)
        pick[row], far[row], cost[row], bound[row], done[row] = (part[0] for part in again)
    points = options.points(problem, pick, far)
    if problem.domain.single.any():
        points = rounded_out(problem, points)
    exact, cost = cost, np.where(np.isinf(cost), np.inf, problem.prices.total(problem.factuals, points))
    gain, clear = options.gains(pick, far)
    stopped = np.where(done, Stopped.DONE, budget.stopped or Stopped.EFFORT)
    return _Found(points, cost, exact, bound, stopped, gain, clear)


def _slack(options: Options, now: FloatArray) -> FloatArray:
    """By how much our own sums of gains may be off."""
    farthest = np.abs(options.gain) + options.rate * options.table.length
    largest = np.maximum.reduceat(farthest, options.table.start[:-1], axis=1) if farthest.shape[1] else farthest
    terms = largest.shape[1] + 2
    return np.asarray(4 * terms * UNIT_DOUBLE * (np.abs(now) + largest.sum(axis=1)))
