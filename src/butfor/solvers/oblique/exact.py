"""One oblique tree, exactly: the cheapest point of each leaf, by cheap lower bounds.

A leaf is the half-spaces of its path. Where the price is a sum over columns, bounds and points come from the dual of
its polytope (`polytope`). Anything else is a small mixed-integer program per leaf.
Carreira-Perpinan and Hada, "Counterfactual explanations for oblique decision trees", AAAI 2021.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np

from butfor.arrays import BoolArray, IntArray
from butfor.formulation.half_spaces import Goal, closed_by, goals, of_leaf
from butfor.model.clearance import stays_clear
from butfor.model.oblique import ObliqueTree
from butfor.model.questions import ModelKind, evaluate
from butfor.model.scores import cheapest_offset
from butfor.problem.form import BLENDED, Form
from butfor.problem.problem import Problem
from butfor.solvers.combine import row_by_row
from butfor.solvers.linear.exact import LinearExact
from butfor.solvers.linear.interior_point import InteriorPoint
from butfor.solvers.milp.milp import Milp
from butfor.solvers.oblique.columns import Sheet, separable, sheet_of
from butfor.solvers.oblique.sides import side_bounds
from butfor.solvers.outcome import Outcome, Stopped, answers_of, joined, nothing_found
from butfor.solvers.reduction import AbstractReduction, Handing
from butfor.solvers.solver import AbstractSolver, Budget, Support

CHUNK = 32
"""Rows between two looks at the clock."""

MOST_CLOSED = 1e-9
"""How far the closing of decisions may move them, in ranges, for the duals to be right. Seconds since 1970 are moved by more."""

SECONDS_FOR_PROGRAMS = 10.0
"""Seconds at most that programs may take to close the gap of a row that the duals have answered."""


class ObliqueExact(AbstractReduction):
    """The cheapest point over all target leaves of one oblique tree.

    Guarantee: optimal (to 1e-6), or a proven bound.
    """

    name = "oblique_exact"
    does = "one oblique tree: a linear, quadratic or mixed-integer program per leaf, only while a bound says that it may pay"
    many = True
    by_leaf = True
    block = 1024
    row_by_row = True
    inner = (LinearExact(), InteriorPoint(), Milp())
    left = "a leaf"

    def takes(self, form: Form) -> Support:
        if form.model is not ModelKind.OBLIQUE:
            return Support(False, f"it takes one oblique tree, and the model is a {form.model}")
        if form.blended:
            return Support(False, BLENDED)
        return Support(True, "every leaf is a polytope, and the cheapest point of each can be found and proven")

    def parts(self, form: Form) -> tuple[Form, ...]:
        return (replace(form, model=ModelKind.LINEAR, curved=False),)

    def solve(self, problem: Problem, budget: Budget, k: int = 1, seed: int = 0) -> Outcome:
        wanted = goals(problem)
        if not wanted:
            return nothing_found(problem, np.inf)
        chunks = [np.arange(at, min(at + CHUNK, len(problem))) for at in range(0, len(problem), CHUNK)]
        whole = sheet_of(problem, wanted) if separable(problem) and closed_by(problem) <= MOST_CLOSED else None

        def solved(rows: IntArray) -> Outcome:
            part = problem.take(rows)
            if budget.spent() and rows[0]:
                return nothing_found(part, stopped=budget.stopped).renumbered(rows)
            some = None if whole is None else whole.take(rows)
            return _solve_chunk(part, wanted, some, self.inner, budget, min(k, len(wanted))).renumbered(rows)

        if budget.threads == 1 or len(chunks) == 1:
            return joined([solved(rows) for rows in chunks])
        with ThreadPoolExecutor(budget.threads) as pool:
            return joined(list(pool.map(solved, chunks)))


def _solve_chunk(
    problem: Problem,
    wanted: tuple[Goal, ...],
    sheet: Sheet | None,
    inner: tuple[AbstractSolver, ...],
    budget: Budget,
    k: int,
) -> Outcome:
    """By the dual where it applies and settles the row; by programs otherwise."""
    if sheet is None:
        return row_by_row(problem, budget, lambda one: _by_programs(one, wanted, Handing(inner), budget, k))
    found, settled = _by_duals(problem, sheet, budget, k)
    parts = [found.take(settled[found.row])]
    for row in np.flatnonzero(~settled):
        one = np.array([row])
        known = found.take(found.row == row)
        patience = budget.at_most(SECONDS_FOR_PROGRAMS) if known.found()[0] else budget
        again = _by_programs(problem.take(one), wanted, Handing(inner), patience, k).renumbered(one)
        parts.append(_better(known, again))
    return joined(parts)


def _better(known: Outcome, again: Outcome) -> Outcome:
    """Of two outcomes of one row the cheaper, with the higher of their bounds."""
    best = known if known.cost[0] < again.cost[0] else again
    bound = best.bound.copy()
    bound[0] = min(max(known.bound[0], again.bound[0]), best.cost[0])
    stopped = np.full(len(best), again.stopped.max())
    return replace(best, bound=bound, stopped=stopped).handed_to(again.by[0])


def _by_duals(problem: Problem, sheet: Sheet, budget: Budget, k: int) -> tuple[Outcome, BoolArray]:
    """The kernel's answers, and for which rows they stand.

    An answer stands if it is settled and holds when the model itself is asked.
    """
    costs, moves, bounds, settled = sheet.solve(k, budget.left())
    costs[sheet.impossible], bounds[sheet.impossible] = np.inf, np.inf
    kept = np.isfinite(costs)
    kept[:, 0] = True
    row, rank = np.nonzero(kept)
    points = sheet.points(row, moves[row, rank])
    some = np.isfinite(costs[row, rank])
    points[~some] = np.nan
    at = np.flatnonzero(some)
    many = problem.take(row[at])
    scores = evaluate(problem.model, points[at])
    offset = cheapest_offset(problem.score_sets, scores)
    fine = np.isfinite(offset) & many.admits(points[at])
    fine &= stays_clear(problem.model, problem.space, points[at], problem.score_sets, problem.demands.margin)
    settled[row[at[~fine]]] = False
    cost = costs[row, rank]
    cost[at] = np.where(fine, problem.prices.total(many.factuals, points[at]) + offset, np.inf)
    bound = np.where(rank == 0, np.minimum(bounds[row], cost), cost)
    return answers_of(row, points, cost, bound), settled


def _by_programs(problem: Problem, wanted: tuple[Goal, ...], handing: Handing, budget: Budget, k: int) -> Outcome:
    """The leaves of one row by one program each, those with low bounds first."""
    floor = _floors(problem, wanted)
    found: list[Outcome] = []
    lowest, stopped = np.inf, Stopped.DONE
    for at in np.argsort(floor, kind="stable"):
        limit = found[k - 1].cost[0] if len(found) >= k else np.inf
        if floor[at] >= limit:
            break
        if budget.spent():
            lowest, stopped = min(lowest, floor[at]), budget.stopped
            break
        leaf = of_leaf(problem, wanted[at])
        one = handing.solve(leaf, budget)
        lowest, stopped = min(lowest, float(one.bound[0])), stopped or Stopped(int(one.stopped[0]))
        if one.found()[0]:
            found.append(one)
            found.sort(key=lambda outcome: float(outcome.cost[0]))
    if not found:
        return nothing_found(problem, lowest, stopped).handed_to(handing.ran)
    best = joined(found[:k])
    bound = best.cost.copy()
    bound[0] = min(lowest, bound[0])
    return replace(best, bound=bound, stopped=np.full(len(best), stopped, dtype=np.intp)).handed_to(handing.ran)


def _floors(problem: Problem, wanted: tuple[Goal, ...]) -> np.ndarray:
    """For each leaf, the dearest decision on its path, each taken by itself."""
    ahead = side_bounds(problem)
    model = problem.model
    assert isinstance(model, ObliqueTree)
    return np.array([goal.offset + ahead[goal.path.gates, goal.path.right].max(initial=0.0) for goal in wanted])
