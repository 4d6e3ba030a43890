"""All leaves of a sum of trees as boxes, for the rows that share the levels and the missing values of one row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from butfor.arrays import BoolArray, FloatArray, IntArray
from butfor.model.trees import Interval, Trees


@dataclass(frozen=True, eq=False)
class LeafBoxes:
    """The leaves of a model that some row can reach.

    - `tree`, `node` (leaves): where each is;
    - `low`, `high` (leaves, features): each takes numbers above `low` and up to `high`;
    - `lost` (leaves, features): whether each takes a missing number;
    - `cells`: for each feature with sets of cells: (leaves, cells and "missing"), whether each takes the cell.
    """

    tree: IntArray
    node: IntArray
    low: FloatArray
    high: FloatArray
    lost: BoolArray
    cells: dict[int, BoolArray]


@lru_cache(maxsize=8)
def leaf_boxes(model: Trees) -> LeafBoxes:
    """All leaves of a model as boxes."""
    leaves, d = model.leaves, len(model.cells)
    low, high = np.full((len(leaves), d), -np.inf), np.full((len(leaves), d), np.inf)
    lost = np.ones((len(leaves), d), dtype=np.bool_)
    cells = {j: np.ones((len(leaves), model.cells[j].count + 1), dtype=np.bool_) for j in model.asked_for_sets()}
    lower, upper = [one.lower() for one in model.cells], [one.upper() for one in model.cells]
    for i, leaf in enumerate(leaves):
        for j, region in leaf.path.items():
            if isinstance(region, Interval):
                lost[i, j] = region.missing
                if region.first > region.last:
                    low[i, j], high[i, j] = np.inf, -np.inf
                else:
                    low[i, j], high[i, j] = lower[j][region.first], upper[j][region.last]
            else:
                cells[j][i] = region.mask
    tree = np.array([leaf.tree for leaf in leaves], dtype=np.intp)
    return LeafBoxes(tree, np.array([leaf.node for leaf in leaves], dtype=np.intp), low, high, lost, cells)


@dataclass(frozen=True, eq=False)
class Regions:
    """The leaves for one sum of scores and the levels and missing values of one row.

    - `base`: what the sum starts from;
    - `first` (trees): the first leaf of each tree;
    - `value` (leaves): what each adds;
    - `low`, `high` (leaves, features): each takes numbers above `low` and up to `high`.
    """

    base: float
    first: IntArray
    value: FloatArray
    low: FloatArray
    high: FloatArray

    def around(self, row: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The numbers above the first and up to the second that reach the same leaf as a row in every tree."""
        known = ~np.isnan(row)
        x = np.where(known, row, 0.0)
        holds = ((self.low < x) & (x <= self.high))[:, known].all(axis=1)
        return np.asarray(self.low[holds].max(axis=0)), np.asarray(self.high[holds].min(axis=0))


def regions(
    model: Trees, row: FloatArray, point: FloatArray, orders: Mapping[int, FloatArray] | None = None
) -> Regions:
    """The leaves of the sum `row @ scores`, for the levels and the missing values of a point.

    Features without a number have no bounds. A leaf that takes a number in several ranges is a box for each of them.
    Levels with an order may change: it lists the levels they may take, and a level is the number of its place in it.
    """
    boxes, orders = leaf_boxes(model), orders or {}
    keep = boxes.lost[:, np.isnan(point)].all(axis=1)
    for j, takes in boxes.cells.items():
        if _is_known(model, point, j) and j not in orders:
            keep &= takes[:, int(model.cells[j].index(point[j : j + 1])[0])]
    blind = np.isnan(point)
    blind[[j for j, cells in enumerate(model.cells) if cells.levels]] = True
    leaf = np.flatnonzero(keep)
    low, high = np.where(blind, -np.inf, boxes.low[leaf]), np.where(blind, np.inf, boxes.high[leaf])
    for j, takes in boxes.cells.items():
        if j in orders:
            places, cells = np.arange(len(orders[j]) - 1, dtype=np.float64), model.cells[j].index(orders[j])
            lower, upper = np.append(-np.inf, places), np.append(places, np.inf)
        elif not _is_known(model, point, j):
            lower, upper, cells = model.cells[j].lower(), model.cells[j].upper(), np.arange(model.cells[j].count)
        else:
            continue
        which, first, last = runs(takes[leaf][:, cells])
        leaf, low, high = leaf[which], low[which], high[which]
        low[:, j], high[:, j] = lower[first], upper[last]
    _, begin = np.unique(boxes.tree[leaf], return_index=True)
    value = model.value[boxes.node[leaf]] @ row
    return Regions(float(model.base @ row), begin.astype(np.intp), value, low, high)


def _is_known(model: Trees, point: FloatArray, j: int) -> bool:
    """Whether it is known which cell of a feature with sets of cells a row around the point is in."""
    return bool(model.cells[j].levels or np.isnan(point[j]))


def runs(takes: BoolArray) -> tuple[IntArray, IntArray, IntArray]:
    """For each run of neighbouring cells: its leaf, in ascending order, and its first and its last cell.

    takes (leaves, cells): whether each leaf takes the cell
    """
    edge = np.diff(np.pad(takes.astype(np.int8), ((0, 0), (1, 1))), axis=1)
    which, first = np.nonzero(edge > 0)
    return which, first, np.nonzero(edge < 0)[1] - 1
