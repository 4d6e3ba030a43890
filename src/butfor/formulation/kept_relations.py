"""Rows that keep linear relations exactly, as printed numbers, near a row that keeps them only up to a tolerance."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np

from butfor.arrays import FloatArray
from butfor.formulation.exact_program import Clash, Number, SumRow, cheapest
from butfor.problem.constraints.relations import LinearRelation
from butfor.problem.decimals import nearest, printed
from butfor.problem.problem import Problem

ROUNDS = 6
"""How often sums that rounding to floats broke are tightened by what it broke."""

SHORT = 14
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

    All columns of relations have a place, but for those that are missing. If no numbers keep the relations, it is told which
    ends of columns clash; None if floats are too coarse to tell.
    """
    if any(
        problem.space.index(name) not in places for one in problem.relations_of(LinearRelation) for name in one.numbers
    ):
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
        """The relations as sums of printed numbers."""
        space, start = self.problem.space, self.problem.factuals[0]
        return [SumRow(dict(one.of_columns(space)), *one.ends(space, start)) for one in self.linear]

    def run(self) -> FloatArray | Clash | None:
        """What was found in the last attempt, or in the first one that found a row."""
        found = None
        for places, sums in self._attempts():
            found = self._rounded(places, sums)
            if isinstance(found, np.ndarray):
                break
        return found

    def _attempts(self) -> Iterator[tuple[Mapping[int, Place], list[SumRow]]]:
        """The exact program, first with short ends; then one in which equations hold up to the rounding of a number."""
        loose = [self._loosened(relation, row) for relation, row in zip(self.linear, self.sums, strict=True)]
        if loose != self.sums:
            yield self._shortened(), self.sums
            yield self.places, self.sums
        yield self.places, loose

    def _shortened(self) -> Mapping[int, Place]:
        """The places, with ends that have few digits where numbers may move."""
        size = max(abs(self.target[j]) for j in self.places)
        grain = Fraction(10) ** (int(np.floor(np.log10(size or 1.0))) + 1 - SHORT)
        out = dict(self.places)
        for j, place in self.places.items():
            low, high = -(-printed(place.low) // grain) * grain, printed(place.high) // grain * grain
            if place.is_free and low <= high and not self._is_single(j):
                out[j] = replace(place, low=float(low), high=float(high))
        return out

    def _loosened(self, relation: LinearRelation, row: SumRow) -> SumRow:
        """The sum of an equation, up to the rounding of one of its numbers."""
        if row.low is None or row.high is None or not relation.computes(self.problem.space):
            return row
        sizes = {j: max(abs(self.places[j].low), abs(self.places[j].high)) for j in row.weights}
        gaps = {
            j: np.spacing(np.float32(size)) if self._is_single(j) else np.spacing(size) for j, size in sizes.items()
        }
        most = max(abs(weight) * Fraction(float(gaps[j])) for j, weight in row.weights.items())
        return replace(row, low=row.low - most, high=row.high + most)

    def _rounded(self, places: Mapping[int, Place], sums: list[SumRow]) -> FloatArray | Clash | None:
        """The cheapest numbers as floats that keep the relations. Sums that rounding breaks are tightened."""
        numbers = {j: self._number(j, place) for j, place in places.items()}
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

    def _number(self, j: int, place: Place) -> Number:
        low, high, wish = (printed(x, self._is_single(j)) for x in (place.low, place.high, place.wish))
        return Number(low, high, wish, Fraction(place.price))

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
        return printed(float(self.problem.space.features[j].in_numbers(point[[j]])[0]), self._is_single(j))

    def _float(self, j: int, value: Fraction) -> float:
        """The float of a number in its place: its own one if it stays."""
        place, x, single = self.places[j], float(self.problem.factuals[0, j]), self._is_single(j)
        if place.low <= x <= place.high and value == printed(x, single):
            return x
        return min(max(nearest(value, single), place.low), place.high)

    def _is_single(self, j: int) -> bool:
        return self.problem.space.features[j].single
