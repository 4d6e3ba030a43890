"""Numbers of single precision (float32): the ones beside a number, and their places in their order."""

from __future__ import annotations

import numpy as np

from butfor.arrays import FloatArray


def first_single(x: FloatArray) -> FloatArray:
    """The smallest float32 that is at least `x`."""
    with np.errstate(over="ignore"):
        near = x.astype(np.float32)
        return np.where(near >= x, near, np.nextafter(near, np.float32(np.inf))).astype(np.float64)


def last_single(x: FloatArray) -> FloatArray:
    """The largest float32 that is at most `x`."""
    with np.errstate(over="ignore"):
        near = x.astype(np.float32)
        return np.where(near <= x, near, np.nextafter(near, np.float32(-np.inf))).astype(np.float64)


def outwards_in_single(moved: FloatArray, start: FloatArray) -> FloatArray:
    """Numbers that were moved, as numbers of single precision that are no nearer to where they started."""
    near = moved.astype(np.float32)
    away = np.where(moved > start, np.float32(np.inf), np.float32(-np.inf)).astype(np.float32)
    short = np.abs(near.astype(np.float64) - start) < np.abs(moved - start)
    return np.where(short, np.nextafter(near, away), near).astype(np.float64)


def place_of_single(x: FloatArray) -> FloatArray:
    """The places of float32 numbers among all: neighbours are one apart, and 0 is the place of 0. NaN has none."""
    bits = x.astype(np.float32).view(np.int32).astype(np.int64)
    return np.where(np.isnan(x), np.nan, np.where(bits < 0, -(bits & 0x7FFFFFFF), bits))


def single_at(place: FloatArray) -> FloatArray:
    """The float32 numbers at some places."""
    known = ~np.isnan(place)
    size = np.abs(np.where(known, place, 0.0)).astype(np.int32).view(np.float32).astype(np.float64)
    return np.where(known, np.copysign(size, place), np.nan)
