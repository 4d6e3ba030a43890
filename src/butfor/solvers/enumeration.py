"""Ask the estimator about every combination of values, cheapest first. It is exact for any model, if they are few.

Nothing needs to be known of the model, so black boxes are proven, too: with few free columns there is little to try.
"""

from __future__ import annotations

import numpy as np

from butfor.arrays import FloatArray
from butfor.model.questions import evaluate
from butfor.model.scores import cheapest_offset
from butfor.neighbours.ball import Ball
from butfor.problem.form import ConstraintKind, Form, listed
from butfor.problem.neighbours import Edge, in_one_set
from butfor.problem.oracle import Response
from butfor.problem.problem import Problem
from butfor.solvers.brute_force import candidates
from butfor.solvers.combine import row_by_row
from butfor.solvers.outcome import Outcome, nothing_found, one_answer
from butfor.solvers.solver import AbstractSolver, Budget, Support

MOST_COMBINATIONS = 10_000
"""The largest number of combinations that it takes."""

ASKED_AT_ONCE = 1_000
"""How many rows the estimator predicts before the budget is looked at."""

NEARLY_MET = 1e-9
"""Points that miss the target by less than this share of the farthest are asked about alone, too."""

UNKNOWN = frozenset({ConstraintKind.CANDIDATES, ConstraintKind.MARGIN, ConstraintKind.JUDGED})
"""Constraints that the values of a row do not decide."""


class Enumeration(AbstractSolver):
    """Every combination of whole numbers, steps and levels, cheapest first. Guarantee: optimal, or a proven bound."""

    name = "enumeration"
    does = "any model, few combinations of whole numbers and levels: the estimator is asked about each, cheapest first"
    row_by_row = True

    def accepts(self, form: Form) -> Support:
        if form.constraints & UNKNOWN:
            return Support(False, f"it takes no constraints of the kinds {listed(form.constraints & UNKNOWN)}")
        if not np.isfinite(form.combinations):
            return Support(False, "a number may become any in an interval")
        if form.combinations > MOST_COMBINATIONS:
            most = f"{MOST_COMBINATIONS:,}"
            return Support(False, f"there are up to {form.combinations:,.0f} combinations; it tries at most {most}")
        unread = f" ({form.unread.partition('. ')[0]})" if form.unread else ""
        return Support(True, f"few combinations, of which the estimator is asked about each, cheapest first{unread}")

    def solve(self, problem: Problem, budget: Budget, k: int = 1, seed: int = 0) -> Outcome:
        return row_by_row(problem, budget, lambda one: _solve_row(one, budget))


def _solve_row(problem: Problem, budget: Budget) -> Outcome:
    """The cheapest combination that the estimator takes.

    Offsets of classes are not negative, so a combination that is not asked about costs at least its changes.
    """
    points, price = _by_price(problem)
    best = nothing_found(problem)
    for begin in range(0, len(points), ASKED_AT_ONCE):
        least = float(price[begin])
        if best.cost[0] <= least:
            break
        if budget.spent() and begin:
            return _with_bound(best, least, budget)
        some = slice(begin, begin + ASKED_AT_ONCE)
        perhaps = _asked(problem, points[some])
        close = perhaps.distance <= NEARLY_MET * perhaps.distance.max()
        lowest = np.where(close, price[some] + np.where(perhaps.met, perhaps.offset, 0.0), np.inf)
        for at in np.argsort(lowest, kind="stable").tolist():
            if lowest[at] >= best.cost[0]:
                break
            alone = _asked(problem, points[some][[at]])  # the last digits may depend on the other rows
            cost = float(price[begin + at] + alone.offset[0])
            if alone.met[0] and cost < best.cost[0] and _is_answer(problem, points[some][at]):
                best = one_answer(points[some][at], cost, 0.0)
            elif perhaps.met[at] and not alone.met[0]:
                problem.note_refusal(float(lowest[at]))
    return _with_bound(best, np.inf, budget)


def _is_answer(problem: Problem, point: FloatArray) -> bool:
    """Whether a point that meets the target keeps what models must judge, too. Balls are looked at by themselves."""
    asks = problem.witnesses.confirmation
    return asks is None or problem.demands.ball is not None or asks.confirms(point, np.inf)


def _with_bound(best: Outcome, bound: float, budget: Budget) -> Outcome:
    """What was found, where all that costs less than the bound was asked about."""
    if best.found()[0]:
        return one_answer(best.points[0], float(best.cost[0]), min(float(best.cost[0]), bound), budget.stopped)
    return Outcome(best.row, best.points, best.cost, np.array([bound]), np.array([budget.stopped], dtype=np.intp))


def _asked(problem: Problem, points: FloatArray) -> Response:
    """Which points the estimator takes for answers, and what their class adds to the cost."""
    if problem.demands.ball is not None:
        return _with_neighbours(problem, problem.demands.ball, points)
    if problem.witnesses.examples is None:  # there is no estimator, and the model's scores decide
        offset = cheapest_offset(problem.score_sets, evaluate(problem.model, points))
        met = np.isfinite(offset)
        return Response(met, np.where(met, 0.0, 1.0), offset)
    return problem.witnesses.examples.ask(points, np.zeros(len(points), dtype=np.intp))


def _with_neighbours(problem: Problem, ball: Ball, points: FloatArray) -> Response:
    """Which points the estimator takes for answers, together with all their neighbours. Those of one point are asked alone."""
    near, plain = ball.around(points), problem.with_demands(ball=None)
    every, there = near.reshape(-1, points.shape[1]), problem.of_neighbours()
    edges = [
        Edge(one.A, one.widened(there.doubt(one)).b, one.tightened(there.doubt(one)).b) for one in problem.score_sets
    ]
    asked = [_asked(plain, some) for some in (every[:, None] if len(points) == 1 else [every])]
    shape = near.shape[:2]
    met = np.concatenate([part.met for part in asked]).reshape(shape)
    distance = np.concatenate([part.distance for part in asked]).reshape(shape)
    offset = np.concatenate([part.offset for part in asked]).reshape(shape)
    return Response(
        np.asarray(met.all(axis=1) & in_one_set(problem.model, edges, near)), distance.max(axis=1), offset[:, 0]
    )


def _by_price(problem: Problem) -> tuple[FloatArray, FloatArray]:
    """All admissible combinations for the only row, cheapest first, and what their changes cost."""
    values = [candidates(problem, j) for j in range(len(problem.space))]
    if not all(len(some) for some in values):
        return np.empty((0, len(values))), np.empty(0)
    free = [j for j, some in enumerate(values) if len(some) > 1]
    grid = np.meshgrid(*(values[j] for j in free), indexing="ij")
    points = np.repeat([[some[0] for some in values]], grid[0].size if free else 1, axis=0)
    for j, part in zip(free, grid, strict=True):
        points[:, j] = part.ravel()
    many = problem.take(np.zeros(len(points), dtype=np.intp))
    price = np.where(many.admits(points), many.prices.total(many.factuals, points), np.inf)
    order = np.argsort(price, kind="stable")
    order = order[np.isfinite(price[order])]
    return points[order], price[order]
