"""Margins and rounding as a part of the model. Thresholds of scores move, and regions of leaves shrink."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from butfor.arrays import BoolArray, FloatArray
from butfor.model.cells import Cells, number_cells
from butfor.model.clearance import ranges, with_margin
from butfor.model.float_order import last_below
from butfor.model.linear import Linear
from butfor.model.scores import UNIT_DOUBLE, ScoreSet
from butfor.model.trees import CellSet, Interval, Leaf, Subset, Trees
from butfor.problem.problem import Problem
from butfor.space.space import Space


def widened(score_set: ScoreSet, problem: Problem) -> ScoreSet:
    """The score set over which bounds are proven: all scores that the estimator may take for scores of the set.

    A margin of a linear model raises its thresholds.
    """
    return _raised(score_set, problem).widened(problem.doubt(score_set))


def tightened(score_set: ScoreSet, problem: Problem) -> ScoreSet:
    """The score set in which answers are looked for: the estimator surely takes its scores for scores of the set.

    The problem's own margin is added.
    """
    return _raised(score_set, problem).tightened(problem.doubt(score_set))


def _raised(score_set: ScoreSet, problem: Problem) -> ScoreSet:
    """The score set with the margin added to the thresholds of a linear model."""
    if not problem.demands.margin or not isinstance(problem.model, Linear):
        return score_set
    return with_margin(score_set, problem.model, problem.space, problem.demands.margin)


def leaf_offsets(problem: Problem, leaves: Sequence[Leaf]) -> FloatArray:
    """The least offset of the score sets that contain the score of each leaf of the only tree; infinity if none does.

    Where rounding decides about a leaf, the estimator is asked about a point in it.
    """
    model = problem.model
    assert isinstance(model, Trees)
    scores = model.base + model.value[np.fromiter((leaf.node for leaf in leaves), np.intp, len(leaves))]
    offset = np.full(len(leaves), np.inf)
    for score_set in problem.score_sets:
        doubt = problem.doubt(score_set)
        sure = score_set.surely(scores, doubt)
        for at in np.flatnonzero(score_set.perhaps(scores, doubt) & ~sure & (score_set.offset < offset)).tolist():
            point = leaves[at].moved_inside(problem.factuals[0], model.cells)
            sure[at] = problem.space.takes(point) and problem.meets(score_set, point)
        offset[sure] = np.minimum(offset[sure], score_set.offset)
    return offset


def never_fall(problem: Problem, score_set: ScoreSet) -> BoolArray:
    """Which left sides of a linear model never fall, as the estimator adds them up, if none of their terms falls.

    A floating-point sum never does. Two sums that are compared are rounded each for itself.
    """
    single = np.count_nonzero(score_set.A, axis=1) == 1
    return np.asarray(single & (isinstance(problem.model, Linear) and adds_in_one_type(problem)))


def falls_alone(problem: Problem, score_set: ScoreSet) -> bool:
    """Whether a point that the estimator refuses for its score tells of all points that add no more to that score.

    So it does if a single sum of a linear model is compared with a constant.
    """
    return len(score_set.A) == 1 and score_set.curve is None and bool(never_fall(problem, score_set)[0])


def adds_in_one_type(problem: Problem) -> bool:
    """Whether the estimator's sums have one type, whatever row is written.

    Next to float32 columns, the type of a sum of a linear model may change with the types of the row.
    """
    model = problem.model
    return not isinstance(model, Linear) or (problem.witnesses.unit == UNIT_DOUBLE and not model.blur.any())


def cells_inside(model: Trees, space: Space, eps: float) -> tuple[Cells, ...]:
    """The cells of a tree, cut finer. Regions shrunk by `eps` ranges consist of whole cells."""
    if not eps:
        return model.cells
    ends = ends_inside(model, space, eps)
    return tuple(
        cells if cells.levels else number_cells(inner.ravel()) for cells, inner in zip(model.cells, ends, strict=True)
    )


def ends_inside(model: Trees, space: Space, eps: float) -> tuple[FloatArray, ...]:
    """For each edge of the cells of each feature, where the values begin and end that are `eps` ranges inside (2, edges).

    They begin above the first, and end at the second. Such a value plus and minus the width, as it is rounded, lies on the
    same side of the edge. The boxes of `bf.robust` are read in the same way.
    """
    return tuple(
        np.stack([last_below(cells.edges, np.full(len(cells.edges), shift)) for shift in (-width, width)])
        for cells, width in zip(model.cells, (eps * ranges(space)).tolist(), strict=True)
    )


def leaves_inside(model: Trees, space: Space, eps: float) -> tuple[Leaf, ...]:
    """The leaves of a tree over the finer cells.

    Every region is shrunk by `eps` ranges at each cut that bounds it.
    """
    if not eps:
        return model.leaves
    fine, ends = cells_inside(model, space, eps), ends_inside(model, space, eps)
    leaves = []
    for leaf in model.leaves:
        path = {j: shrunk(region, model.cells[j], fine[j], ends[j]) for j, region in leaf.path.items()}
        if not any(region.empty for region in path.values()):
            leaves.append(replace(leaf, path=path))
    return tuple(leaves)


def shrunk(region: CellSet, old: Cells, new: Cells, ends: FloatArray) -> CellSet:
    """A region over the old cells as a smaller region over the new ones.

    At every cut that bounds it, it begins or ends at one of the `ends` (see `ends_inside`).
    """
    if old.levels:
        return region
    if isinstance(region, Interval):
        first, last = _inner(region.first, region.last, old, new, ends)
        return Interval(first, last, region.missing)
    mask = np.zeros(new.count + 1, dtype=np.bool_)
    mask[-1] = region.mask[-1]
    padded = np.concatenate([[False], region.mask[:-1], [False]]).astype(np.int8)
    starts, stops = np.flatnonzero(np.diff(padded) == 1), np.flatnonzero(np.diff(padded) == -1) - 1
    for start, stop in zip(starts, stops, strict=True):
        first, last = _inner(int(start), int(stop), old, new, ends)
        mask[first : last + 1] = True
    return Subset(mask)


def _inner(first: int, last: int, old: Cells, new: Cells, ends: FloatArray) -> tuple[int, int]:
    """The new cells inside the old cells `first` to `last`. Each end that is a cut moves inside."""
    begin = 0 if first == 0 else int(np.searchsorted(new.edges, ends[0, first - 1])) + 1
    end = new.count - 1 if last == old.count - 1 else int(np.searchsorted(new.edges, ends[1, last]))
    return begin, end
