"""The values that features may take under the constraints on single features."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

import numpy as np

from butfor.arrays import BoolArray, FloatArray, IntArray
from butfor.errors import UnsupportedProblemError
from butfor.model.grid_points import grid_down, grid_near, grid_up, meant, on_grid
from butfor.model.lattice import Lattice
from butfor.model.rounding import Extent
from butfor.model.single import first_single, last_single
from butfor.space.space import Space, same

Columns = int | Sequence[int] | IntArray
"""One column, or several."""

A = TypeVar("A", BoolArray, FloatArray)


@dataclass(frozen=True, eq=False)
class Domain:
    """The admissible values of n rows with d features.

    - `factuals` (n, d): the rows as they are;
    - `low`, `high` (n, d): a number may move to a value of `[low, high]` that lies on its grid;
    - `stay` (n, d): whether the value may stay as it is;
    - `missing` (n, d): whether the value may become missing;
    - `levels`: feature -> (n, m): which of its m levels each row may take;
    - `step`, `anchor` (d): the grid of each number, `anchor + step k`; step 0 means any number;
    - `single` (d): whether only float32 numbers are possible;
    - `typical` (d): where the search for the nearest value starts if the factual value is missing.

    It does not change. Constraints, and searches that part it, make narrower ones of it.
    """

    factuals: FloatArray
    low: FloatArray
    high: FloatArray
    stay: BoolArray
    missing: BoolArray
    levels: dict[int, BoolArray]
    step: FloatArray
    anchor: FloatArray
    single: BoolArray
    typical: FloatArray

    @cached_property
    def extent(self) -> Extent:
        """The values that numbers may take, over all rows."""
        low, high = (
            np.nan_to_num(farthest(_farthest(ends, farthest), _farthest(self.factuals, farthest)))
            for ends, farthest in ((self.low, np.fmin), (self.high, np.fmax))
        )
        return Extent(self.factuals, low, high, self.step, self.anchor, self.movable)

    def without_moves(self, kept: BoolArray) -> Domain:
        """The domain in which some values are kept: those of columns (d), or of columns in some rows (n, d)."""
        kept = np.broadcast_to(kept, self.low.shape)
        return replace(
            self,
            low=np.where(kept, np.inf, self.low),
            high=np.where(kept, -np.inf, self.high),
            missing=self.missing & ~kept,
            levels={j: mask & ~kept[:, [j]] for j, mask in self.levels.items()},
        )

    def with_missing(self, columns: Columns) -> Domain:
        """The domain in which some columns may become missing."""
        return replace(self, missing=_put(self.missing, columns, True))

    def without_missing(self, columns: Columns) -> Domain:
        """The domain in which some columns have a value."""
        stay = self.stay[:, columns] & ~np.isnan(self.factuals[:, columns])
        return replace(self, missing=_put(self.missing, columns, False), stay=_put(self.stay, columns, stay))

    def all_missing(self, columns: Columns) -> Domain:
        """The domain in which some columns end missing."""
        stay = self.stay[:, columns] & np.isnan(self.factuals[:, columns])
        lost = np.isin(np.arange(self.low.shape[1]), columns)
        return replace(
            self,
            low=_put(self.low, columns, np.inf),
            high=_put(self.high, columns, -np.inf),
            stay=_put(self.stay, columns, stay),
            levels={j: mask & ~lost[j] for j, mask in self.levels.items()},
        )

    def unbounded(self, columns: Columns) -> Domain:
        """The domain in which some numbers may be any, also beside their grid and beyond the range of the data."""
        step = self.step.copy()
        step[columns] = 0.0
        return replace(self, low=_put(self.low, columns, -np.inf), high=_put(self.high, columns, np.inf), step=step)

    def narrowed(self, columns: Columns, low: FloatArray | float, high: FloatArray | float) -> Domain:
        """The domain in which some numbers lie in `[low, high]`. One may stay only if its factual value lies there."""
        x = self.factuals[:, columns]
        return replace(
            self,
            low=_put(self.low, columns, np.maximum(self.low[:, columns], low)),
            high=_put(self.high, columns, np.minimum(self.high[:, columns], high)),
            stay=_put(self.stay, columns, self.stay[:, columns] & (np.isnan(x) | ((x >= low) & (x <= high)))),
        )

    def leaving(self, columns: Columns) -> Domain:
        """The domain in which some columns do not stay as they are."""
        return replace(self, stay=_put(self.stay, columns, False))

    def at_levels(self, j: int, allowed: BoolArray) -> Domain:
        """The domain in which feature `j` takes one of the `allowed` levels, (m,) or (n, m).

        It may stay only if its factual level is one of them.
        """
        x, stay = self.factuals[:, j], self.stay.copy()
        known = ~np.isnan(x)
        wide = np.broadcast_to(allowed, self.levels[j].shape)
        stay[known, j] &= wide[known, x[known].astype(np.intp)]
        return replace(self, stay=stay, levels={**self.levels, j: self.levels[j] & allowed})

    def reaching(self, radius: FloatArray) -> Domain:
        """The domain in which each number may be so much (d) smaller or larger than here."""
        low, high = (np.where(np.isinf(end), np.nan, end) for end in (self.low, self.high))
        low, high = np.fmin(low, self.factuals) - radius, np.fmax(high, self.factuals) + radius
        wider = (radius > 0) & ~np.isnan(low)
        return replace(self, low=np.where(wider, low, self.low), high=np.where(wider, high, self.high))

    def coarsened(self, j: int, step: float, anchor: float) -> Domain:
        """The domain in which number `j` may only move to points of the grid `anchor + step k`."""
        given = Lattice.of(step, anchor)
        if self.step[j]:
            both = Lattice.of(self.step[j], self.anchor[j]).meet(given)
            if both is None:
                raise UnsupportedProblemError(
                    f"a step of {step:g} from {anchor:g} was given for a column that has a step of {self.step[j]:g}.",
                    "The two grids must share a point.",
                    "Choose an anchor on the column's grid.",
                )
            given = both
        steps, anchors = self.step.copy(), self.anchor.copy()
        steps[j], anchors[j] = given.in_floats()
        return replace(self, step=steps, anchor=anchors)

    def take(self, rows: BoolArray | slice | np.ndarray) -> Domain:
        """The domain of some of the rows."""
        return Domain(
            self.factuals[rows],
            self.low[rows],
            self.high[rows],
            self.stay[rows],
            self.missing[rows],
            {j: mask[rows] for j, mask in self.levels.items()},
            self.step,
            self.anchor,
            self.single,
            self.typical,
        )

    def of_columns(self, at: IntArray) -> Domain:
        """The domain of some of the columns, in ascending order."""
        return Domain(
            self.factuals[:, at],
            self.low[:, at],
            self.high[:, at],
            self.stay[:, at],
            self.missing[:, at],
            {k: self.levels[j] for k, j in enumerate(at.tolist()) if j in self.levels},
            self.step[at],
            self.anchor[at],
            self.single[at],
            self.typical[at],
        )

    @cached_property
    def movable(self) -> BoolArray:
        """For each feature, whether some row may change it."""
        able = np.any(self.low < self.high, axis=0) | self.missing.any(axis=0)
        rest = np.flatnonzero(~able)
        only, own = self.low[:, rest], self.factuals[:, rest]
        able[rest] = np.any((only == self.high[:, rest]) & (only != own), axis=0)
        for j, mask, code in self._codes(self.factuals):
            own = np.where(np.isnan(self.factuals[:, j]), 0, mask[np.arange(len(mask)), code])
            able[j] = bool((mask.sum(axis=1) > own).any() or self.missing[:, j].any())
        return np.asarray(able)

    def _codes(self, points: FloatArray) -> Iterator[tuple[int, BoolArray, IntArray]]:
        """The columns of levels, with which levels each row may take, and with the positions of levels; 0 for a missing one."""
        codes = np.nan_to_num(points[:, list(self.levels)]).astype(np.intp)
        return ((j, mask, code) for (j, mask), code in zip(self.levels.items(), codes.T, strict=True))

    def admits(self, points: FloatArray) -> BoolArray:
        """Whether each row may become its point."""
        return np.asarray(self.takes(points).all(axis=1))

    def takes(self, points: FloatArray) -> BoolArray:
        """Which values of its point each row may take (n, d)."""
        x = self.factuals
        unchanged = same(points, x)
        inside = (points >= self.low) & (points <= self.high)
        for j in np.flatnonzero(self.step > 0).tolist():
            inside[:, j] &= on_grid(points[:, j], self.step[j], self.anchor[j])
        for j, mask, code in self._codes(points):
            inside[:, j] = mask[np.arange(len(code)), code]
        moved = np.where(np.isnan(points), self.missing, inside)
        return np.asarray(np.where(unchanged, self.stay, moved))

    def reals(self) -> BoolArray:
        """Which features are numbers that may have any value between two ends."""
        out = self.step == 0
        out[list(self.levels)] = False
        return np.asarray(out)

    def width(self, j: int) -> float:
        """How wide the values are that number `j` may take, in any row. It is a good unit for it (1 if there is one value)."""
        width = float(self.high[:, j].max() - self.low[:, j].min())
        return width if 0 < width < np.inf else 1.0

    def counts(self) -> FloatArray:
        """How many values each feature may take at most, in any row. It is infinite for a number without a grid."""
        width = np.maximum((self.high - self.low).max(axis=0, initial=0.0), 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            found = np.where(self.step > 0, np.ceil(width / self.step) + 3, np.inf)  # both ends, its own, and "missing"
        found[list(self.levels)] = [mask.shape[1] + 1 for mask in self.levels.values()]
        return np.asarray(found)

    def grids(self, numbers: IntArray) -> Iterator[IntArray]:
        """Numbers in groups that share a grid and a precision."""
        groups: dict[tuple[float, float, bool], list[int]] = {}
        for j in numbers.tolist():
            groups.setdefault((self.step[j], self.anchor[j], self.single[j]), []).append(j)
        return map(np.array, groups.values())

    def within(self, j: int | IntArray, lower: FloatArray, upper: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The smallest and largest values that number `j` may move to, in each cell `(lower, upper]`.

        Each cell may be one of another number, if all share a grid (see `grids`); then `j` is the number of each cell.
        The first exceeds the second if there is no such value. An end of the domain that means a grid point, as a
        computed 0.30000000000000004 means three tenths, is that point.
        """
        with np.errstate(over="ignore"):  # infinity comes after the largest number
            above = np.nextafter(lower, np.inf)
        at = np.atleast_1d(j)
        low, high, step = self.low[:, at], self.high[:, at], self.step[at[0]]
        bottom, top = np.maximum(low, above), np.minimum(high, upper)
        if self.single[at[0]]:
            bottom, top = first_single(bottom), last_single(top)
        if step:
            grid = step, self.anchor[at[0]]
            first, last, begin, end = meant(low, *grid), meant(high, *grid), bottom, top
            bottom = np.where((begin == low) & (first < low), low, grid_up(begin, *grid))
            top = np.where((end == high) & (last > high), high, grid_down(end, *grid))
            top = np.where((bottom == low) & (top == first) & (low <= end), low, top)
            bottom = np.where((top == high) & (bottom == last) & (high >= begin), high, bottom)
        return bottom, top

    def nearest(self, j: int | IntArray, lower: FloatArray, upper: FloatArray) -> FloatArray:
        """The admissible value nearest to the factual, in each cell of number `j` (n, k), or of several (see `within`).

        The cells are `(lower, upper]`. The value is NaN if a cell has no admissible one.
        """
        at = np.atleast_1d(j)
        x = self.factuals[:, at]
        value = self.closest(at, np.where(np.isnan(x), self.typical[at], x), lower, upper)
        here = self.stay[:, at] & (x > lower) & (x <= upper)
        return np.where(here, x, value)

    def closest(self, j: int | IntArray, start: FloatArray, lower: FloatArray, upper: FloatArray) -> FloatArray:
        """The value nearest to `start` to which number `j` may move, in each cell `(lower, upper]`; NaN if none is."""
        bottom, top = self.within(j, lower, upper)
        first = np.atleast_1d(j)[0]
        if self.step[first]:
            near = grid_near(start, self.step[first], self.anchor[first])
        else:
            near = start.astype(np.float32).astype(np.float64) if self.single[first] else start
        with np.errstate(invalid="ignore"):
            return np.where(bottom <= top, np.minimum(np.maximum(near, bottom), top), np.nan)


def _farthest(ends: FloatArray, farthest: np.ufunc) -> FloatArray:
    """The smallest or the largest finite number of each column; NaN if there is none."""
    found = np.asarray(farthest.reduce(ends, axis=0, initial=np.nan))
    endless = np.flatnonzero(np.isinf(found))
    some = ends[:, endless]
    found[endless] = farthest.reduce(np.where(np.isinf(some), np.nan, some), axis=0, initial=np.nan)
    return found


def _put(array: A, columns: Columns, values: A | float) -> A:
    """The array with other values in some columns."""
    out = array.copy()
    out[:, columns] = values
    return out


def open_domain(space: Space, factuals: FloatArray) -> Domain:
    """The domain without constraints: the ranges and levels of the space.

    Each range is widened to hold the row's own value, and each row may stay as it is.
    """
    n, d = factuals.shape
    features = space.features
    levels = {j: np.ones((n, len(f.levels)), dtype=np.bool_) for j, f in enumerate(features) if f.levels is not None}
    return Domain(
        factuals=factuals,
        low=np.fmin(np.array([f.low for f in features]), factuals),
        high=np.fmax(np.array([f.high for f in features]), factuals),
        stay=np.ones((n, d), dtype=np.bool_),
        missing=np.zeros((n, d), dtype=np.bool_),
        levels=levels,
        step=np.array([f.step for f in features]),
        anchor=np.array([f.anchor for f in features]),
        single=np.array([f.single for f in features]),
        typical=np.array([f.typical for f in features]),
    )
