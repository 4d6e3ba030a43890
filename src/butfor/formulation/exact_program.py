"""Small linear programs in exact arithmetic: numbers between ends, near what is wished, whose sums lie between ends.

Fractions and Bland's rule: no tolerance, and it ends. The method is the dual simplex method.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

End = tuple[int, int]
"""An end of a number: which number, and -1 for its lower or 1 for its upper end."""


@dataclass(frozen=True)
class Summand:
    """A number from `low` to `high`. It costs `price` per unit by which it is away from `wish`."""

    low: Fraction
    high: Fraction
    wish: Fraction
    price: Fraction


@dataclass(frozen=True)
class SumRow:
    """The sum of weighted numbers lies between two ends (None: there is no end).

    `rests_on` is what these ends follow from. It clashes where the sum does.
    """

    weights: Mapping[int, Fraction]
    low: Fraction | None
    high: Fraction | None
    rests_on: frozenset[End] = frozenset()


@dataclass(frozen=True)
class Clash:
    """These ends of numbers, and the sums, leave no point."""

    ends: frozenset[End]


def cheapest(numbers: Mapping[int, Summand], sums: Sequence[SumRow]) -> dict[int, Fraction] | Clash:
    """The cheapest numbers, or why there are none.

    A number is its wish, plus a rise, minus a fall. Both are at least 0 and cost the same, so that the wishes are the
    cheapest point, whose broken rows are mended one after the other.
    """
    place, width = {j: 2 * k for k, j in enumerate(numbers)}, 2 * len(numbers)
    labels = list[frozenset[End]]()
    constant, rows = list[Fraction](), list[list[Fraction]]()

    def add(weights: Mapping[int, Fraction], sign: int, end: Fraction, label: frozenset[End]) -> None:
        """A row: the sum lies above an end, or below it."""
        at_wish = sum((weight * numbers[j].wish for j, weight in weights.items()), Fraction(0))
        row = [Fraction(0)] * width
        for j, weight in weights.items():
            row[place[j]], row[place[j] + 1] = sign * weight, -sign * weight
        labels.append(label)
        constant.append(sign * (at_wish - end))
        rows.append(row)

    for j, number in numbers.items():
        add({j: Fraction(1)}, 1, number.low, frozenset({(j, -1)}))
        add({j: Fraction(1)}, -1, number.high, frozenset({(j, 1)}))
    for one in sums:
        if one.low is not None:
            add(one.weights, 1, one.low, one.rests_on)
        if one.high is not None:
            add(one.weights, -1, one.high, one.rests_on)
    cost = [number.price for number in numbers.values() for _ in ("rise", "fall")]
    dictionary = _Dictionary(constant, rows, cost, [*range(width)], [*range(width, width + len(rows))])
    clash = dictionary.mend()
    if clash is not None:
        return Clash(frozenset().union(*(labels[variable - width] for variable in clash if variable >= width)))
    ways, zero = dict(zip(dictionary.basic, dictionary.constant, strict=True)), Fraction(0)
    return {j: n.wish + ways.get(place[j], zero) - ways.get(place[j] + 1, zero) for j, n in numbers.items()}


@dataclass(eq=False)
class _Dictionary:
    """Basic variables as constants plus sums of the others, which are 0. All variables must be at least 0.

    - `constant`, `rows`: of each basic variable;
    - `cost`: of each other variable; never negative;
    - `others`, `basic`: which variables they are.
    """

    constant: list[Fraction]
    rows: list[list[Fraction]]
    cost: list[Fraction]
    others: list[int]
    basic: list[int]

    def mend(self) -> set[int] | None:
        """Make all variables at least 0, as cheaply as possible. If that is impossible: the variables that clash."""
        while True:
            broken = [(variable, r) for r, variable in enumerate(self.basic) if self.constant[r] < 0]
            if not broken:
                return None
            row = min(broken)[1]
            helps = [(self.cost[e] / a, self.others[e], e) for e, a in enumerate(self.rows[row]) if a > 0]
            if not helps:
                return {self.basic[row], *(self.others[e] for e, a in enumerate(self.rows[row]) if a)}
            self._exchange(row, min(helps)[2])

    def _exchange(self, row: int, column: int) -> None:
        """A basic variable becomes 0, and another takes its place."""
        pivot = self.rows[row][column]
        told = [-a / pivot for a in self.rows[row]]
        told[column], start = 1 / pivot, -self.constant[row] / pivot
        self.rows[row], self.constant[row] = told, start
        for r, line in enumerate(self.rows):
            if r != row and line[column]:
                self.constant[r] += line[column] * start
                self.rows[r] = _replaced(line, told, column)
        self.cost = _replaced(self.cost, told, column)
        self.basic[row], self.others[column] = self.others[column], self.basic[row]


def _replaced(line: list[Fraction], told: list[Fraction], column: int) -> list[Fraction]:
    """A sum of variables, after one of them was replaced by what is told of it."""
    weight = line[column]
    new = [a + weight * b if b else a for a, b in zip(line, told, strict=True)]
    new[column] = weight * told[column]
    return new
