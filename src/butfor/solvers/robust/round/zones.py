"""The rows whose round ball meets a box of failing rows, and lines that a row outside of them lies above.

A feature that is `gap` away from the box takes `(gap / radius)^power` of the ball, and the ball meets the box if these add up
to less than 1. Within a parcel of all rows each term lies below its chords, and it need not be more than what the others leave
of 1. So a row that stays out satisfies a linear inequality. If it may leave the box by one feature at a time, that is the
concavity cut (Tuy, "Concave programming under linear constraints", 1964).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from butfor.arrays import BoolArray, FloatArray, IntArray
from butfor.neighbours.ball import Ball, BallNorm

SURELY = 1 - 1e-9
"""If the terms add up to less than this, the ball meets the box, however they were rounded."""

FIRMLY = 1 + 1e-8
"""What the terms of a proposed row should add up to. It costs hardly more, and its ball has no doubt about the zones."""

OUTSIDE = 1 + 1e-9
"""A row lies outside of a zone if its terms add up to this."""

TOUCHING = 1 - 2e-9
"""What the term of a number is at most where the ball reaches the box by this number alone: the row is in the zone then."""

SPARE_FLOATS = 4
"""By how many floats a box is made smaller on each side."""

AT_ONCE = 1e-9
"""The share of a way that counts as no way."""

FAR = 4.0
"""The term of a feature of radius 0 that is outside of the box. More than 1 is all the same."""


class Chords(NamedTuple):
    """The zones that say something about a parcel of all rows: `lack <= up @ rise + down @ fall` for a row outside of one.

    - `zone`: which zones these are;
    - `lack`: what the terms of a start lack;
    - `up`, `down` (zones, features): the slopes for features that rise or fall from there;
    - `start` (zones, features): the terms there;
    - `room`: what all features together must add at most, wherever they are.
    """

    zone: IntArray
    lack: FloatArray
    up: FloatArray
    down: FloatArray
    start: FloatArray
    room: FloatArray


@dataclass
class Zones:
    """The rows whose ball meets one of many boxes.

    - `low`, `high` (boxes, features): the sides of the boxes;
    - `inner_low`, `inner_high`: the same, a little further in, so that rounding puts no other row into a zone;
    - `takes`: for each feature that has several modes: (boxes, modes), which of them the box takes.
    """

    ball: Ball
    low: FloatArray
    high: FloatArray
    takes: dict[int, BoolArray] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.inner_low, self.inner_high = self.low, self.high

    def __len__(self) -> int:
        return len(self.low)

    def add(self, low: FloatArray, high: FloatArray, takes: dict[int, BoolArray]) -> None:
        """Add the zone of one box."""
        inner_low, inner_high = low + self._spare(low), high - self._spare(high)
        wide = inner_low <= inner_high
        self.low, self.high = np.vstack([self.low, low]), np.vstack([self.high, high])
        self.inner_low = np.vstack([self.inner_low, np.where(wide, inner_low, low)])
        self.inner_high = np.vstack([self.inner_high, np.where(wide, inner_high, low)])
        self.takes = {j: np.vstack([known, takes[j]]) for j, known in self.takes.items()}

    def _spare(self, ends: FloatArray) -> FloatArray:
        """A few floats. Infinite sides stay where they are, and so do those of numbers that the ball does not move."""
        stay = np.isinf(ends) | (self.ball.radius == 0)
        return np.where(
            stay, 0.0, SPARE_FLOATS * np.spacing(np.fmax(np.where(stay, 0.0, np.abs(ends)), self.ball.radius))
        )

    def terms(self, row: FloatArray) -> FloatArray:
        """What each feature of a row takes of the ball towards each box (boxes, features)."""
        touch = (self.ball.low(row) <= self.high) & (self.ball.high(row) >= self.low)
        terms = self.convex_terms(row)
        return np.where(touch, np.minimum(terms, TOUCHING), terms)

    def convex_terms(self, row: FloatArray) -> FloatArray:
        """The same as a convex function, for chords. Where the ball just touches a box, it may be 1."""
        low, high = self.inner_low, self.inner_high
        gap = np.where(row > high, row - high, np.where(row < low, low - row, 0.0))
        radius = self.ball.radius
        share = np.minimum(np.divide(gap, radius, out=np.where(gap > 0, FAR, 0.0), where=radius > 0), FAR)
        return share if self.ball.norm is BallNorm.L1 else share * share

    def taking(self, modes: dict[int, int]) -> BoolArray:
        """Which boxes take the modes of a row."""
        fine = np.ones(len(self), dtype=np.bool_)
        for j, mode in modes.items():
            fine &= self.takes[j][:, mode]
        return fine

    def depths(self, number: FloatArray, modes: dict[int, int]) -> FloatArray:
        """What the terms of a row with these numbers and modes add up to in each zone."""
        return np.where(self.taking(modes), self.terms(number).sum(axis=1), np.inf)

    def around(self, low: FloatArray, high: FloatArray, modes: dict[int, BoolArray]) -> bool:
        """Whether all rows between two ends, with some modes, surely lie in the same one of the zones."""
        surely = np.maximum(self.terms(low), self.terms(high)).sum(axis=1) < SURELY
        for j, possible in modes.items():
            surely &= ~(possible & ~self.takes[j]).any(axis=1)
        return bool(surely.any())

    def leaving(self, low: FloatArray, start: FloatArray, high: FloatArray) -> BoolArray:
        """Which numbers that the ball does not move are about to leave each box, between two ends (boxes, features)."""
        at_low, at, at_high = (self.convex_terms(row) for row in (low, start, high))
        up = (at_high > 0) & (self.high - start <= AT_ONCE * (high - start))
        down = (at_low > 0) & (start - self.low <= AT_ONCE * (start - low))
        return np.asarray((at == 0) & (self.ball.radius == 0) & (up | down))

    def chords(self, low: FloatArray, start: FloatArray, high: FloatArray, among: BoolArray) -> Chords:
        """The chords of all terms between two ends, from a start between them, for some of the zones.

        Zones that no row between the ends can be in say nothing. Nor do those that a start is about to leave by a number
        that the ball does not move: the least move is enough.
        """
        at_low, at, at_high = (self.convex_terms(row) for row in (low, start, high))
        least = np.where((low <= self.inner_high) & (high >= self.inner_low), 0.0, np.minimum(at_low, at_high))
        most = FIRMLY - (least.sum(axis=1)[:, None] - least)
        leaving = self.leaving(low, start, high).any(axis=1)
        zone = np.flatnonzero(among & (least.sum(axis=1) < SURELY) & ~leaving)
        at_low, at, at_high, least, most = (array[zone] for array in (at_low, at, at_high, least, most))
        reach = (most if self.ball.norm is BallNorm.L1 else np.sqrt(most)) * self.ball.radius
        from_high, from_low = self.inner_high[zone] + reach, self.inner_low[zone] - reach  # where the terms are `most`
        up, above_up = _chord(at, at_high, most, high - start, from_high - start, start - from_low)
        down, above_down = _chord(at, at_low, most, start - low, start - from_low, from_high - start)
        at = np.maximum(np.minimum(at, most), np.maximum(above_up, above_down))
        return Chords(zone, SURELY - at.sum(axis=1), up, down, at, FIRMLY - least.sum(axis=1))


def _chord(
    start: FloatArray, end: FloatArray, most: FloatArray, width: FloatArray, enough: FloatArray, back: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """The slopes on one side, and where they begin if that is above `most`.

    A chord ends where the term is `most`, which is `enough` far away, or else at the end. Where the start has more than
    that, the chord begins as far away as `back` says, and is drawn out to the start.
    """
    above = (start >= most) & (end < most) & (width > -back)
    early = ~above & (enough < width)
    rise = np.where(above, end - most, np.where(early, most, end) - start)
    run = np.where(above, width + back, np.where(early, enough, width))
    slope = np.where(above | (start < most), np.divide(rise, run, out=np.zeros_like(rise), where=run > 0), 0.0)
    return slope, np.where(above, end - slope * np.where(np.isfinite(width), width, 0.0), 0.0)
