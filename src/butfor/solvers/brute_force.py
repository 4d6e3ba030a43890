"""Every combination of values, one after the other: slow, obvious, the judge of all other solvers."""

from __future__ import annotations

import numpy as np

from butfor.arrays import BoolArray, FloatArray
from butfor.errors import UnsupportedProblemError
from butfor.formulation.clearance import keeps
from butfor.formulation.half_spaces import goals, of_leaf
from butfor.formulation.margins import ranges, tightened
from butfor.model.linear import Linear
from butfor.model.oblique import Oblique
from butfor.model.questions import cuts, evaluate
from butfor.problem.domain import grid_down, grid_up
from butfor.problem.form import Form
from butfor.problem.problem import Problem
from butfor.solvers.solver import AbstractSolver, Budget, Outcome, Support, joined, nothing_found, renumbered

MOST = 2_000_000
"""Combinations at most; more are refused."""


class BruteForce(AbstractSolver):
    """All combinations of levels, grid points and, under a tree, nearest values of cells. Guarantee: optimal."""

    name = "brute_force"
    does = "small problems with finitely many candidates: tries them all (never chosen by itself)"
    many = True

    def accepts(self, form: Form) -> Support:
        if form.model not in ("linear", "tree", "ensemble", "oblique tree"):
            return Support(False, f"it needs a model it can evaluate, and this is a {form.model}")
        if "candidates" in form.relations:
            return Support(False, "a list of candidate rows is searched by row_search")
        if "continuous" in form.movable and (
            form.model in ("linear", "oblique tree")
            or form.relations & {"linear", "implies"}
            or "quadratic" in form.cost
        ):
            return Support(False, "continuous numbers may change and their best value is not at the edge of a cell")
        return Support(True, f"finitely many candidates (at most {MOST:,} are tried)")

    def solve(self, problem: Problem, budget: Budget, k: int = 1, seed: int = 0) -> Outcome:
        parts = []
        for row in range(len(problem)):
            rows = np.array([row])
            one = problem.rows(rows)
            parts.append(renumbered(nothing_found(one, exhausted=True) if budget.spent() else _solve_row(one, k), rows))
        return joined(parts)


def _solve_row(problem: Problem, k: int) -> Outcome:
    if not isinstance(problem.model, Oblique):
        return _cheapest(problem, k)
    leaves = [_cheapest(of_leaf(problem, goal), k) for goal in goals(problem)]
    if not any(leaf.found()[0] for leaf in leaves):
        return nothing_found(problem, np.inf)
    every = joined([leaf for leaf in leaves if leaf.found()[0]])
    best = np.argsort(every.cost, kind="stable")[:k]
    return Outcome(every.row[best], every.points[best], every.cost[best], every.bound[best], every.exhausted[best])


def _cheapest(problem: Problem, k: int) -> Outcome:
    values = [candidates(problem, j) for j in range(len(problem.space))]
    count = int(np.prod([float(len(v)) for v in values]))
    if count > MOST:
        raise UnsupportedProblemError(f"brute_force would try {count:,} combinations.", f"It tries at most {MOST:,}.")
    if not count:
        return nothing_found(problem, np.inf)
    points = np.stack([grid.ravel() for grid in np.meshgrid(*values, indexing="ij")], axis=1)
    many = problem.rows(np.zeros(len(points), dtype=np.intp))
    offset = _offsets(problem, points)
    fine = many.admits(points) & np.isfinite(offset)
    points, offset, many = points[fine], offset[fine], many.rows(np.flatnonzero(fine))
    inside = keeps(problem.model, problem.space, points, problem.sets, problem.margin)
    points, offset, many = points[inside], offset[inside], many.rows(np.flatnonzero(inside))
    cost = many.prices.total(many.factuals, points) + offset
    best = np.argsort(cost, kind="stable")[:k]
    best = best[np.isfinite(cost[best])]
    if not len(best):
        return nothing_found(problem, np.inf)
    zeros = np.zeros(len(best), dtype=np.intp)
    return Outcome(zeros, points[best], cost[best], cost[best], zeros.astype(np.bool_))


def candidates(problem: Problem, j: int) -> FloatArray:
    """The values of feature `j` that an optimum may take."""
    domain, x = problem.domain, float(problem.factuals[0, j])
    feature = problem.space.features[j]
    found = [x] if domain.stay[0, j] else []
    if domain.missing[0, j]:
        found.append(np.nan)
    if feature.levels is not None:
        found += [float(code) for code in np.flatnonzero(domain.levels[j][0]) if code != x]
    elif domain.low[0, j] <= domain.high[0, j]:
        found += [v for v in _numbers(problem, j) if v != x]
    return np.array(found)


def _numbers(problem: Problem, j: int) -> list[float]:
    domain, step, anchor = problem.domain, float(problem.domain.step[j]), float(problem.domain.anchor[j])
    if step:
        first, last = grid_up(domain.low[:, j], step, anchor)[0], grid_down(domain.high[:, j], step, anchor)[0]
        return [
            float(anchor + step * i) for i in range(round((first - anchor) / step), round((last - anchor) / step) + 1)
        ]
    width = problem.margin * ranges(problem.space)[j]
    edges = cuts(problem.model, j)
    edges = np.unique(np.concatenate([edges, edges - width, np.nextafter(edges + width, -np.inf)]))
    ends = np.concatenate([[-np.inf], edges, [np.inf]])
    nearest = domain.nearest(j, ends[None, :-1], ends[None, 1:])[0]
    return [float(v) for v in nearest if not np.isnan(v)]


def _offsets(problem: Problem, points: FloatArray) -> FloatArray:
    """The cheapest offset of the sets each point lies in; infinity outside all."""
    scores = evaluate(problem.model, points)
    offset = np.full(len(points), np.inf)
    for part in problem.sets:
        if isinstance(problem.model, Linear):
            part = tightened(part, problem)
        inside: BoolArray = part.holds(scores)
        offset = np.where(inside, np.minimum(offset, part.offset), offset)
    return offset
