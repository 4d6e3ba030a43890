"""Sums of trees that read one column each, such as boosted stumps: a knapsack, far smaller than the general search.

The score is a sum of a function per column. So each column has options, one per cell, that cost something and gain some
of the score. The cheapest choice that gains enough is that of `linear_knapsack`, whose compiled search is used.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from butfor.arrays import BoolArray, FloatArray, IntArray
from butfor.formulation.tables import tabulate
from butfor.model.cells import Cells, representatives
from butfor.model.questions import evaluate
from butfor.model.scores import UNIT_DOUBLE, ScoreSet, at_least
from butfor.model.trees import Trees
from butfor.problem.form import ConstraintKind, Form, listed
from butfor.problem.problem import Problem
from butfor.solvers.combine import ROWS_TOGETHER, in_parts, over_sets_of_rows
from butfor.solvers.ensemble.branch_bound import EnsembleBranchBound
from butfor.solvers.outcome import Outcome, Status, answers_of, joined
from butfor.solvers.reduction import AbstractReduction, Handing
from butfor.solvers.solver import Budget, Support

NODES_PER_ROW = 2000
"""How often a row is branched on before it is left to the general search."""

OPTION_PARTS = 7
"""The numbers of an option that the compiled search reads: its gain, its price, and five that are 0 for single values."""


class SeparableTrees(AbstractReduction):
    """A knapsack over the cells of the columns. Guarantee: optimal, or what the general search proves.

    Rows whose cheapest choice the estimator does not take, or that take too long, are handed to `ensemble_branch_bound`.
    """

    name = "separable_trees"
    does = "sums of trees that read one column each: branch and bound over one inequality"
    block = 2048
    inner = (EnsembleBranchBound(),)
    left = "the rows that the knapsack does not settle"

    def takes(self, form: Form) -> Support:
        if not form.separable:
            return Support(False, "it takes sums of trees that read one column each")
        if form.inequalities > 1 or form.curved:
            return Support(False, "the target is more than one inequality, and it takes one")
        coupled = form.constraints - {ConstraintKind.AT_MOST}
        if coupled:
            return Support(False, f"it takes no constraints of the kinds {listed(coupled)}")
        return Support(True, "one function per column, and one inequality, are a knapsack")

    def parts(self, form: Form) -> tuple[Form, ...]:
        return (form,)

    def solve(self, problem: Problem, budget: Budget, k: int = 1, seed: int = 0) -> Outcome:
        return in_parts(problem, budget, ROWS_TOGETHER, lambda part: _solve_rows(part, Handing(self.inner), budget))


def _solve_rows(problem: Problem, handing: Handing, budget: Budget) -> Outcome:
    """The cheapest points over all score sets. What is not proven by them goes to the general search.

    Nothing cheaper lies in a set than in the widened one. So its cheapest point there is the cheapest answer in it, if it is
    an answer at all.
    """
    found = over_sets_of_rows(problem, partial(_cheapest, problem))
    left = np.flatnonzero([status is not Status.PROVEN_OPTIMAL for status in found.status()])
    if not len(left):
        return found
    others = _generally(problem.take(left), handing, budget)
    return joined([found.take(~np.isin(found.row, left)), others.renumbered(left)])


def _generally(problem: Problem, handing: Handing, budget: Budget) -> Outcome:
    """The general search, with an equal share of a limited time for each row."""

    def solved(number: int) -> Outcome:
        share = budget.at_most(budget.left() / (len(problem) - number))
        return handing.solve(problem.take(np.array([number])), share).renumbered(np.array([number]))

    return (
        joined([solved(number) for number in range(len(problem))]) if budget.limited else handing.solve(problem, budget)
    )


def _are_answers(problem: Problem, score_set: ScoreSet, points: FloatArray, asked: BoolArray) -> BoolArray:
    """Which points the estimator takes for answers, of those asked about. It is asked where rounding decides."""
    scores = evaluate(problem.model, points)
    sure = asked & score_set.surely(scores, problem.doubt(score_set)) & problem.admits(points)
    for row in np.flatnonzero(asked & ~sure).tolist():
        one = slice(row, row + 1)
        sure[row] = problem.take(one).reached(score_set.take(one), points[row])
    return np.asarray(sure, dtype=np.bool_)


def _cheapest(problem: Problem, score_set: ScoreSet) -> Outcome:
    """The cheapest point of each row over the widened set, if it is an answer, and a bound on all answers in the set."""
    from butfor.solvers.linear.knapsack_kernels import cheapest_choices

    wanted = score_set if len(score_set.A) else at_least(np.zeros(score_set.A.shape[1]), 0.0)
    model, weights = problem.model, wanted.A[0]
    assert isinstance(model, Trees)
    n = len(problem)
    tables = tabulate(problem, model.cells)
    adds = _added(model, problem.factuals[0]) @ weights
    features = [j for j in range(len(model.cells)) if np.ptp(adds[tables.start[j] : tables.start[j + 1]]) > 0]
    wide = wanted.widened(problem.doubt(wanted))
    now = evaluate(model, problem.factuals) @ weights
    farthest = np.abs(weights) @ model.reach + np.abs(now)
    slack = 16 * UNIT_DOUBLE * (len(model.roots) + len(features)) * farthest
    need = wide.b[..., 0] - now - slack
    parts, start, cells = _options(tables.start, tables.home, tables.price, adds, features)
    boxes = np.broadcast_to(np.array([-np.inf, np.inf])[None, :, None], (n, 2, len(features))).copy()
    pick, _, cost, bound, _ = cheapest_choices(
        parts, start, boxes, need, need.copy(), problem.most_changes, 0.0, NODES_PER_ROW
    )
    chosen = np.where(np.isfinite(cost)[:, None], cells[pick], -1)
    points = problem.factuals.copy()
    for at, j in enumerate(features):
        moved = np.flatnonzero(chosen[:, at] >= 0)
        points[moved, j] = tables.value[moved, chosen[moved, at]]
    answers = _are_answers(problem, score_set, points, np.isfinite(cost))
    return answers_of(np.arange(n), points, np.where(answers, cost, np.inf), bound)


def _options(
    first: IntArray, home: IntArray, price: FloatArray, adds: FloatArray, features: list[int]
) -> tuple[FloatArray, IntArray, IntArray]:
    """The options of the compiled search, where those of each feature begin, and the cell of each (-1: to stay).

    `price` (n, cells), `home` (n, features) and `first` are as in `Tables`; `adds` (cells) is what a cell adds.
    """
    n = len(price)
    blocks, cells, start = list[FloatArray](), list[IntArray](), [0]
    for j in features:
        block = np.arange(first[j], first[j + 1])
        at_home = first[j] + home[:, j]
        parts = np.zeros((n, len(block) + 1, OPTION_PARTS))
        parts[:, 0, 1] = price[np.arange(n), at_home]
        parts[:, 1:, 0] = adds[block] - adds[at_home][:, None]
        parts[:, 1:, 1] = np.where(block == at_home[:, None], np.inf, price[:, block])
        blocks.append(parts)
        cells.append(np.concatenate([[-1], block]))
        start.append(start[-1] + len(block) + 1)
    whole = np.concatenate(blocks, axis=1) if blocks else np.zeros((n, 0, OPTION_PARTS))
    every = np.concatenate(cells) if cells else np.empty(0, dtype=np.intp)
    return np.ascontiguousarray(whole), np.array(start, dtype=np.intp), every.astype(np.intp)


def _added(model: Trees, base: FloatArray) -> FloatArray:
    """What each cell of each feature adds to the scores, compared with the row `base`; "missing" is the last cell."""
    rows = []
    for j, cells in enumerate(model.cells):
        block = np.repeat(base[None], cells.count + 1, axis=0)
        block[:, j] = np.append(_inside(cells), np.nan)
        rows.append(block)
    return np.asarray(evaluate(model, np.concatenate(rows)) - evaluate(model, base[None]))


def _inside(cells: Cells) -> FloatArray:
    """One value in each cell."""
    return np.arange(cells.levels, dtype=np.float64) if cells.levels else representatives(cells)
