"""What each feature of each row may become, and at what price.

Here it is decided, once, what a grid, float32, the own value, "missing" and levels allow. What solvers search is a view of it:
the cells of trees, runs away from the own value, the pieces of programs, coordinates and directions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from butfor.arrays import BoolArray, FloatArray, IntArray
from butfor.model.cells import Cells, level_cells, number_cells
from butfor.model.grid_points import finer_than_floats, grid_near, grid_point, on_grid
from butfor.problem.domain import Domain
from butfor.problem.problem import Problem
from butfor.space.space import same

ONE_CELL = number_cells(np.empty(0))
"""All numbers."""


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

    @property
    def own(self) -> FloatArray:
        """The value as it is (n, 1)."""
        return self.problem.factuals[:, self.j : self.j + 1]

    @property
    def stay(self) -> BoolArray:
        """Whether the value may stay as it is (n, 1)."""
        return self.problem.domain.stay[:, self.j : self.j + 1]

    @property
    def missing(self) -> BoolArray:
        """Whether the value may be missing in the end (n, 1). What is missing now stays so."""
        return np.where(np.isnan(self.own), self.stay, self.problem.domain.missing[:, self.j : self.j + 1])

    @cached_property
    def levels(self) -> CellValues:
        """The codes of the levels, and which of them each row may have in the end."""
        allowed, x = self.problem.domain.levels[self.j].copy(), self.own[:, 0]
        codes = np.append(np.arange(allowed.shape[1], dtype=np.float64), np.nan)
        known = np.flatnonzero(~np.isnan(x))
        allowed[known, x[known].astype(np.intp)] = self.stay[known, 0]
        return CellValues(np.broadcast_to(codes, (len(x), len(codes))), np.hstack([allowed, self.missing]))

    @property
    def bounds(self) -> tuple[FloatArray, FloatArray]:
        """The excluded lower and the included upper end of each cell (1, cells without "missing")."""
        return self.cells.lower()[None], self.cells.upper()[None]

    @cached_property
    def ends(self) -> tuple[FloatArray, FloatArray]:
        """The smallest and the largest number of each cell to which each row may move (n, cells without "missing").

        The first exceeds the second if there is none.
        """
        return self.problem.domain.within(self.j, *self.bounds)

    @cached_property
    def hull(self) -> tuple[FloatArray, FloatArray]:
        """As `ends`, of the numbers that each row may have in the end: the own one is among them if it may stay."""
        return self.between(*self.bounds)

    def between(self, lower: FloatArray, upper: FloatArray) -> tuple[FloatArray, FloatArray]:
        """As `hull`, of other cells `(lower, upper]`. Infinite ends, the wrong way round, say that there is no number."""
        first, last = self.problem.domain.within(self.j, lower, upper)
        here, none = self.stay & (self.own > lower) & (self.own <= upper), first > last
        first, last = np.where(none, np.inf, first), np.where(none, -np.inf, last)
        return np.where(here, np.minimum(first, self.own), first), np.where(here, np.maximum(last, self.own), last)

    @cached_property
    def odd(self) -> BoolArray:
        """Whether the number may stay though it lies off its grid (n, 1)."""
        step, anchor = float(self.problem.domain.step[self.j]), float(self.problem.domain.anchor[self.j])
        return self.stay & ~np.isnan(self.own) & ~on_grid(self.own, step, anchor)

    def nearest(self) -> CellValues:
        """The value of each cell that is nearest to the own one."""
        if self.cells.levels:
            return self.levels
        return nearest_numbers(self.problem, np.array([self.j]), [self.cells])[1]

    def price(self, choices: CellValues) -> FloatArray:
        """What such values cost; infinite where the row may not take them."""
        return np.where(choices.able, self.problem.prices.separable(self.j, self.own, choices.value), np.inf)

    def runs(self) -> Runs:
        """To stay, its levels or the runs in its cells (those below the own number before those above it), and "missing".

        A missing number costs the same wherever it goes. So it has one run in each cell, upwards.
        """
        if self.cells.levels:
            (first, able), way = self.levels, np.zeros(self.cells.count + 1)
            last = first
        else:
            lower, upper = self.bounds
            below = self.problem.domain.within(self.j, lower, np.fmin(upper, np.nextafter(self.own, -np.inf)))
            above = self.problem.domain.within(self.j, np.fmax(lower, self.own), upper)
            lost = np.full(self.own.shape, np.nan)
            able = np.hstack([(below[0] <= below[1]) & ~np.isnan(self.own), above[0] <= above[1], self.missing])
            ends = (np.hstack([*some, lost]) for some in ((below[1], above[0]), (below[0], above[1])))
            first, last = (np.where(able, end, np.nan) for end in ends)
            way = np.repeat([-1.0, 1.0, 0.0], [self.cells.count, self.cells.count, 1])
        able = np.hstack([self.stay, able & ~same(first, self.own)])
        return Runs(np.hstack([self.own, first]), np.hstack([self.own, last]), able, np.append(0.0, way))

    def closest(self, start: FloatArray) -> FloatArray:
        """The number of each cell nearest to `start` (n, 1) to which each row may move; NaN if there is none."""
        return self.problem.domain.closest(self.j, start, *self.bounds)

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


def nearest_numbers(problem: Problem, numbers: IntArray, cells: Sequence[Cells]) -> tuple[IntArray, CellValues]:
    """The value of each cell that is nearest to the own one, of numbers that share a grid, and the number of each cell.

    The cells lie side by side, those of one number after the other, each with its "missing" last.
    """
    domain, counts = problem.domain, np.array([some.count + 1 for some in cells])
    lower, upper = (
        np.concatenate([np.append(end(some), np.nan) for some in cells]) for end in (Cells.lower, Cells.upper)
    )
    columns = np.repeat(numbers, counts)
    value = domain.nearest(columns, lower[None], upper[None])
    able = ~np.isnan(value)
    own = problem.factuals[:, numbers]
    able[:, np.cumsum(counts) - 1] = np.where(np.isnan(own), domain.stay[:, numbers], domain.missing[:, numbers])
    return columns, CellValues(value, able)


def choices_of(problem: Problem, j: int, cells: Cells | None = None) -> FeatureChoices:
    """What a feature may become in some cells. Without them, all its numbers are one cell, or each level is one."""
    if cells is None:
        levels = problem.domain.levels.get(j)
        cells = ONE_CELL if levels is None else level_cells(levels.shape[1])
    return FeatureChoices(problem, j, cells)


class Runs(NamedTuple):
    """What a feature of n rows may become, as k runs and points. The first of them is to stay.

    - `begin`, `end` (n, k): a run leads from one number away from the own one to another; a point is only its `begin`;
    - `able` (n, k): whether the row has it;
    - `way` (k): 1 for runs upwards, -1 for runs downwards, 0 for points.
    """

    begin: FloatArray
    end: FloatArray
    able: BoolArray
    way: FloatArray


class ChoiceTable(NamedTuple):
    """What some features of n rows may become, and at what price: the runs and points of each feature side by side.

    - `features`: the features; `start` (features + 1): where the choices of each begin; the first is to stay;
    - `begin`, `end`, `way`: see `Runs`;
    - `step`, `anchor` (choices): the distance from the begin is a multiple of the step (0: any), on this grid;
    - `length` (n, choices): the longest distance from the begin; 0 for a point;
    - `cost` (n, choices): what the begin costs; infinite if the row does not have the choice;
    - `slope`, `curve` (n, choices): `slope u + curve u^2` is what the distance u costs more; nothing from a missing number.
    """

    features: IntArray
    start: IntArray
    begin: FloatArray
    end: FloatArray
    way: FloatArray
    step: FloatArray
    anchor: FloatArray
    length: FloatArray
    cost: FloatArray
    slope: FloatArray
    curve: FloatArray

    def values(self, pick: IntArray, far: FloatArray) -> FloatArray:
        """The values of choices at distances (n, features). What stays is the own value to the bit, and an end that end."""
        row = np.arange(len(pick))[:, None]
        value = self.begin[row, pick] + self.way[pick] * far
        step = self.step[pick]
        value = np.where((far > 0) & (step > 0), grid_near(value, step, self.anchor[pick]), value)
        return np.where((far > 0) & (far >= self.length[row, pick]), self.end[row, pick], value)


def choice_table(problem: Problem, features: IntArray, runs: Sequence[Runs]) -> ChoiceTable:
    """The table of runs and points of some features."""
    prices, counts = problem.prices, [len(some.way) for some in runs]
    each = np.repeat(features, counts)
    own, nothing = problem.factuals[:, each], np.empty((len(problem), 0))
    begin, end = (np.hstack([nothing, *parts]) for parts in ([r.begin for r in runs], [r.end for r in runs]))
    cost = [
        np.where(some.able, prices.separable(j, problem.factuals[:, [j]], some.begin), np.inf)
        for j, some in zip(features.tolist(), runs, strict=True)
    ]
    way, step = np.concatenate([np.empty(0), *(some.way for some in runs)]), told_steps(problem.domain)[each]
    rises = (way != 0) & ~np.isnan(own)
    with np.errstate(invalid="ignore"):
        length = np.nan_to_num(np.abs(end - begin)) * (way != 0)
        first = np.nan_to_num(np.abs(begin - own)) if prices.l2.any() else 0.0
        length = np.where(step > 0, np.round(length / np.where(step > 0, step, 1.0)) * step, length)
    return ChoiceTable(
        features=features,
        start=np.concatenate([[0], np.cumsum(counts)]).astype(np.intp),
        begin=begin,
        end=end,
        way=way,
        step=step,
        anchor=problem.domain.anchor[each],
        length=length,
        cost=np.hstack([nothing, *cost]),
        slope=(prices.l1[each] + 2 * prices.l2[each] * first) * rises,
        curve=prices.l2[each] * rises,
    )


def told_steps(domain: Domain) -> FloatArray:
    """The step of each number; 0 if its grid cannot be told from all numbers."""
    columns = zip(domain.extent.low, domain.extent.high, domain.step, domain.anchor, strict=True)
    fine = [bool(step) and finer_than_floats(low, high, step, anchor) for low, high, step, anchor in columns]
    return np.where(fine, 0.0, domain.step)
