"""The widest box around a row in which inequalities on the scores hold everywhere. No side can be moved out further."""

from __future__ import annotations

from collections.abc import Callable
from functools import singledispatch

import numpy as np

from butfor.arrays import FloatArray
from butfor.compiled.clock import now
from butfor.model.linear import Linear
from butfor.model.network import Network
from butfor.model.oblique import ObliqueTree
from butfor.model.questions import Model, evaluate
from butfor.model.trees import Trees
from butfor.neighbours.ball import Ball, BallNorm
from butfor.neighbours.networks.search import NetworkAdversary
from butfor.neighbours.places import Grids
from butfor.neighbours.shifts import shifts_into
from butfor.neighbours.trees.regions import regions
from butfor.neighbours.trees.search import adversary
from butfor.neighbours.worst import worst_leaf

Missed = Callable[[FloatArray, FloatArray], FloatArray | None]
"""From a box to a row in it where an inequality does not hold; None if there is none."""

BOX_HALVINGS = 40
"""How often a width is halved to find how far a side can be moved out, or a ball be drawn."""

NETWORK_HALVINGS = 20
"""The same for a network. A side ends within a millionth of its column's range."""

FEW_HALVINGS = 12
"""The same for all sides together among trees. Each side stops at a cut afterwards, so there is little to gain."""


@singledispatch
def missed_in(
    model: Model, A: FloatArray, least: FloatArray, point: FloatArray, grids: Grids, until: float = np.inf
) -> Missed:
    """A function that tells where `A s >= least` does not hold for the scores `s` of a row, in a box around a point.

    For a box of which this is not known `until` a moment, on the clock of `butfor.compiled.clock`, it tells the point.
    """
    raise TypeError(type(model).__name__)


@missed_in.register
def _(
    model: Linear, A: FloatArray, least: FloatArray, point: FloatArray, grids: Grids, until: float = np.inf
) -> Missed:
    slopes = np.where(np.isnan(point), 0.0, A @ model.slope)
    spare = (evaluate(model, point[None]) @ A.T)[0] - least
    at = np.nan_to_num(point)

    def missed(low: FloatArray, high: FloatArray) -> FloatArray | None:
        down = np.where(slopes > 0, slopes * (at - low), -slopes * (high - at))
        failing = np.flatnonzero(down.sum(axis=1) > spare)
        return np.where(slopes[failing[0]] > 0, low, high) if len(failing) else None

    return missed


@missed_in.register
def _(model: Trees, A: FloatArray, least: FloatArray, point: FloatArray, grids: Grids, until: float = np.inf) -> Missed:
    sums = [adversary(regions(model, row, point), point, grids) for row in A]
    known: list[FloatArray] = []

    def missed(low: FloatArray, high: FloatArray) -> FloatArray | None:
        if (row := _known_in(known, low, high)) is not None:
            return row
        for one, b in zip(sums, least, strict=True):
            worst = one.worst(low, high, below=float(b), until=until)
            if worst.score < b:
                known.append(worst.point)
                return worst.point
            if np.isnan(worst.score):
                return point
        return None

    return missed


@missed_in.register
def _(
    model: ObliqueTree, A: FloatArray, least: FloatArray, point: FloatArray, grids: Grids, until: float = np.inf
) -> Missed:
    def missed(low: FloatArray, high: FloatArray) -> FloatArray | None:
        shifts = shifts_into(low, high, point, grids.step)
        for row, b in zip(A, least, strict=True):
            worst = worst_leaf(model, row, point, shifts, b)
            if worst.score < b:
                return worst.point
        return None

    return missed


@missed_in.register
def _(
    model: Network, A: FloatArray, least: FloatArray, point: FloatArray, grids: Grids, until: float = np.inf
) -> Missed:
    """A box is the ball around its middle, and whole numbers count as real ones."""
    known: list[FloatArray] = []

    def missed(low: FloatArray, high: FloatArray) -> FloatArray | None:
        if now() > until:
            return point
        if (row := _known_in(known, low, high)) is not None:
            return row
        middle = np.where(np.isnan(point), np.nan, (low + high) / 2)
        ball = Ball(BallNorm.LINF, np.maximum(high - middle, middle - low), np.zeros(len(point)), np.zeros(len(point)))
        for row, b in zip(A, least, strict=True):
            worst = NetworkAdversary(model, row, middle, ball, float(b), until, deeper=0).worst()
            if worst.score < b:
                if now() <= until:
                    known.append(worst.point)
                return worst.point
        return None

    return missed


def _known_in(known: list[FloatArray], low: FloatArray, high: FloatArray) -> FloatArray | None:
    """The first known row that lies in a box."""
    return next((row for row in known if not ((row < low) | (row > high)).any()), None)


def widest_box(
    missed: Missed,
    point: FloatArray,
    lowest: FloatArray,
    highest: FloatArray,
    ends: list[FloatArray] | None,
    halvings: int = BOX_HALVINGS,
    start: tuple[FloatArray, FloatArray] | None = None,
) -> tuple[FloatArray, FloatArray]:
    """The widest box within `lowest` and `highest`: first all sides are moved out together, and then one by one.

    `ends[j]` are the cuts of feature j, behind which its sides may stop; None if the sides may stop anywhere. Then widths
    are halved so many times. The box contains the point, and the box `start`, if nothing is missed there.
    """
    low, high = np.nan_to_num(point), np.nan_to_num(point)
    if start is not None and missed(*start) is None:
        low, high = start[0].copy(), start[1].copy()
    lowest, highest = np.minimum(lowest, low), np.maximum(highest, high)
    together = halvings if ends is None else FEW_HALVINGS
    share = _last(lambda t: missed(low - t * (low - lowest), high + t * (highest - high)) is None, together)
    low, high = low - share * (low - lowest), high + share * (highest - high)
    for j in np.argsort(highest - lowest)[::-1].tolist():
        for side, limit in ((high, highest), (low, lowest)):
            if side[j] == limit[j] or np.isnan(point[j]):
                continue
            if ends is None:
                side[j] = _furthest_real(missed, low, high, side, j, float(limit[j]), halvings)
            else:
                side[j] = _furthest(missed, low, high, side, j, _stops(ends[j], side is high, side[j], limit[j]))
    return low, high


def _stops(cuts: FloatArray, up: bool, start: float, limit: float) -> FloatArray:
    """Where a side may stop, from near to far: at the last value before a cut, and at the limit."""
    if up:
        return np.append(cuts[(cuts >= start) & (cuts < limit)], limit)
    above = np.nextafter(cuts, np.inf)
    return np.append(above[(above <= start) & (above > limit)][::-1], limit)


def _furthest(missed: Missed, low: FloatArray, high: FloatArray, side: FloatArray, j: int, stops: FloatArray) -> float:
    """The furthest stop up to which a side can be moved out. Only what comes in is looked at: the box itself is valid.

    All the way is tried first. That nothing is missed takes longest to prove, and so it is proven as seldom as possible.
    A row that is missed ends the way. Where it leaves more than half, the middle is tried next.
    """
    up, furthest = side is high, float(side[j])
    first, last = 0, len(stops)
    at = last - 1
    while first < last:
        inner, outer = low.copy(), high.copy()
        if up:
            inner[j], outer[j] = np.nextafter(furthest, np.inf), stops[at]
        else:
            inner[j], outer[j] = stops[at], np.nextafter(furthest, -np.inf)
        row = None if stops[at] == furthest else missed(inner, outer)
        if row is None:
            first, furthest = at + 1, float(stops[at])
            at = last - 1
        else:
            left, last = last - first, min(at, int(np.count_nonzero(stops < row[j] if up else stops > row[j])))
            at = last - 1 if 2 * (last - first) <= left else (first + last) // 2
    return furthest


def _furthest_real(
    missed: Missed, low: FloatArray, high: FloatArray, side: FloatArray, j: int, limit: float, halvings: int
) -> float:
    """How far a side can be moved out, if it may stop anywhere. Only what comes in is looked at."""
    start, furthest = float(side[j]), 0.0

    def moved(t: float) -> bool:
        nonlocal furthest
        inner, outer = low.copy(), high.copy()
        begin, end = sorted((start + furthest * (limit - start), limit if t == 1.0 else start + t * (limit - start)))
        inner[j], outer[j] = begin, end
        fine = missed(inner, outer) is None
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
