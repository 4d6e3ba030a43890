"""Straight lines between knots, as an isotonic regression has them, and how SciPy rounds them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy

from butfor.arrays import FloatArray, IntArray
from butfor.model.monotone import STEP_ROUNDINGS, AbstractStep, Ends
from butfor.model.scores import UNIT_SINGLE

ENDS_ARE_MIXED = tuple(map(int, scipy.__version__.split(".")[:2])) >= (1, 18)
"""From SciPy 1.18 on, a number on a line is a mixture of its two ends. It was the start, and so many times the slope, before."""

MIXTURE_ROUNDINGS = 6
"""The roundings of a mixture: of a share two differences and a quotient, then a product and a sum, and one to spare."""


@dataclass(frozen=True, eq=False)
class Interpolated(AbstractStep):
    """Straight lines between the knots `(x[i], y[i])`, constant outside. Both never fall.

    Before SciPy 1.18, nothing is rounded in a line between two equal values, and a line does not rise above its end unless the
    rounding of its last number does. So a value that is attained on a whole line is known exactly, on both sides of it, unless
    the line before it ends above it. From 1.18 on, all lines are rounded but at the first knot and the last one, and beyond.
    """

    x: FloatArray
    y: FloatArray

    def at(self, x: FloatArray) -> FloatArray:
        return np.asarray(np.interp(x, self.x, self.y))

    def between(self, low: FloatArray, high: FloatArray, unit: float) -> Ends:
        if len(self.x) == 1:
            return self.at(low), self.at(high)
        first, last = self._line(low, unit), self._line(high, unit)
        if ENDS_ARE_MIXED:
            return self._between_mixed(first, last, low, high, unit)
        least = np.maximum(self.at(low) - self._off(first, low, unit), self.y[first])
        most, highest = self.at(high) + self._off(last, high, unit), self._highest(unit)
        most = most if unit == UNIT_SINGLE else np.minimum(most, highest[last])
        before = np.maximum.accumulate(np.append(-np.inf, highest[:-1]))
        return least, np.maximum(most, before[last])

    def _between_mixed(self, first: IntArray, last: IntArray, low: FloatArray, high: FloatArray, unit: float) -> Ends:
        """The least and the most of all lines from the first to the last."""
        off = MIXTURE_ROUNDINGS * unit * (np.abs(self.y[:-1]) + np.abs(self.y[1:]))
        later = np.append(np.minimum.accumulate((self.y[:-1] - off)[::-1])[::-1], np.inf)[first + 1]
        before = np.append(-np.inf, np.maximum.accumulate(self.y[1:] + off))[last]
        beyond = (high <= self.x[0]) | (low >= self.x[-1])
        least = np.minimum(self.at(low) - np.where(beyond, 0.0, off[first]), np.where(last > first, later, np.inf))
        most = np.maximum(self.at(high) + np.where(beyond, 0.0, off[last]), np.where(last > first, before, -np.inf))
        return least, most

    def off_at_most(self, unit: float) -> float:
        """By how much the estimator's lines may differ from ours anywhere."""
        lines = np.abs(self.y[:-1]) + np.abs(self.y[1:])
        return 2 * MIXTURE_ROUNDINGS * unit * float(lines.max(initial=0.0))

    def _line(self, x: FloatArray, unit: float) -> IntArray:
        """The line on which each number lies. In float32, a knot is the end of a line, and not the start of the next."""
        right = np.searchsorted(self.x, x, side="left" if unit == UNIT_SINGLE else "right")
        return np.clip(right, 1, len(self.x) - 1) - 1

    def _off(self, line: IntArray, x: FloatArray, unit: float) -> FloatArray:
        """The rounding of each line."""
        start, end = self.y[line], self.y[line + 1]
        flat = (start == end) | (x <= self.x[0]) | ((x >= self.x[-1]) & (unit < UNIT_SINGLE))
        return np.where(flat, 0.0, STEP_ROUNDINGS * unit * (np.abs(start) + np.abs(end)))

    def _highest(self, unit: float) -> FloatArray:
        """The largest value on each line: that at its end, or just before it."""
        last = np.maximum(self.at(np.nextafter(self.x[1:], -np.inf)), self.y[1:])
        return np.maximum(last, self._ends_in_single) if unit == UNIT_SINGLE else last

    @cached_property
    def _ends_in_single(self) -> FloatArray:
        """The values of the lines at their ends, as float32 computes them."""
        x, y = self.x.astype(np.float32), self.y.astype(np.float32)
        width = np.where(np.diff(x) > 0, np.diff(x), np.float32(1))
        return np.asarray((np.diff(y) / width * np.diff(x) + y[:-1]).astype(np.float64))
