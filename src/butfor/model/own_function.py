"""A function of the estimator's own, of one number: it is called, and never written anew.

Whether it ever turns around is looked at, number by number (see docs/decisions/017-links-and-calibration.md).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from butfor.arrays import FloatArray
from butfor.model.monotone import STEP_ROUNDINGS, AbstractStep, Ends
from butfor.model.scores import UNIT_DOUBLE

SMALLEST_LOOKED_AT, LARGEST_LOOKED_AT = 1e-12, 1e15
"""The sizes between which a function is looked at, if nothing more is known of its argument."""

LOOKED_AT = 20_000
"""At how many numbers it is looked at."""

STEEP_APART = 2.0**-20
"""How far apart two numbers are that show how steep it is, relative to 1 and their size."""


@dataclass(frozen=True, eq=False)
class OwnFunction(AbstractStep):
    """A function that never falls, or never rises, as the estimator itself computes it.

    - `call`: the function;
    - `low`, `high`: where it was looked at. Beyond, it may have any value on that side;
    - `up`: whether it never falls.
    """

    call: Callable[[FloatArray], FloatArray]
    low: float
    high: float
    up: bool

    @property
    def rises(self) -> bool:
        return self.up

    def at(self, x: FloatArray) -> FloatArray:
        return called(self.call, np.clip(x, self.low, self.high))

    @cached_property
    def middle(self) -> float:
        """The size of its constants: its value at 0, or at the nearest number at which it was looked at."""
        size = float(np.abs(self.at(np.zeros(1)))[0])
        return size if np.isfinite(size) else 0.0

    def between(self, low: FloatArray, high: FloatArray, unit: float) -> Ends:
        """It rounds its value, its argument, and what comes from its constants."""
        first, last = (low, high) if self.up else (high, low)
        x = np.clip(np.stack([first, last]), self.low, self.high)
        apart = STEEP_APART * (1.0 + np.abs(x))
        value, above, below = self.at(np.stack([x, x + apart, x - apart]))
        with np.errstate(invalid="ignore", over="ignore"):
            steep = np.abs(above - below) / apart
            off = np.nan_to_num(STEP_ROUNDINGS * unit * (np.abs(value) + self.middle + steep * (1.0 + np.abs(x))))
            least, most = value[0] - off[0], value[1] + off[1]
        begins, ends = (first < self.low, last > self.high) if self.up else (first > self.high, last < self.low)
        least = np.where(np.isinf(value[0]), value[0], least)
        return np.where(begins, -np.inf, least), np.where(ends, np.inf, most)


def called(call: Callable[[FloatArray], FloatArray], x: FloatArray) -> FloatArray:
    """The values of a function. Overflow is infinite, and undefined is NaN."""
    with np.errstate(all="ignore"):
        return np.asarray(call(np.asarray(x, dtype=np.float64)), dtype=np.float64).reshape(np.shape(x))


def looked_at(call: Callable[[FloatArray], FloatArray], low: float, high: float) -> OwnFunction | None:
    """A function whose argument lies between two numbers, if it never turns around there; else None.

    It must be defined on all numbers of an interval, and of each number by itself.
    """
    x = _numbers(low, high)
    y = called(call, x)
    known = np.flatnonzero(~np.isnan(y))
    if not len(known) or known[-1] - known[0] + 1 != len(known):
        return None
    x, y = x[known], y[known]
    if not np.array_equal(called(call, x[::7]), y[::7]):
        return None
    with np.errstate(invalid="ignore"):
        rises = np.nan_to_num(np.diff(y), nan=0.0)
    size = np.where(np.isinf(y), 0.0, np.abs(y))
    wiggle = STEP_ROUNDINGS * UNIT_DOUBLE * (min(1.0, size.max()) + size[1:])
    up, down = bool((rises >= -wiggle).all()), bool((rises <= wiggle).all())
    return OwnFunction(call, float(x[0]), float(x[-1]), up) if up or down else None


def _numbers(low: float, high: float) -> FloatArray:
    """Numbers between two ends, in order: evenly spread, and of every size."""
    low, high = max(low, -LARGEST_LOOKED_AT), min(high, LARGEST_LOOKED_AT)
    sizes = np.geomspace(SMALLEST_LOOKED_AT, LARGEST_LOOKED_AT, LOOKED_AT // 2)
    near = np.linspace(max(low, -1e3), min(high, 1e3), LOOKED_AT)
    every = np.unique(np.concatenate([-sizes, [0.0], sizes, near, np.linspace(low, high, LOOKED_AT)]))
    return np.asarray(every[(every >= low) & (every <= high)])
