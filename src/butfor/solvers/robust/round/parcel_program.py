"""The linear program of a parcel: how far must a row move from the parcel's cheapest row until it is outside of all zones?"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from butfor.arrays import FloatArray
from butfor.formulation.kept_relations import Place, kept
from butfor.programs.growing import GrowingProgram, Solution
from butfor.programs.inequalities import Inequalities
from butfor.solvers.robust.round.parcel_rows import ParcelRows
from butfor.solvers.robust.round.parcels import Choices, Parcel
from butfor.solvers.robust.round.zones import OUTSIDE, Zones

SLIVER = 0.2
"""The share of a range that is split off at least."""

UNSAID = 1e-6
"""What a program may be wrong about a zone, in units of its bound, without being told."""

TANGENT_ROUNDS, SQUARE_TOLD = 30, 1e-8
"""How often tangents of squares are added, and how exactly their sum is told, as a share of 1 + itself."""

SHY = 1 - 1e-8
"""Multipliers are made smaller by this where rounding would let a variable without an end pay for everything."""


class ParcelProgram:
    """The program of a parcel, solved.

    - `bound`: what a row of the parcel costs at least, if it is outside of all zones. It is infinite if none costs less than
      the ceiling;
    - `row`: where the program takes it. It may be in a zone, and its numbers may be off their grids;
    - `zone`, `depth`: the zone in which it is deepest, and what its terms add up to there;
    - `weight`: the multiplier of what each zone of the chords asks: by how much the bound rises if it asks for more.
    """

    bound: float
    row: FloatArray

    def __init__(self, choices: Choices, parcel: Parcel, zones: Zones, ceiling: float) -> None:
        self.choices, self.parcel, self.zones, self.start = choices, parcel, zones, choices.start(parcel)
        self.bound, self.row = np.inf, self.start.row
        if self.start.cost >= ceiling:
            return
        self.asked = ParcelRows(choices, parcel, self.start, ceiling - self.start.cost)
        low, high = self.asked.low, self.asked.high
        if zones.around(low, high, parcel.modes):
            return
        self.chords = zones.chords(low, self.start.number, high, zones.taking(self.start.modes))
        self._solve()

    def _solve(self) -> None:
        """Solve the program. The row shall be firmly outside, and the bound is about all that may be outside."""
        asked = self.asked.rows(self.zones, self.chords)
        says, weight = asked.says, np.zeros(len(asked.rows))
        rows, least, firm = (part[says] for part in asked)
        self.bound, values = self.start.cost, np.zeros(len(self.asked.prices))
        if len(rows):
            most, low = np.full(len(rows), np.inf), np.zeros(len(values))
            for wanted in (firm, least):
                program = GrowingProgram(self.asked.prices, Inequalities(rows, wanted, most, low, self.asked.ends))
                solution = self._with_squares(program)
                known = program.inequalities
                known = known._replace(least=np.append(least, known.least[len(least) :]))
                more = _proven(known, self.asked.prices, solution)
                if solution.values is not None or np.isinf(more):
                    break
            self.bound += more
            if solution.values is not None:
                values = np.clip(solution.values, 0.0, self.asked.ends)
                weight[says] = np.maximum(solution.price[: len(rows)], 0.0)
        self.weight = weight[: len(self.chords.zone)]
        self._read(values)

    def _with_squares(self, program: GrowingProgram) -> Solution:
        """The optimum, with tangents of the squares added until these are told well."""
        solution = program.solved()
        for _ in range(TANGENT_ROUNDS if len(self.choices.roots) else 0):
            if solution.values is None:
                break
            moves = self.asked.motion(solution.values)
            at = self.choices.roots @ self.asked.gains(moves)
            if (at * at - moves.squares).sum() <= SQUARE_TOLD * (1 + at @ at):
                break
            tangents = self.asked.of_squares(at)
            program.add(-tangents.rows, -tangents.least)
            solution = program.solved()
        return solution

    def _read(self, values: FloatArray) -> None:
        """The row where the program is solved, and the moves that lead there."""
        start, domain = self.start, self.choices.problem.domain
        self.values, self.moves = values, self.asked.motion(values)
        number = np.clip(start.number + self.moves.rise - self.moves.fall, self.parcel.low, self.parcel.high)
        number = np.where(domain.single, np.clip(number.astype(np.float32), self.parcel.low, self.parcel.high), number)
        self.number, self.modes = number, dict(start.modes)
        for j in start.modes:
            mode = self.most_taken(j)
            if mode is not None and self._shares(j).max() > 1 - self._shares(j).sum():
                self.modes[j] = mode
        self.row = number.copy()
        for j, mode in self.modes.items():
            self.row[j] = self.choices.value(j, mode, float(number[j]))
        self._keep_sums()
        self.depths = self.zones.depths(self.number, self.modes)
        self.zone = int(self.depths.argmin()) if len(self.depths) else -1
        self.depth = float(self.depths.min(initial=np.inf))

    def _keep_sums(self) -> None:
        """Move the row to the nearest one that keeps linear relations exactly, if there is one."""
        problem, parcel = self.choices.problem, self.parcel
        columns = {j for one in self.choices.linear for j in one.of_numbers(problem.space)}
        if not self.choices.linear or problem.admits(self.row[None])[0]:
            return
        places, free = dict[int, Place](), list[int]()
        for j in columns:
            number = float(self.row[j])
            places[j] = Place(number, number, number)
            if problem.domain.reals()[j]:
                places[j] = Place(float(parcel.low[j]), float(parcel.high[j]), number, 1 / problem.domain.width(j))
                free.append(j)
        row = kept(problem, self.row, places)
        if isinstance(row, np.ndarray):
            self.number[free], self.row = row[free], row

    def _shares(self, j: int) -> FloatArray:
        """To which share the program takes each of the other modes of a feature."""
        return self.moves.share[[i for i, (feature, _) in enumerate(self.asked.others) if feature == j]]

    def most_taken(self, j: int) -> int | None:
        """The other mode of a feature that the program takes most, if it takes any."""
        modes, shares = [mode for feature, mode in self.asked.others if feature == j], self._shares(j)
        return modes[int(shares.argmax())] if shares.any() else None

    def middle(self, j: int) -> float:
        """Where to split the range of a number: at the row."""
        return self._inside(j, float(self.number[j]))

    def edge(self, j: int) -> float:
        """Where to split the range of a number about which the program is wrong.

        If the row is still within the box of the zone that matters most, that is at the edge of the box: up to there, the
        number takes nothing of the ball, and beyond it, all of the way has its price.
        """
        number, zone = float(self.number[j]), self.zone
        if self.wrong[:, j].any():
            zone = int(self.chords.zone[self.wrong[:, j].argmax()])
        if number < self.start.number[j]:
            return self._inside(j, min(number, float(np.nextafter(self.zones.inner_low[zone, j], -np.inf))))
        return self._inside(j, max(number, float(self.zones.inner_high[zone, j])))

    def _inside(self, j: int, at: float) -> float:
        """A place in the range of a number.

        If the ball moves the number, that is not so close to an end that hardly anything is split off.
        """
        low, high = float(self.asked.low[j]), float(self.asked.high[j])
        sliver = SLIVER * (high - low) if self.zones.ball.radius[j] > 0 else 0.0
        middle = float(np.clip(at, low + sliver, high - sliver))
        return min(middle, float(np.nextafter(self.parcel.high[j], -np.inf)))

    @cached_property
    def said(self) -> FloatArray:
        """What the program says of each term (zones of the chords, features)."""
        moves, zone = self.moves, self.chords.zone
        said = self.chords.start + self.chords.up * moves.rise + self.chords.down * moves.fall
        for (j, mode), share in zip(self.asked.others, moves.share.tolist(), strict=True):
            said[:, j] += np.where(self.zones.takes[j][zone, mode], 0.0, share * self.chords.room)
        return said

    @cached_property
    def wrong(self) -> FloatArray:
        """By how much it is wrong about them in the zones that the row is in, in units of its bound."""
        zone = self.chords.zone
        weight = np.where(self.depths[zone] < OUTSIDE, self.weight, 0.0)
        wrong = weight[:, None] * (self.said - self.zones.convex_terms(self.number)[zone])
        return np.where(wrong > UNSAID * (1 + self.bound), wrong, 0.0)

    def errors(self) -> FloatArray:
        """By how much the program is wrong about each feature, in the zones that its bound is made of.

        If it is right about these, in the zone in which the row is deepest.
        """
        if self.wrong.any():
            return np.asarray(self.wrong.sum(axis=0))
        zone, at = self.zone, np.flatnonzero(self.chords.zone == self.zone)
        there = self.zones.convex_terms(self.number)[zone]
        if len(at):
            return np.asarray(self.said[at[0]] - there)
        said = np.minimum(self.zones.convex_terms(self.start.number)[zone], 1.0)  # it said nothing about it
        said[[j for j, mode in self.modes.items() if mode != self.start.modes[j]]] += 1.0
        said[self.zones.leaving(self.asked.low, self.start.number, self.asked.high)[zone]] += 1.0
        return np.asarray(said - there)

    def leaves(self) -> FloatArray:
        """How much more of the ball each feature may take, in the zone in which the row is deepest: at the ends of its range,
        or in a mode that is not in the box.

        Each may take some if the row is outside of all zones.
        """
        if self.depth >= OUTSIDE:
            return np.ones(len(self.row))
        ends = np.maximum(*(self.zones.terms(end)[self.zone] for end in (self.parcel.low, self.parcel.high)))
        more = ends - self.zones.terms(self.number)[self.zone]
        for j, possible in self.parcel.modes.items():
            more[j] = max(more[j], float((possible & ~self.zones.takes[j][self.zone]).any()))
        return np.asarray(more)

    def moved(self) -> FloatArray:
        """How far each number moves, as a share of its range."""
        width = self.asked.up + self.asked.down
        return np.divide(np.abs(self.number - self.start.number), width, out=np.zeros(len(width)), where=width > 0)

    def dearer(self) -> FloatArray:
        """By how much each feature of the row costs more than the program says."""
        own, both = self.choices.row[None], np.array([self.row, self.start.row])
        prices = self.choices.problem.prices
        costs = [prices.separable(j, own[:, [j]], both[None, :, j])[0] @ [1.0, -1.0] for j in range(both.shape[1])]
        return np.asarray(costs - self.asked.costs(self.values))


def _proven(known: Inequalities[FloatArray], prices: FloatArray, solution: Solution) -> float:
    """What the multipliers of the rows prove about the optimum."""
    if solution.impossible:
        return np.inf if known.refuted(solution.price) else 0.0
    return max(0.0, *(known.lowest(prices, shy * solution.price) for shy in (1.0, SHY)))
