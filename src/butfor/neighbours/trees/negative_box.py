"""Boxes of rows that miss the target, and the tree that tells which rows a ball brings into one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from butfor.arrays import BoolArray, FloatArray
from butfor.model.float_order import last_below
from butfor.model.trees import CellSet, Interval, Subset, Trees, with_cells
from butfor.neighbours.ball import Ball
from butfor.neighbours.slips import Slips
from butfor.neighbours.trees.regions import Regions

NegativeBox = Mapping[int, CellSet]
"""Rows whose features lie in some cells. Features that are not listed may take any value."""


def own_cells(model: Trees, leaves: Regions, row: FloatArray) -> NegativeBox:
    """The rows that reach the same leaves as a row in every tree, with its levels and its missing values."""
    low, high = leaves.around(row)
    return between(model, np.nextafter(low, np.inf), high, row)


def between(model: Trees, low: FloatArray, high: FloatArray, row: FloatArray) -> NegativeBox:
    """The rows whose numbers lie in the cells from `low` to `high`, with the levels and the missing values of a row."""
    found: dict[int, CellSet] = {}
    for j, cells in enumerate(model.cells):
        here = int(cells.index(row[j : j + 1])[0])
        if cells.levels:
            found[j] = Subset(np.arange(cells.count + 1) == here)
        elif here == cells.count:
            found[j] = Interval(1, 0, missing=True)
        else:
            first, last = np.searchsorted(cells.edges, [low[j], high[j]])
            found[j] = Interval(int(first), int(last), missing=False)
    return found


class Test(NamedTuple):
    """One question on the way into a box.

    - `feature`, `cut`: a number up to the cut goes left;
    - `mask`: the cells that go left, if it is not about a cut;
    - `missing_left`: whether a missing value goes left;
    - `inside_left`: whether what goes left may still be in the box.
    """

    feature: int
    cut: float
    mask: BoolArray | None
    missing_left: bool
    inside_left: bool


def _tests(box: NegativeBox, radius: FloatArray, slips: Slips, like: Trees) -> list[Test]:
    """The questions that only those rows pass that some shift within the radius, and some slip, bring into the box."""
    found = []
    for j, region in box.items():
        if not bool((like.feature == j).any()):
            continue
        if isinstance(region, Subset):
            found.append(Test(j, 0.0, slips.into(j, region.mask), False, inside_left=True))
            continue
        cells = like.cells[j]
        if region.first > region.last:
            found.append(Test(j, -np.inf, None, missing_left=True, inside_left=True))
            continue
        ends = np.array([cells.lower()[region.first], cells.upper()[region.last]])
        below, above = last_below(ends, np.array([radius[j], -radius[j]])).tolist()
        if region.first > 0:
            found.append(Test(j, below, None, missing_left=not region.missing, inside_left=False))
        if region.last < cells.count - 1 or not region.missing:
            found.append(Test(j, above, None, missing_left=region.missing, inside_left=True))
    return found


def out_of_leaves(model: Trees, missing: BoolArray, ball: Ball) -> Trees:
    """One tree per `missing` leaf of a tree: -1 for the rows of which a neighbour in the box around a ball is in it, else 0.

    It is kept, because many rows ask the same of one model.
    """
    return _out_of_leaves(model, missing.tobytes(), ball.radius.tobytes(), ball.slips)


@lru_cache(maxsize=16)
def _out_of_leaves(model: Trees, missing: bytes, radii: bytes, slips: Slips) -> Trees:
    out = np.frombuffer(missing, dtype=np.bool_)
    leaves = [leaf.path for leaf, misses in zip(model.leaves, out, strict=True) if misses]
    return _keeping_out(leaves, np.frombuffer(radii), slips, model)


def keeping_out(boxes: Sequence[NegativeBox], ball: Ball, like: Trees) -> Trees:
    """One tree per box: -1 for the rows of which a neighbour in the box around a ball is in it, else 0."""
    return _keeping_out(boxes, ball.radius, ball.slips, like)


def _keeping_out(boxes: Sequence[NegativeBox], radius: FloatArray, slips: Slips, like: Trees) -> Trees:
    tests = [_tests(box, radius, slips, like) for box in boxes]
    sets = [test.mask for chain in tests for test in chain if test.mask is not None]
    of_mask = {id(mask): i for i, mask in enumerate(sets)}
    sizes = [2 * len(chain) + 1 for chain in tests]
    roots = np.concatenate([[0], np.cumsum(sizes)]).astype(np.intp)
    n = int(roots[-1])
    feature, member = np.full(n, -1, dtype=np.intp), np.full(n, -1, dtype=np.intp)
    cut, value, missing_left = np.zeros(n), np.zeros((n, 1)), np.zeros(n, dtype=np.bool_)
    left, right = np.zeros(n, dtype=np.intp), np.zeros(n, dtype=np.intp)
    for (root, end), chain in zip(pairwise(roots.tolist()), tests, strict=True):
        for i, test in enumerate(chain):
            node, out, on = root + 2 * i, root + 2 * i + 1, root + 2 * i + 2
            feature[node], cut[node], missing_left[node] = test.feature, test.cut, test.missing_left
            member[node] = -1 if test.mask is None else of_mask[id(test.mask)]
            left[node], right[node] = (on, out) if test.inside_left else (out, on)
        value[end - 1] = -1.0
    made = Trees(
        roots[:-1], feature, cut, member, missing_left, left, right, value, tuple(sets), np.zeros(1), like.cells
    )  # fmt: skip
    return with_cells(made, like.lasting_cells())
