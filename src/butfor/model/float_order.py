"""Bisection over the float64 numbers in their order: no epsilon is needed, and 64 questions find any number."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from butfor.arrays import BoolArray, FloatArray

LARGEST_FLOAT = float(np.finfo(np.float64).max)

ASKED_TOGETHER = 64
"""So many numbers are asked about together if there is one question."""

EACH_TOGETHER = np.arange(1, ASKED_TOGETHER + 1)


def last_true(holds: Callable[[FloatArray], BoolArray], count: int, largest: float = LARGEST_FLOAT) -> FloatArray:
    """For each of `count` questions about a number, the last number that makes it true; minus infinity if none does.

    Each question must be true up to some number and false after it. All are answered at once. Numbers have at most the
    size `largest`.
    """
    return last_between(holds, np.full(count, -largest), np.full(count, largest))


def last_between(holds: Callable[[FloatArray], BoolArray], first: FloatArray, last: FloatArray) -> FloatArray:
    """The same, between two numbers for each question. Where these are close together, few questions find it."""
    low, high = _rank(first), _rank(last)
    with np.errstate(over="ignore", invalid="ignore"):
        while np.any(low < high):
            middle = _middle_up(low, high)
            yes = holds(_unrank(middle))
            low, high = np.where(yes, middle, low), np.where(yes, high, middle - 1)
        found = _unrank(low)
        return np.where(holds(found), found, -np.inf) if len(found) else found


def last_number(
    holds: Callable[[FloatArray], BoolArray], first: float = -LARGEST_FLOAT, last: float = LARGEST_FLOAT
) -> float:
    """The same for one question, which is asked about many numbers at once: that takes as long as about one."""
    low, high = _rank(np.array([first, last])).tolist()
    with np.errstate(over="ignore", invalid="ignore"):
        while low < high:
            step = -((low - high) // ASKED_TOGETHER)
            asked = np.minimum(low + step * EACH_TOGETHER, high)  # a product beyond 64 bits comes back with the sum
            yes = np.append(holds(_unrank(asked)), False).argmin()
            low, high = int(asked[yes - 1]) if yes else low, int(asked[yes]) - 1 if yes < ASKED_TOGETHER else high
        found = _unrank(np.array([low]))
        return float(found[0]) if holds(found)[0] else -np.inf


def last_below(cut: FloatArray, shift: FloatArray) -> FloatArray:
    """The largest c whose `c + shift`, as it is rounded, does not exceed the cut."""
    known = np.where(np.isfinite(cut), cut, 0.0)
    off = 2 * np.spacing(np.maximum(np.abs(known), np.abs(shift)))  # more than rounding can be
    last = last_between(lambda c: c + shift <= known, known - shift - off, known - shift + off)
    return np.where(np.isfinite(cut), last, cut)


def _rank(x: FloatArray) -> NDArray[np.int64]:
    bits = x.view(np.int64)
    return np.where(bits >= 0, bits, np.iinfo(np.int64).min - bits)


def _unrank(rank: NDArray[np.int64]) -> FloatArray:
    bits = np.where(rank >= 0, rank, np.iinfo(np.int64).min - rank)
    return np.ascontiguousarray(bits, dtype=np.int64).view(np.float64)


def _middle_up(low: NDArray[np.int64], high: NDArray[np.int64]) -> NDArray[np.int64]:
    """The upper middle of two ranks, without overflow."""
    return np.asarray((low >> 1) + (high >> 1) + ((low | high) & 1))
