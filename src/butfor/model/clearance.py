"""How far a point is from the deciding boundaries, in ranges. A margin constrains this."""

from __future__ import annotations

from functools import singledispatch

import numpy as np

from butfor.arrays import BoolArray, FloatArray
from butfor.errors import UnsupportedProblemError
from butfor.model.linear import Linear
from butfor.model.mixed import Mixed
from butfor.model.network import Network
from butfor.model.oblique import ObliqueTree
from butfor.model.questions import Model, evaluate
from butfor.model.scores import ScoreSet
from butfor.model.trees import Interval, Trees
from butfor.space.space import Space

MARGIN_ROUNDING = 1e-6
"""The share of a margin that may be lost to rounding."""


def ranges(space: Space) -> FloatArray:
    """The widths in which margins are measured. 0 for levels, which are not on one side of a boundary."""
    return np.array([0.0 if feature.levels is not None else feature.range for feature in space.features])


def stays_clear(
    model: Model, space: Space, points: FloatArray, score_sets: tuple[ScoreSet, ...], eps: float
) -> BoolArray:
    """Which points stay `eps` away from every deciding boundary (up to rounding).

    The points must meet the target.
    """
    if not eps or not len(points):
        return np.ones(len(points), dtype=np.bool_)
    check_boundaries(model)
    return np.asarray(clearance(model, space, points, score_sets) >= eps * (1 - MARGIN_ROUNDING))


def check_boundaries(model: Model) -> None:
    """Refuse a model whose boundaries are too many to be listed."""
    if isinstance(model, Network | Mixed):
        kind = "a network" if isinstance(model, Network) else "a sum of trees and a linear model"
        raise UnsupportedProblemError(
            f"a margin was asked for, but the model is {kind}.",
            "How far a row is from its boundary is not known.",
            "Ask for more of the target instead, for example bf.probability(label, at_least=0.7).",
        )


@singledispatch
def clearance(model: Model, space: Space, points: FloatArray, score_sets: tuple[ScoreSet, ...]) -> FloatArray:
    """The distance of each point to the nearest deciding boundary. The points must meet the target."""
    raise TypeError(f"a {type(model).__name__} has no known boundaries")


@clearance.register
def _(model: Linear, space: Space, points: FloatArray, score_sets: tuple[ScoreSet, ...]) -> FloatArray:
    scores = evaluate(model, points)
    best = np.full(len(points), -np.inf)
    for score_set in score_sets:
        norm = steep(score_set.A @ model.slope, space)
        spare = scores @ score_set.A.T - score_set.b
        with np.errstate(divide="ignore", invalid="ignore"):
            distance = np.where(norm > 0, spare / norm, np.where(spare >= 0, np.inf, -np.inf))
        best = np.maximum(best, distance.min(axis=1, initial=np.inf))
    return best


@clearance.register
def _(model: Trees, space: Space, points: FloatArray, score_sets: tuple[ScoreSet, ...]) -> FloatArray:
    """How far inside its leaves each point lies. Each cut that bounds one of its leaves counts as deciding."""
    width = ranges(space)
    out = np.full((len(points), len(model.roots)), -np.inf)
    for leaf in model.leaves:
        distance = np.full(len(points), np.inf)
        for j, region in leaf.path.items():
            cells, x = model.cells[j], points[:, j]
            index = cells.index(x)
            if isinstance(region, Interval):
                inside = np.where(np.isnan(x), region.missing, (index >= region.first) & (index <= region.last))
                ends = [(region.first, region.last)]
            else:
                inside = region.mask[index]
                ends = [] if cells.levels else [_run(region.mask[:-1], int(i)) for i in index]
            distance[~inside.astype(np.bool_)] = -np.inf
            for row, (first, last) in enumerate(ends * len(x) if len(ends) == 1 else ends):
                if not np.isnan(x[row]) and inside[row] and not cells.levels:
                    room = min(x[row] - cells.lower()[first], cells.upper()[last] - x[row])
                    distance[row] = min(distance[row], room / width[j])
        out[:, leaf.tree] = np.maximum(out[:, leaf.tree], distance)
    return np.asarray(out.min(axis=1))


def _run(mask: np.ndarray, at: int) -> tuple[int, int]:
    """The first and last of the consecutive cells in a mask around one cell."""
    if at >= len(mask) or not mask[at]:
        return 0, len(mask) - 1
    first, last = at, at
    while first > 0 and mask[first - 1]:
        first -= 1
    while last < len(mask) - 1 and mask[last + 1]:
        last += 1
    return first, last


@clearance.register
def _(model: ObliqueTree, space: Space, points: FloatArray, score_sets: tuple[ScoreSet, ...]) -> FloatArray:
    """How far inside its leaf each point lies. It is the distance to the nearest decision on the path."""
    leaf = model.leaf(points)
    out = np.full(len(points), np.inf)
    for path in model.paths:
        rows = np.flatnonzero(leaf == path.node)
        if len(rows):
            out[rows] = clearance(model.gates, space, points[rows], (path.inside(model.gates.scores),))
    return out


def steep(slope: FloatArray, space: Space) -> FloatArray:
    """How much each score gains along its gradient, per range of a column. `slope` (scores, features)."""
    return np.asarray(np.linalg.norm(slope * ranges(space), axis=1))
