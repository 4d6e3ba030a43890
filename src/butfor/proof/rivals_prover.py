"""Branch and bound over weighted sums of several classes: a rate for each rival, by cutting planes."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from operator import mul
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import nnls

from butfor.arrays import FloatArray
from butfor.proof.failing import BesideError, CheaperError, UnprovenError
from butfor.proof.linear_prover import LinearProver
from butfor.proof.planes import NEAR_THE_PLANES, TAKES_PART, HighestPoint, highest

MOST_MIXTURES = 80
"""So many rates are tried in a box."""

BETWEEN_BENT = 3
"""Of so many rates that are tried, one is where prices bend, if they do."""


class BoundPlane(NamedTuple):
    """A plane above the bound, as a function of the rates: what it is at some, how it rises, and the row that it comes from."""

    rates: list[Fraction]
    total: Fraction
    slope: list[Fraction]
    row: list[Any]


class RivalsProver(LinearProver):
    """Proves one claim about weighted sums of which one must exceed several.

    For rates r >= 0, no row costs less than r goals + sum over columns min (price - r gains), which is concave in r.
    Each row that attains a bound gives a plane above it, and where the planes are highest is a linear program: Kelley,
    The Cutting-Plane Method, SIAM 8, 1960. Its multipliers mix the rows. Where the mixture is no row, the box is parted.
    """

    sharing = 0
    """So many of the rates, the last ones, are shares of what columns reach."""

    def _box(self, box: list[Any], way: list[Any]) -> None:
        """End a box, or part it."""
        found = self._best_planes(box, way)
        if found is None:
            self._say(end="dual")
            return
        planes, share = found
        rows = [(plane.row, part) for plane, part in zip(planes, share.tolist(), strict=True) if part > TAKES_PART]
        broken = [part for row, _ in sorted(rows, key=lambda own: -own[1]) if (part := self._broken(box, row))]
        parting = broken[0] if broken else self._parting(box, _mixed(rows))[1]
        if not parting:
            row, _ = max(rows, key=lambda own: own[1])
            if self._cost(row) < self.below:
                raise CheaperError(row)
            best = max(plane.total for plane in planes)
            if best > 0 and any(not term.levels and term.column.blur for term in self.walk.terms):
                raise BesideError(float(best / self.below))
            raise UnprovenError  # it reaches the goals by the linear program's digits: too bold by what sums are in doubt
        self._say(split=parting)

    def _refute(self, box: list[Any], way: list[Any], row: list[Any]) -> None:
        """Raise an error if a row refutes the claim."""
        if self._cost(row) < self.below and self._reached(way, row) and not self._broken(box, row):
            raise CheaperError(row)

    def _hopeless(self, hoped: float) -> bool:
        """Whether a box is to be parted before its best rates are known, because no rates prove more than is hoped, in claims."""
        return False

    def _broken(self, box: list[Any], row: list[Any]) -> list[Any]:
        """Where to part a box because a row breaks a rule: where the first part of it that is not decided begins or ends."""
        terms = self.walk.terms
        for rule in self.walk.rules:
            rest = [terms[j].without(box[j], its) for j, its in rule]
            met = [
                left != box[j] and terms[j].column.lies(row[j], its) for left, (j, its) in zip(rest, rule, strict=True)
            ]
            if all(met):
                j, its = next(part for left, part in zip(rest, rule, strict=True) if left)
                return [j, hex(its) if terms[j].levels else float(next(x for x in its if abs(x) < np.inf)).hex()]
        return []

    def _best_planes(self, box: list[Any], way: list[Any]) -> tuple[list[BoundPlane], FloatArray] | None:
        """The planes, and the share of each in the best mixture; None if the rates that were said last prove the claim."""
        planes, rates, best = list[BoundPlane](), self._begun(way), -np.inf
        share = np.ones(1)
        while len(planes) < MOST_MIXTURES:
            if self.budget.spent():
                raise UnprovenError
            every = self._every(rates)
            found = self.walk.bound(box, way, every)
            if found is None or found[0] >= self.below:
                if found is not None and every != self.walk.rates:
                    self._say(rate=written(every))
                return None
            total, row = found
            slope = self._slope(way, row)
            self._refute(box, way, row)
            planes.append(BoundPlane(rates, total, slope, row))
            best = max(best, float(total / self.below))
            wanted, hoped, share = self._highest(planes)
            bent = None if len(planes) % BETWEEN_BENT else self._where_prices_bend(way, planes, share)
            rates = [Fraction(x) for x in (wanted if bent is None else bent).tolist()]
            if hoped - best < NEAR_THE_PLANES or self._hopeless(hoped):
                break
        highest_one = int(np.argmax([float(plane.total) for plane in planes]))
        return planes, share if share.max() > TAKES_PART else np.eye(len(planes))[highest_one]

    def _where_prices_bend(self, way: list[Any], planes: list[BoundPlane], share: FloatArray) -> FloatArray | None:
        """The rates at which the mean of a mixture is cheapest: there, a price rises as fast as gains are worth.

        Planes alone would be many, because the bound bends with the prices.
        """
        slopes, rises, directions = list[list[float]](), list[float](), self._directions(way)
        for j, term in enumerate(self.walk.terms):
            column = term.column
            if bends(term) and all(plane.row[j] is not None for plane in planes):
                mean = float(
                    sum(part * float(plane.row[j]) for plane, part in zip(planes, share.tolist(), strict=True))
                )
                move = mean - float(column.start)
                if column.low < mean < column.high:
                    rises.append(float(column.rate) * np.sign(move) + 2 * float(column.square) * move)
                    slopes.append([float(sum(map(mul, each, term.slope))) for each in directions])
        if not rises:
            return None
        scale = 1 / np.maximum(np.abs(slopes).max(axis=0), 1e-300)
        try:
            return np.asarray(nnls(np.array(slopes) * scale, np.array(rises))[0] * scale)
        except RuntimeError:  # it did not come to an end
            return None

    def _directions(self, way: list[Any]) -> list[list[Fraction]]:
        """For each rate that is looked for, what a unit of each sum is worth."""
        return list(map(self._worth, way))

    def _missing(self, way: list[Any], row: list[Any]) -> list[Fraction]:
        """By how much a row misses each goal."""
        return [goal.least - self._gain(row, self._worth(goal)) for goal in way]

    def _reached(self, way: list[Any], row: list[Any]) -> bool:
        """Whether a row reaches all goals."""
        return max(self._missing(way, row)) <= 0

    def _begun(self, way: list[Any]) -> list[Fraction]:
        """The rates that are tried first."""
        return list(self.walk.rates[: len(way)])

    def _every(self, rates: list[Fraction]) -> list[Fraction]:
        """All rates that are said, if those that are looked for are some of them."""
        return [*rates, *[Fraction(0)] * (len(self.walk.rates) - len(rates))]

    def _slope(self, way: list[Any], row: list[Any]) -> list[Fraction]:
        """How the bound rises with each rate that is looked for, where a row attains it."""
        return self._missing(way, row)

    def _highest(self, planes: Sequence[BoundPlane]) -> HighestPoint:
        """Where the planes are highest."""
        slope = np.array([[float(x / self.below) for x in plane.slope] for plane in planes])
        at = [sum((s * r for s, r in zip(plane.slope, plane.rates, strict=True)), Fraction(0)) for plane in planes]
        start = np.array([float((plane.total - own) / self.below) for plane, own in zip(planes, at, strict=True)])
        found = highest(start, slope, self.sharing)
        if found is None:
            raise UnprovenError
        return found

    def _parting(self, box: list[Any], mixed: Sequence[dict[Any, float]]) -> tuple[float, list[Any]]:
        """Where to part a box so that a mixture lies in neither part: the column in which it is least like a row, and how much.

        `mixed`: of each column, the shares of its values. Nothing is parted if the mixture is one row.
        """
        best, found = 0.0, list[Any]()
        for j, (term, shares) in enumerate(zip(self.walk.terms, mixed, strict=True)):
            if len(shares) > 1:
                much = self._unlike(term, shares)
                if not found or much > best:
                    best, found = much, [j, self._middle(term, box[j], shares)]
        return best, found

    def _unlike(self, term: Any, shares: dict[Any, float]) -> float:
        """How much a mixture of values is unlike one of them: in shares, or in claims that it costs too little."""
        moved = sum(share for value, share in shares.items() if value != term.column.now)
        if term.levels or None in shares:
            return 1.0 - max(shares.values())
        mean = _mean(shares)
        mixed = sum(share * float(self._mixing_price(term, value)) for value, share in shares.items())
        gap = float(self._mixing_price(term, mean)) - mixed
        if term.column.step:
            off = (mean - term.column.anchor) / term.column.step
            gap += float(self.below * abs(off - round(off)))
        return gap / float(self.below) + (min(moved, 1.0 - moved) if self.walk.q.counted else 0.0)

    def _mixing_price(self, term: Any, value: Any) -> Fraction:
        """What a value costs, as far as a mixture of values may cost less."""
        return self._price(term, value)

    def _middle(self, term: Any, part: Any, shares: dict[Any, float]) -> Any:
        """Between the values of a mixture."""
        if None in shares:
            return "stay"
        values = sorted(shares)
        if term.levels:
            return hex(1 << max(values, key=shares.__getitem__))
        low, high = values[0], values[-1]
        return self._place(term, part, low, high, (_mean(shares) - low) / (high - low))


def _mixed(rows: list[tuple[list[Any], float]]) -> list[dict[Any, float]]:
    """Of each column, the shares of its values in a mixture of rows."""
    mixed: list[dict[Any, float]] = [{} for _ in rows[0][0]]
    for row, share in rows:
        for own, value in zip(mixed, row, strict=True):
            own[value] = own.get(value, 0.0) + share
    return mixed


def bends(term: Any) -> bool:
    """Whether the price of any number of a column rises faster with its distance."""
    return not term.levels and term.column.square > 0 and not term.column.step


def _mean(shares: dict[Any, float]) -> Fraction:
    """The mean of values by their shares."""
    total = sum((Fraction(share) * value for value, share in shares.items()), Fraction(0))
    return total / Fraction(sum(shares.values()))


def written(rates: list[Fraction]) -> list[int]:
    """Rates as whole numbers over a power of two, which comes last."""
    shift = max(rate.denominator.bit_length() - 1 for rate in rates)
    return [*[int(rate * (1 << shift)) for rate in rates], shift]
