"""The linear program of a parcel: how far must a row move from the parcel's cheapest row until it is outside of all zones?"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from butfor.arrays import FloatArray, IntArray
from butfor.model.growing_program import BOUND_ROUNDING, GrowingProgram
from butfor.solvers.robust.parcels import Choices, Parcel
from butfor.solvers.robust.zones import FIRMLY, SURELY, Zones
from butfor.space.space import same

SLIVER = 0.05
"""The share of a range that is split off at least."""

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
    - `share` (variables): to which share each of the other modes is taken.
    """

    rise: FloatArray
    fall: FloatArray
    share: FloatArray


class ParcelProgram:
    """The program of a parcel, solved.

    - `bound`: what a row of the parcel costs at least, if it is outside of all zones. It is infinite if none costs less than
      the ceiling;
    - `row`: where the program takes it. It may be in a zone, and its numbers may be off their grids;
    - `zone`, `depth`: the zone in which it is deepest, and what its terms add up to there.
    """

    bound: float
    row: FloatArray

    def __init__(self, choices: Choices, parcel: Parcel, zones: Zones, ceiling: float) -> None:
        self.choices, self.parcel, self.zones, self.start = choices, parcel, zones, choices.start(parcel)
        self.bound, self.row = np.inf, self.start.row
        if self.start.cost >= ceiling:
            return
        self.slope, self.square = self._slopes()
        low, high = self._within(ceiling - self.start.cost)
        if zones.around(low, high, parcel.modes):
            return
        self.up, self.down = high - self.start.number, self.start.number - low
        self.rising, self.falling = self._ways(self.up), self._ways(self.down)
        self.chords = zones.chords(low, self.start.number, high, zones.taking(self.start.modes))
        self.others = [
            (j, mode) for j, own in self.start.modes.items() for mode in np.flatnonzero(parcel.modes[j]) if mode != own
        ]
        self.prices = self._prices()
        self._solve()

    def _slopes(self) -> tuple[FloatArray, FloatArray]:
        """What each number costs at least per unit by which it moves away, and per square of it."""
        prices = self.choices.problem.prices
        gap = np.abs(self.start.row - self.choices.row)
        known = np.where(np.isnan(gap), 0.0, 1.0)  # any number costs the same where none was
        return known * (prices.l1 + 2 * prices.l2 * np.nan_to_num(gap)), known * prices.l2

    def _within(self, spare: float) -> tuple[FloatArray, FloatArray]:
        """The ends of the parcel, as far as a row may move at this price. A number that is missing does not move."""
        none = np.full(len(self.slope), np.inf)
        reach = np.divide(spare, self.slope, out=none.copy(), where=self.slope > 0)
        reach = np.minimum(reach, np.sqrt(np.divide(spare, self.square, out=none, where=self.square > 0)))
        reach, number = np.where(np.isnan(self.start.row), 0.0, reach), self.start.number
        return np.maximum(self.parcel.low, number - reach), np.minimum(self.parcel.high, number + reach)

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

    def _solve(self) -> None:
        """Solve the program. The row shall be firmly outside, and the bound is about all that may be outside."""
        rows, least, firm = self._rows()
        self.bound, values = self.start.cost, np.zeros(rows.shape[1])
        needed = (firm > 0) | (rows < 0).any(axis=1)
        if needed.any():
            most, ends = np.full(int(needed.sum()), np.inf), self._ends()
            for wanted in (firm, least):
                program = GrowingProgram(self.prices, rows[needed], wanted[needed], most, np.zeros(len(ends)), ends)
                solution = program.solved()
                program.least = least[needed]
                more = _proven(program, solution.price, solution.impossible)
                if solution.values is not None or np.isinf(more):
                    break
            self.bound += more
            values = values if solution.values is None else np.clip(solution.values, 0.0, ends)
        self._read(values)

    def _ends(self) -> FloatArray:
        return np.concatenate([self.rising.width, self.falling.width, np.ones(len(self.others))])

    def _prices(self) -> FloatArray:
        """What each variable costs at least per unit."""
        more = [
            self.choices.price(j, np.array([self.start.modes[j], mode]), float(self.start.number[j])) @ [-1.0, 1.0]
            for j, mode in self.others
        ]
        return np.concatenate([self.rising.price, self.falling.price, more])

    def _rows(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """A zone is left by moves or by other modes, and only so many features change. What is needed, and firmly so."""
        chords = self.chords
        leave = np.zeros((len(chords.zone), len(self.others)))
        for at, (j, mode) in enumerate(self.others):
            leave[:, at] = np.where(self.zones.takes[j][chords.zone, mode], 0.0, chords.room)
        rows = [np.hstack([chords.up[:, self.rising.feature], chords.down[:, self.falling.feature], leave])]
        least, firm = [chords.lack], [chords.lack + (FIRMLY - SURELY)]
        for columns, most in self.choices.counted:
            changes, left = self._changes(columns, most)
            rows.append(-changes[None])
            least.append(np.array([-left]))
            firm.append(least[-1])
        return np.vstack(rows), np.concatenate(least), np.concatenate(firm)

    def _changes(self, columns: IntArray, most: int) -> tuple[FloatArray, float]:
        """What each variable is of a change at least, and how many changes are left for them."""
        counted = np.isin(np.arange(len(self.up)), columns)
        still = np.where(counted & same(self.start.row, self.choices.row), 1.0, 0.0)
        up, down = _over(still, self.up), _over(still, self.down)
        forced = counted & ~self.choices.can_stay(self.parcel)
        modes = [float(still[j]) for j, _ in self.others]
        changes = np.concatenate([up[self.rising.feature], down[self.falling.feature], modes])
        return changes, most - float(forced.sum())

    def _read(self, values: FloatArray) -> None:
        """The row where the program is solved, and the moves that lead there."""
        start, domain = self.start, self.choices.problem.domain
        rise, fall = np.zeros(len(self.up)), np.zeros(len(self.up))
        up, down, share = np.split(values, np.cumsum([len(self.rising.feature), len(self.falling.feature)]))
        np.add.at(rise, self.rising.feature, up)
        np.add.at(fall, self.falling.feature, down)
        self.values = values
        number = np.clip(start.number + rise - fall, self.parcel.low, self.parcel.high)
        number = np.where(domain.single, np.clip(number.astype(np.float32), self.parcel.low, self.parcel.high), number)
        self.moves, self.number, self.modes = Motion(rise, fall, share), number, dict(start.modes)
        for j in start.modes:
            mode = self.most_taken(j)
            if mode is not None and self._shares(j).max() > 1 - self._shares(j).sum():
                self.modes[j] = mode
        self.row = number.copy()
        for j, mode in self.modes.items():
            self.row[j] = self.choices.value(j, mode, float(number[j]))
        depths = self.zones.depths(number, self.modes)
        self.zone = int(depths.argmin()) if len(depths) else -1
        self.depth = float(depths.min(initial=np.inf))

    def _shares(self, j: int) -> FloatArray:
        """To which share the program takes each of the other modes of a feature."""
        return self.moves.share[[i for i, (feature, _) in enumerate(self.others) if feature == j]]

    def most_taken(self, j: int) -> int | None:
        """The other mode of a feature that the program takes most, if it takes any."""
        modes, shares = [mode for feature, mode in self.others if feature == j], self._shares(j)
        return int(modes[shares.argmax()]) if shares.any() else None

    def middle(self, j: int) -> float:
        """Where to split the range of a number: at the row, but not so close to an end that hardly anything is split off."""
        low, high = self.start.number[j] - self.down[j], self.start.number[j] + self.up[j]
        return float(np.clip(self.number[j], low + SLIVER * (high - low), high - SLIVER * (high - low)))

    def errors(self) -> FloatArray:
        """By how much the program is wrong about each feature, in the zone in which the row is deepest."""
        zone = self.zone
        there = self.zones.terms(self.number)[zone]
        at = np.flatnonzero(self.chords.zone == zone)
        if not len(at):  # it said nothing about it
            said = np.minimum(self.zones.terms(self.start.number)[zone], 1.0)
            said[[j for j, mode in self.modes.items() if mode != self.start.modes[j]]] += 1.0
            return np.asarray(said - there)
        k, moves = int(at[0]), self.moves
        said = self.chords.start[k] + self.chords.up[k] * moves.rise + self.chords.down[k] * moves.fall
        for (j, mode), share in zip(self.others, moves.share.tolist(), strict=True):
            said[j] += 0.0 if self.zones.takes[j][zone, mode] else share * self.chords.room[k]
        return np.asarray(said - there)

    def dearer(self) -> FloatArray:
        """By how much each feature of the row costs more than the program says."""
        own, start = self.choices, self.start
        prices = own.problem.prices
        costs = [
            prices.separable(j, own.row[None, [j]], np.array([[row[j] for row in (self.row, start.row)]]))[0]
            @ [1.0, -1.0]
            for j in range(len(own.row))
        ]
        said = np.zeros(len(own.row))
        which = np.concatenate([self.rising.feature, self.falling.feature, [j for j, _ in self.others]])
        np.add.at(said, which.astype(np.intp), self.values * self.prices)
        return np.asarray(costs - said)


def _over(once: FloatArray, width: FloatArray) -> FloatArray:
    return np.divide(once, width, out=np.zeros(len(once)), where=width > 0)


def _proven(program: GrowingProgram, price: FloatArray, impossible: bool) -> float:
    """What the multipliers of the rows prove about the optimum."""
    if impossible:
        none = np.zeros(len(program.cost))
        return np.inf if max(_lowest(program, none, price), _lowest(program, none, -price)) > 0 else 0.0
    return max(0.0, _lowest(program, program.cost, price))


def _lowest(program: GrowingProgram, cost: FloatArray, price: FloatArray) -> float:
    constant, rest, size = program.lowest(price, cost)
    parcels = np.multiply(rest, program.high, out=np.zeros(len(rest)), where=rest < 0)
    return constant + float(parcels.sum()) - BOUND_ROUNDING * (size + float(np.abs(parcels).sum()))
