"""Answers that begin at real rows, or far inside the target, and are brought back as far as they stay answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from butfor.arrays import FloatArray, IntArray
from butfor.model.questions import evaluate
from butfor.model.scores import ScoreSet
from butfor.problem.problem import Problem
from butfor.solvers.combine import SetAnswer
from butfor.solvers.solver import Budget
from butfor.space.space import same

MOST_ROWS = 50
"""How many training rows are looked at."""

PASSES, WORTH_A_PASS = 3, 1e-4
"""How often all changes of an answer are taken back in turn, and which share of its cost must be saved to do it again."""

Better = Callable[[FloatArray, SetAnswer], SetAnswer | None]
"""A point as a better answer than another, if it is known to be one."""


def better(
    problem: Problem, point: FloatArray, best: SetAnswer, is_robust: Callable[[FloatArray], bool]
) -> SetAnswer | None:
    """A point as a better answer than another, if it is one. Columns of float32 hold it as it is rounded."""
    point = np.where(problem.domain.single, point.astype(np.float32), point)
    if not is_cheaper(problem, point, best) or not is_robust(point):
        return None
    return replace(best, point=point, cost=cost_of(problem, point))


def is_cheaper(problem: Problem, point: FloatArray, best: SetAnswer) -> bool:
    """Whether a point costs less than an answer, and is admitted."""
    return cost_of(problem, point) < best.cost and bool(problem.admits(point[None])[0])


def cost_of(problem: Problem, point: FloatArray) -> float:
    """What a point costs the only row of a problem."""
    return float(problem.prices.total(problem.factuals, point[None])[0])


def deepest_rows(problem: Problem, sure: ScoreSet) -> FloatArray:
    """The training rows that lie deepest inside a score set, the cheapest one first."""
    if problem.witnesses.examples is None:
        return np.empty((0, len(problem.space)))
    rows = problem.witnesses.examples.examples
    spare = (evaluate(problem.model, rows) @ sure.A.T - sure.b).min(axis=1)
    rows = rows[np.argsort(-spare, kind="stable")[: min(MOST_ROWS, np.count_nonzero(spare > 0))]]
    cost = problem.prices.total(np.repeat(problem.factuals, len(rows), axis=0), rows)
    return np.asarray(rows[np.argsort(cost, kind="stable")])


def among_rows(problem: Problem, sure: ScoreSet, best: SetAnswer, better: Better, budget: Budget) -> SetAnswer:
    """The cheapest of the training rows deepest inside a score set that is a better answer, if one is."""
    found = (better(row, best) for row in deepest_rows(problem, sure) if not budget.spent())
    return next((answer for answer in found if answer is not None), best)


def brought_back(problem: Problem, best: SetAnswer, better: Better, halvings: int, budget: Budget) -> SetAnswer:
    """An answer with one change after the other taken back as far as it stays one.

    If prices couple the features, all changes are taken back together first.
    """
    home = problem.factuals[0]
    for _ in range(PASSES if best.point is not None else 0):
        assert best.point is not None
        before, changed = best.cost, np.flatnonzero(~same(best.point, home))
        together = [] if problem.prices.is_added else [changed]
        for columns in [*together, *changed[:, None]]:
            best = _back(problem, best, columns, better, halvings, budget)
        if best.cost > (1 - WORTH_A_PASS) * before:
            break
    return best


def _back(
    problem: Problem, best: SetAnswer, columns: IntArray, better: Better, halvings: int, budget: Budget
) -> SetAnswer:
    """The answer with some features as they were or, if they are real numbers, as near to that as it stays an answer."""
    assert best.point is not None
    start, end = best.point, problem.factuals[0]
    real = (problem.domain.reals() & np.isfinite(end - start))[columns]
    near, far, share = 0.0, 1.0, 1.0
    for _ in range(1 + (halvings if real.any() else 0)):
        if near == far or budget.spent():
            break
        point, moved = start.copy(), columns if share == 1 else columns[real]
        point[moved] = end[moved] if share == 1 else start[moved] + share * (end - start)[moved]
        found = better(point, best)
        if found is None:
            far = share
        else:
            best, near = found, share
        share = (near + far) / 2
    return best
