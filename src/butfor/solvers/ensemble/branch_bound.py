"""A sum of trees, exactly: dual bounds, local search and branching on cuts, without an outside solver.

Each tree chooses a leaf and each feature a cell; messages between them make a lower bound that comes close to that of the
tight linear program (see docs/decisions), and reduced costs drop cells that cannot be in a better row. It can be
stopped at any time with the best row and a proven bound.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np

from butfor.arrays import FloatArray
from butfor.formulation.clearance import inside
from butfor.formulation.tables import Tables, tabulate
from butfor.model.questions import evaluate
from butfor.model.scores import ScoreSet, Softmax, at_least
from butfor.model.trees import Trees
from butfor.problem.constraints.relations import AtMost, Fresh
from butfor.problem.form import Form
from butfor.problem.problem import Problem
from butfor.solvers.ensemble.leaves import Leaves, all_leaves
from butfor.solvers.ensemble.search import Question, Search
from butfor.solvers.solver import GUARDS, AbstractSolver, Budget, Outcome, Support, joined, nothing_found, renumbered
from butfor.space.space import same

ROUNDING = 1e-13
"""The share of the size of a score that a sum may miss its goal by: the order of summation decides about less."""

CURVES = 50
"""Tangents at most to a curved target."""


class EnsembleBranchBound(AbstractSolver):
    """Branch and bound over the cells of the features. Guarantee: optimal (to 1e-6), or a proven bound when the time ends."""

    name = "ensemble_branch_bound"
    does = "sums of trees (forests, boosting), several inequalities and counted changes: bounds by messages, no outside solver"
    block = 16
    apart = True

    def accepts(self, form: Form) -> Support:
        if form.model != "ensemble":
            return Support(False, f"it takes a sum of axis-aligned trees, and the model is a {form.model}")
        if form.cost & {"linf", "quadratic", "tradeoff"}:
            return Support(False, "the cost must be a sum over features")
        coupled = sorted(form.relations & {"linear", "implies", "candidates"})
        if coupled:
            return Support(False, f"the constraints ({', '.join(coupled)}) couple the values of features")
        return Support(True, "every tree takes one leaf, and the cost is a sum over the cells of features")

    def solve(self, problem: Problem, budget: Budget, k: int = 1, seed: int = 0) -> Outcome:
        ones = [problem.rows(np.array([row])) for row in range(len(problem))]
        workers = min(budget.threads, len(ones))
        if workers == 1:
            found = [_solve_row(one, budget) for one in ones]
        else:
            with ThreadPoolExecutor(workers) as pool:
                waiting = [pool.submit(_solve_row, one, budget) for one in ones]
                try:
                    found = [future.result() for future in waiting]
                except KeyboardInterrupt:
                    budget.stop()
                    found = [future.result() for future in waiting]
        return joined([renumbered(one, np.array([row])) for row, one in enumerate(found)])


def _solve_row(problem: Problem, budget: Budget) -> Outcome:
    """The best over the score sets, each asked for something better than those before; the bound is the smallest of theirs."""
    best = nothing_found(problem, np.inf)
    lowest, exhausted = np.inf, False
    for part in problem.sets:
        point, cost, bound, ended = _solve_set(problem, part, float(best.cost[0]) - part.offset, budget)
        lowest, exhausted = min(lowest, bound + part.offset), exhausted or ended
        if point is not None and cost + part.offset < best.cost[0]:
            best = replace(best, points=point[None], cost=np.array([cost + part.offset]))
    proven = max(0.0, min(lowest, float(best.cost[0])))
    return replace(best, bound=np.array([proven]), exhausted=np.array([exhausted]))


def _solve_set(
    problem: Problem, part: ScoreSet, upper: float, budget: Budget
) -> tuple[FloatArray | None, float, float, bool]:
    """Point, cost, bound and whether the time ended, for one score set; no point if none costs less than `upper`."""
    model = problem.model
    assert isinstance(model, Trees)
    cells, leaves = all_leaves(model, problem.space, problem.margin)
    tables = tabulate(problem, cells)
    bound, guards, tangents = 0.0, list(GUARDS), part
    while guards:
        search = Search(_question(problem, tables, leaves, tangents, guards[0]), upper)
        search.run(budget)
        if guards[0] == 0.0:
            bound = max(bound, search.lower)
        if search.best is None:
            return None, np.inf, bound, search.lower < search.upper
        point = tables.value[0, search.best]
        scores = evaluate(model, point[None])[0]
        if part.curve is not None and part.curve.excess(scores) > 0 and len(tangents.b) < len(part.b) + CURVES:
            tangents = _with_tangent(tangents, part.curve, scores)
        elif inside(problem, part, point):
            return point, search.upper, bound, budget.spent()
        else:
            guards.pop(0)
    return None, np.inf, bound, True


def _with_tangent(part: ScoreSet, curve: Softmax, scores: FloatArray) -> ScoreSet:
    """The set with one more inequality, which holds in all of the curved set and cuts the scores off."""
    row, b = curve.tangent(scores)
    return replace(
        part, A=np.vstack([part.A, row]), b=np.append(part.b, b + 1e-9), strict=np.append(part.strict, False)
    )


def _question(problem: Problem, tables: Tables, leaves: Leaves, part: ScoreSet, guard: float) -> Question:
    """Prices, changes and scores of all cells and leaves, and the goal."""
    model = problem.model
    assert isinstance(model, Trees)
    if not len(part.b):  # any score will do, but every tree must have a leaf for the row
        part = at_least(np.zeros(model.scores), -1.0)
    size = np.abs(part.A) @ (np.abs(model.base) + len(model.roots) * np.abs(leaves.value).max(axis=0, initial=0.0))
    size += np.abs(part.b)
    raised = part.margins(size) + (guard * size if guard else np.where(part.strict, 0.0, -ROUNDING * size))
    feature = np.repeat(np.arange(len(problem.space)), np.diff(leaves.start))
    x, value = problem.factuals[0, feature], tables.value[0]
    changed = ~same(value, x)
    names = problem.space.names
    limits = [(np.ones(len(names), dtype=np.bool_), found.count) for found in problem.constraints(AtMost)]
    limits += [(np.isin(names, found.names), len(found.names) - 1) for found in problem.constraints(Fresh)]
    return Question(
        leaves=leaves,
        score=np.ascontiguousarray(leaves.value @ part.A.T),
        goal=part.b + raised - part.A @ model.base,
        price=np.ascontiguousarray(tables.price[0]),
        side=np.array([changed & counted[feature] for counted, _ in limits], dtype=np.float64).reshape(-1, len(x)),
        limit=np.array([most for _, most in limits], dtype=np.float64),
    )
