"""Branch and bound over a weighted sum of columns, with the claim as its target."""

from __future__ import annotations

import json
from fractions import Fraction
from operator import mul
from typing import Any

from butfor.proof.checker import checker
from butfor.proof.failing import BesideError, CheaperError, UnprovenError
from butfor.solvers.solver import Budget

MOST_RATES = 60
"""So many rates are tried. The bound is a concave function of them, and where it is piecewise linear, few are needed."""

AT_THE_TANGENTS = Fraction(1, 10**12)
"""A rate is the best if its bound misses that of the tangents by less than this share of the claim."""

LARGEST_RATE = Fraction(2) ** 200
"""A rate above this many costs a unit is not tried."""

TOO_HIGH = "prices are so high beside what they buy that no proof holds such numbers"
"""Why a claim is not proven."""


class LinearProver:
    """Proves one claim about a weighted sum.

    For a rate r, no row costs less than r goal + sum over columns min (price - r gain), a Lagrangian bound of a knapsack.
    Where the best rate proves too little, one column has two values that are equally good, and the box is parted between them.
    The walk is the checker's own, so all numbers are exact.
    """

    def __init__(self, question: Any, budget: Budget) -> None:
        self.walk, self.budget, self.lines = checker().walk_of(question), budget, list[str]()
        self.below, self.free = question.below, question.none
        self.sums = len(question.model.starts + question.limits)

    def prove(self) -> list[str]:
        """The steps."""
        while self.walk.open:
            if self.budget.spent():
                raise UnprovenError
            self._next()
        return self.lines

    def _next(self) -> None:
        """End the last box, or part it."""
        self._box(*self.walk.open[-1])

    def _worth(self, goal: Any) -> list[Fraction]:
        """What a unit of each sum is worth towards a goal."""
        return [Fraction((k == goal.plus) - (k == goal.less)) for k in range(self.sums)]

    def _say(self, **step: Any) -> None:
        self.lines.append(json.dumps(step, separators=(",", ":")))
        for kind, what in step.items():
            self.walk.step(kind, what)

    def _box(self, box: list[Any], way: list[Any]) -> None:
        """End a box, or part it."""
        (wanted,) = self.way = way
        self.goal, self.worth = wanted.least, self._worth(wanted)
        rate, low, high = self._best_rate(box)
        found = self._bound(box, rate)
        if found is None or found[0] >= self.below:
            if rate != self.walk.rates[0] and found is not None:
                self._say(rate=[rate.numerator, rate.denominator.bit_length() - 1])
            self._say(end="dual")
            return
        self._refuse_to_part(found, [wanted], [rate])
        move = self._move(low, high)
        if move is None:
            raise CheaperError(high) if self._cost(high) < self.below else UnprovenError
        for row in (high, self._reaching(low, high, *move)):
            if self._cost(row) < self.below:
                raise CheaperError(row)
        j, share = move
        self._say(split=[j, self._place(self.walk.terms[j], box[j], low[j], high[j], share)])

    def _best_rate(self, box: list[Any]) -> tuple[Fraction, list[Any], list[Any]]:
        """A rate that proves the claim, or else the best one, and the values on both sides of it: too little gain, and enough."""
        (said,) = self.walk.rates
        found = self._bound(box, said)
        if found is None or found[0] >= self.below:
            return said, [], []
        low, high = Fraction(0), said or Fraction(1)
        (least, little), tried = self._bound(box, low), list[tuple[Fraction, Fraction, list[Any]]]()
        if self._gain(little, self.worth) >= self.goal:
            return low, little, little
        while self._gain(enough := (most := self._bound(box, high))[1], self.worth) < self.goal:
            if most[0] >= self.below:
                return high, little, enough
            tried.append((most[0], high, most[1]))
            if high > LARGEST_RATE:
                for bound, rate, row in sorted(tried, reverse=True):
                    self._refuse_to_part((bound, row), self.way, [rate])
                raise UnprovenError(TOO_HIGH)
            low, (least, little), high = high, most, 4 * high
        total = most[0]
        for _ in range(MOST_RATES):  # where the tangents on both sides meet
            down, up = self.goal - self._gain(little, self.worth), self._gain(enough, self.worth) - self.goal
            cut = Fraction(float((total - least + down * low + up * high) / (down + up)))
            if not low < cut < high:
                break
            hoped, found = least + down * (cut - low), self._bound(box, cut)
            if found[0] >= self.below:
                return cut, found[1], found[1]
            if self._gain(found[1], self.worth) < self.goal:
                low, (least, little) = cut, found
            else:
                high, (total, enough) = cut, found
            if hoped - found[0] < self.below * AT_THE_TANGENTS:
                break
        return high, little, enough

    def _refuse_to_part(self, found: tuple[Fraction, list[Any]], way: list[Any], rates: list[Fraction]) -> None:
        """Raise an error if a bound would prove the claim, but for what floats miss of points of grids. No split ends that."""
        total, row = found
        misses = (goal.least - self._gain(row, self._worth(goal)) for goal in way)
        if total > 0 and self._cost(row) + sum(map(mul, rates, misses)) >= self.below:
            raise BesideError(float(total / self.below))

    def _bound(self, box: list[Any], rate: Fraction) -> Any:
        return self.walk.bound(box, self.way, [rate])

    def _gain(self, values: list[Any], worth: list[Fraction]) -> Fraction:
        return sum((term.gain(x, worth) for term, x in zip(self.walk.terms, values, strict=True)), Fraction(0))

    def _price(self, term: Any, value: Any) -> Fraction:
        if term.levels:
            return Fraction(0) if self.free else Fraction(term.column.price[value])
        stays = value == term.column.now and term.column.stay
        return Fraction(0) if stays else Fraction(term.column.paid(value, self.free))

    def _cost(self, values: list[Any]) -> Fraction:
        return sum((self._price(term, x) for term, x in zip(self.walk.terms, values, strict=True)), Fraction(0))

    def _reaching(self, low: list[Any], high: list[Any], j: int, share: Fraction) -> list[Any]:
        """The row on the way from one to the other that just reaches the goal; the last one if that is a point of no grid."""
        term = self.walk.terms[j]
        if term.levels or term.column.step or None in (low[j], high[j]):
            return high
        return [*high[:j], low[j] + share * (high[j] - low[j]), *low[j + 1 :]]

    def _move(self, low: list[Any], high: list[Any]) -> tuple[int, Fraction] | None:
        """The column whose move from one value to the other reaches the goal, and after which share of its way."""
        total = self._gain(low, self.worth)
        for j, (term, a, b) in enumerate(zip(self.walk.terms, low, high, strict=True)):
            gain = term.gain(b, self.worth) - term.gain(a, self.worth)
            if a != b and total + gain >= self.goal:
                return j, (self.goal - total) / gain
            total += gain
        return None

    def _place(self, term: Any, part: Any, a: Any, b: Any, share: Fraction) -> Any:
        """Between two values of a part of a column, after a share of the way from the first to the second."""
        if term.levels:
            return hex(1 << b)
        column, (_, _, stay, change) = term.column, part
        if stay and change and column.now in (a, b):
            return "stay"
        return self._cut(column, a + share * (b - a))

    def _cut(self, column: Any, at: Fraction) -> str:
        """A cut at a number, between two points of the grid."""
        if column.step:
            at = column.anchor + ((at - column.anchor) // column.step + Fraction(1, 2)) * column.step
        return float(at).hex()
