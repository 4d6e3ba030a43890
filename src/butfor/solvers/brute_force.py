"""Try every combination of values. It is slow and obvious, and judges all other solvers in the tests."""

from __future__ import annotations

import numpy as np

from butfor.arrays import FloatArray
from butfor.errors import UnsupportedProblemError
from butfor.formulation.choices import FeatureChoices, choices_of
from butfor.formulation.half_spaces import goals, of_leaf
from butfor.model.cells import number_cells
from butfor.model.clearance import ranges, stays_clear
from butfor.model.float_order import last_below
from butfor.model.oblique import ObliqueTree
from butfor.model.questions import NO_DISTANCE, SLOPED, ModelKind, cuts, evaluate
from butfor.model.scores import cheapest_offset
from butfor.problem.form import ConstraintKind, CostTerm, Form, ValueKind
from butfor.problem.problem import Problem
from butfor.solvers.combine import row_by_row
from butfor.solvers.outcome import Outcome, answers_of, joined, nothing_found
from butfor.solvers.solver import AbstractSolver, Budget, Support

COMBINATIONS = 2_000_000
"""The largest number of combinations. Problems with more are refused."""

KEPT_AT_CELLS = frozenset({ConstraintKind.AT_MOST, ConstraintKind.FRESH, ConstraintKind.APART, ConstraintKind.MARGIN})
"""Constraints under which continuous numbers are best at the edge of a cell of the model."""


class BruteForce(AbstractSolver):
    """Tries all combinations of levels, grid points and (in trees) nearest values of cells. Guarantee: optimal."""

    name = "brute_force"
    does = "small problems with finitely many candidates: tries them all (never chosen by itself)"
    many = True
    only_named = True

    def accepts(self, form: Form) -> Support:
        if form.model is ModelKind.BLACK_BOX:
            return Support(False, f"it needs a model it can evaluate, and this is a {form.model}")
        if ConstraintKind.CANDIDATES in form.constraints:
            return Support(False, "a list of candidate rows is searched by row_search")
        if ConstraintKind.ROBUST in form.constraints:
            return Support(False, "the neighbours of a point are not enumerated")
        if ConstraintKind.JUDGED in form.constraints:
            return Support(False, "a constraint is left that only a model can judge")
        if form.model in NO_DISTANCE and ConstraintKind.MARGIN in form.constraints:
            return Support(False, f"the distance to the boundaries of a {form.model} is not known")
        if ValueKind.CONTINUOUS in form.movable and (
            form.model in SLOPED or form.constraints - KEPT_AT_CELLS or CostTerm.QUADRATIC in form.cost
        ):
            return Support(False, "continuous numbers may change and their best value is not at the edge of a cell")
        return Support(True, f"finitely many candidates (at most {COMBINATIONS:,} are tried)")

    def solve(self, problem: Problem, budget: Budget, k: int = 1, seed: int = 0) -> Outcome:
        return row_by_row(problem, budget, lambda one: _solve_row(one, k))


def _solve_row(problem: Problem, k: int) -> Outcome:
    if not isinstance(problem.model, ObliqueTree):
        return _cheapest(problem, k)
    leaves = [_cheapest(of_leaf(problem, goal), k) for goal in goals(problem)]
    if not any(leaf.found()[0] for leaf in leaves):
        return nothing_found(problem, np.inf)
    every = joined([leaf for leaf in leaves if leaf.found()[0]])
    return every.take(np.argsort(every.cost, kind="stable")[:k])


def _cheapest(problem: Problem, k: int) -> Outcome:
    values = [candidates(problem, j) for j in range(len(problem.space))]
    count = int(np.prod([float(len(v)) for v in values]))
    if count > COMBINATIONS:
        raise UnsupportedProblemError(
            f"brute_force would try {count:,} combinations.",
            f"It tries at most {COMBINATIONS:,}.",
            "Use solver='auto'.",
        )
    if not count:
        return nothing_found(problem, np.inf)
    points = np.stack([grid.ravel() for grid in np.meshgrid(*values, indexing="ij")], axis=1)
    many = problem.take(np.zeros(len(points), dtype=np.intp))
    offset = _offsets(problem, points)
    fine = many.admits(points) & np.isfinite(offset)
    points, offset, many = points[fine], offset[fine], many.take(np.flatnonzero(fine))
    inside = stays_clear(problem.model, problem.space, points, problem.score_sets, problem.demands.margin)
    points, offset, many = points[inside], offset[inside], many.take(np.flatnonzero(inside))
    cost = many.prices.total(many.factuals, points) + offset
    best = np.argsort(cost, kind="stable")[:k]
    best = best[np.isfinite(cost[best])]
    if not len(best):
        return nothing_found(problem, np.inf)
    return answers_of(np.zeros(len(best), dtype=np.intp), points[best], cost[best], cost[best])


def candidates(problem: Problem, j: int) -> FloatArray:
    """The values of feature `j` that an optimum may take."""
    if not problem.domain.reals()[j]:
        return choices_of(problem, j).every()
    width, edges = problem.demands.margin * ranges(problem.space)[j], cuts(problem.model, j)
    edges = np.concatenate([edges, *(last_below(edges, np.full(len(edges), shift)) for shift in (-width, width))])
    nearest = FeatureChoices(problem, j, number_cells(edges)).nearest()
    return nearest.value[nearest.able]


def _offsets(problem: Problem, points: FloatArray) -> FloatArray:
    """The cheapest offset of the score sets around each point; infinity if there is none."""
    return cheapest_offset(problem.score_sets, evaluate(problem.model, points))
