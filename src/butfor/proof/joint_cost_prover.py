"""Branch and bound over weighted sums, where a largest reach, or a quadratic form, is added to the prices of columns."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from operator import mul
from typing import Any, NamedTuple

import numpy as np

from butfor.arrays import FloatArray
from butfor.proof.box_form import Slopes, least_changes
from butfor.proof.failing import UnprovenError
from butfor.proof.model_files import hexes
from butfor.proof.planes import NEAR_THE_PLANES
from butfor.proof.reached import LEFT_OF_SHARES
from butfor.proof.rivals_prover import MOST_MIXTURES, BoundPlane, RivalsProver, written
from butfor.solvers.solver import Budget

MOST_TANGENTS_OF_A_FORM = 25
"""So many tangents of a form are tried in a box."""

NEAR_ENOUGH = 0.01
"""Rates that do not prove the claim need not be better than this share of what is missing."""

WORTH_A_TANGENT, IDLE_TANGENTS = 1e-3, 2
"""A tangent is idle if it proves more by less than this share of what is missing. After so many in a row no other is tried."""

SMALLEST_RATE, LARGEST_RATE_TRIED = 2.0**-900, 2.0**900
"""Between these the rate of a goal is looked for."""

RATE_HALVINGS = 50
"""In so many steps the rate is found at which the changes just gain what is wanted."""


class Tilt(NamedTuple):
    """What is added to prices: rates of goals and limits, shares of what columns reach, and the changes of a tangent."""

    rates: list[Fraction]
    shares: list[Fraction]
    tangent: list[Fraction]


class MixedRow(NamedTuple):
    """A mixture of rows: what its prices and reaches cost without the form, and its changes in the columns of the form."""

    paid: float
    changes: FloatArray


class JointCostProver(RivalsProver):
    """Proves one claim about weighted sums at a cost that columns share.

    The largest reach is at least a mean of reaches by any shares of 1, and a form lies above its tangents. So with shares w and
    changes y, no row costs less than

        r goals - y' Q y + sum over columns min (price + w reach + 2 (Q y)_j change - r gain),

    which is concave in r, w and y. Where planes are highest over r and w is a linear program. A tangent at the mixture of its
    rows is the next one: Frank and Wolfe, An Algorithm for Quadratic Programming, 1956.
    """

    def __init__(self, question: Any, budget: Budget, answer: FloatArray | None) -> None:
        super().__init__(question, budget)
        self.sharing = len(self.walk.terms) if question.reaching and not self.free else 0
        self.form = None if self.free else question.form
        self.said = self.tilt = Tilt([], self.walk.share, [])
        if self.form:
            self.q = np.array(self.form.q, dtype=np.float64)
            self.said = self.tilt = self.tilt._replace(tangent=[Fraction(0)] * len(self.form.at))
            if answer is not None:  # the first tangent is there
                self.tilt = self.tilt._replace(tangent=self._changes(answer.tolist()))

    def _added(self, row: list[Any]) -> Fraction:
        """What the prices of a row add up to."""
        return super()._cost(row)

    def _cost(self, values: list[Any]) -> Fraction:
        shared = (max(self._reaches(values)) if self.sharing else 0) + (self.form.of(values) if self.form else 0)
        return self._added(values) + shared

    def _reaches(self, row: list[Any]) -> list[Fraction]:
        """What the value of each column reaches."""
        return [term.column.reached(x) for term, x in zip(self.walk.terms, row, strict=True)]

    def _changes(self, values: Sequence[Any]) -> list[Fraction]:
        assert self.form is not None
        return [Fraction(values[j]) - start for j, start in zip(self.form.at, self.form.start, strict=True)]

    def _best_planes(self, box: list[Any], way: list[Any]) -> tuple[list[BoundPlane], FloatArray] | None:
        """The planes, and the share of each in the best mixture; None if the claim is proven."""
        rows, mixed, best, idle = list[list[Any]](), None, -np.inf, 0
        alone = len(way) == 1 and not self.sharing and not self.walk.q.counted
        self.tilt = self.tilt._replace(rates=self._begun(way))
        for _ in range(MOST_TANGENTS_OF_A_FORM):
            if self.budget.spent():
                raise UnprovenError
            if self._one_rate(box, way, rows) if alone else self._mixture(box, way, rows):
                return None
            planes = self._planes(way, rows)
            hoped, share = self._highest(planes)[1:]
            self._refute(box, way, self._mean(rows, share))
            idle = 0 if best == -np.inf or hoped - best > WORTH_A_TANGENT * (1 - best) else idle + 1
            if hoped > best:
                found, best = (planes, share, self.tilt), hoped
            if not self.form or idle > (0 if alone else IDLE_TANGENTS):
                break
            if alone:
                changes, row = self._balanced(box, way)
                for j, start, x in zip(self.form.at, self.form.start, changes.tolist(), strict=True):
                    row[j] = start + Fraction(x) if not self.walk.terms[j].column.step else row[j]
                self._refute(box, way, row)
            else:
                mixed = self._between(mixed, rows, share)
                changes = mixed.changes
            self.tilt = self.tilt._replace(tangent=list(map(Fraction, changes.tolist())))
        planes, share, self.tilt = found
        return planes, share

    def _balanced(self, box: list[Any], way: list[Any]) -> tuple[FloatArray, list[Any]]:
        """The changes of the form's columns that are best at the rate at which all columns just gain what is wanted.

        Returns them with the values of the columns beside the form.
        """
        assert self.form is not None
        (goal,), at, start = way, self.form.at, self.form.start
        worth, terms = self._worth(goal), self.walk.terms
        gain = np.array([sum(map(mul, terms[j].slope, worth)) for j in at], dtype=np.float64)
        slopes = Slopes(*np.array([self._slopes(j, box[j]) for j in at]).T)
        base = sum((terms[j].gain(x, worth) for j, x in zip(at, start, strict=True)), Fraction(0))

        def best(rate: float, begun: FloatArray) -> tuple[float, FloatArray, list[Any]]:
            found = slopes._replace(up=slopes.up - rate * gain, down=slopes.down - rate * gain)
            changes, row = least_changes(self.q, found, begun), list(start)
            if len(at) < len(terms):  # else no column is beside the form
                _, row = self.walk.bound(box, way, [Fraction(rate)])
            rest = sum((terms[j].gain(x, worth) for j, x in enumerate(row) if j not in at), base - goal.least)
            return float(rest) + float(gain @ changes), changes, row

        low, high, none = 0.0, max(float(self.tilt.rates[0]), SMALLEST_RATE), np.zeros(len(at))
        little, enough = best(low, none), best(high, none)
        while enough[0] < 0 and high < LARGEST_RATE_TRIED:
            low, little, high = high, enough, 4 * high
            enough = best(high, enough[1])
        for _ in range(RATE_HALVINGS):
            found = best((low + high) / 2, enough[1])
            if found[0] < 0:
                low, little = (low + high) / 2, found
            else:
                high, enough = (low + high) / 2, found
        share = little[0] / (little[0] - enough[0]) if little[0] < 0 <= enough[0] else 1.0
        return little[1] + share * (enough[1] - little[1]), list(enough[2])

    def _parting(self, box: list[Any], mixed: Sequence[dict[Any, float]]) -> tuple[float, list[Any]]:
        """Columns of the form are mixed as the changes of the tangent say: many mixtures have the same bound at it."""
        mixed = list(mixed)
        for j, y in zip(self.form.at if self.form else (), self.tilt.tangent, strict=True):
            mixed[j] = self._shares(j, box[j], y)
        return super()._parting(box, mixed)

    def _shares(self, j: int, part: Any, y: Fraction) -> dict[Any, float]:
        """The shares of the values of which a change is a mixture: of staying and of the end, or of two points of a grid."""
        column, (_, _, low, high), (_, _, stay, change) = self.walk.terms[j].column, self._slopes(j, part), part
        y = min(max(y, Fraction(low)), Fraction(high))  # the tangent may be that of a larger box
        value, end = column.start + y, high if y > 0 else low
        stuck = column.fee or self.walk.q.counted
        if stay and change and stuck and y and 0 < float(y) / end < 1:
            return {column.now: 1 - float(y) / end, column.start + Fraction(end): float(y) / end}
        if column.step and (off := float((value - column.anchor) / column.step % 1)) > 0:
            below = column.anchor + (value - column.anchor) // column.step * column.step
            return {below: 1 - off, below + column.step: off}
        return {value: 1.0}

    def _slopes(self, j: int, part: Any) -> tuple[float, float, float, float]:
        """What a unit of change costs up and down, a fee spread over the longest way, and between which ends changes lie."""
        term = self.walk.terms[j]
        column, (low, high) = term.column.dearer(self.tilt.shares[j]), term.ends(part)
        _, _, stay, change = part
        low, high = (low - column.start, high - column.start) if change and low <= high else (Fraction(0), Fraction(0))
        if stay:
            low, high = min(low, Fraction(0)), max(high, Fraction(0))
        up, down = (column.rate + (column.fee / abs(end) if stay and end else 0) for end in (high, low))
        return float(up), -float(down), float(low), float(high)

    def _mixture(self, box: list[Any], way: list[Any], rows: list[list[Any]]) -> bool:
        """Find the rows whose mixture is best at a tangent, behind others. Returns whether the claim is proven."""
        best, most = -np.inf, len(rows) + MOST_MIXTURES
        while True:
            if self.budget.spent():
                raise UnprovenError
            total, row = self._at(box, way)
            if total >= self.below:
                self._say_tilt(row)
                return True
            self._refute(box, way, row)
            rows.append(row)
            best = max(best, float(total / self.below))
            wanted, hoped, _ = self._highest(self._planes(way, rows))
            if hoped - best < max(NEAR_THE_PLANES, NEAR_ENOUGH * (1 - hoped)) or len(rows) == most:
                return False
            rates, shares = wanted[: len(way)], wanted[len(way) :]
            shares = shares * LEFT_OF_SHARES / max(shares.sum(), 1.0)
            self.tilt = self.tilt._replace(rates=list(map(Fraction, rates.tolist())))
            if self.sharing:
                self.tilt = self.tilt._replace(shares=list(map(Fraction, shares.tolist())))

    def _at(self, box: list[Any], way: list[Any]) -> tuple[Fraction, Any]:
        """The bound, and the row that attains it; None in its place if nobody is in the box."""
        self.walk.share = self.tilt.shares
        self.walk.tangent = self.form.tangent(self.tilt.tangent) if self.form else ({}, Fraction(0))
        found = self.walk.bound(box, way, self._every(self.tilt.rates))
        return (self.below, None) if found is None else found

    def _say_tilt(self, row: Any) -> None:
        """Say what proves the claim, as far as it is another than what was said last. If nobody is in the box, nothing does."""
        if row is None:
            return
        wish, every = self.tilt, self._every(self.tilt.rates)
        if wish.shares != self.said.shares:
            self._say(share=hexes(map(float, wish.shares)))
        if wish.tangent != self.said.tangent:
            self._say(tangent=hexes(map(float, wish.tangent)))
        if every != self.walk.rates:
            self._say(rate=written(every))
        self.said = wish

    def _planes(self, way: list[Any], rows: list[list[Any]]) -> list[BoundPlane]:
        """What rows make of the bound at the tangent, as a function of rates and shares."""
        slopes, back = self.form.tangent(self.tilt.tangent) if self.form else ({}, Fraction(0))
        found = list[BoundPlane]()
        for row in rows:
            start = self._added(row) + sum((x * row[j] for j, x in slopes.items()), Fraction(0)) - back
            slope = self._missing(way, row) + (self._reaches(row) if self.sharing else [])
            found.append(BoundPlane([Fraction(0)] * len(slope), start, slope, row))
        return found

    def _one_rate(self, box: list[Any], way: list[Any], rows: list[list[Any]]) -> bool:
        """Find the best rate at a tangent, of one goal, and the rows on both sides of it. Returns whether the claim is proven."""
        self.way, (goal,) = way, way
        self.goal, self.worth = goal.least, self._worth(goal)
        self._at(box, way)
        rate, *found = self._best_rate(box)
        rate *= (
            2 if self.free else 1
        )  # where nothing has a price, the bound grows with the rate, and this leaves room to round
        self.tilt = self.tilt._replace(rates=[rate])
        total, row = self._at(box, way)
        if total >= self.below:
            self._say_tilt(row)
            return True
        for each in found:
            self._refute(box, way, each)
        rows += found
        return False

    def _mean(self, rows: list[list[Any]], share: FloatArray) -> list[Any]:
        """The mean of a mixture in numbers of any digits, and else the row with the largest share."""
        mean = list(rows[int(np.argmax(share))])
        parts = [Fraction(x) for x in (share / share.sum()).tolist()]
        for j, term in enumerate(self.walk.terms):
            if not term.levels and not term.column.step and None not in [row[j] for row in rows]:
                mean[j] = sum((x * row[j] for x, row in zip(parts, rows, strict=True)), Fraction(0)) / sum(parts)
        return mean

    def _between(self, mixed: MixedRow | None, rows: list[list[Any]], share: FloatArray) -> MixedRow:
        """The cheapest mixture on the way from one to the best one at its tangent."""
        share = share / share.sum()
        paid = share @ [float(self._paid(row)) for row in rows]
        found = MixedRow(float(paid), share @ np.array([self._changes(row) for row in rows], dtype=np.float64))
        if mixed is None:
            return found
        way = found.changes - mixed.changes
        rise, bend = found.paid - mixed.paid + 2 * float(mixed.changes @ self.q @ way), float(way @ self.q @ way)
        step = min(max(-rise / (2 * bend), 0.0), 1.0) if bend > 0 else 1.0
        return MixedRow(mixed.paid + step * (found.paid - mixed.paid), mixed.changes + step * way)

    def _paid(self, row: list[Any]) -> Fraction:
        """What a row pays, without the form, at the shares."""
        reached = sum((w * x for w, x in zip(self.tilt.shares, self._reaches(row), strict=True)), Fraction(0))
        return self._added(row) + reached
