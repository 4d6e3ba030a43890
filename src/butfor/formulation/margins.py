"""Margins worked into the model: thresholds of a linear score move, regions of a leaf shrink."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from butfor.arrays import FloatArray
from butfor.model.cells import Cells, number_cells
from butfor.model.linear import Linear
from butfor.model.scores import ScoreSet
from butfor.model.trees import Cellset, Leaf, Region, Span, Trees
from butfor.problem.problem import Problem
from butfor.space.space import Space


def ranges(space: Space) -> FloatArray:
    """The widths in which margins are measured; 0 for levels, which lie on no side of a boundary."""
    return np.array([0.0 if feature.levels is not None else feature.range for feature in space.features])


def tightened(part: ScoreSet, problem: Problem) -> ScoreSet:
    """The set as solvers of a linear model use it: strict inequalities closed by a small margin, and the problem's own.

    `A s >= b` becomes `A s >= b + (MARGIN if strict) size + guard size + eps steepness`.
    """
    model = problem.model
    assert isinstance(model, Linear)
    raised = raises(
        Linear(
            part.A @ model.intercept, part.A @ model.slope, model.cells, tuple(part.A @ step for step in model.steps)
        ),
        problem,
        part,
    )
    return replace(part, b=part.b + raised, strict=np.zeros_like(part.strict))


def raises(sums: Linear, problem: Problem, part: ScoreSet) -> FloatArray:
    """What each inequality of `part` asks beyond `b`, `sums` being its left sides."""
    domain = problem.domain
    reach = np.maximum(np.abs(domain.low), np.abs(domain.high)).max(axis=0)
    reach = np.where(np.isfinite(reach), reach, 0.0)
    size = np.abs(sums.intercept) + np.abs(sums.slope) @ reach
    for j in sums.stepped:
        size = size + np.abs(sums.steps[j]).max(axis=1)
    raised = part.margins(size) + problem.guard * (1 + np.abs(part.b) + size)
    return np.asarray(raised + problem.margin * _steep(sums.slope, problem.space))


def steepness(part: ScoreSet, model: Linear, space: Space) -> FloatArray:
    """How much each inequality gains along its gradient per range-scaled unit."""
    return _steep(part.A @ model.slope, space)


def _steep(slope: FloatArray, space: Space) -> FloatArray:
    return np.asarray(np.linalg.norm(slope * ranges(space), axis=1))


def cells_inside(model: Trees, space: Space, eps: float) -> tuple[Cells, ...]:
    """The cells of a tree, cut finer so that regions shrunk by `eps` ranges are made of whole cells."""
    if not eps:
        return model.cells
    return tuple(
        cells if cells.levels else number_cells(np.concatenate([_raised(cells.edges, w), cells.edges - w]))
        for cells, w in zip(model.cells, eps * ranges(space), strict=True)
    )


def leaves_inside(model: Trees, space: Space, eps: float) -> tuple[Leaf, ...]:
    """The leaves of a tree over the finer cells, every region shrunk by `eps` ranges at each cut that bounds it."""
    if not eps:
        return model.leaves
    fine, width = cells_inside(model, space, eps), eps * ranges(space)
    leaves = []
    for leaf in model.leaves:
        path = {j: shrunk(region, model.cells[j], fine[j], width[j]) for j, region in leaf.path.items()}
        if not any(region.empty for region in path.values()):
            leaves.append(replace(leaf, path=path))
    return tuple(leaves)


def _raised(edges: FloatArray, width: float) -> FloatArray:
    """Edges such that a value above them is at least `width` above the old ones."""
    return np.nextafter(edges + width, -np.inf)


def shrunk(region: Region, old: Cells, new: Cells, width: float) -> Region:
    """A region over the old cells as one over the new, `width` inside every cut that bounds it."""
    if old.levels or not width:
        return region
    if isinstance(region, Span):
        first, last = _inner(region.first, region.last, old, new, width)
        return Span(first, last, region.missing)
    mask = np.zeros(new.count + 1, dtype=np.bool_)
    mask[-1] = region.mask[-1]
    padded = np.concatenate([[False], region.mask[:-1], [False]]).astype(np.int8)
    starts, ends = np.flatnonzero(np.diff(padded) == 1), np.flatnonzero(np.diff(padded) == -1) - 1
    for start, end in zip(starts, ends, strict=True):
        first, last = _inner(int(start), int(end), old, new, width)
        mask[first : last + 1] = True
    return Cellset(mask)


def _inner(first: int, last: int, old: Cells, new: Cells, width: float) -> tuple[int, int]:
    """The new cells inside old cells `first` to `last`, shrunk at both ends that are cuts."""
    lower, upper = old.lower()[first], old.upper()[last]
    begin = 0 if np.isinf(lower) else int(np.searchsorted(new.edges, _raised(np.array([lower]), width)[0])) + 1
    end = new.count - 1 if np.isinf(upper) else int(np.searchsorted(new.edges, upper - width))
    return begin, end
