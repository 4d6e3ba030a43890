"""One axis-aligned tree, exactly: clip the factual into each target leaf, take the cheapest; all rows at once.

A leaf is a product of cell sets, the cost a sum (and a maximum) over features, so the cheapest point of a leaf takes the
cheapest admissible cell of each feature on its path and stays put elsewhere.
Carreira-Perpinan and Hada, "Counterfactual explanations for oblique decision trees", AAAI 2021, section 5.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from butfor.model.cells import BoolArray, Cells, IntArray
from butfor.model.trees import Leaf, Span, Trees
from butfor.problem.form import Form
from butfor.problem.problem import Problem
from butfor.rewrite.margins import leaves_inside
from butfor.rewrite.tables import Tables, tabulate
from butfor.solvers.solver import AbstractSolver, Budget, Outcome, Support, joined, nothing_found, renumbered
from butfor.space.frames import FloatArray

CHUNK = 512
"""Rows tabulated together: large enough for numpy, small enough for the cache."""


@dataclass(frozen=True, eq=False)
class Paths:
    """The target leaves, flattened: entries `begin[l]` to `begin[l + 1]` are the features asked on the way to leaf l.

    An entry allows cells `first` to `last` of its feature, or (`mask >= 0`) those of `masks[mask:]`; "missing" if `missing`.
    """

    begin: IntArray
    feature: IntArray
    first: IntArray
    last: IntArray
    missing: BoolArray
    mask: IntArray
    masks: BoolArray
    offset: FloatArray


class TreeExact(AbstractSolver):
    """The cheapest point over all target leaves of one tree. Guarantee: optimal, for every form it accepts."""

    name = "tree_exact"
    does = "one axis-aligned tree: the factual clipped into every target leaf, the cheapest taken"
    many = True
    block = 8192

    def accepts(self, form: Form) -> Support:
        if form.model != "tree":
            return Support(False, f"it takes one axis-aligned tree, and the model is a {form.model}")
        if "quadratic" in form.cost:
            return Support(False, "a quadratic form couples features; the cost must be a sum or maximum over them")
        if "tradeoff" in form.cost:
            return Support(False, "the L-infinity part and the price table rank the same levels differently")
        coupled = sorted(form.relations & {"linear", "implies", "fresh", "candidates"})
        if coupled:
            return Support(False, f"the constraints ({', '.join(coupled)}) couple features; it clips each on its own")
        return Support(True, "every leaf is a box, and the cost is smallest at the clipped factual")

    def solve(self, problem: Problem, budget: Budget, k: int = 1, seed: int = 0) -> Outcome:
        assert isinstance(problem.model, Trees)
        cells, leaves = leaves_inside(problem.model, problem.space, problem.margin)
        paths = flatten(problem, cells, leaves)
        if len(paths.offset) == 0:
            return nothing_found(problem, np.inf)
        parts = []
        for begin in range(0, len(problem), CHUNK):
            rows = np.arange(begin, min(begin + CHUNK, len(problem)))
            if budget.spent() and parts:
                parts.append(renumbered(nothing_found(problem.rows(rows), exhausted=True), rows))
                continue
            parts.append(renumbered(_solve_chunk(problem.rows(rows), cells, paths, k), rows))
        return joined(parts, f"{len(paths.offset)} of {len(leaves)} leaves meet the target")


def _solve_chunk(problem: Problem, cells: tuple[Cells, ...], paths: Paths, k: int) -> Outcome:
    from butfor.solvers import tree_kernels as kernels

    tables = tabulate(problem, cells)
    n, most = len(problem), problem.most_changes
    if k == 1:
        cost, leaf = kernels.cheapest_leaf(*_arrays(tables, paths), most)
        row = np.arange(n)
    else:
        every = kernels.leaf_costs(*_arrays(tables, paths), most)
        order = np.argsort(every, axis=1, kind="stable")[:, :k]
        sorted_costs = np.take_along_axis(every, order, axis=1)
        kept = np.isfinite(sorted_costs)
        kept[:, 0] = True
        row = np.repeat(np.arange(n), kept.sum(axis=1))
        cost, leaf = sorted_costs[kept], order[kept]
    found = np.isfinite(cost)
    points = np.full((len(row), len(cells)), np.nan)
    if found.any():
        points[found] = _points(problem, tables, paths, row[found], leaf[found])
    bound = np.where(found, cost, np.inf)
    return Outcome(row, points, cost, bound, np.zeros(len(row), dtype=np.bool_))


def _points(problem: Problem, tables: Tables, paths: Paths, row: IntArray, leaf: IntArray) -> FloatArray:
    """The representative of each feature's chosen cell."""
    from butfor.solvers import tree_kernels as kernels

    cell = kernels.chosen_cells(*_arrays(tables, paths), row, leaf.astype(np.intp))
    values = tables.value[row[:, None], tables.start[:-1] + np.maximum(cell, 0)]
    return np.where(cell < 0, problem.factuals[row], values)


def _arrays(tables: Tables, paths: Paths) -> tuple[FloatArray | IntArray | BoolArray, ...]:
    return (
        tables.start, tables.price, tables.reach, tables.home, tables.near, tables.stay,
        paths.begin, paths.feature, paths.first, paths.last, paths.missing, paths.mask, paths.masks, paths.offset,
    )  # fmt: skip


def flatten(problem: Problem, cells: tuple[Cells, ...], leaves: tuple[Leaf, ...]) -> Paths:
    """The leaves whose scores lie in the target, cheapest class first; features that must move are added to each path."""
    assert isinstance(problem.model, Trees)
    values = problem.model.base + problem.model.value[[leaf.node for leaf in leaves]]
    offset = np.full(len(leaves), np.inf)
    for part in problem.sets:
        offset = np.where(part.holds(values), np.minimum(offset, part.offset), offset)
    forced = np.flatnonzero((~problem.domain.stay).any(axis=0))
    begin, rows, masks, size = [0], [], [], 0
    kept = np.flatnonzero(np.isfinite(offset))
    for index in kept:
        path = leaves[index].path
        for j in forced:
            path = path if int(j) in path else {**path, int(j): Span(0, cells[j].count - 1, True)}
        for j, region in path.items():
            if isinstance(region, Span):
                rows.append((j, region.first, region.last, region.missing, -1))
            else:
                rows.append((j, 0, cells[j].count - 1, bool(region.mask[-1]), size))
                masks.append(region.mask)
                size += len(region.mask)
        begin.append(len(rows))
    columns = np.array(rows, dtype=np.intp).reshape(-1, 5).T
    return Paths(
        begin=np.array(begin, dtype=np.intp),
        feature=np.ascontiguousarray(columns[0]),
        first=np.ascontiguousarray(columns[1]),
        last=np.ascontiguousarray(columns[2]),
        missing=columns[3].astype(np.bool_),
        mask=np.ascontiguousarray(columns[4]),
        masks=np.concatenate(masks) if masks else np.zeros(0, dtype=np.bool_),
        offset=offset[kept],
    )
