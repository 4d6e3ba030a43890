"""Margins and rounding as a part of the model. Thresholds of scores move, and regions of leaves shrink."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from butfor.arrays import BoolArray, FloatArray
from butfor.model.cells import Cells, number_cells
from butfor.model.clearance import MARGIN_ROUNDING, ranges, steep
from butfor.model.linear import Linear
from butfor.model.scores import UNIT_DOUBLE, ScoreSet
from butfor.model.trees import CellSet, Interval, Leaf, Subset, Trees
from butfor.problem.problem import Problem
from butfor.space.space import Space


def widened(score_set: ScoreSet, problem: Problem) -> ScoreSet:
    """The score set over which bounds are proven: all scores that the estimator may take for scores of the set.

    A margin of a linear model raises its thresholds.
    """
    return _raised(score_set, problem, 1 - MARGIN_ROUNDING).widened(problem.doubt(score_set))


def tightened(score_set: ScoreSet, problem: Problem) -> ScoreSet:
    """The score set in which answers are looked for: the estimator surely takes its scores for scores of the set.

    The problem's own margin is added.
    """
    return _raised(score_set, problem).tightened(problem.doubt(score_set))


def _raised(score_set: ScoreSet, problem: Problem, share: float = 1.0) -> ScoreSet:
    """The score set with a share of the margin added to the thresholds of a linear model."""
    if not problem.demands.margin or not isinstance(problem.model, Linear):
        return score_set
    raised = share * problem.demands.margin * steep(score_set.A @ problem.model.slope, problem.space)
    return replace(score_set, b=score_set.b + raised, strict=score_set.strict & (raised == 0))


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
    return tuple(
        cells if cells.levels else number_cells(np.concatenate([_above(cells.edges, w), cells.edges - w]))
        for cells, w in zip(model.cells, inwards(space, eps), strict=True)
    )


def inwards(space: Space, eps: float) -> FloatArray:
    """How far a margin moves the cuts that bound a region.

    It is a little less than `eps` ranges, as much as is allowed for rounding. So a value just `eps` away from two cuts
    is found.
    """
    return np.asarray(eps * (1 - MARGIN_ROUNDING / 2) * ranges(space))


def leaves_inside(model: Trees, space: Space, eps: float) -> tuple[Leaf, ...]:
    """The leaves of a tree over the finer cells.

    Every region is shrunk by `eps` ranges at each cut that bounds it.
    """
    if not eps:
        return model.leaves
    fine, width = cells_inside(model, space, eps), inwards(space, eps)
    leaves = []
    for leaf in model.leaves:
        path = {j: shrunk(region, model.cells[j], fine[j], width[j]) for j, region in leaf.path.items()}
        if not any(region.empty for region in path.values()):
            leaves.append(replace(leaf, path=path))
    return tuple(leaves)


def _above(edges: FloatArray, width: float) -> FloatArray:
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
    begin = 0 if np.isinf(lower) else int(np.searchsorted(new.edges, _above(np.array([lower]), width)[0])) + 1
    end = new.count - 1 if np.isinf(upper) else int(np.searchsorted(new.edges, upper - width))
    return begin, end
