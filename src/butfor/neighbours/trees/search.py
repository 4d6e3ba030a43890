"""The worst row of a ball or a box around a point, for a sum of trees: exact, by branch and bound over the cuts inside.

A node is a box. The smallest leaves of the trees that meet it sum to a bound, and its row nearest to the point is tried.
It is split where the smallest leaf of the most disappointing tree ends. In boxes that are left after a while, pairs of
trees are merged (Chen et al., Robustness verification of tree-based models, NeurIPS 2019).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from butfor.arrays import FloatArray, IntArray
from butfor.compiled.clock import now
from butfor.neighbours.ball import Ball, BallNorm
from butfor.neighbours.places import Grids
from butfor.neighbours.trees.regions import Regions

FEW_BOXES = 200
"""After how many boxes pairs of trees are merged in each part that is left. That takes as long as so many boxes."""

PAIRS_OF_LEAVES = 256
"""How many pairs of leaves two trees may have that are merged."""

OPEN_BOXES, LISTED_LEAVES = 32, 8
"""For how many boxes there is room at first, and for how many lists of all leaves. Twice as many when it is used up."""


class Worst(NamedTuple):
    """A smallest score, and where it is taken."""

    score: float
    point: FloatArray


class LeafLists(NamedTuple):
    """The leaves of a sum of trees, and the point.

    - `tree`, `value` (leaves): the tree of each leaf, in ascending order, and what it adds;
    - `path` (leaves + 1), `feature`: the features that leaf i asks for are `feature[path[i]:path[i + 1]]`;
    - `begin`, `end` (features, leaves): the smallest and the largest value that each takes, or their places in a grid;
    - `step`, `point` (features): 1 if the feature is searched in places (0: any number), and the point.
    """

    tree: IntArray
    value: FloatArray
    path: IntArray
    feature: IntArray
    begin: FloatArray
    end: FloatArray
    step: FloatArray
    point: FloatArray


class OpenBoxes(NamedTuple):
    """The boxes that are still to be searched, the next one last.

    - `numbers`, `sums` (boxes, ...): see `butfor.neighbours.trees.kernels`;
    - `low`, `high` (boxes, features): their sides;
    - `leaf`, `out`: their lists, one after the other: leaves, and in how many features a box's row is outside of each.
    """

    numbers: IntArray
    sums: FloatArray
    low: FloatArray
    high: FloatArray
    leaf: IntArray
    out: IntArray


class RoundBall(NamedTuple):
    """What a ball has besides its box.

    - `power`: 1 for the sum of the shares of the radii, 2 for the root of their squares, 0 if the box is all;
    - `radius` (features).
    """

    power: int
    radius: FloatArray


@dataclass(frozen=True, eq=False)
class Adversary:
    """Finds the worst row of any box around one point, for one sum of trees that starts from `base`.

    - `point`, `grids`: the point itself, and in which grids its neighbours lie; `leaves` hold places.
    """

    base: float
    leaves: LeafLists
    point: FloatArray
    grids: Grids

    def worst(
        self,
        low: FloatArray,
        high: FloatArray,
        ball: Ball | None = None,
        below: float | None = None,
        most: float = np.inf,
        until: float = np.inf,
    ) -> Worst:
        """The row with the smallest score between `low` and `high`, and within the `ball` around the point.

        With `below`, any row with a score below it will do. If there is none, the score is infinite. It is NaN if more than
        `most` parts of the box are to be searched, of `FEW_BOXES` each, or if the clock of `butfor.compiled.clock` is past
        `until`. What is missing in the point stays missing.
        """
        around = RoundBall(0, np.zeros(len(low)))
        if ball is not None and ball.norm is not BallNorm.LINF:
            around = RoundBall(1 if ball.norm is BallNorm.L1 else 2, ball.radius)
        best, where = np.array([np.inf if below is None else below, np.inf]), self.leaves.point.copy()
        low, high = self.grids.first(low), self.grids.last(high)
        some, left = below is not None, [_BoxLeft(self.base, self.leaves, low, high)]
        if (low > high).any():
            return Worst(np.inf, self.point)
        while left and not (some and best[1] < np.inf):
            if most <= 0 or now() > until:
                return Worst(np.nan, self.point)
            left += _searched(left.pop(), best, where, around, some)
            most -= 1
        return Worst(float(best[1]), self.grids.numbers(where, self.point))


class _BoxLeft(NamedTuple):
    """A box that is to be searched, and what a sum of trees is in it."""

    base: float
    leaves: LeafLists
    low: FloatArray
    high: FloatArray


def _searched(part: _BoxLeft, best: FloatArray, where: FloatArray, around: RoundBall, some: bool) -> Iterator[_BoxLeft]:
    """Search a box for a row that has less than the best one, and keep it. Then come the parts that are left after a while.

    In each of them, pairs of trees are merged.
    """
    from butfor.neighbours.trees import kernels

    base, leaves, low, high = part
    count = np.zeros(1, dtype=np.intp)
    boxes = _room(OPEN_BOXES, LISTED_LEAVES * len(leaves.tree), len(leaves.point))
    kernels.begin_search(leaves, boxes, count, best, where, low, high, base)
    while kernels.search(leaves, boxes, count, best, where, around, some, FEW_BOXES) == kernels.WANTS_ROOM:
        boxes = _with_more_room(boxes)
    for box in range(count[kernels.OPEN]):
        if kernels.worth(boxes, box, best):
            low, high, first = boxes.low[box], boxes.high[box], boxes.numbers[box, kernels.FROM]
            its = boxes.leaf[first : first + boxes.numbers[box, kernels.COUNT]]
            lists = LeafLists(*kernels.merged(leaves, its, low, high, PAIRS_OF_LEAVES))
            yield _BoxLeft(float(boxes.sums[box, kernels.FIXED_SUM]), lists, low, high)


def _room(boxes: int, leaves: int, features: int) -> OpenBoxes:
    lists = np.empty(leaves, dtype=np.intp), np.empty(leaves, dtype=np.intp)
    sides = np.empty((boxes, features)), np.empty((boxes, features))
    return OpenBoxes(np.zeros((boxes, 4), dtype=np.intp), np.zeros((boxes, 3)), *sides, *lists)


def _with_more_room(boxes: OpenBoxes) -> OpenBoxes:
    more = _room(2 * len(boxes.low), 2 * len(boxes.leaf), boxes.low.shape[1])
    for new, old in zip(more, boxes, strict=True):
        new[: len(old)] = old
    return more


def adversary(leaves: Regions, point: FloatArray, grids: Grids) -> Adversary:
    """The adversary of a sum of trees at a point. Leaves that hold no point of the grids are left out."""
    begin, end = grids.first(np.nextafter(leaves.low, np.inf)), grids.last(leaves.high)
    holds = (begin <= end).all(axis=1)
    begin, end = begin[holds], end[holds]
    asks = ((leaves.low > -np.inf) | (leaves.high < np.inf))[holds]
    path = np.append(0, np.cumsum(asks.sum(axis=1)))
    tree = np.repeat(np.arange(len(leaves.first)), np.diff(np.append(leaves.first, len(leaves.value))))[holds]
    value, begin, end = (np.ascontiguousarray(part.T) for part in (leaves.value[holds], begin, end))
    feature = np.ascontiguousarray(np.nonzero(asks)[1])
    lists = LeafLists(tree, value, path, feature, begin, end, grids.whole.astype(np.float64), grids.place(point))
    return Adversary(leaves.base, lists, np.array(point), grids)


def worst_row(
    leaves: Regions,
    point: FloatArray,
    low: FloatArray,
    high: FloatArray,
    grids: Grids,
    ball: Ball | None = None,
    below: float | None = None,
    until: float = np.inf,
) -> Worst:
    """As `Adversary.worst`, for one box."""
    return adversary(leaves, point, grids).worst(low, high, ball, below, until=until)
