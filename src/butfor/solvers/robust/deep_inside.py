"""First robust answers of hard networks and forests: points so deep inside that the adversary soon has no doubt.

Linear steps end beside the boundary of a network. Whether a point there is robust may take longer to tell than there is time.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from butfor.arrays import FloatArray
from butfor.compiled.clock import now
from butfor.model.questions import evaluate
from butfor.model.scores import ScoreSet
from butfor.problem.problem import Problem
from butfor.solvers.network.descent import Descent
from butfor.solvers.solver import Budget

if TYPE_CHECKING:
    from butfor.solvers.robust.scenarios import Scenarios

FIRST_DEPTH, DEPTHS_TRIED, SAME_DEPTH = 0.05, 10, 0.1
"""How deep inside it is aimed at first (as a share of the spread of scores), how often, and how near two depths are the same."""

CHECK_SECONDS, QUICK_SECONDS = 0.5, 0.1
"""How long it is looked at whether a point is robust: a good one, and one of many."""

MOST_ROWS = 50
"""How many training rows are looked at."""

SHARES_BACK = (1.0, 0.5, 0.2, 0.05)
"""The shares of a change that are taken back."""

HELPED_MUCH = 0.01
"""As long as this share of the cost is saved, all changes are looked at again."""


def look_inside(search: Scenarios, budget: Budget) -> None:
    """Look for an answer where the adversary soon has no doubt, and go back from there towards the row."""
    _look_deeper(search, budget)
    if search.best.point is None:
        _lookamong_rows(search, budget)
    while search.best.point is not None and not budget.spent() and _brought_back(search, budget):
        pass


def _look_deeper(search: Scenarios, budget: Budget) -> None:
    """Aim further inside, twice as far each time, and then less far, as long as there is no doubt."""
    examples = search.problem.witnesses.examples
    if examples is None:
        return
    spread = (evaluate(search.model, examples.examples) @ search.score_set.A.T).std(axis=0)
    shallow, deep, depth = 0.0, np.inf, FIRST_DEPTH
    for _ in range(DEPTHS_TRIED):
        if budget.spent() or deep - shallow < SAME_DEPTH * deep < np.inf:
            break
        problem, inside = search.copies(replace(search.inside, b=search.inside.b + depth * spread), search.shifts)
        descent = Descent(problem, inside, budget)
        found = descent.best_from(descent.starts())
        if found is None:
            break
        search.until = min(budget.until, now() + CHECK_SECONDS)
        robust = search.is_robust(found[0])
        if robust:
            search.take(found[0])
        shallow, deep = (shallow, depth) if robust else (depth, deep)
        depth = 2 * depth if deep == np.inf else (shallow + deep) / 2


def _lookamong_rows(search: Scenarios, budget: Budget) -> None:
    """Take the cheapest of the training rows deepest inside that is robust."""
    for row in deepest_rows(search.problem, search.sure):
        search.until = min(budget.until, now() + QUICK_SECONDS)
        if budget.spent() or search.take(row):
            return


def deepest_rows(problem: Problem, sure: ScoreSet) -> FloatArray:
    """The training rows that lie deepest inside a score set, the cheapest one first."""
    if problem.witnesses.examples is None:
        return np.empty((0, len(problem.space)))
    rows = problem.witnesses.examples.examples
    spare = (evaluate(problem.model, rows) @ sure.A.T - sure.b).min(axis=1)
    rows = rows[np.argsort(-spare, kind="stable")[: min(MOST_ROWS, np.count_nonzero(spare > 0))]]
    cost = problem.prices.total(np.repeat(problem.factuals, len(rows), axis=0), rows)
    return np.asarray(rows[np.argsort(cost, kind="stable")])


def _brought_back(search: Scenarios, budget: Budget) -> bool:
    """Bring one feature after another of the answer back, all the way or a part of it. Whether that helped much."""
    problem, point, home, before = search.problem, search.best.point, search.problem.factuals[0], search.best.cost
    assert point is not None
    changed, reals = np.flatnonzero((point != home) & ~np.isnan(home)), problem.domain.reals()
    back = np.repeat(point[None], len(changed), axis=0)
    back[np.arange(len(changed)), changed] = home[changed]
    cost = problem.prices.total(np.repeat(home[None], len(changed), axis=0), back)
    for j in changed[np.argsort(cost, kind="stable")].tolist():
        for share in SHARES_BACK if reals[j] else SHARES_BACK[:1]:
            if budget.spent():
                return False
            search.until = min(budget.until, now() + QUICK_SECONDS)
            nearer = np.array(search.best.point)
            nearer[j] = home[j] if share == 1 else nearer[j] + share * (home[j] - nearer[j])
            if search.take(nearer):
                break
    return search.best.cost < (1 - HELPED_MUCH) * before
