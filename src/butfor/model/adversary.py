"""The worst row of a ball or a box around a point, for a sum of trees: exact, by branch and bound over the cuts inside.

A node is a box. The smallest leaves of the trees that meet it sum to a bound, and its row nearest to the point is tried.
It is split where the smallest leaf of the most disappointing tree ends.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from butfor.arrays import FloatArray, IntArray
from butfor.model.ball import Ball, BallNorm
from butfor.model.leaf_lists import LeafLists, Leaves, listed, merged
from butfor.model.regions import Regions

BOXES_AT_A_TIME = 100_000
"""How many boxes are split before it is looked whether the user wants to stop: for a few tenths of a second."""

FEW_BOXES = 300
"""After how many boxes pairs of trees are merged, twice. That takes as long as splitting a few hundred boxes."""

OPEN_BOXES, LISTED_LEAVES = 32, 8
"""For how many boxes there is room at first, and for how many lists of all leaves. Twice as many when it is used up."""


class Worst(NamedTuple):
    """A smallest score, and where it is taken."""

    score: float
    point: FloatArray


class OpenBoxes(NamedTuple):
    """The boxes that are still to be searched, the next one last.

    - `numbers`, `sums` (boxes, ...): see `butfor.model.adversary_kernels`;
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
    """Finds the worst row of any box around one point, for one sum of trees that starts from `base`."""

    base: float
    leaves: LeafLists

    def worst(self, low: FloatArray, high: FloatArray, ball: Ball | None = None, below: float | None = None) -> Worst:
        """The row with the smallest score between `low` and `high`, and within the `ball` around the point.

        With `below`, any row with a score below it will do. If there is none, the score is infinite.
        What is missing in the point stays missing.
        """
        base, leaves, where = self.base, self.leaves, self.leaves.point.copy()
        best = np.array([np.inf if below is None else below, np.inf])
        around = RoundBall(0, np.zeros(len(where)))
        if ball is not None and ball.norm is not BallNorm.LINF:
            around = RoundBall(1 if ball.norm is BallNorm.L1 else 2, ball.radius)
        box = low, high, around, below is not None
        if not _searched(base, leaves, best, where, *box, limit=FEW_BOXES):
            for _ in range(2):
                base, leaves = merged(base, leaves, low, high)
            _searched(base, leaves, best, where, *box)
        return Worst(float(best[1]), where)


def _searched(
    base: float,
    leaves: LeafLists,
    best: FloatArray,
    where: FloatArray,
    low: FloatArray,
    high: FloatArray,
    around: RoundBall,
    some: bool,
    limit: float = np.inf,
) -> bool:
    """Search a box for a row that has less than the best one, and keep it. False: more than `limit` boxes are to be split."""
    from butfor.model.adversary_kernels import DONE, WANTS_ROOM, begin_search, search

    count = np.zeros(1, dtype=np.intp)
    boxes = _room(OPEN_BOXES, LISTED_LEAVES * len(leaves.tree), len(leaves.point))
    begin_search(leaves, boxes, count, best, where, low, high, base)
    most = int(min(BOXES_AT_A_TIME, limit))
    while (end := search(leaves, boxes, count, best, where, around, some, most)) != DONE:
        if end == WANTS_ROOM:
            boxes = _with_more_room(boxes)
        elif limit < np.inf:
            return False
    return True


def _room(boxes: int, leaves: int, features: int) -> OpenBoxes:
    lists = np.empty(leaves, dtype=np.intp), np.empty(leaves, dtype=np.intp)
    sides = np.empty((boxes, features)), np.empty((boxes, features))
    return OpenBoxes(np.zeros((boxes, 4), dtype=np.intp), np.zeros((boxes, 3)), *sides, *lists)


def _with_more_room(boxes: OpenBoxes) -> OpenBoxes:
    more = _room(2 * len(boxes.low), 2 * len(boxes.leaf), boxes.low.shape[1])
    for new, old in zip(more, boxes, strict=True):
        new[: len(old)] = old
    return more


def adversary(leaves: Regions, point: FloatArray, step: FloatArray) -> Adversary:
    """The adversary of a sum of trees at a point, for shifts by whole steps."""
    begin = np.where(step > 0, leaves.low + step, np.nextafter(leaves.low, np.inf))
    begin = np.where((leaves.low < point) & (point < begin), point, begin)  # the point itself need not be on the grid
    begin = np.where(leaves.low == -np.inf, -np.inf, begin)
    trees = [
        Leaves(leaves.value[first:last], begin[first:last].T, leaves.high[first:last].T)
        for first, last in pairwise([*leaves.first.tolist(), len(leaves.value)])
    ]
    everywhere = np.full(len(point), np.inf)
    return Adversary(leaves.base, listed(trees, -everywhere, everywhere, step, point))


def worst_row(
    leaves: Regions,
    point: FloatArray,
    low: FloatArray,
    high: FloatArray,
    step: FloatArray,
    ball: Ball | None = None,
    below: float | None = None,
) -> Worst:
    """As `Adversary.worst`, for one box."""
    return adversary(leaves, point, step).worst(low, high, ball, below)
