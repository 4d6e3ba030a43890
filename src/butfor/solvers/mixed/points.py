"""Cells as the ends of what a row may have in them.

A number in a cell is a mixture of its two ends: it adds what they add, and costs no less than they do. So a bound that lets each
column choose an end holds for all numbers in between.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from butfor.arrays import BoolArray, FloatArray, IntArray
from butfor.problem.problem import Problem
from butfor.solvers.ensemble.leaves import LeafTable
from butfor.solvers.mixed.relaxed import RelaxedRow, joined, one_leaf_for_each_cell

FARTHEST = 1e30
"""A number without an end to its range ends here. No row that is worth a look moves as far."""


class Points(NamedTuple):
    """The ends of cells, side by side.

    - `cell`, `value`, `price` (points): the cell of each, its value, and what it costs;
    - `start` (cells + 1): where the points of each cell begin.
    """

    cell: IntArray
    value: FloatArray
    price: FloatArray
    start: IntArray

    @classmethod
    def of(cls, problem: Problem, row: RelaxedRow) -> Points:
        """The ends of the cells of a row. One end is enough where the linear model reads no number.

        A price that rises with squares lies below the line between the ends by at most a quarter of the rate times the squared
        width, so that much less is counted.
        """
        feature, prices = row.feature, problem.prices
        weighed = np.abs(row.model.linear.slope).max(axis=0)[feature] > 0
        two = weighed & (row.low < row.high) & np.isfinite(row.tables.price[0])
        start = np.concatenate([[0], np.cumsum(1 + two)]).astype(np.intp)
        cell = np.repeat(np.arange(len(two)), 1 + two)
        value, price = row.tables.value[0][cell], row.tables.price[0][cell]
        for c in np.flatnonzero(two).tolist():
            j, mine, ends = (
                int(feature[c]),
                slice(int(start[c]), int(start[c + 1])),
                np.clip([row.low[c], row.high[c]], -FARTHEST, FARTHEST),
            )
            value[mine] = ends
            price[mine] = prices.separable(j, problem.factuals[:, [j]], ends[None])[0]
            price[mine] -= prices.l2[j] * (ends[1] - ends[0]) ** 2 / 4
        return cls(cell, value, price, start)

    def gains(self, row: RelaxedRow, A: FloatArray) -> FloatArray:
        """What the linear model adds to each sum `A s` (points, sums)."""
        linear, feature = row.model.linear, row.feature[self.cell]
        moved = np.nan_to_num(self.value - linear.centre[feature])
        steps = np.concatenate([A @ step for step in linear.steps], axis=1)[:, self.cell]
        return np.asarray(((A @ linear.slope)[:, feature] * moved + steps).T)

    def leaves(self, row: RelaxedRow, A: FloatArray) -> tuple[LeafTable, FloatArray]:
        """The leaves of all trees, with one of points for each column of the linear model; what each adds to each sum `A s`."""
        table, gains = over_points(row.trees, self.start), self.gains(row, A)
        read = [j for j in range(len(table.start) - 1) if gains[table.start[j] : table.start[j + 1]].any()]
        lines, point = one_leaf_for_each_cell(read, table)
        return joined(table, lines), np.concatenate([row.trees.value @ A.T, gains[point]])


def over_points(table: LeafTable, start: IntArray) -> LeafTable:
    """Leaves over points in place of cells, of which cell c has the points `start[c]` to `start[c + 1] - 1`."""
    begin, ranged = table.start[table.feature], table.first <= table.last
    base = start[begin]
    first, last = (start[begin + np.where(ranged, each, 0)] - base for each in (table.first, table.last + 1))
    masked = np.flatnonzero(table.mask >= 0)
    masks = [
        np.repeat(table.masks[m : m + b - a], np.diff(start[a : b + 1]))
        for m, a, b in zip(table.mask[masked], begin[masked], table.start[table.feature[masked] + 1], strict=True)
    ]
    mask = table.mask.copy()
    mask[masked] = np.cumsum([0, *map(len, masks)])[:-1]
    return table._replace(
        start=start[table.start],
        first=np.where(ranged, first, table.first),
        last=np.where(ranged, last - 1, table.last),
        mask=mask,
        masks=np.concatenate([np.zeros(0, dtype=np.bool_), *masks]),
    )


def of_cells(alive: BoolArray, start: IntArray) -> BoolArray:
    """The points of some cells."""
    return np.repeat(alive, np.diff(start))
