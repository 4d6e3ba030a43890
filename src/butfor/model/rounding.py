"""How much rounding may change the raw scores of a row, the model's and the estimator's, and when it changes nothing.

A sum of n terms, added in any order with unit roundoff u, is off by at most n u times the sum of the terms' sizes
(Higham, "Accuracy and Stability of Numerical Algorithms", 2002, section 4.2). Both sums are rounded, so they may
differ by twice as much. No other tolerance enters a proof.
"""

from __future__ import annotations

from dataclasses import replace
from functools import singledispatch
from typing import NamedTuple

import numpy as np

from butfor.arrays import BoolArray, FloatArray
from butfor.model.additive import Additive
from butfor.model.computed import OverComputed
from butfor.model.linear import Linear
from butfor.model.linear_leaves import LinearLeaves
from butfor.model.mixed import Mixed
from butfor.model.network import Layer, Network
from butfor.model.oblique_forest import ObliqueForest
from butfor.model.questions import Model
from butfor.model.scores import UNIT_DOUBLE, low_bit
from butfor.model.trees import Trees


class Extent(NamedTuple):
    """The values that numbers may take.

    - `factuals` (rows, features): their values now; NaN if missing;
    - `low`, `high` (features): the smallest and the largest value over all rows;
    - `step`, `anchor` (features): the values to which they may move are `anchor + step k` (step 0: any number);
    - `movable` (features): whether some row may change them.
    """

    factuals: FloatArray
    low: FloatArray
    high: FloatArray
    step: FloatArray
    anchor: FloatArray
    movable: BoolArray

    @property
    def far(self) -> FloatArray:
        """How large each number may be."""
        return np.maximum(np.abs(self.low), np.abs(self.high))


COLUMN_STEPS = 4
"""Roundings of a number on its way to the estimator, at its largest: a product, a difference, and their types."""

SUM_STEPS = 4
"""Roundings of each sum of a network besides its additions: of its weights, if a library has put two sums into one."""

FURTHER_STEPS = 8
"""Roundings of each sum besides its additions: scaling, centring, averaging, and the comparison itself."""


@singledispatch
def rounding(model: Model, A: FloatArray, extent: Extent, unit: float) -> FloatArray:
    """By how much each sum `A s` of two computations of the scores `s` may differ.

    `unit` is the unit roundoff of the estimator.

    An oblique tree compares before it looks a leaf up, so its scores are exact.
    """
    return np.zeros(len(A))


@rounding.register
def _(model: Trees, A: FloatArray, extent: Extent, unit: float) -> FloatArray:
    if model.looked_up:
        return np.zeros(len(A))
    terms = len(model.roots) + model.summed + FURTHER_STEPS
    return np.asarray(2 * terms * unit * (np.abs(A) @ (np.abs(model.base) + model.reach)))


@rounding.register
def _(model: OverComputed, A: FloatArray, extent: Extent, unit: float) -> FloatArray:
    """Sums of trees do not depend on the values that they read. Of others, only points are compared, and none is proven."""
    return rounding(model.model, A, extent, unit) if isinstance(model.model, Trees) else np.zeros(len(A))


@rounding.register
def _(model: ObliqueForest, A: FloatArray, extent: Extent, unit: float) -> FloatArray:
    """The leaves are looked up, and their values added up. A linear model beside them is rounded by itself, and added."""
    leaves = 2 * (len(model.trees) + FURTHER_STEPS) * unit * (np.abs(A) @ model.reach)
    if model.line is None:
        return np.asarray(leaves)
    both = np.abs(A) @ (model.reach + np.abs(model.line) @ largest_sums(model.gates, extent))
    return np.asarray(
        leaves
        + np.abs(A @ model.line) @ rounding(model.gates, np.eye(model.gates.scores), extent, unit)
        + 2 * FURTHER_STEPS * unit * both
    )


@rounding.register
def _(model: Linear, A: FloatArray, extent: Extent, unit: float) -> FloatArray:
    """The terms are measured from the centre; the values themselves are rounded once each. Our own sums are float64."""
    terms = len(extent.far) + model.more_terms + FURTHER_STEPS
    sums = terms * largest_sums(model, extent) + model.added_slope @ extent.far
    scaled = (model.added_slope * extent.far + model.largest_known_step) @ (COLUMN_STEPS * model.blur)
    return np.asarray(np.abs(A) @ ((max(unit, model.unit) + UNIT_DOUBLE) * sums + scaled))


@rounding.register
def _(model: Additive, A: FloatArray, extent: Extent, unit: float) -> FloatArray:
    """Each shape is rounded, and then all terms are added up."""
    count = len(model.shapes)
    out = rounding(replace(model.line, more_terms=model.line.more_terms + count), A, extent, unit)
    terms = len(extent.low) + model.line.more_terms + count + FURTHER_STEPS
    for shape in model.shapes:
        low, high = float(extent.low[shape.feature]), float(extent.high[shape.feature])
        off = 2 * shape.off(low, high, unit) + terms * (unit + UNIT_DOUBLE) * shape.size(low, high)
        out = out + np.abs(A) @ np.abs(shape.weight) * off
    return np.asarray(out)


@rounding.register
def _(model: Mixed, A: FloatArray, extent: Extent, unit: float) -> FloatArray:
    """Both sums are rounded, and then their sum."""
    trees, linear = model.trees, model.linear
    size = np.abs(trees.base) + trees.reach + largest_sums(linear, extent)
    both = rounding(trees, A, extent, unit) + rounding(linear, A, extent, unit)
    return np.asarray(both + 2 * FURTHER_STEPS * unit * (np.abs(A) @ size))


@rounding.register
def _(model: LinearLeaves, A: FloatArray, extent: Extent, unit: float) -> FloatArray:
    """The line of each leaf is rounded, and then all leaves are added up."""
    trees, lines = model.trees, model.lines
    off = model.most(rounding(lines, np.eye(lines.scores), extent, unit))
    size = np.abs(trees.base) + trees.reach + model.most(largest_sums(lines, extent))
    return np.asarray(np.abs(A) @ (off + 2 * (len(trees.roots) + FURTHER_STEPS) * unit * size))


@rounding.register
def _(model: Network, A: FloatArray, extent: Extent, unit: float) -> FloatArray:
    """Each sum is rounded, and passes on what those before it are off by."""
    how = model.computed
    columns, layers = (model.first, model.layers) if how is None else (how.columns, how.layers)
    each, unit = np.eye(columns.scores), max(unit, model.unit)
    off = rounding(columns, each, extent, unit if how is None else UNIT_DOUBLE)
    return np.asarray(np.abs(A) @ passed_on(layers, *_ends(columns, extent), off, unit))


def passed_on(layers: tuple[Layer, ...], low: FloatArray, high: FloatArray, off: FloatArray, unit: float) -> FloatArray:
    """By how much the last sums of some layers may differ from ours, which are computed in float64.

    - `low`, `high` (..., numbers): the ends of the numbers that reach the first of them;
    - `off` (..., numbers): by how much these may differ, before they are turned into the estimator's type.
    """
    off = off + unit * np.maximum(np.abs(low), np.abs(high))
    for layer in layers:
        off = np.where(high + off < 0, layer.leak, 1.0) * off
        low, high = layer.bent(low), layer.bent(high)
        weight, size = np.abs(layer.weight).T, np.maximum(np.abs(low), np.abs(high)) + off
        terms = np.count_nonzero(weight, axis=0) + SUM_STEPS
        share = terms * (unit + UNIT_DOUBLE) / (1 - terms * unit)
        off = off @ weight + share * (np.abs(layer.intercept) + size @ weight)
        middle, radius = (low + high) / 2 @ layer.weight.T + layer.intercept, (high - low) / 2 @ weight
        low, high = middle - radius, middle + radius
    return off


def _ends(model: Linear, extent: Extent) -> tuple[FloatArray, FloatArray]:
    """The smallest and the largest value that each score may take."""
    ends = np.stack([model.slope * (end - model.centre) for end in (extent.low, extent.high)])
    low, high = model.intercept + ends.min(axis=0).sum(axis=1), model.intercept + ends.max(axis=0).sum(axis=1)
    for j in model.stepped:
        low = low + model.steps[j].min(axis=1, initial=0.0)
        high = high + model.steps[j].max(axis=1, initial=0.0)
    return low, high


def largest_sums(model: Linear, extent: Extent) -> FloatArray:
    """The largest sum of the sizes of all terms, for each score."""
    size = (
        np.abs(model.intercept)
        + model.cancelled
        + model.added_slope @ np.maximum(np.abs(extent.low - model.centre), np.abs(extent.high - model.centre))
        + model.largest_step.sum(axis=1)
    )
    return np.asarray(size)


@singledispatch
def grain(model: Model, A: FloatArray, extent: Extent, unit: float) -> FloatArray:
    """The grain of each sum `A s`: it is a whole multiple of it, and computed without rounding. 0: there is none.

    Votes, and points of a score card, have one. A strict inequality on them has a next larger value, and no rounding
    decides about it.
    """
    return np.zeros(len(A))


@grain.register
def _(model: Trees, A: FloatArray, extent: Extent, unit: float) -> FloatArray:
    if model.folded:
        return np.zeros(len(A))
    return _kept(model.grain * low_bit(A), np.abs(A) @ (np.abs(model.base) + model.reach), unit)


@grain.register
def _(model: ObliqueForest, A: FloatArray, extent: Extent, unit: float) -> FloatArray:
    if model.folded or model.line is not None:
        return np.zeros(len(A))
    return _kept(model.grain * low_bit(A), np.abs(A) @ model.reach, unit)


def grain_at(model: Model, A: FloatArray, point: FloatArray, unit: float) -> FloatArray:
    """The grain of each sum `A s` of the leaves that one row reaches (0: none is known).

    Many sums of a forest are ties of pure leaves. Their terms are whole, although those of other leaves are not.
    """
    if not isinstance(model, Trees) or model.folded:
        return np.zeros(len(A))
    terms = np.vstack([model.base, model.value[model.leaves_at(point)]])
    return _kept(low_bit(terms) * low_bit(A), np.abs(A) @ np.abs(terms).sum(axis=0), unit)


@grain.register
def _(model: Linear, A: FloatArray, extent: Extent, unit: float) -> FloatArray:
    read = np.flatnonzero(model.slope.any(axis=0))
    if model.folded or model.blur.any() or not (extent.step[read] > 0)[extent.movable[read]].all():
        return np.zeros(len(A))
    own = np.nan_to_num(extent.factuals[:, read])
    centre = model.centre[read]
    values = np.vstack([extent.step[read], extent.anchor[read] - centre, own - centre, centre])
    parts = [low_bit(model.intercept), model.fine, *(low_bit(model.steps[j]) for j in model.stepped)]
    parts += [low_bit(model.slope[:, j]) * low_bit(values[:, at]) for at, j in enumerate(read)]
    return _kept(min(parts) * low_bit(A), np.abs(A) @ largest_sums(model, extent), unit)


def _kept(grain: float, size: FloatArray, unit: float) -> FloatArray:
    """The grain, for sums of which numbers with this unit roundoff hold all whole multiples exactly."""
    grain = min(grain, 1.0)  # sums that are always 0 are multiples of anything
    return np.where(size < grain / unit, grain, 0.0)
