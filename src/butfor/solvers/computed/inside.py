"""The cheapest point of each of many places.

A place is a cell of each free column, and a cell of each computed one. Beside a value of the *hub*, each other column (a
*spoke*) has an interval there: what is computed from both is a quotient of sums, and its thresholds are half-planes. So the
cost is convex in the hub, and its best value is found by golden sections. The thresholds of the spokes are then found to the
last digit, as the function itself computes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from butfor.arrays import BoolArray, FloatArray, IntArray
from butfor.formulation.choices import choices_of
from butfor.model.computed import ComputedFeature
from butfor.model.float_order import last_between
from butfor.model.formula import CONSTANT, Quotient
from butfor.problem.problem import Problem

GOLDEN_SHARE = (np.sqrt(5.0) - 1) / 2

GOLDEN_SECTIONS = 70
"""How many golden sections are made: they narrow an interval to 1e-14 of its width."""

NEARBY = 1e-10
"""The share of its size within which a threshold is looked for at first, and by which half-planes are widened."""

POINTS_TRIED = 200
"""How many points of a grid are tried on each side of the best real number."""

IMPOSSIBLE = 1e200
"""More than any cost."""


@dataclass(frozen=True, eq=False)
class Spans:
    """The cells of one free column, place by place: ends `(lower, upper]`, and the values that the row may have there."""

    j: int
    lower: FloatArray
    upper: FloatArray
    first: FloatArray
    last: FloatArray

    def take(self, at: IntArray | BoolArray) -> Spans:
        """The same of some places."""
        return Spans(self.j, self.lower[at], self.upper[at], self.first[at], self.last[at])


@dataclass(frozen=True, eq=False)
class Limits:
    """Between which thresholds `(low, high]` a computed feature lies in each place. They are NaN where it is missing."""

    one: ComputedFeature
    low: FloatArray
    high: FloatArray

    def take(self, at: IntArray | BoolArray) -> Limits:
        """The same of some places."""
        return Limits(self.one, self.low[at], self.high[at])

    def at(self, values: dict[int, FloatArray]) -> FloatArray:
        """What is computed from these values. Columns without a value are missing."""
        lost = np.full(len(self.low), np.nan)
        return np.asarray(self.one.function(np.column_stack([values.get(j, lost) for j in self.one.inputs])))

    def lines(
        self, quotient: Quotient, spoke: int | None, hub: int
    ) -> Iterator[tuple[FloatArray, FloatArray, FloatArray, bool]]:
        """Both half-planes `ka spoke + kb hub + k0 <= 0`: the factors, and whether it is the upper threshold.

        What is divided by is above 0, or all signs are turned.
        """
        for threshold, below in ((self.low, False), (self.high, True)):
            known = np.where(np.isfinite(threshold), threshold, 0.0)
            factors = [
                np.zeros(len(known))
                if k < 2 and name is None
                else quotient.upper.get(name, 0.0) - known * quotient.lower.get(name, 0.0)
                for k, name in enumerate((spoke, hub, CONSTANT))
            ]
            ka, kb, k0 = (np.where(np.isfinite(threshold), factor, 0.0) for factor in factors)
            yield ka, kb, k0, below


@dataclass(frozen=True, eq=False)
class PlacePoints:
    """Places of the only row. All values in them are numbers: columns that are missing there have no box.

    - `hub`: the cells of the hub; `spokes`: those of the other columns; `limits`: what is computed from them.
    """

    problem: Problem
    hub: Spans
    spokes: tuple[Spans, ...]
    limits: tuple[Limits, ...]

    def __len__(self) -> int:
        return len(self.hub.first)

    def take(self, at: IntArray | BoolArray) -> PlacePoints:
        """Some of the places."""
        spokes, limits = (tuple(one.take(at) for one in some) for some in (self.spokes, self.limits))
        return replace(self, hub=self.hub.take(at), spokes=spokes, limits=limits)  # type: ignore[arg-type]

    def cheapest(self) -> tuple[FloatArray, FloatArray]:
        """The cheapest values of hub and spokes in each place (NaN: there are none), and by how much they may be too dear."""
        points, doubt = np.full((len(self), 1 + len(self.spokes)), np.nan), np.zeros(len(self))
        narrow = self._narrowed()
        able = np.flatnonzero(np.all([box.first <= box.last for box in (narrow.hub, *narrow.spokes)], axis=0))
        if len(able):
            points[able], doubt[able] = narrow.take(able)._found()
        return points, doubt

    def _narrowed(self) -> PlacePoints:
        """The same, where the cells of each column keep what depends on it alone."""
        spokes = tuple(self._alone(box) for box in self.spokes)
        return replace(self, hub=self._alone(self.hub), spokes=spokes)

    def _alone(self, box: Spans) -> Spans:
        """The cells of a column in which what depends on it alone lies between its thresholds."""
        lower, upper, known = box.lower, box.upper, {self.hub.j, *(one.j for one in self.spokes)}
        for one in self.limits:
            if set(one.one.inputs) & known == {box.j}:
                low, high = self._between(one, box, None, np.zeros(len(self)))
                lower, upper = np.maximum(lower, low), np.minimum(upper, high)
        (first,), (last,) = choices_of(self.problem, box.j).between(lower[None], upper[None])
        return Spans(box.j, lower, upper, first, last)

    def _on(self, spoke: int) -> list[Limits]:
        """What is computed from a spoke and the hub."""
        return [one for one in self.limits if {spoke, self.hub.j} <= set(one.one.inputs)]

    def _found(self) -> tuple[FloatArray, FloatArray]:
        stepped = self.problem.domain.step[self.hub.j] > 0
        middle = np.clip(self._golden(), self.hub.first, self.hub.last)
        return self._on_grid(middle) if stepped else self._among_reals(middle)

    def _among_reals(self, middle: FloatArray) -> tuple[FloatArray, FloatArray]:
        """For a hub that may be any number: near the best real one, at both ends of its cell, or at the nearest of it."""
        domain, cell = self.problem.domain, (self.hub.lower[None], self.hub.upper[None])
        near = domain.closest(self.hub.j, middle[None], *cell)[0]
        points, cost = self._exact(domain.nearest(self.hub.j, *cell)[0])
        for b in (self.hub.first, self.hub.last, near):
            points, cost = _better(points, cost, *self._exact(b))
        least = self._relaxed(middle)
        stepped = any(domain.step[box.j] for box in self.spokes)
        doubt = np.maximum(0.0, cost - least) if stepped else np.zeros(len(cost))
        return np.where(np.isfinite(cost)[:, None], points, np.nan), np.where(np.isfinite(cost), doubt, 0.0)

    def _on_grid(self, middle: FloatArray) -> tuple[FloatArray, FloatArray]:
        """For a hub on a grid: its points on both sides of the best real number, until they are dearer than what was found."""
        j, closest = self.hub.j, self.problem.domain.closest
        start = closest(j, middle[None], self.hub.lower[None], self.hub.upper[None])[0]
        points, cost = self._exact(start)
        doubt = np.zeros(len(self))
        for way in (-1, 1):
            at, open_ = start.copy(), np.arange(len(self))
            for _ in range(POINTS_TRIED):
                cells = self.take(open_)
                lower = cells.hub.lower if way < 0 else at[open_]
                upper = np.nextafter(at[open_], -np.inf) if way < 0 else cells.hub.upper
                at[open_] = closest(j, at[open_][None], lower[None], upper[None])[0]
                at_most = cost[open_]
                with np.errstate(invalid="ignore"):
                    going = ~np.isnan(at[open_]) & (
                        cells._relaxed(np.nan_to_num(at[open_])) < np.minimum(at_most, IMPOSSIBLE)
                    )
                open_ = open_[going]
                if not len(open_):
                    break
                found = self.take(open_)._exact(at[open_])
                points[open_], cost[open_] = _better(points[open_], cost[open_], *found)
            if len(open_):
                least = self.take(open_)._relaxed(at[open_])
                doubt[open_] = np.maximum(doubt[open_], np.where(np.isfinite(cost[open_]), cost[open_] - least, 0.0))
        return np.where(np.isfinite(cost)[:, None], points, np.nan), doubt

    def _golden(self) -> FloatArray:
        """About the best real value of the hub."""
        low, high = self.hub.first.copy(), self.hub.last.copy()
        one, two = high - GOLDEN_SHARE * (high - low), low + GOLDEN_SHARE * (high - low)
        at_one, at_two = self._relaxed(one), self._relaxed(two)
        for _ in range(GOLDEN_SECTIONS):
            left = at_one <= at_two
            low, high = np.where(left, low, one), np.where(left, two, high)
            one, two = (
                np.where(left, high - GOLDEN_SHARE * (high - low), two),
                np.where(left, one, low + GOLDEN_SHARE * (high - low)),
            )
            fresh = self._relaxed(np.where(left, one, two))
            at_one, at_two = np.where(left, fresh, at_two), np.where(left, at_one, fresh)
        return (low + high) / 2

    def _relaxed(self, b: FloatArray) -> FloatArray:
        """What the cheapest real spokes cost beside values of the hub; more than `IMPOSSIBLE` where there are none."""
        gap, cost = np.zeros(len(self)), _price(self.problem, self.hub.j, b)
        for box in self.spokes:
            low, high = box.first, box.last
            for one in self._on(box.j):
                assert one.one.quotient is not None
                sign = self._sign(one.one.quotient)
                for ka, kb, k0, below in one.lines(one.one.quotient, box.j, self.hub.j):
                    way = sign if below else -sign
                    rest, near = kb * b + k0, NEARBY * (np.abs(kb * b) + np.abs(k0))
                    with np.errstate(divide="ignore", invalid="ignore"):
                        end, room = -rest / ka, near / np.abs(ka)
                        high = np.where(way * ka > 0, np.minimum(high, end + room), high)
                        low = np.where(way * ka < 0, np.maximum(low, end - room), low)
                    gap = gap + np.where(ka == 0, np.maximum(0.0, way * rest - near), 0.0)
            value = np.clip(self._start(box.j), low, np.maximum(low, high))
            gap, cost = gap + np.maximum(0.0, low - high), cost + _price(self.problem, box.j, value)
        return np.where(gap > 0, IMPOSSIBLE * (1 + gap), cost)

    def _sign(self, quotient: Quotient) -> float:
        """The sign of what is divided by. It is the same everywhere."""
        low, high = self.problem.domain.extent.low, self.problem.domain.extent.high
        total: float = quotient.lower.get(CONSTANT, 0.0)
        for name, factor in quotient.lower.items():
            if name is not CONSTANT:
                total += factor * float(low[name] + high[name]) / 2
        return float(np.sign(total))

    def _start(self, j: int) -> float:
        own = float(self.problem.factuals[0, j])
        return float(self.problem.domain.typical[j]) if np.isnan(own) else own

    def _exact(self, b: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The cheapest values of the spokes beside values of the hub, to the last digit, and what they cost (infinite: none)."""
        values, cost = [b], np.where(np.isnan(b), np.inf, _price(self.problem, self.hub.j, np.nan_to_num(b)))
        for box in self.spokes:
            lower, upper = box.lower, box.upper
            for one in self._on(box.j):
                low, high = self._between(one, box, box.j, b)
                lower, upper = np.maximum(lower, low), np.minimum(upper, high)
            value = self.problem.domain.nearest(box.j, lower[None], upper[None])[0]
            values.append(value)
            cost = np.where(np.isnan(value), np.inf, cost + _price(self.problem, box.j, np.nan_to_num(value)))
        return np.column_stack(values), cost

    def _between(self, one: Limits, box: Spans, spoke: int | None, b: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The values `(lower, upper]` of a column where a computed feature lies between its thresholds, beside a hub of `b`."""

        def at(x: FloatArray) -> FloatArray:
            return one.at({box.j: x} if spoke is None else {self.hub.j: b, box.j: x})

        rising, missing = ~(at(box.last) < at(box.first)), np.isnan(one.low)

        def last(threshold: FloatArray, root: FloatArray) -> FloatArray:
            """The last value at which the feature does not exceed a threshold, or does if it falls."""

            def holds(x: FloatArray) -> BoolArray:
                found = at(x)
                return np.asarray(np.where(rising, found <= threshold, found > threshold))

            room = NEARBY * np.abs(root)
            first, final = (np.clip(end, box.first, box.last) for end in (root - room, root + room))
            good = holds(first) & ~holds(final)
            first, final = np.where(good, first, box.first), np.where(good, final, box.last)
            return np.where(holds(box.last), np.inf, last_between(holds, first, final))

        low, high = (last(*pair) for pair in zip((one.low, one.high), self._roots(one, box, spoke, b), strict=True))
        return (
            np.where(missing, -np.inf, np.where(rising, low, high)),
            np.where(missing, np.inf, np.where(rising, high, low)),
        )

    def _roots(self, one: Limits, box: Spans, spoke: int | None, b: FloatArray) -> list[FloatArray]:
        """About where the column crosses both thresholds, as real numbers; 0 where that is not known."""
        if one.one.quotient is None:
            return [np.zeros(len(b))] * 2
        roots = []
        for ka, kb, k0, _ in one.lines(one.one.quotient, box.j, self.hub.j):
            with np.errstate(all="ignore"):
                rest = k0 if spoke is None else kb * b + k0
                roots.append(np.nan_to_num(-rest / ka, posinf=0.0, neginf=0.0))
        return roots


def _better(
    points: FloatArray, cost: FloatArray, others: FloatArray, theirs: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """The cheaper of two points in each place."""
    better = theirs < cost
    return np.where(better[:, None], others, points), np.where(better, theirs, cost)


def _price(problem: Problem, j: int, value: FloatArray) -> FloatArray:
    return np.asarray(problem.prices.separable(j, problem.factuals[:, [j]], value[None])[0])
