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
from butfor.model.questions import ModelKind, evaluate
from butfor.model.scores import ScoreSet, Softmax, at_least
from butfor.problem.form import BLENDED, ConstraintKind, CostTerm, Form, listed
from butfor.problem.problem import Problem
from butfor.solvers.combine import SetAnswer, over_score_sets, row_by_row
from butfor.solvers.ensemble.attainable import next_sums
from butfor.solvers.ensemble.cell_search import AbstractCellSearch, Inside
from butfor.solvers.ensemble.instance import Instance
from butfor.solvers.ensemble.limits import COUNTED, RELATIONS
from butfor.solvers.ensemble.row_cells import RowCells, row_cells
from butfor.solvers.milp.milp import Milp
from butfor.solvers.outcome import Outcome, Stopped
from butfor.solvers.reduction import AbstractReduction, Handing
from butfor.solvers.solver import Budget, Support

MOST_TANGENTS = 50
"""How many tangents to a curved target are tried."""


class EnsembleBranchBound(AbstractReduction):
    """Branch and bound over the cells of the features.

    Guarantee: optimal (to 1e-6), or a proven bound when the time ends.
    """

    name = "ensemble_branch_bound"
    does = (
        "sums of trees (forests, boosting), several inequalities, counted changes, relations between columns: "
        "bounds by messages, no outside solver"
    )
    block = 16
    row_by_row = True
    takes_per_row = True
    inner = (Milp(),)
    left = "the sums of numbers in given cells"

    def takes(self, form: Form) -> Support:
        related = form.constraints & RELATIONS
        if form.model is not ModelKind.ENSEMBLE and not (related and form.model is ModelKind.TREE):
            return Support(False, f"it takes a sum of axis-aligned trees, and the model is a {form.model}")
        if form.cost & {CostTerm.LINF, CostTerm.QUADRATIC, CostTerm.TRADEOFF}:
            return Support(False, "the cost must be a sum over features")
        if form.blended:
            return Support(False, BLENDED)
        coupled = form.constraints - COUNTED - RELATIONS - {ConstraintKind.MARGIN}
        if coupled:
            return Support(False, f"the constraints ({listed(coupled)}) couple the values of features")
        if related:
            return Support(True, "every tree takes one leaf, and relations are limits on what cells count")
        return Support(True, "every tree takes one leaf, and the cost is a sum over the cells of features")

    def parts(self, form: Form) -> tuple[Form, ...]:
        """Numbers in given cells that keep sums are about a tree of a single leaf."""
        only = form.constraints & {ConstraintKind.LINEAR}
        small = replace(form, model=ModelKind.TREE, constraints=only, inequalities=0, curved=False, forced=True)
        return (small,) if only else ()

    def solve(self, problem: Problem, budget: Budget, k: int = 1, seed: int = 0) -> Outcome:
        return row_by_row(problem, budget, lambda one: self.solve_below(one, np.inf, budget))

    def solve_below(self, problem: Problem, upper: float, budget: Budget) -> Outcome:
        """Each score set is asked only for a point that is cheaper than `upper`, and than those of the sets before it."""
        row, handing = row_cells(problem), Handing(self.inner)
        return over_score_sets(
            problem, lambda score_set, most: _cheapest_below(row, score_set, most, budget, handing), upper
        ).handed_to(handing.ran)


def _cheapest_below(row: RowCells, score_set: ScoreSet, upper: float, budget: Budget, handing: Handing) -> SetAnswer:
    """The cheapest point of one score set, if one costs less than `upper`."""
    bound, wide = 0.0, score_set.widened(row.problem.doubt(score_set))
    firm = np.full(len(wide.b), np.inf) if row.related else tightened(score_set, row.problem).b
    for _ in range(MOST_TANGENTS):
        search = TreeCells(row, score_set, wide, firm, upper, handing)
        answer = search.run(budget)
        bound = max(bound, answer.bound)
        if answer.point is None or not search.outside(answer.point):
            return replace(answer, bound=bound, highest=search.highest, closest=search.closest)
        assert isinstance(wide.curve, Softmax)
        wide = _with_tangent(wide, wide.curve, evaluate(row.model, answer.point[None])[0])
        firm = np.append(firm, np.inf)
    return SetAnswer(None, np.inf, bound, Stopped.EFFORT)


class TreeCells(AbstractCellSearch):
    """The search for the row of a score set. Where a sum is broken by the cheapest values of cells, others are looked for."""

    def __init__(
        self, row: RowCells, score_set: ScoreSet, wide: ScoreSet, firm: FloatArray, upper: float, handing: Handing
    ) -> None:
        super().__init__(_instance(row, wide, firm), row.tables.value[0], upper)
        self.row, self.score_set, self.wide, self.handing = row, score_set, wide, handing

    def outside(self, point: FloatArray) -> bool:
        """Whether the scores of a point are outside of what is wanted, although they reach all goals."""
        curve = self.wide.curve
        return curve is not None and curve.excess(evaluate(self.row.model, point[None])[0]) > 0

    def inside(self, cells: IntArray) -> Inside:
        point, price = self.value[cells], float(self.question.price[cells].sum())
        if self.outside(point) or self.row.problem.reached(self.score_set, point):
            return Inside(point, price, price)
        return self.row.cheapest_inside(cells, self.score_set, self.handing, self.budget)

    @property
    def highest(self) -> float:
        """If no row is better, the most that the only sum of scores can be; NaN where that is not known."""
        short, wide = self.search.short, self.wide
        if short is None or len(wide.b) != 1 or wide.curve is not None or self.row.related:
            return np.nan
        return float(self.question.goal[0] + (wide.A @ self.row.model.base)[0] - short[0])

    @property
    def closest(self) -> FloatArray | None:
        """A row that comes close to that, if one is known."""
        return None if self.search.closest is None else self.value[self.search.closest]


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


def _instance(row: RowCells, wide: ScoreSet, firm: FloatArray) -> Instance:
    """The goals are the thresholds of a score set."""
    model, leaves = row.model, row.leaves
    if not len(wide.b):  # any score will do, but every tree must have a leaf for the row
        wide, firm = at_least(np.zeros(model.scores), -1.0), np.full(1, np.inf if wide.curve else -1.0)
    score, base = np.ascontiguousarray(leaves.value @ wide.A.T), wide.A @ model.base
    least = np.minimum.reduceat(score, leaves.tree[:-1], axis=0).sum(axis=0)
    goal = np.maximum(wide.b - base, least - 1.0)  # a goal may be too low to matter
    goal = next_sums(score, leaves.tree, goal)
    return row.asked(score, goal, np.maximum(firm - base, goal))
