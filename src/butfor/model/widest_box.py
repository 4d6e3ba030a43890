"""The widest box around a row in which inequalities on the scores hold everywhere. No side can be moved out further."""

from __future__ import annotations

from collections.abc import Callable
from functools import singledispatch

import numpy as np

from butfor.arrays import FloatArray
from butfor.compiled.clock import now
from butfor.model.adversary import adversary
from butfor.model.ball import Ball, BallNorm
from butfor.model.linear import Linear
from butfor.model.network import Network
from butfor.model.network_adversary import NetworkAdversary
from butfor.model.oblique import ObliqueTree
from butfor.model.questions import Model, evaluate
from butfor.model.regions import regions
from butfor.model.shifts import shifts_into
from butfor.model.trees import Trees
from butfor.model.worst import worst_leaf

Valid = Callable[[FloatArray, FloatArray], bool]

BOX_HALVINGS = 40
"""How often a width is halved to find how far a side can be moved out, or a ball be drawn."""

NETWORK_HALVINGS = 20
"""The same for a network. A side ends within a millionth of its column's range."""

FEW_HALVINGS = 12
"""The same for all sides together among trees. Each side stops at a cut afterwards, so there is little to gain."""


@singledispatch
def stays_valid(
    model: Model, A: FloatArray, least: FloatArray, point: FloatArray, step: FloatArray, until: float = np.inf
) -> Valid:
    """A function: does `A s >= least` hold for the scores `s` of all rows of a box around a point?

    What is not known `until` a moment, on the clock of `butfor.compiled.clock`, does not count as holding.
    """
    raise TypeError(type(model).__name__)


@stays_valid.register
def _(
    model: Linear, A: FloatArray, least: FloatArray, point: FloatArray, step: FloatArray, until: float = np.inf
) -> Valid:
    slopes = np.where(np.isnan(point), 0.0, A @ model.slope)
    spare = (evaluate(model, point[None]) @ A.T)[0] - least
    at = np.nan_to_num(point)

    def valid(low: FloatArray, high: FloatArray) -> bool:
        down = np.where(slopes > 0, slopes * (at - low), -slopes * (high - at))
        return bool((down.sum(axis=1) <= spare).all())

    return valid


@stays_valid.register
def _(
    model: Trees, A: FloatArray, least: FloatArray, point: FloatArray, step: FloatArray, until: float = np.inf
) -> Valid:
    sums = [adversary(regions(model, row, point), point, step) for row in A]
    missed: list[FloatArray] = []

    def valid(low: FloatArray, high: FloatArray) -> bool:
        if any(not ((row < low) | (row > high)).any() for row in missed):
            return False
        for one, b in zip(sums, least, strict=True):
            worst = one.worst(low, high, below=float(b))
            if worst.score < b:
                missed.append(worst.point)
                return False
        return True

    return valid


@stays_valid.register
def _(
    model: ObliqueTree, A: FloatArray, least: FloatArray, point: FloatArray, step: FloatArray, until: float = np.inf
) -> Valid:
    def valid(low: FloatArray, high: FloatArray) -> bool:
        shifts = shifts_into(low, high, point, step)
        return all(worst_leaf(model, row, point, shifts, b).score >= b for row, b in zip(A, least, strict=True))

    return valid


@stays_valid.register
def _(
    model: Network, A: FloatArray, least: FloatArray, point: FloatArray, step: FloatArray, until: float = np.inf
) -> Valid:
    """A box is the ball around its middle, and whole numbers count as real ones."""
    missed: list[FloatArray] = []

    def valid(low: FloatArray, high: FloatArray) -> bool:
        if now() > until or any(not ((row < low) | (row > high)).any() for row in missed):
            return False
        middle = np.where(np.isnan(point), np.nan, (low + high) / 2)
        ball = Ball(BallNorm.LINF, np.maximum(high - middle, middle - low), np.zeros(len(point)), np.zeros(len(point)))
        for row, b in zip(A, least, strict=True):
            worst = NetworkAdversary(model, row, middle, ball, float(b), until, deeper=0).worst()
            if worst.score < b:
                if now() <= until:
                    missed.append(worst.point)
                return False
        return True

    return valid


def widest_box(
    valid: Valid,
    point: FloatArray,
    lowest: FloatArray,
    highest: FloatArray,
    ends: list[FloatArray] | None,
    halvings: int = BOX_HALVINGS,
) -> tuple[FloatArray, FloatArray]:
    """The widest box within `lowest` and `highest`: first all sides are moved out together, and then one by one.

    `ends[j]` are the cuts of feature j, behind which its sides may stop; None if the sides may stop anywhere. Then widths
    are halved so many times.
    """
    low, high = np.nan_to_num(point), np.nan_to_num(point)
    lowest, highest = np.minimum(lowest, low), np.maximum(highest, high)
    together = halvings if ends is None else FEW_HALVINGS
    share = _last(lambda t: valid(low - t * (low - lowest), high + t * (highest - high)), together)
    low, high = low - share * (low - lowest), high + share * (highest - high)
    for j in np.argsort(highest - lowest)[::-1].tolist():
        for side, limit in ((high, highest), (low, lowest)):
            if side[j] == limit[j] or np.isnan(point[j]):
                continue
            if ends is None:
                side[j] = _furthest_real(valid, low, high, side, j, float(limit[j]), halvings)
            else:
                side[j] = _furthest(valid, low, high, side, j, _stops(ends[j], side is high, side[j], limit[j]))
    return low, high


def _stops(cuts: FloatArray, up: bool, start: float, limit: float) -> FloatArray:
    """Where a side may stop, from near to far: at the last value before a cut, and at the limit."""
    if up:
        return np.append(cuts[(cuts >= start) & (cuts < limit)], limit)
    above = np.nextafter(cuts, np.inf)
    return np.append(above[(above <= start) & (above > limit)][::-1], limit)


def _furthest(valid: Valid, low: FloatArray, high: FloatArray, side: FloatArray, j: int, stops: FloatArray) -> float:
    """The furthest stop up to which a side can be moved out, by bisection: a larger box is never valid again.

    Only what comes in is looked at. The box itself is known to be valid.
    """
    up, furthest = side is high, float(side[j])
    first, last = 0, len(stops)
    while first < last:
        middle = (first + last) // 2
        inner, outer = low.copy(), high.copy()
        if up:
            inner[j], outer[j] = np.nextafter(furthest, np.inf), stops[middle]
        else:
            inner[j], outer[j] = stops[middle], np.nextafter(furthest, -np.inf)
        if stops[middle] == furthest or valid(inner, outer):
            first, furthest = middle + 1, float(stops[middle])
        else:
            last = middle
    return furthest


def _furthest_real(
    valid: Valid, low: FloatArray, high: FloatArray, side: FloatArray, j: int, limit: float, halvings: int
) -> float:
    """How far a side can be moved out, if it may stop anywhere. Only what comes in is looked at."""
    start, furthest = float(side[j]), 0.0

    def moved(t: float) -> bool:
        nonlocal furthest
        inner, outer = low.copy(), high.copy()
        begin, end = sorted((start + furthest * (limit - start), limit if t == 1.0 else start + t * (limit - start)))
        inner[j], outer[j] = begin, end
        fine = valid(inner, outer)
        furthest = t if fine else furthest
        return fine

    _last(moved, halvings)
    return limit if furthest == 1.0 else start + furthest * (limit - start)


def _last(holds: Callable[[float], bool], halvings: int) -> float:
    """The largest share between 0 and 1 up to which something holds, by bisection."""
    if holds(1.0):
        return 1.0
    first, last = 0.0, 1.0
    for _ in range(halvings):
        middle = (first + last) / 2
        if holds(middle):
            first = middle
        else:
            last = middle
    return first
