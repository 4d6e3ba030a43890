"""Margins as a part of the model. Thresholds of linear scores move, and regions of leaves shrink."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from butfor.arrays import FloatArray
from butfor.model.cells import Cells, number_cells
from butfor.model.clearance import ranges, steep
from butfor.model.linear import Linear
from butfor.model.scores import ScoreSet
from butfor.model.trees import CellSet, Interval, Leaf, Subset, Trees
from butfor.problem.problem import Problem
from butfor.space.space import Space


def tightened(score_set: ScoreSet, problem: Problem) -> ScoreSet:
    """The score set as solvers of a linear model use it.

    Strict inequalities are closed by a small margin, and the problem's own margin and guard are added: `A s >= b`
    becomes `A s >= b + (STRICT if strict) size + guard size + eps steepness`.
    """
    model = problem.model
    assert isinstance(model, Linear)
    raised = raises(
        Linear(
            score_set.A @ model.intercept,
            score_set.A @ model.slope,
            model.cells,
            tuple(score_set.A @ step for step in model.steps),
        ),
        problem,
        score_set,
    )
    return replace(score_set, b=score_set.b + raised, strict=np.zeros_like(score_set.strict))


def raises(sums: Linear, problem: Problem, score_set: ScoreSet) -> FloatArray:
    """By how much each inequality of `score_set` is raised above `b`. `sums` are its left sides."""
    domain = problem.domain
    reach = np.maximum(np.abs(domain.low), np.abs(domain.high)).max(axis=0)
    reach = np.where(np.isfinite(reach), reach, 0.0)
    size = np.abs(sums.intercept) + np.abs(sums.slope) @ reach
    for j in sums.stepped:
        size = size + np.abs(sums.steps[j]).max(axis=1)
    raised = score_set.closing(size) + problem.guard * (1 + np.abs(score_set.b) + size)
    return np.asarray(raised + problem.margin * steep(sums.slope, problem.space))


def cells_inside(model: Trees, space: Space, eps: float) -> tuple[Cells, ...]:
    """The cells of a tree, cut finer. Regions shrunk by `eps` ranges consist of whole cells."""
    if not eps:
        return model.cells
    return tuple(
        cells if cells.levels else number_cells(np.concatenate([_raised(cells.edges, w), cells.edges - w]))
        for cells, w in zip(model.cells, eps * ranges(space), strict=True)
    )


def leaves_inside(model: Trees, space: Space, eps: float) -> tuple[Leaf, ...]:
    """The leaves of a tree over the finer cells.

    Every region is shrunk by `eps` ranges at each cut that bounds it.
    """
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
    """Edges raised so that values above them are at least `width` above the old ones."""
    return np.nextafter(edges + width, -np.inf)


def shrunk(region: CellSet, old: Cells, new: Cells, width: float) -> CellSet:
    """A region over the old cells as a smaller region over the new ones.

    It ends `width` inside every cut that bounds it.
    """
    if old.levels or not width:
        return region
    if isinstance(region, Interval):
        first, last = _inner(region.first, region.last, old, new, width)
        return Interval(first, last, region.missing)
    mask = np.zeros(new.count + 1, dtype=np.bool_)
    mask[-1] = region.mask[-1]
    padded = np.concatenate([[False], region.mask[:-1], [False]]).astype(np.int8)
    starts, ends = np.flatnonzero(np.diff(padded) == 1), np.flatnonzero(np.diff(padded) == -1) - 1
    for start, end in zip(starts, ends, strict=True):
        first, last = _inner(int(start), int(end), old, new, width)
        mask[first : last + 1] = True
    return Subset(mask)


def _inner(first: int, last: int, old: Cells, new: Cells, width: float) -> tuple[int, int]:
    """The new cells inside the old cells `first` to `last`. Each end that is a cut moves inside."""
    lower, upper = old.lower()[first], old.upper()[last]
    begin = 0 if np.isinf(lower) else int(np.searchsorted(new.edges, _raised(np.array([lower]), width)[0])) + 1
    end = new.count - 1 if np.isinf(upper) else int(np.searchsorted(new.edges, upper - width))
    return begin, end
