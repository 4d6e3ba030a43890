"""The cheapest row outside of all zones: branch and bound over parcels of what a row may become, each by a linear program.

A parcel begins at its cheapest row. Its program says how far features must move from there until the row lies above the
chords of every zone. If the row that the program proposes is still in a zone, the parcel is split where its chords are worst.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from butfor.arrays import FloatArray
from butfor.frontier import Frontier
from butfor.problem.constraints.implications import Implication
from butfor.solvers.outcome import TOLERANCE, to_beat
from butfor.solvers.robust.cutting import is_closed
from butfor.solvers.robust.round.implied import Implied
from butfor.solvers.robust.round.parcel_program import ParcelProgram
from butfor.solvers.robust.round.parcel_rows import ParcelRows
from butfor.solvers.robust.round.parcels import Choices, Parcel
from butfor.solvers.robust.round.zones import OUTSIDE, SURELY, Zones
from butfor.solvers.solver import Budget
from butfor.space.space import same

SAME_COST = TOLERANCE / 4
"""The share of 1 + cost by which two costs count as the same."""

WORTH_A_SPLIT, WRONG = 1e-12, 1e-10
"""Smaller errors are none: those of prices, and those of the terms of a zone. Those of all terms together must be less than what
`FIRMLY` asks more than `OUTSIDE`.
"""


@dataclass(eq=False)
class Outside:
    """What is left of a search for the cheapest row outside of zones. Zones may be added at any time.

    - `left`: the parcels that are left; those that cannot be split are settled;
    - `ceiling`: the lowest ceiling so far. What costs more was not looked at;
    - `proposed`: the rows that were proposed. If one comes again, no zone has taken it.
    """

    choices: Choices
    zones: Zones
    ceiling: float = np.inf
    proposed: set[bytes] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.left = Frontier[Parcel](lambda: to_beat(self.ceiling, 1 / 2))
        everything, relations = self.choices.all(), self.choices.problem.relations_of(Implication)
        self.implied = [Implied(self.choices, relation) for relation in relations]
        self._keep(0.0, [] if everything is None else [everything])

    @property
    def bound(self) -> float:
        """What any row outside of all zones costs at least."""
        return min(self.left.lowest, self.left.ceiling())

    def reach(self, ceiling: float) -> tuple[FloatArray, FloatArray]:
        """Between which ends the numbers of rows lie that cost less than a ceiling."""
        domain, everything = self.choices.problem.domain, self.choices.all()
        if everything is None or np.isinf(ceiling):
            return domain.low[0], domain.high[0]
        start = self.choices.start(everything)
        within = ParcelRows(self.choices, everything, start, max(0.0, ceiling - start.cost))
        known = ~np.isnan(start.row)
        return np.where(known, within.low, domain.low[0]), np.where(known, within.high, domain.high[0])

    def _keep(self, bound: float, parcels: list[Parcel]) -> None:
        for parcel in parcels:
            if all(relation.is_possible(parcel) for relation in self.implied):
                self.left.put(bound, parcel)

    def propose(self, ceiling: float, budget: Budget) -> FloatArray | None:
        """The cheapest row outside of all zones, if there is one below a ceiling and it is found in time."""
        self.ceiling = min(self.ceiling, ceiling)
        while self.left and not is_closed(self.bound, ceiling) and not budget.spent():
            bound, parcel = self.left.pop()
            parcels = self._fitting(parcel) or self._implied(parcel, self.choices.start(parcel).row)
            if parcels:
                self._keep(bound, parcels)
                continue
            program = ParcelProgram(self.choices, parcel, self.zones, ceiling)
            bound = max(bound, program.bound)
            if np.isinf(bound) or is_closed(bound, ceiling):
                continue
            parcels = self._split(parcel, program)
            if parcels or bound > self.left.next_bound + SAME_COST * (1 + bound):
                self._keep(bound, parcels or [parcel])
                continue
            row, cost = program.row, self.choices.cost(program.row)
            parcels = (
                self._cut(parcel, program, program.dearer(), WORTH_A_SPLIT, program.middle)
                if cost > bound + SAME_COST * (1 + bound)
                else []
            )
            if self._is_answer(program) and cost < ceiling and row.tobytes() not in self.proposed:
                self._keep(bound, parcels or [parcel])
                self.proposed.add(row.tobytes())
                return row
            self._keep(bound, parcels or self._around(parcel, program, bound))
        return None

    def _implied(self, parcel: Parcel, row: FloatArray) -> list[Parcel]:
        """A parcel in two, if some of its rows must break an implication, or if a row of it does."""
        return next((parts for one in self.implied if (parts := one.parted(parcel, row))), [])

    def _is_answer(self, program: ParcelProgram) -> bool:
        """Whether the row of a program is outside of all zones, and the problem admits it."""
        return program.depth >= SURELY and bool(self.choices.problem.admits(program.row[None])[0])

    def _fitting(self, parcel: Parcel) -> list[Parcel]:
        """A parcel in two, if the row as it is lies between its ends and is not one that it may become."""
        own = self.choices.row
        for j in self.choices.coarse.tolist():
            if parcel.low[j] < own[j] < parcel.high[j] and not self.choices.fits(j, float(own[j])):
                return self.choices.split(parcel, j, float(own[j]))
        return []

    def _split(self, parcel: Parcel, program: ParcelProgram) -> list[Parcel]:
        """A parcel in two, if its program proposes a row that is in a zone, or that is none of the parcel."""
        parcels = self._cut(parcel, program, program.errors(), WRONG, program.edge) if program.depth < OUTSIDE else []
        if parcels or program.depth < SURELY:
            return parcels
        for j in self.choices.coarse.tolist():
            number = float(program.number[j])
            if not np.isnan(program.row[j]) and not self.choices.fits(j, number):
                return self.choices.split(parcel, j, number)
        return self._implied(parcel, program.row) or self._with_fewer_changes(parcel, program)

    def _cut(
        self, parcel: Parcel, program: ParcelProgram, errors: FloatArray, worth: float, at: Callable[[int], float]
    ) -> list[Parcel]:
        """A parcel in two, at the feature about which the program is most wrong. Numbers are split `at` a place."""
        for j in np.argsort(-errors).tolist():
            if errors[j] <= worth:
                break
            mode = program.most_taken(j)
            if mode is not None:
                return self.choices.chosen(parcel, j, mode)
            if parcel.low[j] < parcel.high[j]:
                parcels = self.choices.split(parcel, j, at(j))
                if len(parcels) > 1:
                    return parcels
        return []

    def _with_fewer_changes(self, parcel: Parcel, program: ParcelProgram) -> list[Parcel]:
        """A parcel in two, if the row of its program changes too many features: one of them is kept, or it is changed."""
        own = self.choices.row
        changed = ~same(program.row, own)
        for columns, most in self.choices.counted:
            if changed[columns].sum() <= most:
                continue
            free = columns[(changed & self.choices.can_stay(parcel))[columns]]
            for j in free.tolist():
                if j in parcel.modes and program.modes[j] != self.choices.own[j]:
                    return self.choices.chosen(parcel, j, self.choices.own[j])
                return self._off(parcel, j, float(own[j]), program)
        return []

    def _off(self, parcel: Parcel, j: int, at: float, program: ParcelProgram) -> list[Parcel]:
        """A parcel in two, between a value and the number of a row."""
        return self.choices.split(parcel, j, at if program.number[j] > at else float(np.nextafter(at, -np.inf)))

    def _around(self, parcel: Parcel, program: ParcelProgram, bound: float) -> list[Parcel]:
        """A parcel in two, one of which has the value of a row that fails, though its ball at most touches a zone.

        Only features are split that may leave the zone. A number that the ball moves cannot be set apart if it may take any
        value. Then the rows beside an answer cost hardly more.
        """
        domain, leaves = self.choices.problem.domain, program.leaves()
        for j, mode in program.modes.items():
            if leaves[j] > 0 and parcel.modes[j].sum() > 1:
                return self.choices.chosen(parcel, j, mode)
        leaves = np.where(parcel.low < parcel.high, leaves, 0.0)
        apart = (domain.step > 0) | (self.zones.ball.radius == 0)
        for j in np.flatnonzero((leaves > 0) & apart).tolist():
            at = float(program.number[j])
            return self.choices.split(parcel, j, at if at < parcel.high[j] else float(np.nextafter(at, -np.inf)))
        if self._is_answer(program):
            leaves = program.moved() if self.choices.cost(program.row) > bound + SAME_COST * (1 + bound) else 0 * leaves
        j = int(leaves.argmax())
        if leaves[j] > 0:
            return self.choices.split(parcel, j, program.middle(j))
        if (parcel.low < parcel.high).any() or any(possible.sum() > 1 for possible in parcel.modes.values()):
            self.left.settle(bound)
        return []
