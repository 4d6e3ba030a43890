"""The gaps between the values that a column takes: how far apart they are, and which threshold lies in which gap."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_FLOOR, Decimal

import numpy as np

from butfor.arrays import FloatArray

NOISE = 16
"""Values that differ by so many units in the last place are taken for the same, as 0.1 + 0.2 and 0.3."""

FEWEST_DIGITS = 4
"""How many digits of a threshold are shown at least."""

MOST_DIGITS = 17
"""So many digits give a number exactly."""

LEAST_POSITIONAL, MOST_POSITIONAL = 1e-4, 1e15
"""Numbers between these are shown without an exponent."""


def smallest_gap(values: FloatArray) -> float:
    """The smallest gap between consecutive values that is not noise; 0 if there is none."""
    gaps = np.diff(values)
    noise = NOISE * np.spacing(np.maximum(np.abs(values[:-1]), np.abs(values[1:])))
    real = gaps[gaps > noise]
    return float(real.min()) if len(real) else 0.0


def middles(thresholds: Sequence[float]) -> FloatArray:
    """A number between each threshold and the next, above the first and not above the second."""
    first, second = np.array(thresholds[:-1]), np.array(thresholds[1:])
    middle = first + (second - first) / 2
    return np.where(middle > first, middle, second)


def short(threshold: float, values: FloatArray, step: float = 0.0, anchor: float = 0.0) -> float:
    """The number with the fewest digits that divides the values as the threshold does.

    In a column with a step, it is the grid point just below.
    """
    if step:
        return float(anchor + step * np.floor((threshold - anchor) / step))
    place = int(np.searchsorted(values, threshold, side="right"))
    low = values[place - 1] if place else -np.inf
    high = values[place] if place < len(values) else np.inf
    for digits in range(FEWEST_DIGITS, MOST_DIGITS):
        for one in (float(f"{threshold:.{digits}g}"), rounded_down(threshold, digits)):
            if low <= one < high:
                return one
    return threshold


def rounded_down(number: float, digits: int) -> float:
    """The largest number of so many digits that is not above another."""
    if not number:
        return 0.0
    exact = Decimal(number)
    return float(exact.quantize(Decimal(1).scaleb(exact.adjusted() + 1 - digits), ROUND_FLOOR))


def positional(number: float) -> str:
    """A number without an exponent, unless it is very large or very small."""
    if number == 0 or not LEAST_POSITIONAL <= abs(number) < MOST_POSITIONAL:
        return f"{number:g}" if number == 0 else repr(float(number))
    return np.format_float_positional(number, trim="-")
