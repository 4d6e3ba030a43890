"""Points of a grid `anchor + step k` in floating point."""

from __future__ import annotations

import numpy as np

from butfor.arrays import BoolArray, FloatArray
from butfor.model.scores import UNIT_DOUBLE, UNIT_SINGLE

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


def grid_point(k: FloatArray, step: FloatArray | float, anchor: FloatArray | float) -> FloatArray:
    """Point number `k` of a grid. Three tenths are 3 / 10, which is less than 3 * 0.1 in floating point."""
    if isinstance(step, float) and step == 1.0 and anchor == 0.0:
        return k
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        parts = np.round(1 / np.asarray(step))
        whole = (parts > 1) & (np.abs(parts * step - 1) <= 4 * UNIT_DOUBLE)
        return np.asarray(anchor + np.where(whole, k / parts, k * step))


def grid_near(x: FloatArray, step: FloatArray | float, anchor: FloatArray | float) -> FloatArray:
    """The grid point nearest to each value. Without a step there is no grid, and what comes out means nothing."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return grid_point(np.round((x - anchor) / step), step, anchor)


def meant(x: FloatArray, step: float, anchor: float) -> FloatArray:
    """The grid point that each value means, up to the rounding of a short computation; NaN if none."""
    with np.errstate(invalid="ignore"):
        point = grid_near(x, step, anchor)
        return np.where(np.abs(point - x) <= 4 * np.spacing(np.abs(x)), point, np.nan)


def on_grid(x: FloatArray, step: float, anchor: float) -> BoolArray:
    """Whether each value is a grid point, up to the rounding of float32 and at most a millionth of a step."""
    if not step:
        return np.ones(x.shape, dtype=np.bool_)
    with np.errstate(invalid="ignore", over="ignore"):
        k = (x - anchor) / step
        rounded = np.minimum(1e-6, 2 * UNIT_SINGLE * np.abs(k)) + 1e-12
        return np.asarray(np.abs(k - np.round(k)) <= rounded + _blur(x, step, anchor))


def finer_than_floats(low: float, high: float, step: float, anchor: float) -> bool:
    """Whether a grid cannot be told from all numbers, because floats between `low` and `high` are no finer."""
    reach = np.array([max(abs(low), abs(high))])
    return bool(_blur(reach, step, anchor)[0] >= TOO_FINE)


def _blur(x: FloatArray, step: float, anchor: float) -> FloatArray:
    """By how many steps rounding may move a number near `x`: in `x`, in the anchor, and in a multiple of the step."""
    with np.errstate(invalid="ignore", over="ignore"):
        return 4 * UNIT_DOUBLE * ((np.abs(x) + abs(anchor)) / step)
