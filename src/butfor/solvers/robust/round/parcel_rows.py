"""The variables of a parcel's program, and its rows: what zones, relations and prices ask of a row that moves."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from butfor.arrays import BoolArray, FloatArray, IntArray
from butfor.problem.constraints.relations import LinearRelation
from butfor.solvers.robust.round.parcels import A_NUMBER, LOST, Choices, Parcel, Start
from butfor.solvers.robust.round.zones import FIRMLY, SURELY, Chords, Zones
from butfor.space.space import same

TANGENTS = 9
"""By how many tangents a price that is a square is told."""


class Ways(NamedTuple):
    """The variables of features that move in one direction.

    - `feature`: which one moves;
    - `width`: how far at most;
    - `price`: what that costs at least per unit. A change has a price of its own, which is spread over the way.
    """

    feature: IntArray
    width: FloatArray
    price: FloatArray


class Motion(NamedTuple):
    """How a row moves away from a start.

    - `rise`, `fall` (features): how far each number rises and falls;
    - `share`: to which share each of the other modes is taken;
    - `squares`: what the squares of the cost's form are at least.
    """

    rise: FloatArray
    fall: FloatArray
    share: FloatArray
    squares: FloatArray


class FirmRows(NamedTuple):
    """Rows of a program. `rows @ v` must be at least `least`, and is better at least `firm`."""

    rows: FloatArray
    least: FloatArray
    firm: FloatArray

    @property
    def says(self) -> BoolArray:
        """Which rows say something."""
        return np.asarray((self.firm > 0) | (self.rows < 0).any(axis=1))


class ParcelRows:
    """The variables of a parcel's program, and what is asked of them.

    The variables are the ways of numbers that rise and fall, the shares of the `others` (features, modes), the `largest` of
    the changes if only that has a price, and the squares of the cost's form.

    - `low`, `high`: between which ends the numbers move;
    - `slope`, `square`: what each number costs at least per unit by which it moves away, and per square of it;
    - `prices`, `ends`: what each variable costs per unit, and its upper end.
    """

    def __init__(self, choices: Choices, parcel: Parcel, start: Start, spare: float) -> None:
        self.choices, self.parcel, self.start = choices, parcel, start
        self.slope, self.square = self._slopes()
        self.low, self.high = self._within(spare)
        self.up, self.down = self.high - start.number, start.number - self.low
        self.rising, self.falling = self._ways(self.up), self._ways(self.down)
        self.others = [
            (j, mode)
            for j, own in start.modes.items()
            for mode in np.flatnonzero(parcel.modes[j]).tolist()
            if mode != own
        ]
        self.largest = int(choices.problem.prices.has_linf)
        self.more = self.largest + len(choices.roots)
        self.prices, self.ends = self._prices(), self._ends()

    def _slopes(self) -> tuple[FloatArray, FloatArray]:
        prices, gap = self.choices.problem.prices, np.abs(self.start.row - self.choices.row)
        known = np.where(np.isnan(gap), 0.0, 1.0)  # any number costs the same where none was
        return known * (prices.l1 + 2 * prices.l2 * np.nan_to_num(gap)), known * prices.l2

    def _within(self, spare: float) -> tuple[FloatArray, FloatArray]:
        """The ends of the parcel, as far as a row may move at this price. A number that is missing does not move."""
        number, own, prices = self.start.number, self.choices.row, self.choices.problem.prices
        none = np.full(len(own), np.inf)
        reach = np.divide(spare, self.slope, out=none.copy(), where=self.slope > 0)
        reach = np.minimum(reach, np.sqrt(np.divide(spare, self.square, out=none.copy(), where=self.square > 0)))
        reach = np.where(np.isnan(self.start.row), 0.0, reach)
        away = np.divide(spare, prices.linf, out=none, where=prices.linf > 0)
        away = np.minimum(away, np.sqrt(spare) * self.choices.stretch)
        lowest = np.maximum(number - reach, np.fmin(number, np.where(np.isnan(own), -np.inf, own - away)))
        highest = np.minimum(number + reach, np.fmax(number, np.where(np.isnan(own), np.inf, own + away)))
        return np.maximum(self.parcel.low, lowest), np.minimum(self.parcel.high, highest)

    def _ways(self, width: FloatArray) -> Ways:
        """The ways to move in one direction. Where the price is a square, its tangents tell what each piece costs."""
        once = np.where(same(self.start.row, self.choices.row), self.choices.problem.prices.l0, 0.0)
        slope, feature = self.slope + _over(once, width), np.flatnonzero(width > 0)
        bent = feature[(self.square[feature] > 0) & np.isfinite(width[feature])]
        if not len(bent):
            return Ways(feature, width[feature], slope[feature])
        flat = np.setdiff1d(feature, bent)
        pieces = np.array([0.5, *np.ones(TANGENTS - 2), 0.5]) / (TANGENTS - 1)
        at = np.arange(TANGENTS) / (TANGENTS - 1)
        steeper = slope[bent, None] + 2 * (self.square * width)[bent, None] * at
        return Ways(
            np.append(flat, np.repeat(bent, TANGENTS)),
            np.append(width[flat], width[bent, None] * pieces),
            np.append(slope[flat], steeper),
        )

    def _prices(self) -> FloatArray:
        modes = [
            self.choices.price(j, np.array([self.start.modes[j], mode]), float(self.start.number[j])) @ [-1.0, 1.0]
            for j, mode in self.others
        ]
        return np.concatenate([self.rising.price, self.falling.price, modes, np.ones(self.more)])

    def _ends(self) -> FloatArray:
        return np.concatenate(
            [self.rising.width, self.falling.width, np.ones(len(self.others)), np.full(self.more, np.inf)]
        )

    def motion(self, values: FloatArray) -> Motion:
        """How the variables move the row."""
        ends = np.cumsum([len(self.rising.feature), len(self.falling.feature), len(self.others), self.largest])
        up, down, share, _, squares = np.split(values, ends)
        rise, fall = np.zeros(len(self.up)), np.zeros(len(self.up))
        np.add.at(rise, self.rising.feature, up)
        np.add.at(fall, self.falling.feature, down)
        return Motion(rise, fall, share, squares)

    def costs(self, values: FloatArray) -> FloatArray:
        """What the variables cost for each feature, without what is not added up over the features."""
        out, which = np.zeros(len(self.up)), [*self.rising.feature, *self.falling.feature, *(j for j, _ in self.others)]
        np.add.at(out, np.array(which, dtype=np.intp), (values * self.prices)[: len(which)])
        return out

    def _row(self, up: FloatArray, down: FloatArray, other: FloatArray, more: FloatArray | None = None) -> FloatArray:
        """Rows of the program by what they ask of features that rise and fall (rows, features), and of the rest."""
        more = np.zeros((len(up), self.more)) if more is None else more
        return np.hstack([up[:, self.rising.feature], down[:, self.falling.feature], other, more])

    # --------------------------------------------------------------------------------------------------------- rows

    def rows(self, zones: Zones, chords: Chords) -> FirmRows:
        """All rows, those of the zones first."""
        parts = [self._of_zones(zones, chords), self._of_counts(), self._of_sums(), self._of_the_largest()]
        parts.append(self.of_squares(self.choices.roots @ self._gain))
        return FirmRows(*(np.concatenate(part) for part in zip(*parts, strict=True)))

    def _of_zones(self, zones: Zones, chords: Chords) -> FirmRows:
        """A zone is left by moves or by other modes."""
        leave = np.zeros((len(chords.zone), len(self.others)))
        for at, (j, mode) in enumerate(self.others):
            leave[:, at] = np.where(zones.takes[j][chords.zone, mode], 0.0, chords.room)
        return FirmRows(self._row(chords.up, chords.down, leave), chords.lack, chords.lack + (FIRMLY - SURELY))

    def _of_counts(self) -> FirmRows:
        """Only so many features change."""
        rows, least = np.empty((0, len(self.prices))), np.empty(0)
        still = np.where(same(self.start.row, self.choices.row), 1.0, 0.0)
        for columns, most in self.choices.counted:
            counted = np.isin(np.arange(len(self.up)), columns)
            first = np.where(counted, still, 0.0)
            modes = np.array([first[j] for j, _ in self.others])
            changes = self._row(_over(first, self.up)[None], _over(first, self.down)[None], modes[None])
            forced = counted & ~self.choices.can_stay(self.parcel)
            rows, least = np.vstack([rows, -changes]), np.append(least, float(forced.sum()) - most)
        return FirmRows(rows, least, least)

    def _of_sums(self) -> FirmRows:
        """Sums of numbers are bounded. They are measured in the ranges of their columns."""
        rows, least, firm = np.empty((0, len(self.prices))), list[float](), list[float]()
        space = self.choices.problem.space
        for relation in self.choices.linear:
            row, known, slack = self._sum(relation)
            moved = relation.of_numbers(space).items()
            unit = sum(float(abs(weight)) * space.features[j].range for j, weight in moved) or 1.0
            for sense, sign in ((">=", 1.0), ("<=", -1.0)):
                if relation.sense in (sense, "=="):
                    rows = np.vstack([rows, sign * row / unit])
                    firm.append(sign * (relation.bound - known) / unit)
                    least.append(firm[-1] - slack / unit)
        return FirmRows(rows, np.array(least), np.array(firm))

    def _sum(self, relation: LinearRelation) -> tuple[FloatArray, float, float]:
        """How a sum of numbers changes, what it is at the start, and by how much it may miss its bound."""
        problem, start, sizes = self.choices.problem, self.start, dict[int, float]()
        weights, other, known = np.zeros(len(self.up)), np.zeros(len(self.others)), 0.0
        for j, weight in relation.of_numbers(problem.space).items():
            assert start.modes.get(j, A_NUMBER) == A_NUMBER
            weights[j] = float(weight)
            known += weights[j] * start.row[j]
            sizes[j] = abs(weights[j]) * max(abs(self.parcel.low[j]), abs(self.parcel.high[j]))
        for j, exact in relation.of_levels(problem.space).items():
            terms, here = np.array(exact, dtype=np.float64), int(start.row[j])
            known += terms[here]
            sizes[j] = float(np.abs(terms[self.parcel.modes[j][: len(terms)]]).max())
            for at, (feature, mode) in enumerate(self.others):
                other[at] += terms[mode] - terms[here] if feature == j else 0.0
        slack = relation.doubt(problem.space, sizes)
        return self._row(weights[None], -weights[None], other[None]), known, slack

    def _of_the_largest(self) -> FirmRows:
        """The largest change is at least as large as each."""
        prices, own, start = self.choices.problem.prices, self.choices.row, self.start
        rows, least = np.empty((0, len(self.prices))), list[float]()
        for j in range(len(own)) if self.largest else ():
            here = self._reach(j, start.row[j])
            way = np.zeros((1, len(own)))
            way[0, j] = 0.0 if np.isnan(own[j]) else -prices.linf[j]
            modes = [
                here - self._reach(j, self.choices.value(j, mode, float(start.number[j]))) if feature == j else 0.0
                for feature, mode in self.others
            ]
            more = np.zeros((1, self.more))
            more[0, 0] = 1.0
            rows, least = np.vstack([rows, self._row(way, way, np.array([modes]), more)]), [*least, here]
        return FirmRows(rows, np.array(least), np.array(least))

    def _reach(self, j: int, value: float) -> float:
        return float(self.choices.problem.prices.reach(j, self.choices.row[None, [j]], np.array([[value]]))[0, 0])

    @cached_property
    def _gain(self) -> FloatArray:
        """What the form of a cost reads at the start: what is missing, or was, has not changed."""
        return np.nan_to_num(self.start.row - self.choices.row)

    def gains(self, moves: Motion) -> FloatArray:
        """What the form of a cost reads."""
        gain = self._gain + np.where(np.isnan(self.choices.row), 0.0, moves.rise - moves.fall)
        for (j, _), share in zip(self.others, moves.share.tolist(), strict=True):
            gain[j] -= share * self._gain[j]
        return gain

    def of_squares(self, at: FloatArray) -> FirmRows:
        """The squares of the cost's form lie above their tangents at a point."""
        roots, own = self.choices.roots, self.choices.row
        steep = 2 * at[:, None] * roots
        way = np.where(np.isnan(own), 0.0, steep)
        other = np.zeros((len(roots), len(self.others)))
        for k, (j, mode) in enumerate(self.others):
            if j in self.choices.problem.domain.levels or np.isnan(own[j]):
                continue
            if mode == LOST:
                other[:, k] = steep[:, j] * self._gain[j]
            else:  # it was missing at the start of the parcel, and may become any of its numbers
                slope, ends = steep[:, j, None], np.array([self.parcel.low[j], self.parcel.high[j]]) - own[j]
                least = np.multiply(slope, ends, out=np.zeros((len(slope), 2)), where=slope != 0)
                other[:, k] = -least.min(axis=1)
        more = np.hstack([np.zeros((len(roots), self.largest)), np.eye(len(roots))])
        least = steep @ self._gain - at * at
        rows, told = self._row(-way, way, other, more), np.isfinite(other).all(axis=1)
        return FirmRows(rows[told], least[told], least[told])


def _over(once: FloatArray, width: FloatArray) -> FloatArray:
    return np.divide(once, width, out=np.zeros(len(once)), where=width > 0)
