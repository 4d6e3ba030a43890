"""What each feature of each row may become, and at what price.

Here it is decided, once, what a grid, float32, the own value, "missing" and levels allow. What solvers search is a view of it:
the cells of trees, runs away from the own value, the pieces of programs, coordinates and directions.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from butfor.arrays import BoolArray, FloatArray
from butfor.model.cells import Cells, level_cells, number_cells
from butfor.problem.domain import grid_point
from butfor.problem.problem import Problem
from butfor.space.space import same


class CellValues(NamedTuple):
    """A value for each cell (n, cells) and whether the row may take it. The last cell is "missing"."""

    value: FloatArray
    able: BoolArray


@dataclass(frozen=True, eq=False)
class FeatureChoices:
    """What feature `j` of n rows may become, cell by cell: a number of the cell, a level, or "missing" as the last one."""

    problem: Problem
    j: int
    cells: Cells

    @cached_property
    def own(self) -> FloatArray:
        """The value as it is (n, 1)."""
        return self.problem.factuals[:, [self.j]]

    @cached_property
    def stay(self) -> BoolArray:
        """Whether the value may stay as it is (n, 1)."""
        return self.problem.domain.stay[:, [self.j]]

    @cached_property
    def missing(self) -> BoolArray:
        """Whether the value may be missing in the end (n, 1). What is missing now stays so."""
        return np.where(np.isnan(self.own), self.stay, self.problem.domain.missing[:, [self.j]])

    @cached_property
    def levels(self) -> CellValues:
        """The codes of the levels, and which of them each row may have in the end."""
        allowed, x = self.problem.domain.levels[self.j].copy(), self.own[:, 0]
        codes = np.append(np.arange(allowed.shape[1], dtype=np.float64), np.nan)
        known = np.flatnonzero(~np.isnan(x))
        allowed[known, x[known].astype(np.intp)] = self.stay[known, 0]
        return CellValues(np.broadcast_to(codes, (len(x), len(codes))), np.hstack([allowed, self.missing]))

    @cached_property
    def ends(self) -> tuple[FloatArray, FloatArray]:
        """The smallest and the largest number of each cell to which each row may move (n, cells without "missing").

        The first exceeds the second if there is none.
        """
        return self.problem.domain.within(self.j, self.cells.lower()[None], self.cells.upper()[None])

    def nearest(self) -> CellValues:
        """The value of each cell that is nearest to the own one."""
        if self.cells.levels:
            return self.levels
        value = self.problem.domain.nearest(self.j, self.cells.lower()[None], self.cells.upper()[None])
        able = np.hstack([~np.isnan(value), self.missing])
        return CellValues(np.hstack([value, np.full(self.own.shape, np.nan)]), able)

    def price(self, choices: CellValues) -> FloatArray:
        """What such values cost; infinite where the row may not take them."""
        return np.where(choices.able, self.problem.prices.separable(self.j, self.own, choices.value), np.inf)

    def every(self) -> FloatArray:
        """All values that the only row may have in the end, if they are levels or numbers on a grid; its own one first."""
        x, domain = self.own[0, 0], self.problem.domain
        if self.j in domain.levels:
            found = self.levels.value[0, self.levels.able[0]]
        else:
            step, anchor = float(domain.step[self.j]), float(domain.anchor[self.j])
            first, last = float(self.ends[0].min()), float(self.ends[1].max())
            numbers = np.empty(0)
            if first <= last:
                count = np.arange(round((first - anchor) / step), round((last - anchor) / step) + 1, dtype=np.float64)
                numbers = np.clip(grid_point(count, step, anchor), first, last)
            found = np.append(numbers, np.nan) if self.missing[0, 0] else numbers
        other = found[~same(found, x)]
        return np.append(x, other) if self.stay[0, 0] else other


def choices_of(problem: Problem, j: int, cells: Cells | None = None) -> FeatureChoices:
    """What a feature may become in some cells. Without them, all its numbers are one cell, or each level is one."""
    if cells is None:
        levels = problem.domain.levels.get(j)
        cells = number_cells(np.empty(0)) if levels is None else level_cells(levels.shape[1])
    return FeatureChoices(problem, j, cells)
