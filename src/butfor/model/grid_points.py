"""Points of a grid `anchor + step k` in floating point."""

from __future__ import annotations

from functools import lru_cache
from math import lcm
from typing import NamedTuple

import numpy as np

from butfor.arrays import BoolArray, FloatArray
from butfor.model.lattice import meant as meant_by
from butfor.model.scores import UNIT_DOUBLE, UNIT_SINGLE

COUNTABLE = 2.0**53
"""Whole numbers below it are floats."""

TOO_FINE = 0.25
"""If rounding moves a number by this share of a step, or by more, the grid is not told from all numbers."""


def grid_up(x: FloatArray, step: float, anchor: float) -> FloatArray:
    """The smallest grid point that is at least `x`. It is `x` itself if the grid is finer than floats are there."""
    if step == 1.0 and anchor == 0.0:
        return np.ceil(x)
    blur = _blur(x, step, anchor)
    with np.errstate(invalid="ignore", over="ignore"):
        k = np.ceil((x - anchor) / step - (1e-9 + blur))
        value = grid_point(k, step, anchor)
        value = np.where(value < x, grid_point(k + 1, step, anchor), value)
    return np.where((blur >= TOO_FINE) | np.isinf(x), x, value)


def grid_down(x: FloatArray, step: float, anchor: float) -> FloatArray:
    """The largest grid point that is at most `x`. It is `x` itself if the grid is finer than floats are there."""
    if step == 1.0 and anchor == 0.0:
        return np.floor(x)
    blur = _blur(x, step, anchor)
    with np.errstate(invalid="ignore", over="ignore"):
        k = np.floor((x - anchor) / step + (1e-9 + blur))
        value = grid_point(k, step, anchor)
        value = np.where(value > x, grid_point(k - 1, step, anchor), value)
    return np.where((blur >= TOO_FINE) | np.isinf(x), x, value)


class Digits(NamedTuple):
    """A grid as it is written: point k is `(begin + by k) / parts`, rounded once. That of other grids is `anchor + step k`."""

    begin: float
    by: float
    parts: float


@lru_cache(maxsize=4096)
def digits_of(step: float, anchor: float) -> Digits:
    """What a grid's step and anchor say: steps of 0.3 are three tenths. There is none if it needs too many digits."""
    if not (0 < step < COUNTABLE and abs(anchor) < COUNTABLE):
        return Digits(np.nan, np.nan, np.nan)
    by, begin = meant_by(step), meant_by(anchor)
    parts = lcm(by.denominator, begin.denominator)
    if max(float(parts), abs(float(begin * parts)), float(by * parts)) >= COUNTABLE:
        return Digits(np.nan, np.nan, np.nan)
    return Digits(float(begin * parts), float(by * parts), float(parts))


def grid_point(k: FloatArray, step: FloatArray | float, anchor: FloatArray | float) -> FloatArray:
    """Point number `k` of a grid, as one writes it: three times 0.1 is 0.3, and so it is not 0.30000000000000004."""
    if isinstance(step, float) and step == 1.0 and anchor == 0.0:
        return k
    if np.ndim(step) or np.ndim(anchor):
        steps, anchors = np.broadcast_arrays(step, anchor)
        each = [digits_of(*grid) for grid in zip(steps.ravel().tolist(), anchors.ravel().tolist(), strict=True)]
        begin, by, parts = np.array(each).reshape(*steps.shape, 3).T
        begin, by, parts = begin.T, by.T, parts.T
    else:
        begin, by, parts = digits_of(float(step), float(anchor))
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        counted = begin + by * k
        return np.where(np.abs(counted) < COUNTABLE, counted / parts, np.asarray(anchor + k * step))


def grid_near(x: FloatArray, step: FloatArray | float, anchor: FloatArray | float) -> FloatArray:
    """The grid point nearest to each value. Without a step there is no grid, and what comes out means nothing."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return grid_point(np.round((x - anchor) / step), step, anchor)


def meant(x: FloatArray, step: float, anchor: float) -> FloatArray:
    """The grid point that each value means, up to the rounding of a short computation; NaN if none."""
    with np.errstate(invalid="ignore"):
        point = grid_near(x, step, anchor)
        return np.where(np.abs(point - x) <= 4 * np.spacing(np.abs(x)), point, np.nan)


def shifted(x: FloatArray, steps: FloatArray, step: FloatArray | float, anchor: FloatArray | float) -> FloatArray:
    """Numbers so many whole steps on. From a point of the grid one comes to others, written in float32 as it is."""
    point = grid_near(x, step, anchor)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        to = grid_point(np.round((x - anchor) / step) + steps, step, anchor)
        to = np.where(np.abs(point - x) > 4 * np.spacing(np.abs(x)), to.astype(np.float32), to)
        to = np.where(on_grid(x, step, anchor), to, x + steps * step)
    return np.where(steps == 0, x, to)


def on_grid(x: FloatArray, step: FloatArray | float, anchor: FloatArray | float) -> BoolArray:
    """Whether each value is a grid point, up to the rounding of float32 and at most a millionth of a step.

    Without a step, each is.
    """
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        k = (x - anchor) / step
        rounded = np.minimum(1e-6, 2 * UNIT_SINGLE * np.abs(k)) + 1e-12
        return np.asarray((np.abs(k - np.round(k)) <= rounded + _blur(x, step, anchor)) | (np.asarray(step) == 0))


def finer_than_floats(low: float, high: float, step: float, anchor: float) -> bool:
    """Whether a grid cannot be told from all numbers, because floats between `low` and `high` are no finer."""
    reach = np.array([max(abs(low), abs(high))])
    return bool(_blur(reach, step, anchor)[0] >= TOO_FINE)


def _blur(x: FloatArray, step: FloatArray | float, anchor: FloatArray | float) -> FloatArray:
    """By how many steps rounding may move a number near `x`: in `x`, in the anchor, and in a multiple of the step."""
    with np.errstate(invalid="ignore", over="ignore"):
        return np.asarray(4 * UNIT_DOUBLE * ((np.abs(x) + np.abs(anchor)) / step))
