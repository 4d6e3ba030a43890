"""Branch and bound over the mean of several probabilities, each the logistic function of a weighted sum of its own."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from operator import mul
from typing import Any

import numpy as np

from butfor.arrays import FloatArray
from butfor.proof.checker import checker
from butfor.proof.curves import MUCH_BETTER, added, lines_above
from butfor.proof.rivals_prover import BoundPlane, RivalsProver, written

HALVED_MOVES = 30
"""So often a way is halved to find how far a number may move."""

SLOPES = 2**24
"""Lines above logistic functions are so many parts of 1 steep."""

MUCH_CLOSER = Fraction(3, 4)
"""Ends are much closer together if they are apart by at most this share of what they were."""

MOST_DOUBLINGS = 40
"""What a unit of a logit is taken to cost is a claim, doubled or halved so often at most, whatever brings its ends together."""


class SigmoidsProver(RivalsProver):
    """Proves one claim about a mean of logistic functions of weighted sums. The mean is one more goal, the last one.

    For rates r of the logits z and w of the mean m, no row of a box costs less than

    w m + r goals - the sum of the most that w share(z) - r z is over what z may be in the box + columns,

    which is concave in the rates. Planes above it say which are best. Where lines are too far above, a box is parted.
    """

    def prove(self) -> list[str]:
        walk = self.walk
        self.curves = walk.q.wanted.curves
        self.worths = [self._worth(goal) for goal in walk.open[-1][1][: walk.logits]]
        self.ask, walk.ends = walk.ends, _Ends(walk.ends)
        return super().prove()

    def _proven(self, box: list[Any], way: list[Any]) -> bool:
        """Whether what was said last proves the claim in a box."""
        found = self.walk.bound(box, way, self.walk.rates)
        return found is None or bool(found[0] >= self.below)

    def _bring_together(self, box: list[Any], way: list[Any]) -> bool:
        """Say what a unit of each logit is to be taken to cost, if that brings its ends in a box much closer together."""
        walk = self.walk
        said = walk.reach
        begun = best = self._wide(box, way, said)
        reach = said if any(said) else [self.below] * walk.logits
        for factor in (Fraction(2), Fraction(1, 2)):
            for _ in range(MOST_DOUBLINGS):
                tried = [one * factor for one in reach]
                wide = self._wide(box, way, tried)
                if any(said) and wide >= best:
                    break
                if wide < best:
                    best, reach = wide, tried
        walk.reach = said
        closer = best < begun * MUCH_CLOSER
        if closer:
            self._say(reach=written(reach))
            walk.ends.forget()
        return bool(closer)

    def _wide(self, box: list[Any], way: list[Any], reach: list[Fraction]) -> Fraction:
        """How far the ends of logits are apart, in all."""
        self.walk.reach = reach
        return sum((high - low for low, high in self.ask(box, way)), Fraction(0))

    def _hopeless(self, hoped: float) -> bool:
        return hoped < 1

    def _best_planes(self, box: list[Any], way: list[Any]) -> tuple[list[BoundPlane], FloatArray] | None:
        """The best rates of the mean and of what is kept besides, for lines above the logistic functions in a box."""
        if self._proven(box, way) or (not self.free and self._bring_together(box, way) and self._proven(box, way)):
            return None
        best = -np.inf
        self.ends = [[end * checker().GRAIN for end in ends] for ends in self.walk.ends(box, way)]
        at = np.array(self.ends, dtype=np.float64).mean(axis=1)
        while True:
            self._straighten(at)
            mixed = super()._best_planes(box, way)
            if mixed is None:
                return None
            planes, share = mixed
            best, before = max(float(plane.total / self.below) for plane in planes), best
            if best <= before + (1 - before) * MUCH_BETTER:  # equal, where all but the last digit is proven
                return mixed
            misses = [[float(x) for x in self._missing(way, plane.row)[: self.walk.logits]] for plane in planes]
            at = -(share @ np.array(misses))

    def _straighten(self, at: FloatArray) -> None:
        """Lines above the logistic functions in the box, as tight as possible at some logits."""
        low, high = np.array(self.ends, dtype=np.float64).T
        slopes = lines_above(self.curves, low, high, at).slopes.tolist()
        self.slopes = [
            curve.weight if curve.straight else Fraction(round(slope * SLOPES), SLOPES)
            for curve, slope in zip(self.curves, slopes, strict=True)
        ]
        grain, each = checker().GRAIN, zip(self.curves, self.slopes, self.ends, strict=True)
        above = (
            curve.above(Fraction(1), slope * grain, 0, *(x / grain for x in its), grain) for curve, slope, its in each
        )
        self.shift = self.walk.mean[0] - sum(above)

    def _directions(self, way: list[Any]) -> list[list[Fraction]]:
        each, count = super()._directions(way), self.walk.logits
        return [*each[count:], [sum(map(mul, self.slopes, worth)) for worth in zip(*each[:count], strict=True)]]

    def _begun(self, way: list[Any]) -> list[Fraction]:
        return list(self.walk.rates[self.walk.logits :])

    def _every(self, rates: list[Fraction]) -> list[Fraction]:
        return [*[rates[-1] * slope for slope in self.slopes], *rates]

    def _slope(self, way: list[Any], row: list[Any]) -> list[Fraction]:
        missing, count = self._missing(way, row), self.walk.logits
        return [*missing[count:], self.shift + sum(map(mul, self.slopes, missing))]

    def _parting(self, box: list[Any], mixed: Sequence[dict[Any, float]]) -> tuple[float, list[Any]]:
        """As for others. But instead of a column of any numbers, the one that moves the logits most is parted, in the middle."""
        much, found = super()._parting(box, mixed)
        if found and (self.walk.terms[found[0]].levels or self.walk.terms[found[0]].column.step):
            return much, found
        return much, self._widest(box) or found or self._around(box, [next(iter(shares)) for shares in mixed])

    def _around(self, box: list[Any], row: list[Any]) -> list[Any]:
        """Where to part a box that holds more than a row: what costs too much still makes its lines too high."""
        for j, (term, part, value) in enumerate(zip(self.walk.terms, box, row, strict=True)):
            if term.levels:
                if part & ~(1 << value):
                    return [j, hex(1 << value)]
                continue
            _, _, stay, change = part
            if stay and change:
                return [j, "stay"]
        return []

    def _widest(self, box: list[Any]) -> list[Any]:
        """Where to part the column that moves the logits most, as far as it may move below the claim."""
        best, found, nothing = 0.0, list[Any](), [Fraction(0)] * self.sums
        each = [term.least(part, nothing, self.free) for term, part in zip(self.walk.terms, box, strict=True)]
        least = [min(value[0] for value in its if value) for its in each]
        for j, (term, part) in enumerate(zip(self.walk.terms, box, strict=True)):
            values = self._affordable(term, part, self.below - sum(least) + least[j])
            gains = [float(sum(term.gain(x, worth) for worth in self.worths)) for x in values]
            wide = max(gains, default=0.0) - min(gains, default=0.0)
            if wide > best:
                ends = values[gains.index(min(gains))], values[gains.index(max(gains))]
                best, found = wide, [j, hex(1 << ends[1]) if term.levels else self._cut(term.column, sum(ends) / 2)]
        return found

    def _affordable(self, term: Any, part: Any, most: Fraction) -> list[Any]:
        """The values of a part of a column that cost less than so much: all levels, or the first and the last number."""
        if term.levels:
            return [k for k in range(len(term.adds)) if part >> k & 1 and self._price(term, k) < most]
        (low, high), now, (_, _, stay, change) = term.ends(part), term.column.now, part
        if now is None or not change or low > high:
            return [now] if stay else []
        near = min(max(now, low), high)
        return [self._farthest(term, near, Fraction(end), most) for end in (low, high)]

    def _farthest(self, term: Any, near: Fraction, end: Fraction, most: Fraction) -> Fraction:
        """How far a number may move towards an end, about, to cost less than so much."""
        low, high = Fraction(0), Fraction(1)
        if self._price(term, end) < most:
            return end
        for _ in range(HALVED_MOVES):
            middle = (low + high) / 2
            low, high = (middle, high) if self._price(term, near + middle * (end - near)) < most else (low, middle)
        return near + low * (end - near)

    def _reached(self, way: list[Any], row: list[Any]) -> bool:
        missing, count = self._missing(way, row), self.walk.logits
        said = sum(added(curve, -float(short)) for curve, short in zip(self.curves, missing[:count], strict=True))
        return said >= self.walk.mean[0] and max(missing[count:], default=Fraction(0)) <= 0


class _Ends:
    """The ends of logits in the box that was asked for last: for one box they are needed for all rates."""

    def __init__(self, ask: Any) -> None:
        self.ask, self.box, self.ends = ask, list[Any](), list[list[Fraction]]()

    def __call__(self, box: list[Any], way: list[Any]) -> list[list[Fraction]]:
        if box is not self.box:
            self.box, self.ends = box, [*self.ask(box, way)]
        return self.ends

    def forget(self) -> None:
        """Ask again, because another thing was said."""
        self.box = []
