"""Straight lines above what sums add to a mean: a mean of lines is one goal more."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit

from butfor.arrays import FloatArray
from butfor.model.blend import Blend
from butfor.model.monotone import Logistic, MonotoneFunction
from butfor.proof.checker import checker

MUCH_BETTER = 0.1
"""Lines are made anew as long as that closes the gap by this share."""

ONE_SHARE = Blend(np.eye(1), np.ones(1), (MonotoneFunction((Logistic(),)),), 0.0)
"""The logistic function."""


class MeanLines(NamedTuple):
    """Lines above curves.

    - `slopes` (curves): how they rise with each sum;
    - `inner` (bent curves): how the share outside rises with the line inside;
    - `height`: what they add up to where all sums are 0.
    """

    slopes: FloatArray
    inner: list[float]
    height: float


def lines_above(curves: Sequence[Any], low: FloatArray, high: FloatArray, at: FloatArray) -> MeanLines:
    """Lines above the checker's curves between two ends of each sum, as tight as possible at some sums."""
    slopes, inner, height = list[float](), list[float](), 0.0
    ends = np.column_stack([low, high, np.clip(at, low, high)])
    for curve, its in zip(curves, ends.tolist(), strict=True):
        weight, (slope, above) = float(curve.weight), _line(*its) if curve.bend else _line_of(curve, *its)
        if curve.bend:
            factor, shift, off = map(float, curve.bend)
            first, last = factor * expit(its[0]) + shift - off, factor * expit(its[1]) + shift + off
            outside = _outer_line(curve, first, last, factor * (slope * its[2] + above) + shift)
            slope, above = outside[0] * factor * slope, outside[0] * (factor * above + shift) + outside[1]
            inner.append(weight * outside[0])
        slopes.append(weight * slope)
        height += weight * above
    return MeanLines(np.array(slopes), inner, height)


def _line_of(curve: Any, low: float, high: float, at: float) -> tuple[float, float]:
    """A line above a curve that nothing bends, but for its weight."""
    if powers(curve):
        return _power_line(curve, low, high, at)
    return (1.0, float(curve.turned)) if curve.straight else _outer_line(curve, low, high, at)


def _outer_line(curve: Any, low: float, high: float, at: float) -> tuple[float, float]:
    """A line above what a curve is outside: a share, or lines between knots."""
    if not _knots(curve):
        return _line(low, high, at)
    known = np.array(curve.by.x, dtype=np.float64)
    x = np.concatenate([[low], known[(known > low) & (known < high)], [high]])
    y, k = _outside(curve, x), int(np.clip(np.searchsorted(x, at, "right"), 1, len(x) - 1))
    if high <= low:
        return 0.0, float(y.max())
    slopes = (y[k:] - y[:k, None]) / (x[k:] - x[:k, None])  # of all chords over the place: the highest lies above all
    slope = float(slopes.ravel()[(y[:k, None] + slopes * (at - x[:k, None])).argmax()])
    return slope, float((y - slope * x).max())


def _knots(curve: Any) -> bool:
    """Whether lines between knots stand in place of a share."""
    return isinstance(curve.by, checker().Knots)


def _outside(curve: Any, x: FloatArray) -> FloatArray:
    """A share, or lines between knots."""
    if not _knots(curve):
        return np.asarray(expit(x))
    known, y = (np.array(numbers, dtype=np.float64) for numbers in (curve.by.x, curve.by.y))
    return np.asarray(np.interp(x, known, y) + float(curve.by.off))


def powers(curve: Any) -> bool:
    """Whether a curve is what the odds of a rival add."""
    return isinstance(curve, checker().Power)


def _power_line(curve: Any, low: float, high: float, at: float) -> tuple[float, float]:
    """A line above what the odds of a rival add: a tangent where it is concave, else the chord up to where it turns."""
    turn = float(np.log(2 if curve.way > 0 else 1) - np.log(float(curve.scale)))
    if curve.way < 0:  # where odds are 1 by themselves, no row is wanted
        x = min(max(at, -turn, low), high)
        slope = -added(curve, x)
        return slope, -slope - slope * x
    end = min(turn, high)
    if at >= turn or end <= low:
        return 0.0, added(curve, high)
    slope = (added(curve, end) - added(curve, low)) / (end - low)
    return slope, added(curve, low) - slope * low


def _line(low: float, high: float, at: float) -> tuple[float, float]:
    """A line above the logistic function between two ends: its slope, and its height at 0."""
    return ONE_SHARE.line(0, low, high, min(max(at, low), high))


def added(curve: Any, x: float) -> float:
    """What a sum adds to the mean, about."""
    if powers(curve):
        odds = float(curve.scale) * float(np.exp(min(curve.way * x, 700.0)))
        return min(odds, 2.0) if curve.way > 0 else -odds
    weight = float(curve.weight)
    if curve.bend:
        slope, shift, _ = map(float, curve.bend)
        x = slope * float(expit(x)) + shift
    return weight * (x + curve.turned if curve.straight else float(_outside(curve, np.array(x))))
