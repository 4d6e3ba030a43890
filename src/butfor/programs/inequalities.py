"""Linear inequalities, and what a sum of them proves (Neumaier and Shcherbina, "Safe bounds in linear and mixed-integer
linear programming", 2004). Whatever the multipliers are, the bound holds: no solver is believed.
"""

from __future__ import annotations

from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from butfor.arrays import FloatArray

BOUND_ROUNDING = 1e-12
"""The share of the size of its terms by which a bound is lowered, for the rounding of its sum."""


Matrix = TypeVar("Matrix", bound=Any)
"""Rows in an array, or in a sparse one."""


class Weighed(NamedTuple):
    """A function that lies below a cost: `constant + rest @ v`. `size` is that of what was added up in the constant."""

    constant: float
    rest: FloatArray
    size: float


class Inequalities(NamedTuple, Generic[Matrix]):
    """All `v` with `least <= rows @ v <= most` and `low <= v <= high`."""

    rows: Matrix
    least: FloatArray
    most: FloatArray
    low: FloatArray
    high: FloatArray

    def weighed(self, cost: FloatArray, price: FloatArray) -> Weighed:
        """What lies below `cost @ v` by these multipliers of the rows. A row without an end on their side is left out."""
        ends = np.where(price > 0, self.least, self.most)
        price = np.where(np.isinf(ends), 0.0, price)
        ends = np.where(price == 0, 0.0, ends)
        return Weighed(float(price @ ends), cost - price @ self.rows, float(np.abs(price) @ np.abs(ends)))

    def lowest(self, cost: FloatArray, price: FloatArray) -> float:
        """What `cost @ v` is at least, by these multipliers."""
        constant, rest, size = self.weighed(cost, price)
        sides = np.where(rest > 0, self.low, self.high)
        parts = np.multiply(rest, sides, out=np.zeros(len(rest)), where=rest != 0)
        size += float(np.abs(parts).sum())
        return float(constant + parts.sum() - BOUND_ROUNDING * size) if np.isfinite(size) else -np.inf

    def refuted(self, ray: FloatArray) -> bool:
        """Whether these multipliers, or the opposite ones, prove that there is no such `v`."""
        nothing = np.zeros(len(self.low))
        return max(self.lowest(nothing, ray), self.lowest(nothing, -ray)) > 0

    def refuted_by_a_row(self) -> bool:
        """Whether a single row proves it: all its terms together are too small, or too large."""
        size = abs(self.rows)
        up, down = (self.rows + size) / 2, (self.rows - size) / 2
        with np.errstate(invalid="ignore"):  # a stored zero of an infinite end
            below, above = up @ self.low + down @ self.high, up @ self.high + down @ self.low
            spare = BOUND_ROUNDING * (size @ np.maximum(np.abs(self.low), np.abs(self.high)))
            return bool(((below - spare > self.most) | (above + spare < self.least)).any())
