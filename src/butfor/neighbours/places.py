"""Numbers on grids as whole numbers: place k of a grid is the number `anchor + step k`, or the float32 at place k of all.

Rows are searched in places. A number and a cut are compared once, as floats write both, and never again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from butfor.arrays import BoolArray, FloatArray
from butfor.model.grid_points import grid_down, grid_point, grid_up, on_grid, shifted
from butfor.model.single import first_single, last_single, place_of_single, single_at


@dataclass(frozen=True, eq=False)
class Grids:
    """The grids of all features (step 0: any number, or any float32 where `single`)."""

    step: FloatArray
    anchor: FloatArray
    single: BoolArray | np.bool_ = np.False_

    @cached_property
    def whole(self) -> BoolArray:
        """Which features are on a grid."""
        return np.asarray((self.step > 0) | self.single)

    @cached_property
    def _units(self) -> BoolArray:
        return np.asarray((self.step == 1.0) & (self.anchor == 0.0))

    @cached_property
    def _others(self) -> list[int]:
        return list(np.flatnonzero((self.step > 0) & ~self._units).tolist())

    @cached_property
    def _singles(self) -> list[int]:
        return list(np.flatnonzero(self.whole & (self.step == 0)).tolist())

    def missed_by(self, point: FloatArray) -> BoolArray:
        """Which numbers of a row lie beside their grids."""
        beside = ~on_grid(point, self.step, self.anchor) & ~np.isnan(point)
        return np.asarray(beside & (self.step > 0))

    def through(self, point: FloatArray) -> Grids:
        """Grids through a point: those that miss its number begin there."""
        off = self.missed_by(point)
        return replace(self, anchor=np.where(off, point, self.anchor)) if off.any() else self

    def first(self, x: FloatArray) -> FloatArray:
        """The places of the first points from each number on (..., features)."""
        return self._places(x, np.ceil, grid_up, first_single)

    def last(self, x: FloatArray) -> FloatArray:
        """The places of the last points up to each number (..., features)."""
        return self._places(x, np.floor, grid_down, last_single)

    def _places(
        self,
        x: FloatArray,
        of_unit: np.ufunc,
        to: Callable[..., FloatArray],
        to_single: Callable[[FloatArray], FloatArray],
    ) -> FloatArray:
        out = np.array(x)
        out[..., self._units] = of_unit(x[..., self._units])
        out[..., self._singles] = place_of_single(to_single(x[..., self._singles]))
        for j in self._others:
            step, anchor = float(self.step[j]), float(self.anchor[j])
            with np.errstate(invalid="ignore", over="ignore"):
                out[..., j] = np.round((to(x[..., j], step, anchor) - anchor) / step)
        return out

    def place(self, point: FloatArray) -> FloatArray:
        """The place of a row; that of a number beside its grid is no whole number."""
        with np.errstate(divide="ignore", invalid="ignore"):
            place = (point - self.anchor) / self.step
        at = np.where(on_grid(point, self.step, self.anchor), np.round(place), place)
        at[self._singles] = place_of_single(point[self._singles])
        return np.where(self.whole, at, point)

    def numbers(self, places: FloatArray, point: FloatArray) -> FloatArray:
        """The row at some places, written as a point is."""
        out, own = np.array(places), self.place(point)
        out[self._singles] = single_at(places[self._singles])
        for j in self._others:
            grid = float(self.step[j]), float(self.anchor[j])
            known = own[j] == np.round(own[j])
            out[j] = shifted(point[j], places[j] - own[j], *grid) if known else grid_point(places[j], *grid)
        return out
