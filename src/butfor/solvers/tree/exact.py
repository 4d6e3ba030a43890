"""One axis-aligned tree, exactly. The cheapest leaves of the target are found depth first.

A leaf is a product of cell sets, and the cost is a sum (and a maximum) over features. So entering a branch costs the
cheapest admissible cell of the feature that its node reads, and all other features keep their cells. A branch is
skipped if it already costs as much as the best leaf found. The point of a leaf is the factual, clipped into the
leaf's box. Carreira-Perpinan and Hada, "Counterfactual explanations for oblique decision trees", AAAI 2021, section
3.4. Their corollary 3.4, that L1, L2 and their sums have the same answer, holds within a leaf only: another leaf may
be the best one (`tests/solvers/test_tree_leaves.py`).
"""

from __future__ import annotations

import numpy as np

from butfor.arrays import FloatArray, IntArray
from butfor.formulation.tables import Tables, tabulate
from butfor.model.cells import Cells
from butfor.model.questions import ModelKind
from butfor.model.trees import Trees
from butfor.problem.form import BLENDED, ConstraintKind, CostTerm, Form, listed
from butfor.problem.problem import Problem
from butfor.solvers.combine import in_parts, with_highest
from butfor.solvers.outcome import Outcome, answers_of, nothing_found
from butfor.solvers.solver import AbstractSolver, Budget, Support
from butfor.solvers.tree.target_tree import TargetTree, branches, target_tree, tree_towards

ROWS_TABULATED = 512
"""How many rows are tabulated together: enough for numpy to be fast, few enough for the cache."""


class TreeExact(AbstractSolver):
    """The cheapest point over all target leaves of one tree. Guarantee: optimal, for every form it accepts."""

    name = "tree_exact"
    does = "one axis-aligned tree: the factual clipped into the target leaves, the cheapest taken"
    many = True
    by_leaf = True
    block = 65536

    def accepts(self, form: Form) -> Support:
        if form.model is not ModelKind.TREE:
            return Support(False, f"it takes one axis-aligned tree, and the model is a {form.model}")
        if form.blended:
            return Support(False, BLENDED)
        if CostTerm.QUADRATIC in form.cost:
            return Support(False, "a quadratic form couples features; the cost must be a sum or maximum over them")
        if CostTerm.TRADEOFF in form.cost:
            return Support(False, "the L-infinity part and the price table rank the same levels differently")
        coupled = form.constraints - {ConstraintKind.AT_MOST, ConstraintKind.MARGIN}
        if coupled:
            return Support(False, f"the constraints ({listed(coupled)}) couple features; it clips each on its own")
        return Support(True, "every leaf is a box, and the cost is smallest at the clipped factual")

    def solve(self, problem: Problem, budget: Budget, k: int = 1, seed: int = 0) -> Outcome:
        cells, tree = target_tree(problem)
        return in_parts(problem, budget, ROWS_TABULATED, lambda part: _solve_rows(part, cells, tree, k))


def _solve_rows(problem: Problem, cells: tuple[Cells, ...], tree: TargetTree, k: int) -> Outcome:
    if not tree.leaves:
        return with_highest(problem, nothing_found(problem, np.inf), farthest)
    row, cost, points = _nearest(problem, cells, tree, min(k, tree.leaves))
    return with_highest(problem, answers_of(row, points, cost, cost.copy()), farthest)


def _nearest(
    problem: Problem, cells: tuple[Cells, ...], tree: TargetTree, k: int
) -> tuple[IntArray, FloatArray, FloatArray]:
    """The nearest points in the k nearest leaves of each row: the row, the cost, and the point. One is told in any case."""
    from butfor.solvers.tree.kernels import nearest_leaves

    tables = tabulate(problem, cells)
    forced = np.flatnonzero((~problem.domain.stay).any(axis=0))
    unordered = np.array([one.levels > 0 for one in cells])
    costs, chosen = nearest_leaves(tables, tree, forced, unordered, problem.most_changes, k)
    kept = np.isfinite(costs)
    kept[:, 0] = True
    row, rank = np.nonzero(kept)
    cost = costs[row, rank]
    points = np.where(np.isfinite(cost)[:, None], _points(problem, tables, row, chosen[row, rank]), np.nan)
    return row, cost, points


def farthest(problem: Problem, weights: FloatArray) -> FloatArray:
    """The point of each row with the largest sum `weights s`, found by bisection; NaN if no leaf can be reached."""
    model = problem.model
    assert isinstance(model, Trees)
    tree = branches(model, problem.space, problem.demands.margin)
    sums = (model.base + model.value[[leaf.node for leaf in tree.leaves]]) @ weights
    levels, points = np.unique(sums), np.full(problem.factuals.shape, np.nan)
    waiting = [(np.arange(len(problem)), 0, len(levels))]
    while waiting:
        rows, low, high = waiting.pop()
        middle = (low + high) // 2
        towards = tree_towards(tree, sums >= levels[middle])
        _, cost, found = _nearest(problem.take(rows), tree.cells, towards, 1)
        reached = np.isfinite(cost)
        points[rows[reached]] = found[reached]
        parts = (rows[~reached], low, middle), (rows[reached], middle + 1, high)
        waiting += [part for part in parts if len(part[0]) and part[1] < part[2]]
    return points


def _points(problem: Problem, tables: Tables, row: IntArray, cell: IntArray) -> FloatArray:
    """The value of each feature's chosen cell; the factual value if no cell was chosen."""
    values = tables.value[row[:, None], tables.start[:-1] + np.maximum(cell, 0)]
    return np.where(cell < 0, problem.factuals[row], values)
