"""Numbers on grids as whole numbers: place k of a grid is the number `anchor + step k`.

Rows are searched in places. A number and a cut are compared once, as floats write both, and never again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from butfor.arrays import BoolArray, FloatArray
from butfor.model.grid_points import grid_down, grid_point, grid_up, on_grid, shifted


@dataclass(frozen=True, eq=False)
class Grids:
    """The grids of all features (step 0: any number)."""

    step: FloatArray
    anchor: FloatArray

    @cached_property
    def whole(self) -> BoolArray:
        """Which features are on a grid."""
        return np.asarray(self.step > 0)

    @cached_property
    def _units(self) -> BoolArray:
        return np.asarray((self.step == 1.0) & (self.anchor == 0.0))

    @cached_property
    def _others(self) -> list[int]:
        return list(np.flatnonzero(self.whole & ~self._units).tolist())

    def missed_by(self, point: FloatArray) -> BoolArray:
        """Which numbers of a row lie beside their grids."""
        beside = ~on_grid(point, self.step, self.anchor) & ~np.isnan(point)
        return np.asarray(beside & self.whole)

    def through(self, point: FloatArray) -> Grids:
        """Grids through a point: those that miss its number begin there."""
        off = self.missed_by(point)
        return replace(self, anchor=np.where(off, point, self.anchor)) if off.any() else self

    def first(self, x: FloatArray) -> FloatArray:
        """The places of the first points from each number on (..., features)."""
        return self._places(x, np.ceil, grid_up)

    def last(self, x: FloatArray) -> FloatArray:
        """The places of the last points up to each number (..., features)."""
        return self._places(x, np.floor, grid_down)

    def _places(self, x: FloatArray, of_unit: np.ufunc, to: Callable[..., FloatArray]) -> FloatArray:
        out = np.array(x)
        out[..., self._units] = of_unit(x[..., self._units])
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
        return np.where(self.whole, at, point)

    def numbers(self, places: FloatArray, point: FloatArray) -> FloatArray:
        """The row at some places, written as a point is."""
        out, own = np.array(places), self.place(point)
        for j in self._others:
            grid = float(self.step[j]), float(self.anchor[j])
            known = own[j] == np.round(own[j])
            out[j] = shifted(point[j], places[j] - own[j], *grid) if known else grid_point(places[j], *grid)
        return out
