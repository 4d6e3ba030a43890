"""Which points stay clear of the deciding boundaries. A margin constrains this.

A point stays `eps` clear if no shift of at most `eps` crosses a deciding boundary. The length of a shift is the root of the
sum of its squares, in ranges. Shifts of just `eps` count, as they do in a ball of `bf.robust`.
"""

from __future__ import annotations

from dataclasses import replace
from functools import singledispatch

import numpy as np

from butfor.arrays import BoolArray, FloatArray
from butfor.errors import UnsupportedProblemError
from butfor.model.cells import Cells
from butfor.model.linear import Linear
from butfor.model.oblique import ObliqueTree
from butfor.model.oblique_forest import ObliqueForest
from butfor.model.questions import NO_DISTANCE, Model, evaluate, kind_of
from butfor.model.scores import ScoreSet
from butfor.model.trees import CellSet, Interval, Trees
from butfor.space.space import Space


def ranges(space: Space) -> FloatArray:
    """The widths in which margins are measured. 0 for levels, which are not on one side of a boundary."""
    return np.array([0.0 if feature.levels is not None else feature.range for feature in space.features])


def stays_clear(
    model: Model, space: Space, points: FloatArray, score_sets: tuple[ScoreSet, ...], eps: float
) -> BoolArray:
    """Which points stay `eps` clear of every deciding boundary. The points must meet the target."""
    if not eps or not len(points):
        return np.ones(len(points), dtype=np.bool_)
    check_boundaries(model, score_sets)
    return _clear(model, space, points, score_sets, eps)


def check_boundaries(model: Model, score_sets: tuple[ScoreSet, ...]) -> None:
    """Refuse boundaries that are too many to be listed, or curved."""
    curved = isinstance(model, Linear) and any(score_set.curve is not None for score_set in score_sets)
    kind = kind_of(model)
    if kind not in NO_DISTANCE and not curved:
        return
    raise UnsupportedProblemError(
        "a margin was asked for, but "
        + ("the boundary of the target is curved." if curved else f"the model is a {kind}."),
        "How far a row is from its boundary is not known.",
        "Ask for more of the target instead, for example bf.probability(label, at_least=0.7).",
    )


@singledispatch
def _clear(model: Model, space: Space, points: FloatArray, score_sets: tuple[ScoreSet, ...], eps: float) -> BoolArray:
    """Which points stay clear of the boundaries of one kind of model."""
    raise TypeError(f"a {type(model).__name__} has no known boundaries")


@_clear.register
def _(model: Linear, space: Space, points: FloatArray, score_sets: tuple[ScoreSet, ...], eps: float) -> BoolArray:
    scores = evaluate(model, points)
    inside = [with_margin(score_set, model, space, eps).holds(scores) for score_set in score_sets]
    return np.any(inside, axis=0) if inside else np.zeros(len(points), dtype=np.bool_)


@_clear.register
def _(model: Trees, space: Space, points: FloatArray, score_sets: tuple[ScoreSet, ...], eps: float) -> BoolArray:
    """Which points are in the middle of a leaf of each tree. Each cut that bounds one of its leaves counts as deciding."""
    width = eps * ranges(space)
    low, high = points - width, points + width
    clear = np.zeros((len(points), len(model.roots)), dtype=np.bool_)
    for leaf in model.leaves:
        inside = [_all_between(region, model.cells[j], low[:, j], high[:, j]) for j, region in leaf.path.items()]
        clear[:, leaf.tree] |= np.all(inside, axis=0) if inside else True
    return np.asarray(clear.all(axis=1))


def _all_between(region: CellSet, cells: Cells, low: FloatArray, high: FloatArray) -> BoolArray:
    """Whether all values between two others lie in a region."""
    first, last = cells.index(low), cells.index(high)
    if isinstance(region, Interval):
        between = (first >= region.first) & (last <= region.last)
        return np.where(first == cells.count, region.missing, between).astype(np.bool_)
    outside = np.concatenate([[0], np.cumsum(~region.mask)])
    return np.asarray(outside[first] == outside[last + 1])


@_clear.register
def _(model: ObliqueTree, space: Space, points: FloatArray, score_sets: tuple[ScoreSet, ...], eps: float) -> BoolArray:
    """Which points stay clear of each decision on the way to their leaf."""
    leaf = model.leaf(points)
    clear = np.zeros(len(points), dtype=np.bool_)
    for path in model.paths:
        rows = np.flatnonzero(leaf == path.node)
        if len(rows):
            clear[rows] = _clear(model.gates, space, points[rows], (path.inside(model.gates.scores),), eps)
    return clear


@_clear.register
def _(
    model: ObliqueForest, space: Space, points: FloatArray, score_sets: tuple[ScoreSet, ...], eps: float
) -> BoolArray:
    """Which points stay clear of each decision on the way to their leaf, in each tree."""
    return np.asarray(np.all([_clear(tree, space, points, score_sets, eps) for tree in model.trees], axis=0))


def with_margin(score_set: ScoreSet, model: Linear, space: Space, eps: float) -> ScoreSet:
    """The scores from which no shift of at most `eps` leads out of a set: `A s >= b + eps |slopes|`."""
    return replace(score_set, b=score_set.b + eps * steep(score_set.A @ model.slope, space))


def steep(slope: FloatArray, space: Space) -> FloatArray:
    """How much each score gains along its gradient, per range of a column. `slope` (scores, features)."""
    return np.asarray(np.linalg.norm(slope * ranges(space), axis=1))
