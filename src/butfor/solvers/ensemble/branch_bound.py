"""The cheapest row over a sum of trees, proven without an outside solver.

Each tree chooses a leaf and each feature a cell, and messages between them make a lower bound.
The bound comes close to that of the tight linear program (see docs/decisions/008-ensembles.md).
Cells whose own bound is too high for a better row are dropped.
The search can be stopped at any time, with the best row and a proven bound.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from butfor.arrays import FloatArray, IntArray
from butfor.formulation.margins import tightened
from butfor.formulation.tables import Tables, tabulate
from butfor.model.questions import ModelKind, evaluate
from butfor.model.scores import ScoreSet, Softmax, at_least
from butfor.model.trees import Trees
from butfor.problem.form import BLENDED, ConstraintKind, CostTerm, Form, listed
from butfor.problem.problem import Problem
from butfor.solvers.combine import SetAnswer, over_score_sets, row_by_row
from butfor.solvers.ensemble.instance import Instance
from butfor.solvers.ensemble.leaves import LeafTable, all_leaves
from butfor.solvers.ensemble.search import LeafSearch
from butfor.solvers.outcome import Outcome, Stopped
from butfor.solvers.solver import AbstractSolver, Budget, Support
from butfor.space.space import same

MOST_TANGENTS = 50
"""How many tangents to a curved target are tried."""


class EnsembleBranchBound(AbstractSolver):
    """Branch and bound over the cells of the features.

    Guarantee: optimal (to 1e-6), or a proven bound when the time ends.
    """

    name = "ensemble_branch_bound"
    does = (
        "sums of trees (forests, boosting), several inequalities and counted changes: "
        "bounds by messages, no outside solver"
    )
    block = 16
    row_by_row = True
    takes_per_row = True

    def accepts(self, form: Form) -> Support:
        if form.model is not ModelKind.ENSEMBLE:
            return Support(False, f"it takes a sum of axis-aligned trees, and the model is a {form.model}")
        if form.cost & {CostTerm.LINF, CostTerm.QUADRATIC, CostTerm.TRADEOFF}:
            return Support(False, "the cost must be a sum over features")
        if form.blended:
            return Support(False, BLENDED)
        coupled = form.constraints - {ConstraintKind.AT_MOST, ConstraintKind.FRESH, ConstraintKind.MARGIN}
        if coupled:
            return Support(False, f"the constraints ({listed(coupled)}) couple the values of features")
        return Support(True, "every tree takes one leaf, and the cost is a sum over the cells of features")

    def solve(self, problem: Problem, budget: Budget, k: int = 1, seed: int = 0) -> Outcome:
        return row_by_row(problem, budget, lambda one: self.solve_below(one, np.inf, budget))

    def solve_below(self, problem: Problem, upper: float, budget: Budget) -> Outcome:
        """Each score set is asked only for a point that is cheaper than `upper`, and than those of the sets before it."""
        return over_score_sets(
            problem, lambda score_set, most: _cheapest_below(problem, score_set, most, budget), upper
        )


def _cheapest_below(problem: Problem, score_set: ScoreSet, upper: float, budget: Budget) -> SetAnswer:
    """The cheapest point of one score set, if one costs less than `upper`."""
    model = problem.model
    assert isinstance(model, Trees)
    cells, leaves = all_leaves(model, problem.space, problem.demands.margin)
    tables = tabulate(problem, cells)
    doubt = problem.doubt(score_set)
    bound, wide = 0.0, score_set.widened(doubt)
    firm = tightened(score_set, problem).b
    asked: dict[bytes, bool] = {}

    def outside(scores: FloatArray) -> bool:
        return wide.curve is not None and wide.curve.excess(scores) > 0

    def confirmed(chosen: IntArray) -> bool:
        key = chosen.tobytes()
        if key not in asked:
            point = tables.value[0, chosen]
            asked[key] = outside(evaluate(model, point[None])[0]) or problem.reached(score_set, point)
        return asked[key]

    for _ in range(MOST_TANGENTS):
        search = LeafSearch(_instance(problem, tables, leaves, wide, firm), upper, confirmed)
        search.run(budget)
        bound = max(bound, search.lower)
        if search.best is None:
            stopped = Stopped.DONE if search.closed else budget.stopped
            single = search.short is not None and len(wide.b) == 1 and wide.curve is None
            highest = float(wide.b[0] - search.short[0]) if single and search.short is not None else np.nan
            closest = None if search.closest is None else tables.value[0, search.closest]
            return SetAnswer(None, np.inf, bound, stopped, highest, closest)
        point = tables.value[0, search.best]
        scores = evaluate(model, point[None])[0]
        if not outside(scores):
            return SetAnswer(point, search.upper, bound, budget.stopped)
        assert isinstance(wide.curve, Softmax)
        wide, firm = _with_tangent(wide, wide.curve, scores), np.append(firm, np.inf)
    return SetAnswer(None, np.inf, bound, Stopped.EFFORT)


def _with_tangent(score_set: ScoreSet, curve: Softmax, scores: FloatArray) -> ScoreSet:
    """The set with one more inequality, which cuts the scores off.

    The inequality holds in all of the curved set.
    """
    row, b = curve.tangent(scores)
    return replace(
        score_set,
        A=np.vstack([score_set.A, row]),
        b=np.append(score_set.b, b),
        strict=np.append(score_set.strict, False),
    )


def _instance(problem: Problem, tables: Tables, leaves: LeafTable, wide: ScoreSet, firm: FloatArray) -> Instance:
    """The goals are the thresholds of a score set."""
    model = problem.model
    assert isinstance(model, Trees)
    if not len(wide.b):  # any score will do, but every tree must have a leaf for the row
        wide, firm = at_least(np.zeros(model.scores), -1.0), np.full(1, np.inf if wide.curve else -1.0)
    score, base = np.ascontiguousarray(leaves.value @ wide.A.T), wide.A @ model.base
    least = np.minimum.reduceat(score, leaves.tree[:-1], axis=0).sum(axis=0)
    goal = np.maximum(wide.b - base, least - 1.0)  # a goal may be too low to matter
    return instance(problem, tables, leaves, score, goal, firm - base)


def instance(
    problem: Problem, tables: Tables, leaves: LeafTable, score: FloatArray, goal: FloatArray, firm: FloatArray
) -> Instance:
    """The goals, with the prices and changes of all cells of the only row."""
    feature = np.repeat(np.arange(len(problem.space)), np.diff(leaves.start))
    x, value = problem.factuals[0, feature], tables.value[0]
    changed = ~same(value, x)
    limits = problem.limits
    return Instance(
        leaves=leaves,
        score=score,
        goal=goal,
        firm=firm,
        price=np.ascontiguousarray(tables.price[0]),
        side=np.array([changed & counted[feature] for counted, _ in limits], dtype=np.float64).reshape(-1, len(x)),
        limit=np.array([most for _, most in limits], dtype=np.float64),
    )
