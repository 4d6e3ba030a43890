"""Between which numbers a sum of scores lies, whatever row there is, or whatever row is cheap enough."""

from __future__ import annotations

from functools import singledispatch

import numpy as np

from butfor.arrays import FloatArray
from butfor.formulation.tables import tabulate
from butfor.model.linear import Linear
from butfor.model.mixed import Mixed
from butfor.model.questions import Model
from butfor.model.trees import Trees
from butfor.problem.form import CostTerm
from butfor.problem.problem import Problem
from butfor.solvers.ensemble.leaves import LeafTable, all_leaves


@singledispatch
def sum_ranges(model: Model, problem: Problem, rows: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The least and the largest value of each sum `rows @ scores` in the domain of a problem."""
    raise TypeError(f"the range of the scores of a {type(model).__name__} is not known")


@sum_ranges.register
def _(model: Trees, problem: Problem, rows: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Each tree gives its least and its largest leaf."""
    value, leaf = model.value @ rows.T, model.feature[:, None] < 0
    low = np.minimum.reduceat(np.where(leaf, value, np.inf), model.roots, axis=0).sum(axis=0)
    high = np.maximum.reduceat(np.where(leaf, value, -np.inf), model.roots, axis=0).sum(axis=0)
    return _spread(low + rows @ model.base, high + rows @ model.base)


@sum_ranges.register
def _(model: Linear, problem: Problem, rows: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Each column gives its least and its largest term."""
    extent = problem.domain.extent
    low = high = rows @ model.intercept
    for j in range(len(model.cells)):
        slope, steps = rows @ model.slope[:, j], rows @ model.steps[j]
        ends = np.outer(slope, np.array([extent.low[j], extent.high[j]]) - model.centre[j])
        ends = np.column_stack([ends, np.zeros(len(rows))])  # a missing number adds its step alone
        low = low + ends.min(axis=1) + np.minimum(steps.min(axis=1), 0.0)
        high = high + ends.max(axis=1) + np.maximum(steps.max(axis=1), 0.0)
    return _spread(low, high)


@sum_ranges.register
def _(model: Mixed, problem: Problem, rows: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Both parts together."""
    (low, high), (least, most) = (sum_ranges(part, problem, rows) for part in (model.trees, model.linear))
    return low + least, high + most


def affordable_ranges(problem: Problem, rows: FloatArray, ceiling: float) -> tuple[FloatArray, FloatArray]:
    """The same for the rows that cost less than `ceiling`, if the cost is a sum over columns.

    A leaf of a tree is out of reach if the cheapest cells on its path cost too much together.
    """
    model, terms = problem.model, problem.form().cost
    if not isinstance(model, Trees) or terms & {CostTerm.LINF, CostTerm.QUADRATIC, CostTerm.TRADEOFF}:
        return sum_ranges(model, problem, rows)
    cells, leaves = all_leaves(model, problem.space, problem.margin)
    price = tabulate(problem, cells).price[0]
    entries = _cheapest(leaves, price)
    cost = np.bincount(np.repeat(np.arange(len(leaves.value)), np.diff(leaves.entry)), entries, len(leaves.value))
    value, able = leaves.value @ rows.T, (cost * (1 - 1e-9) < ceiling)[:, None]
    low = np.minimum.reduceat(np.where(able, value, np.inf), leaves.tree[:-1], axis=0).sum(axis=0)
    high = np.maximum.reduceat(np.where(able, value, -np.inf), leaves.tree[:-1], axis=0).sum(axis=0)
    if not (np.isfinite(low) & np.isfinite(high)).all():
        return sum_ranges(model, problem, rows)
    return _spread(low + rows @ model.base, high + rows @ model.base)


def _cheapest(leaves: LeafTable, price: FloatArray) -> FloatArray:
    """The price of the cheapest cell of each entry of a leaf."""
    out = np.full(len(leaves.feature), np.inf)
    begin = leaves.start[leaves.feature]
    missing = np.where(leaves.missing, price[leaves.start[leaves.feature + 1] - 1], np.inf)
    spans = np.flatnonzero((leaves.mask < 0) & (leaves.first <= leaves.last))
    ends = np.column_stack([begin[spans] + leaves.first[spans], begin[spans] + leaves.last[spans] + 1]).ravel()
    if len(ends):
        out[spans] = np.minimum.reduceat(np.append(price, np.inf), ends)[::2]
    out = np.where(leaves.mask < 0, np.minimum(out, missing), out)
    for j in np.unique(leaves.feature[leaves.mask >= 0]):
        own, at = (
            slice(leaves.start[j], leaves.start[j + 1]),
            np.flatnonzero((leaves.feature == j) & (leaves.mask >= 0)),
        )
        inside = leaves.masks[leaves.mask[at][:, None] + np.arange(own.stop - own.start)]
        out[at] = np.where(inside, price[own], np.inf).min(axis=1)
    return out


def _spread(low: FloatArray, high: FloatArray) -> tuple[FloatArray, FloatArray]:
    """A little wider, because both are rounded."""
    spare = 1e-9 * (1.0 + np.abs(low) + np.abs(high))
    return low - spare, high + spare
