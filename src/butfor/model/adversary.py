"""The worst row of a ball or a box around a point, for a sum of trees: exact, by branch and bound over the cuts inside.

A node is a box. The smallest leaves of the trees that meet it sum to a bound, and its row nearest to the point is tried.
It is split where the smallest leaf of the most disappointing tree ends.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from itertools import count
from typing import NamedTuple

import numpy as np

from butfor.arrays import FloatArray, IntArray
from butfor.model.ball import Ball
from butfor.model.regions import Regions


class Worst(NamedTuple):
    """A smallest score, and where it is taken."""

    score: float
    point: FloatArray


@dataclass(frozen=True, eq=False)
class Neighbourhood:
    """The leaves of a model of one score that meet a box around a point.

    - `base`: what all rows of the box have in common;
    - `active`: the features on which a decision of some tree depends;
    - `first` (trees): the first leaf of each tree that has several;
    - `value` (leaves): what a leaf adds;
    - `low`, `high` (leaves, active): its region within the box.
    """

    base: float
    active: IntArray
    first: IntArray
    value: FloatArray
    low: FloatArray
    high: FloatArray


def neighbourhood(
    leaves: Regions, point: FloatArray, low: FloatArray, high: FloatArray, step: FloatArray
) -> Neighbourhood:
    """The leaves that meet the box from `low` to `high`. What is missing in the point stays missing."""
    above = np.where(np.isnan(point), -np.inf, np.nextafter(low, -np.inf))
    upto = np.where(np.isnan(point), np.inf, high)
    near = np.flatnonzero(leaves.meets(above, upto))
    tree = np.searchsorted(leaves.first, near, side="right") - 1
    several = np.bincount(tree, minlength=len(leaves.first)) > 1
    base = leaves.base + float(leaves.value[near[~several[tree]]].sum())
    near, tree = near[several[tree]], tree[several[tree]]
    begins = np.where(step > 0, leaves.low[near] + step, np.nextafter(leaves.low[near], np.inf))
    lows, highs = np.maximum(begins, low), np.minimum(leaves.high[near], high)
    active = np.flatnonzero(((lows > low) | (highs < high)).any(axis=0) & ~np.isnan(point))
    _, first = np.unique(tree, return_index=True)
    return Neighbourhood(base, active, first.astype(np.intp), leaves.value[near], lows[:, active], highs[:, active])


def worst_row(
    leaves: Regions,
    point: FloatArray,
    low: FloatArray,
    high: FloatArray,
    step: FloatArray,
    ball: Ball | None = None,
    below: float | None = None,
) -> Worst:
    """The row with the smallest score between `low` and `high`, and within the `ball` around the point.

    With `below`, any row with a score below it will do. If there is none, the score is infinite.
    """
    near = neighbourhood(leaves, point, low, high, step)
    if not len(near.first):
        return Worst(near.base, point)
    start, where, tie = point[near.active], point, count()
    best, found = (np.inf, np.inf) if below is None else (below, np.inf)
    ends = np.append(near.first, len(near.value))
    tree_of = np.repeat(np.arange(len(near.first)), np.diff(ends))
    heap: list[tuple[float, int, FloatArray, FloatArray]] = [(-np.inf, next(tie), low[near.active], high[near.active])]
    while heap and heap[0][0] < best and not (below is not None and found < below):
        _, _, lows, highs = heapq.heappop(heap)
        meets = np.asarray(((near.low <= highs) & (near.high >= lows)).all(axis=1))
        row = np.asarray(np.clip(start, lows, highs))
        if ball is not None and not _inside(ball, near.active, row - start):
            continue
        smallest = np.minimum.reduceat(np.where(meets, near.value, np.inf), near.first)
        bound = near.base + float(smallest.sum())
        if bound >= best:
            continue
        at = np.flatnonzero(((near.low <= row) & (near.high >= row)).all(axis=1))
        here = near.value[at]
        score = near.base + float(here.sum())
        if score < best:
            best, found, where = score, score, point.copy()
            where[near.active] = row
        lost = here - smallest[tree_of[at]]
        if lost.max() <= 0:
            continue
        tree = int(tree_of[at][np.argmax(lost)])
        own = slice(ends[tree], ends[tree + 1])
        leaf = int(ends[tree] + np.where(meets[own], near.value[own], np.inf).argmin())
        outside = np.flatnonzero((near.low[leaf] > row) | (near.high[leaf] < row))
        j = int(outside[0])
        for side_low, side_high in _split(near, leaf, j, row, lows, highs, step):
            heapq.heappush(heap, (bound, next(tie), side_low, side_high))
    return Worst(found, where)


def _split(
    near: Neighbourhood, leaf: int, j: int, row: FloatArray, lows: FloatArray, highs: FloatArray, step: FloatArray
) -> tuple[tuple[FloatArray, FloatArray], ...]:
    """The two parts of a box, on both sides of the end of a leaf that shuts a row out in feature `j`."""
    grid = float(step[near.active[j]])
    lower_high, upper_low = highs.copy(), lows.copy()
    if near.low[leaf, j] > row[j]:
        upper_low[j] = near.low[leaf, j]
        lower_high[j] = upper_low[j] - grid if grid > 0 else np.nextafter(upper_low[j], -np.inf)
    else:
        lower_high[j] = near.high[leaf, j]
        upper_low[j] = lower_high[j] + grid if grid > 0 else np.nextafter(lower_high[j], np.inf)
    return (lows, lower_high), (upper_low, highs)


def _inside(ball: Ball, active: IntArray, shift: FloatArray) -> bool:
    whole = np.zeros((1, len(ball.radius)))
    whole[0, active] = shift
    return bool(ball.holds(whole)[0])
