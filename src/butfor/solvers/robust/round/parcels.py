"""What one row may become, in parcels: a range of each number, and for some features a set of modes.

The modes of a feature with levels are its levels and "missing", those of a number that may be missing are "a number" and
"missing".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from butfor.arrays import BoolArray, FloatArray, IntArray
from butfor.formulation.choices import FeatureChoices, choices_of
from butfor.model.float_order import last_number
from butfor.problem.constraints.relations import LinearRelation
from butfor.problem.prices import Prices
from butfor.problem.problem import Problem

A_NUMBER, LOST = 0, 1
"""The modes of a number."""

FLAT, ROOMY = 1e-12, 1.01
"""Directions in which a cost's form grows by less than this share of the largest growth cost nothing. An inverse of a form that
is less flat is surely more exact than by this factor.
"""


class Parcel(NamedTuple):
    """Some of the rows that a row may become: between two ends, with some modes.

    A feature that has only one mode is not listed.
    """

    low: FloatArray
    high: FloatArray
    modes: dict[int, BoolArray]


class Start(NamedTuple):
    """The row of a parcel whose features cost least, one by one.

    - `row`, `cost`: this row, and what its features cost;
    - `number` (features): its numbers, also where it misses one;
    - `modes`: the mode of each feature that has several.
    """

    row: FloatArray
    cost: float
    number: FloatArray
    modes: dict[int, int]


@dataclass(frozen=True, eq=False)
class Choices:
    """What the only row of a problem may become."""

    problem: Problem

    @cached_property
    def row(self) -> FloatArray:
        """The row as it is."""
        return np.asarray(self.problem.factuals[0])

    @cached_property
    def near(self) -> FloatArray:
        """The numbers of the row, and typical ones where it misses them."""
        return np.where(np.isnan(self.row), self.problem.domain.typical, self.row)

    @cached_property
    def of(self) -> list[FeatureChoices]:
        """What each feature may become."""
        return [choices_of(self.problem, j) for j in range(len(self.row))]

    @cached_property
    def own(self) -> dict[int, int]:
        """The mode of each feature of the row as it is."""
        return {j: self.mode(j, float(value)) for j, value in enumerate(self.row)}

    @cached_property
    def added(self) -> Prices:
        """The prices that are added up over the features."""
        return self.problem.prices.added

    @cached_property
    def roots(self) -> FloatArray:
        """The rows `L` that make the form of a cost a sum of squares: `d' Q d` is the sum of `(L d)^2`."""
        if self.problem.prices.Q is None:
            return np.empty((0, len(self.row)))
        value, vector = np.linalg.eigh(self.problem.prices.Q)
        told = value > FLAT * value.max(initial=0.0)
        return np.asarray(np.sqrt(value[told])[:, None] * vector.T[told])

    @cached_property
    def stretch(self) -> FloatArray:
        """How far each number may move, at most, where the form of the cost is 1."""
        Q, far = self.problem.prices.Q, np.full(len(self.row), np.inf)
        touched = np.flatnonzero([] if Q is None else Q.any(axis=0))
        if Q is not None and len(self.roots) == len(touched):
            far[touched] = ROOMY * np.sqrt(np.linalg.inv(Q[np.ix_(touched, touched)]).diagonal())
        return far

    @cached_property
    def linear(self) -> tuple[LinearRelation, ...]:
        """Sums of numbers that are bounded."""
        return self.problem.relations_of(LinearRelation)

    @cached_property
    def counted(self) -> list[tuple[IntArray, int]]:
        """Features of which only so many may change."""
        return [(np.flatnonzero(counted), most) for counted, most in self.problem.limits]

    def all(self) -> Parcel | None:
        """Everything that the row may become; None if that is nothing."""
        low, high, modes = np.zeros(len(self.row)), np.zeros(len(self.row)), {}
        for j, choices in enumerate(self.of):
            if choices.cells.levels:
                possible = choices.levels.able[0].copy()
            else:
                first, last = choices.hull[0][0, 0], choices.hull[1][0, 0]
                possible = np.array([first <= last, choices.missing[0, 0]])
                low[j], high[j] = (first, last) if possible[A_NUMBER] else (0.0, 0.0)
            number = float(np.clip(self.near[j], low[j], high[j]))
            if any(self.problem.space.features[j].name in relation.numbers for relation in self.linear):
                possible[-1] = False
            possible &= np.isfinite(self.price(j, np.arange(len(possible)), number))
            if not possible.any():
                return None
            if choices.cells.levels or possible[LOST]:
                modes[j] = possible
        return Parcel(low, high, modes)

    def start(self, parcel: Parcel) -> Start:
        """The row of a parcel whose features cost least."""
        number = np.clip(self.near, parcel.low, parcel.high)
        row, modes = number.copy(), {}
        for j, possible in parcel.modes.items():
            those = np.flatnonzero(possible)
            prices = self.price(j, those, float(number[j]))
            modes[j] = min(zip(prices.tolist(), (those != self.own[j]).tolist(), those.tolist(), strict=True))[2]
            row[j] = self.value(j, modes[j], float(number[j]))
        cost = float(self.added.total(self.row[None], row[None])[0])
        return Start(row, cost, number, modes)

    def cost(self, row: FloatArray) -> float:
        """What a row costs."""
        return float(self.problem.prices.total(self.row[None], row[None])[0])

    def price(self, j: int, modes: IntArray, number: float) -> FloatArray:
        """What each of some modes of a feature costs. If it is a number, that is given."""
        values = np.array([[self.value(j, mode, number) for mode in modes.tolist()]])
        return np.asarray(self.problem.prices.separable(j, self.row[None, [j]], values)[0])

    def value(self, j: int, mode: int, number: float) -> float:
        """The value of a feature in a mode. If it is a number, that is given."""
        if j in self.problem.domain.levels:
            return np.nan if mode == self.problem.domain.levels[j].shape[1] else float(mode)
        return np.nan if mode == LOST else number

    def mode(self, j: int, value: float) -> int:
        """The mode of a value."""
        if j in self.problem.domain.levels:
            return self.problem.domain.levels[j].shape[1] if np.isnan(value) else int(value)
        return LOST if np.isnan(value) else A_NUMBER

    def can_stay(self, parcel: Parcel) -> BoolArray:
        """Which features may keep their value within a parcel."""
        kept = (parcel.low <= self.row) & (self.row <= parcel.high)
        for j, possible in parcel.modes.items():
            kept[j] = possible[self.own[j]] and (kept[j] or j in self.problem.domain.levels or self.own[j] == LOST)
        return np.asarray(kept & self.problem.domain.stay[0])

    def least(self, j: int, value: float) -> float:
        """The smallest number that is at least a value; infinite if there is none."""
        return float(self.of[j].between(np.nextafter([[value]], -np.inf), np.array([[np.inf]]))[0][0, 0])

    def most(self, j: int, value: float) -> float:
        """The largest number that is at most a value; minus infinity if there is none."""
        return float(self.of[j].between(np.array([[-np.inf]]), np.array([[value]]))[1][0, 0])

    def fits(self, j: int, value: float) -> bool:
        """Whether a number is one that the feature may take."""
        return self.most(j, value) == value

    @cached_property
    def coarse(self) -> IntArray:
        """The numbers that may not take every value between their ends: there are grids, and gaps."""
        domain, row = self.problem.domain, self.row
        away = (domain.step > 0) | ~domain.stay[0] | (row < domain.low[0]) | (row > domain.high[0])
        away[list(domain.levels)] = False
        return np.flatnonzero(away)

    def split(self, parcel: Parcel, j: int, value: float) -> list[Parcel]:
        """A parcel in two: the numbers up to a value, and those above it."""
        below = parcel.low[j], min(self.most(j, value), parcel.high[j])
        above = max(self.least(j, float(np.nextafter(value, np.inf))), parcel.low[j]), parcel.high[j]
        return [_between(parcel, j, low, high) for low, high in (below, above) if low <= high]

    def parted(self, parcel: Parcel, j: int, happens: Callable[[FloatArray], BoolArray]) -> list[Parcel]:
        """A parcel in two: where something happens to a feature, and where it does not.

        As a number grows, it begins to happen or ends to, only once. It never happens to what is missing.
        """
        possible = parcel.modes.get(j, np.zeros(0, dtype=np.bool_))
        if j in self.problem.domain.levels:
            there = happens(np.array([self.value(j, mode, np.nan) for mode in range(len(possible))]))
            both = possible & there, possible & ~there
            return [parcel._replace(modes={**parcel.modes, j: those}) for those in both if those.any()]
        if possible.all() and len(possible):
            return self.chosen(parcel, j, LOST)
        low, high = parcel.low[j], parcel.high[j]
        first = happens(np.array([low]))[0]
        size = max(abs(low), abs(high))
        return self.split(parcel, j, last_number(lambda x: happens(x) == first, -size, size))

    def chosen(self, parcel: Parcel, j: int, mode: int) -> list[Parcel]:
        """A parcel in two: one mode, and the others."""
        one = np.arange(len(parcel.modes[j])) == mode
        both = parcel.modes[j] & one, parcel.modes[j] & ~one
        return [parcel._replace(modes={**parcel.modes, j: those}) for those in both if those.any()]


def _between(parcel: Parcel, j: int, low: float, high: float) -> Parcel:
    lows, highs = parcel.low.copy(), parcel.high.copy()
    lows[j], highs[j] = low, high
    return Parcel(lows, highs, parcel.modes)
