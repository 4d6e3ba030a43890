"""Rows that keep linear relations exactly, as printed numbers, near a row that keeps them only up to a tolerance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np

from butfor.arrays import FloatArray
from butfor.formulation.exact_program import Clash, Summand, SumRow, cheapest
from butfor.problem.constraints.relations import LinearRelation
from butfor.problem.decimals import nearest, printed
from butfor.problem.problem import Problem

ROUNDS = 6
"""How often sums that rounding to floats broke are tightened by what it broke."""

SAME = Fraction(1, 10**9)
"""Prices that differ by this share of 1 + themselves are the same."""

FEW_DIGITS = 14
"""Digits of the largest number of an equation. Ends with so few digits leave numbers that floats print exactly."""


@dataclass(frozen=True)
class Place:
    """Where a number may be: from `low` to `high`, for a `price` per unit by which it is away from `wish`."""

    low: float
    high: float
    wish: float
    price: float = 1.0

    @property
    def is_free(self) -> bool:
        """Whether it has more than one value."""
        return self.low < self.high


def kept(problem: Problem, target: FloatArray, places: Mapping[int, Place]) -> FloatArray | Clash | None:
    """The only row of a problem with numbers that keep its linear relations, as cheaply as their places allow.

    All numbers of relations have a place, but for those that are missing. Levels stay. If no numbers keep the relations, it is
    told which ends of columns clash; None if floats are too coarse to tell.
    """
    for one in problem.relations_of(LinearRelation):
        levels = list(one.of_levels(problem.space))
        if not one.of_numbers(problem.space).keys() <= places.keys() or np.isnan(target[levels]).any():
            return None
    return _KeptSums(problem, target, places).run()


@dataclass(frozen=True, eq=False)
class _KeptSums:
    problem: Problem
    target: FloatArray
    places: Mapping[int, Place]

    @cached_property
    def linear(self) -> tuple[LinearRelation, ...]:
        """The relations."""
        return self.problem.relations_of(LinearRelation)

    @cached_property
    def sums(self) -> list[SumRow]:
        """The relations as sums of printed numbers, without what the levels add."""
        space, start, out = self.problem.space, self.problem.factuals[0], list[SumRow]()
        for one in self.linear:
            added = self._of_levels(one)
            low, high = (None if end is None else end - sum(added.values()) for end in one.ends(space, start))
            out.append(SumRow(one.of_numbers(space), low, high, frozenset((j, 1) for j in added)))
        return out

    def _of_levels(self, relation: LinearRelation) -> dict[int, Fraction]:
        """What the level of each column adds to a sum."""
        return {j: terms[int(self.target[j])] for j, terms in relation.of_levels(self.problem.space).items()}

    def run(self) -> FloatArray | Clash | None:
        """What was found: at first with short ends, unless these are dearer; at last with equations up to a rounding."""
        loose = [self._loosened(relation, row) for relation, row in zip(self.linear, self.sums, strict=True)]
        if loose != self.sums:
            exact = cheapest(self._numbers(self.places), self.sums)
            most = -1 if isinstance(exact, Clash) else (1 + SAME) * self._price_of(exact) + SAME
            for places in (self._shortened(), self.places) if most >= 0 else ():
                found = self._rounded(places, self.sums)
                if isinstance(found, np.ndarray) and self._price(found) <= most:
                    return found
        return self._rounded(self.places, loose)

    def _price(self, point: FloatArray) -> Fraction:
        return self._price_of({j: self._printed(point, j) for j in self.places})

    def _price_of(self, values: Mapping[int, Fraction]) -> Fraction:
        """What numbers cost in their places."""
        numbers = self._numbers(self.places)
        return sum((numbers[j].price * abs(value - numbers[j].wish) for j, value in values.items()), Fraction(0))

    def _numbers(self, places: Mapping[int, Place]) -> dict[int, Summand]:
        return {j: self._number(j, place) for j, place in places.items()}

    def _shortened(self) -> Mapping[int, Place]:
        """The places, with ends that have few digits where numbers of equations may move."""
        out = dict(self.places)
        for relation, row in zip(self.linear, self.sums, strict=True):
            terms = [weight * self._printed(self.target, j) for j, weight in row.weights.items()]
            size = max(map(abs, [*terms, *self._of_levels(relation).values()]), default=0)
            for j, weight in row.weights.items() if size and row.low == row.high else ():
                digits = int(np.floor(np.log10(float(size / abs(weight))))) + 1 - FEW_DIGITS if weight else 0
                grain = Fraction(10) ** digits
                low, high = printed(self.places[j].low), printed(self.places[j].high)
                if weight and self.places[j].is_free and not self._is_single(j):
                    low, high = -(-low // grain) * grain, high // grain * grain
                    out[j] = replace(out[j], low=float(low), high=float(high)) if low <= high else out[j]
        return out

    def _loosened(self, relation: LinearRelation, row: SumRow) -> SumRow:
        """The sum of an equation, up to the rounding of one of its numbers."""
        if row.low is None or row.high is None or not relation.computes(self.problem.space):
            return row
        sizes = {j: max(abs(self.places[j].low), abs(self.places[j].high)) for j in row.weights}
        gaps = {
            j: np.spacing(np.float32(size)) if self._is_single(j) else np.spacing(size) for j, size in sizes.items()
        }
        most = max((abs(weight) * Fraction(float(gaps[j])) for j, weight in row.weights.items()), default=Fraction(0))
        return replace(row, low=row.low - most, high=row.high + most)

    def _rounded(self, places: Mapping[int, Place], sums: list[SumRow]) -> FloatArray | Clash | None:
        """The cheapest numbers as floats that keep the relations. Sums that rounding breaks are tightened."""
        numbers = self._numbers(places)
        rows = list(sums)
        for _ in range(ROUNDS):
            values = cheapest(numbers, rows)
            if isinstance(values, Clash):
                return values if rows == sums else None
            point = self._written(values)
            broken = self._broken(point)
            if not broken:
                return point
            if any(self.linear[r].sense == "==" for r in broken):
                return None
            for r, miss in broken.items():
                low, high = rows[r].low, rows[r].high
                low, high = None if low is None else low + 2 * miss, None if high is None else high - 2 * miss
                rows[r] = replace(rows[r], low=low, high=high)
        return None

    def _number(self, j: int, place: Place) -> Summand:
        low, high, wish = (printed(x, self._is_single(j)) for x in (place.low, place.high, place.wish))
        return Summand(low, high, wish, Fraction(place.price))

    def _written(self, values: Mapping[int, Fraction]) -> FloatArray:
        """The row with these numbers as floats. In an equation that they break, one becomes what the others make it."""
        point, used = self.target.copy(), set[int]()
        for j, value in values.items():
            if self.places[j].is_free:
                point[j] = self._float(j, value)
        for r in self._broken(point):
            row = self.sums[r]
            free = [j for j, weight in row.weights.items() if weight and self.places[j].is_free and j not in used]
            if free and row.low == row.high is not None:
                j = max(free, key=lambda j: abs(values[j]))
                rest = self._total(point, row) - row.weights[j] * self._printed(point, j)
                point[j] = self._float(j, (row.high - rest) / row.weights[j])
                used.add(j)
        return point

    def _broken(self, point: FloatArray) -> dict[int, Fraction]:
        """The relations that a row breaks, and by how much."""
        space, start, out = self.problem.space, self.problem.factuals, dict[int, Fraction]()
        for r, (relation, row) in enumerate(zip(self.linear, self.sums, strict=True)):
            if not relation.holds_between(space, start, point[None])[0]:
                total = self._total(point, row)
                over = Fraction(0) if row.high is None else total - row.high
                out[r] = max(over, Fraction(0) if row.low is None else row.low - total)
        return out

    def _total(self, point: FloatArray, row: SumRow) -> Fraction:
        return sum((weight * self._printed(point, j) for j, weight in row.weights.items()), Fraction(0))

    def _printed(self, point: FloatArray, j: int) -> Fraction:
        return printed(float(point[j]), self._is_single(j))

    def _float(self, j: int, value: Fraction) -> float:
        """The float of a number in its place: its own one if it stays."""
        place, x, single = self.places[j], float(self.problem.factuals[0, j]), self._is_single(j)
        if place.low <= x <= place.high and value == printed(x, single):
            return x
        return min(max(nearest(value, single), place.low), place.high)

    def _is_single(self, j: int) -> bool:
        return self.problem.space.features[j].single
