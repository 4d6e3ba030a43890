"""The cells of a row, of trees and of a linear model: between them, trees and steps are the same, and a number is in a range."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from butfor.arrays import BoolArray, FloatArray, IntArray
from butfor.formulation.choices import FeatureChoices, choices_of
from butfor.formulation.tables import Tables, tabulate
from butfor.model.cells import Cells, number_cells
from butfor.model.mixed import Mixed
from butfor.model.side_by_side import finer
from butfor.model.trees import over_cells
from butfor.problem.problem import Problem
from butfor.solvers.ensemble import limits
from butfor.solvers.ensemble.leaves import LeafTable, all_leaves
from butfor.solvers.ensemble.limits import CellLimits, limits_of, narrow_cells, with_numbers


@dataclass(frozen=True, eq=False)
class RelaxedRow:
    """The only row of a problem, over cells.

    - `model`: the model over these cells;
    - `tables`: the cheapest value of each cell, and its price;
    - `low`, `high` (cells): the smallest and the largest value in each cell that the row may have;
    - `trees`: the leaves of the trees;
    - `limits`: what the cells count.
    """

    model: Mixed
    tables: Tables
    low: FloatArray
    high: FloatArray
    trees: LeafTable
    limits: CellLimits

    @property
    def feature(self) -> IntArray:
        """The feature of each cell."""
        return np.repeat(np.arange(len(self.tables.start) - 1), np.diff(self.tables.start))

    def loose(self, cells: IntArray, A: FloatArray) -> IntArray:
        """The features whose value in their cell matters to the sums, and may be more than one."""
        moves = self.low[cells] < self.high[cells]
        return np.flatnonzero(moves & (A @ self.model.linear.slope).any(axis=0))


def relax(problem: Problem) -> RelaxedRow:
    """The cells and leaves of the only row of a problem."""
    model = problem.model
    assert isinstance(model, Mixed)
    problem = with_numbers(problem)
    cells = tuple(
        _narrow(problem, j, cell) if model.linear.slope[:, j].any() and not cell.levels else cell
        for j, cell in enumerate(narrow_cells(problem, model.cells))
    )
    fine = Mixed(over_cells(model.trees, cells), finer(model.linear, cells))
    tables = tabulate(problem, cells)
    _, trees = all_leaves(fine.trees, problem.space, 0.0)
    return RelaxedRow(fine, tables, *_ends(problem, cells, tables), trees, limits_of(problem, cells, tables))


def _narrow(problem: Problem, j: int, cells: Cells) -> Cells:
    """The cells of a number, cut around its value now, and between the values of its grid.

    If there are many, or it is real, it is cut at equal distances where prices rise with squares.
    """
    edges: list[FloatArray] = [cells.edges, limits.around(problem.factuals[0, j])]
    first, last = (float(end[0, 0]) for end in choices_of(problem, j).ends)
    between = limits.between_values(problem, j)
    if between is not None:
        edges.append(between)
    elif np.isfinite(last - first) and problem.prices.l2[j] > 0:
        width = (last - first) / limits.FEW_VALUES
        edges.append(np.asarray(first + width * (np.arange(limits.FEW_VALUES) + 0.5)))
    return number_cells(np.concatenate(edges))


def _ends(problem: Problem, cells: tuple[Cells, ...], tables: Tables) -> tuple[FloatArray, FloatArray]:
    """The smallest and the largest value in each cell that the row may have."""
    low, high = tables.value[0].copy(), tables.value[0].copy()
    movable = problem.domain.movable
    for j, cell in enumerate(cells):
        if cell.levels or not movable[j]:
            continue
        own = slice(tables.start[j], tables.start[j + 1] - 1)
        first, last = (end[0] for end in FeatureChoices(problem, j, cell).hull)
        low[own], high[own] = (np.where(first <= last, end, np.nan) for end in (first, last))
    return low, high


def one_leaf_for_each_cell(features: list[int], trees: LeafTable) -> tuple[LeafTable, IntArray]:
    """A tree for each of some features, with a leaf for each of its cells; and these cells."""
    start = trees.start
    width = np.diff(start)[features]
    feature, wide = np.repeat(features, width).astype(np.intp), np.repeat(width, width)
    place = np.concatenate([np.zeros(0, dtype=np.intp), *(np.arange(w) for w in width)])
    lost, masked = place == wide - 1, np.isin(feature, trees.feature[trees.mask >= 0])
    masks = [_one_of(w, at) for w, at in zip(wide[masked].tolist(), place[masked].tolist(), strict=True)]
    return LeafTable.of(
        start=start,
        tree=np.concatenate([[0], np.cumsum(width)]).astype(np.intp),
        value=np.zeros((len(feature), trees.value.shape[1])),
        entry=np.arange(len(feature) + 1),
        feature=feature,
        first=np.where(lost | masked, 0, place),
        last=np.where(lost | masked, -1, place),
        missing=lost,
        mask=np.where(masked, np.cumsum(np.where(masked, wide, 0)) - wide, -1),
        masks=np.concatenate([np.zeros(0, dtype=np.bool_), *masks]),
    ), start[feature] + place


def _one_of(width: int, at: int) -> BoolArray:
    mask = np.zeros(width, dtype=np.bool_)
    mask[at] = True
    return mask


def joined(first: LeafTable, second: LeafTable) -> LeafTable:
    """The trees of both tables, which have the same cells."""
    return LeafTable.of(
        start=first.start,
        tree=np.concatenate([first.tree, first.tree[-1] + second.tree[1:]]),
        value=np.concatenate([first.value, second.value]),
        entry=np.concatenate([first.entry, first.entry[-1] + second.entry[1:]]),
        feature=np.concatenate([first.feature, second.feature]),
        first=np.concatenate([first.first, second.first]),
        last=np.concatenate([first.last, second.last]),
        missing=np.concatenate([first.missing, second.missing]),
        mask=np.concatenate(
            [first.mask, np.where(second.mask >= 0, second.mask.astype(np.intp) + len(first.masks), -1)]
        ),
        masks=np.concatenate([first.masks, second.masks]),
    )
