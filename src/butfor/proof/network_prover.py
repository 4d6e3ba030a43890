"""Branch and bound over the units of a network, and over its columns: the lines of each box come from a linear program."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from butfor.arrays import FloatArray
from butfor.model.network import Layer
from butfor.neighbours.networks.joint import layers_side_by_side
from butfor.proof.checker import checker
from butfor.proof.failing import CheaperError, UnprovenError
from butfor.proof.rivals_prover import RivalsProver, written
from butfor.proof.unit_program import Relaxed, UnitProgram, WaysOut

TOO_NEAR = 1e-10
"""A unit, or a column, is taken as it is if the program errs there by less than this share of the claim."""

PROGRAM_OFF = 1e-6
"""By so many claims a linear program may be off. Where it says that less is proven, multipliers are not tried in fractions."""

Sides = dict[int, int]
"""The units of a box that are on one side of 0, and on which: 1 or -1."""

Part = tuple[list[Any], list[Any], Sides]
"""A part of each column, the goals, and the sides of units."""


class NetworkProver(RivalsProver):
    """Proves one claim about a network of ReLU.

    In a box, some units are on one side of 0. What others pass on lies between lines, so the cheapest row is that of a linear
    program. Its multipliers are the rates of the checker, and say which lines. Where a unit is least like its lines, the box
    is parted by its side: Bunel et al., Branch and Bound for Piecewise Linear Neural Network Verification, JMLR 21, 2020.
    """

    def _next(self) -> None:
        part = box, way, sides = self.walk.open[-1]
        units = self.walk.reached(box, sides)
        if units is None:
            self._end()
            return
        relaxed = self._relaxed(part, units)
        if relaxed.total > (not self.free) - PROGRAM_OFF and self._ended(part, relaxed, units):
            return
        mixed = self._mixed(box, relaxed.share)
        row = [self._value(term, shares) for term, shares in zip(self.walk.terms, mixed, strict=True)]
        broken = self._broken(box, row)
        changes = sum(value != term.column.now for term, value in zip(self.walk.terms, row, strict=True))
        if self._cost(row) < self.below and self._reached(way, row) and not broken and changes <= self.walk.q.limit:
            raise CheaperError(row)
        unit, far = int(np.argmax(relaxed.off)), int(np.argmax(relaxed.apart))
        much, parting = self._parting(box, mixed)
        if broken or much > max(relaxed.off[unit], TOO_NEAR):
            self._say(split=broken or parting)
        elif relaxed.off[unit] > TOO_NEAR:
            self._say(unit=unit)
        elif relaxed.apart[far] > TOO_NEAR:  # what is wanted costs nothing more there: the rest decides
            self._say(unit=far)
        else:  # it reaches the goals within the digits of the linear program
            raise CheaperError(row) if self._cost(row) < self.below else UnprovenError

    def _end(self) -> None:
        """End a box whose bound is known. The checker computes it anew when the proof is whole."""
        self.lines.append('{"end":"dual"}')
        self.walk.open.pop()

    def _relaxed(self, part: Part, units: Any) -> Relaxed:
        """The best mixture of a box."""
        box, way, sides = part
        base = self.walk.q.model.base
        goals = np.zeros((len(way), len(base)))
        for own, goal in zip(goals, way, strict=True):
            own[goal.plus], own[goal.less] = 1.0, -1.0
        least = floats([goal.least for goal in way]) + goals @ floats(base)
        found = UnitProgram(self._ways(box), units, self._layers, sides, self.free).solved(goals[:, 1:], least)
        if found is None:
            raise UnprovenError
        return found

    @cached_property
    def _layers(self) -> Sequence[Layer]:
        """The layers as floats, beside themselves if all numbers are shifted."""
        copies, layers = self.walk.q.copies, self.walk.q.model.layers
        own = [its.layer for its in layers] if copies > 1 else layers
        return layers_side_by_side([[Layer(*map(floats, (its.leak, its.weight, its.base))) for its in own]] * copies)

    def _ways(self, box: list[Any]) -> WaysOut:
        """The directions of a box as floats, with prices in claims."""
        starts, directions, first = self.walk.begun(box)
        paid = sum(price for _, price in starts)
        ends = self._limits(starts, directions) + self._levels(directions) + self._changes(starts, directions)
        return WaysOut(
            start=float(paid / self.below),
            price=floats([0 if its.free else (self.below - paid) / self.below for its in directions]),
            square=floats([self._square(its) / self.below for its in directions]),
            cap=floats([its.cap for its in directions]),
            first=floats(first),
            ends=floats(ends).reshape(len(ends), 1 + len(directions)),
        )

    def _limits(self, starts: Any, directions: Any) -> list[list[Fraction]]:
        """By how much the limits of relations are missed."""
        each = list(zip(self.walk.terms, [value for value, _ in starts], strict=True))
        return [
            [
                goal.least - sum((term.gain_of(value, goal.plus) for term, value in each), Fraction(0)),
                *[-self.walk.terms[its.column].gain_along(its, goal.plus) for its in directions],
            ]
            for goal in self.walk.kept
        ]

    def _levels(self, directions: Any) -> list[list[Fraction]]:
        """That the shares of the levels of a column are at most 1 together."""
        columns = sorted({its.column for its in directions if self.walk.terms[its.column].levels})
        return [
            [Fraction(-1), *[1 / its.scale if its.column == j else Fraction(0) for its in directions]] for j in columns
        ]

    def _changes(self, starts: Any, directions: Any) -> list[list[Fraction]]:
        """That no more columns change than may, if that is limited."""
        if not self.walk.q.counted:
            return []
        columns = [term.column for term in self.walk.terms]
        moved = [value != its.now or not its.stay for its, (value, _) in zip(columns, starts, strict=True)]
        shares = [Fraction(0) if moved[its.column] else 1 / its.cap for its in directions]
        return [[Fraction(sum(moved) - self.walk.q.limit), *shares]]

    def _square(self, direction: Any) -> Fraction:
        """What the square of a share costs."""
        column = self.walk.terms[direction.column].column
        squared = column.levels is None and not self.free
        return Fraction(column.square) * direction.scale**2 if squared else Fraction(0)

    def _ended(self, part: Part, relaxed: Relaxed, units: Any) -> bool:
        """Whether the multipliers prove the claim in a box, which is then said."""
        walk, kept = self.walk, len(self.walk.kept)
        rates = [Fraction(x) * self.below for x in [*relaxed.rates.tolist(), *relaxed.ends[:kept].tolist()]]
        rates += [Fraction(0)] * (len(walk.rates) - len(rates))
        shares = np.rint(relaxed.lines * checker().PARTS).astype(int).tolist()
        lines = [tuple(Fraction(x, checker().PARTS) for x in its) for its in shares]
        holds = [Fraction(x) * self.below for x in relaxed.holds.tolist()]
        said, (walk.lines, walk.holds) = (walk.lines, walk.holds), (lines, holds)
        found = walk.bound(*part, rates)
        walk.lines, walk.holds = said
        if self.free and found and found[0] > 0:  # without prices, twice the rates prove twice as much
            more = Fraction(float(2 * self.below / found[0]))
            rates, holds = ([more * x for x in its] for its in (rates, holds))
        elif found and found[0] < self.below:
            return False
        opened = [n for n, unit in enumerate(unit for its in units for unit in its) if unit.over is not None]
        if rates != walk.rates:
            self._say(rate=written(rates))
        if new := [n for n in opened if lines[n] != walk.lines[n]]:
            self._say(lines=with_gaps(new, [shares[n] for n in new]))
        if new := [n for n in sorted([*opened, *part[2]]) if holds[n] != walk.holds[n]]:
            *its, shift = written([holds[n] for n in new])
            self._say(holds=[shift, *with_gaps(new, [[x] for x in its])])
        self._end()
        return True

    def _mixed(self, box: list[Any], share: FloatArray) -> list[dict[Any, float]]:
        """Of each column, the shares of its values in a mixture: of its start, and of the ends of directions."""
        starts, directions, _ = self.walk.begun(box)
        mixed: list[dict[Any, float]] = [{value: 1.0} for value, _ in starts]
        for its, part in zip(directions, share.tolist(), strict=True):
            if part > 0.0:
                own, start = mixed[its.column], starts[its.column][0]
                levels = self.walk.terms[its.column].levels
                much = min(part / float(its.cap), own[start])
                own[its.side if levels else start + its.side * its.scale * its.cap] = much
                own[start] -= much
        return [{value: much for value, much in own.items() if much > 0.0} for own in mixed]

    def _mixing_price(self, term: Any, value: Any) -> Fraction:
        """Without the squares of distances, which are what they are in the linear program."""
        column = term.column
        price = self._price(term, value)
        return price if self.free or term.levels else price - column.square * (value - column.start) ** 2

    def _value(self, term: Any, shares: dict[Any, float]) -> Any:
        """The value of a mixture: a number of the grid, or the level that has most."""
        column = term.column
        if term.levels or len(shares) == 1:
            return max(shares, key=shares.__getitem__)
        total = sum((Fraction(share) * value for value, share in shares.items()), Fraction(0))
        at = min(max(total / Fraction(sum(shares.values())), column.low), column.high)
        return column.anchor + round((at - column.anchor) / column.step) * column.step if column.step else at

    def _reached(self, way: list[Any], row: list[Any]) -> bool:
        """Whether a row reaches all goals and limits."""
        model, terms = self.walk.q.model, self.walk.terms

        def added(k: int) -> Fraction:
            return sum((term.gain_of(x, k) for term, x in zip(terms, row, strict=True)), Fraction(0))

        last = model.through([added(k) for k in range(len(model.starts))])
        return all(last[goal.plus] - last[goal.less] >= goal.least for goal in way) and all(
            added(goal.plus) >= goal.least for goal in self.walk.kept
        )


def floats(numbers: Sequence[Any]) -> FloatArray:
    """Fractions as floats."""
    return np.array(numbers, dtype=np.float64)


def with_gaps(places: Sequence[int], told: Sequence[list[int]]) -> list[list[int]]:
    """What is told of some places, each behind the gap to the one before."""
    return [[place - before, *its] for place, before, its in zip(places, [0, *places], told, strict=False)]
