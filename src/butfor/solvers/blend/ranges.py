"""Between which numbers a sum of scores lies, whatever row there is."""

from __future__ import annotations

from dataclasses import replace
from functools import singledispatch

import numpy as np

from butfor.arrays import FloatArray
from butfor.model.linear import Linear
from butfor.model.mixed import Mixed
from butfor.model.network import Network
from butfor.model.oblique import ObliqueTree
from butfor.model.oblique_forest import ObliqueForest
from butfor.model.questions import Model
from butfor.model.trees import Trees
from butfor.problem.problem import Problem


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
def _(model: Network, problem: Problem, rows: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The ranges of the units are sent forward, layer by layer. The last one makes the sums."""
    low, high = sum_ranges(model.first, problem, np.eye(model.first.scores))
    *inner, last = model.layers
    for layer in (*inner, replace(last, weight=rows @ last.weight, intercept=rows @ last.intercept)):
        low, high = layer.bent(low), layer.bent(high)
        middle = layer.intercept + layer.weight @ (low + high) / 2
        low, high = _spread(*(middle + sign * np.abs(layer.weight) @ (high - low) / 2 for sign in (-1.0, 1.0)))
    return low, high


@sum_ranges.register
def _(model: Mixed, problem: Problem, rows: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Both parts together."""
    (low, high), (least, most) = (sum_ranges(part, problem, rows) for part in (model.trees, model.linear))
    return low + least, high + most


@sum_ranges.register(ObliqueTree)
@sum_ranges.register(ObliqueForest)
def _(model: ObliqueTree | ObliqueForest, problem: Problem, rows: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Each tree gives its least and its largest leaf, and a linear model beside them its own."""
    forest = model if isinstance(model, ObliqueForest) else ObliqueForest((model,))
    leaves = [tree.value[tree.gate < 0] @ rows.T for tree in forest.trees]
    low, high = (np.sum([extreme(each, axis=0) for each in leaves], axis=0) for extreme in (np.min, np.max))
    if forest.line is not None:
        least, most = sum_ranges(forest.gates, problem, rows @ forest.line)
        low, high = low + least, high + most
    return _spread(low, high)


def _spread(low: FloatArray, high: FloatArray) -> tuple[FloatArray, FloatArray]:
    """A little wider, because both are rounded."""
    spare = 1e-9 * (1.0 + np.abs(low) + np.abs(high))
    return low - spare, high + spare
