"""How far inside the deciding boundaries a point lies, in ranges: what a margin constrains."""

from __future__ import annotations

from functools import singledispatch

import numpy as np

from butfor.arrays import BoolArray, FloatArray
from butfor.formulation.margins import ranges, steepness
from butfor.model.linear import Linear
from butfor.model.oblique import Oblique
from butfor.model.questions import Model, evaluate
from butfor.model.scores import ScoreSet
from butfor.model.trees import Span, Trees
from butfor.problem.problem import Problem
from butfor.space.space import Space

ROUNDING = 1e-6
"""The share of a margin that rounding may cost."""


def inside(problem: Problem, part: ScoreSet, point: FloatArray) -> bool:
    """Whether a point of a problem's only row is admissible and its scores lie in the set, the margin kept."""
    if not part.holds(evaluate(problem.model, point[None]))[0] or not problem.admits(point[None])[0]:
        return False
    return bool(keeps(problem.model, problem.space, point[None], (part,), problem.margin)[0])


def keeps(model: Model, space: Space, points: FloatArray, sets: tuple[ScoreSet, ...], eps: float) -> BoolArray:
    """Which points, inside the target, stay `eps` away from every boundary that decides (up to rounding)."""
    if not eps or not len(points):
        return np.ones(len(points), dtype=np.bool_)
    return np.asarray(clearance(model, space, points, sets) >= eps * (1 - ROUNDING))


@singledispatch
def clearance(model: Model, space: Space, points: FloatArray, sets: tuple[ScoreSet, ...]) -> FloatArray:
    """The distance of each point, inside the target, to the nearest boundary that decides."""
    raise TypeError(f"a {type(model).__name__} has no known boundaries")


@clearance.register
def _(model: Linear, space: Space, points: FloatArray, sets: tuple[ScoreSet, ...]) -> FloatArray:
    scores = evaluate(model, points)
    best = np.full(len(points), -np.inf)
    for part in sets:
        norm = steepness(part, model, space)
        spare = scores @ part.A.T - part.b
        with np.errstate(divide="ignore", invalid="ignore"):
            distance = np.where(norm > 0, spare / norm, np.where(spare >= 0, np.inf, -np.inf))
        best = np.maximum(best, distance.min(axis=1, initial=np.inf))
    return best


@clearance.register
def _(model: Trees, space: Space, points: FloatArray, sets: tuple[ScoreSet, ...]) -> FloatArray:
    """How far inside its leaf of every tree: each cut that bounds one is taken for a boundary that decides."""
    width = ranges(space)
    out = np.full((len(points), len(model.roots)), -np.inf)
    for leaf in model.leaves:
        distance = np.full(len(points), np.inf)
        for j, region in leaf.path.items():
            cells, x = model.cells[j], points[:, j]
            index = cells.index(x)
            if isinstance(region, Span):
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
    """The consecutive cells of a mask around one of them."""
    if at >= len(mask) or not mask[at]:
        return 0, len(mask) - 1
    first, last = at, at
    while first > 0 and mask[first - 1]:
        first -= 1
    while last < len(mask) - 1 and mask[last + 1]:
        last += 1
    return first, last


@clearance.register
def _(model: Oblique, space: Space, points: FloatArray, sets: tuple[ScoreSet, ...]) -> FloatArray:
    """How far inside its leaf: the nearest of the decisions that led there."""
    leaf = model.leaf(points)
    out = np.full(len(points), np.inf)
    for path in model.paths:
        rows = np.flatnonzero(leaf == path.node)
        if len(rows):
            part = path.inside(model.gates.scores)
            out[rows] = clearance(model.gates, space, points[rows], (part,))
    return out
