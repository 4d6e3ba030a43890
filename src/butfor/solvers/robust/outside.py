"""The cheapest row outside of all zones: branch and bound over parts of what a row may become, each by a linear program.

A part begins at its cheapest row. Its program says how far features must move from there until the row lies above the
chords of every zone. If the row that the program proposes is still in a zone, the part is split where its chords are worst.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import NamedTuple

import numpy as np

from butfor.arrays import FloatArray
from butfor.solvers.outcome import TOLERANCE
from butfor.solvers.robust.part_program import PartProgram
from butfor.solvers.robust.parts import Choices, Part
from butfor.solvers.robust.rounds import is_closed
from butfor.solvers.robust.zones import OUTSIDE, SURELY, Zones
from butfor.solvers.solver import Budget
from butfor.space.space import same

CLOSE = TOLERANCE / 4
"""The share of 1 + cost by which two costs count as the same."""

WORTH_A_SPLIT = 1e-12
"""An error that is smaller than this is none."""


class Left(NamedTuple):
    """A part that is left: what its rows cost at least, and its number."""

    bound: float
    number: int
    part: Part


@dataclass(eq=False)
class Outside:
    """What is left of a search for the cheapest row outside of zones. Zones may be added at any time.

    - `left`: the parts that are left, the most promising one first;
    - `aside`: what the rows of parts that cannot be split cost at least;
    - `proposed`: the rows that were proposed. If one comes again, no zone has taken it.
    """

    choices: Choices
    zones: Zones
    left: list[Left] = field(default_factory=list)
    aside: float = np.inf
    proposed: set[bytes] = field(default_factory=set)
    number: Iterator[int] = field(default_factory=count)

    def __post_init__(self) -> None:
        everything = self.choices.all()
        self._keep(0.0, [] if everything is None else [everything])

    @property
    def bound(self) -> float:
        """What any row outside of all zones costs at least."""
        return min(self.left[0].bound if self.left else np.inf, self.aside)

    def _keep(self, bound: float, parts: list[Part]) -> None:
        for part in parts:
            heapq.heappush(self.left, Left(bound, next(self.number), part))

    def propose(self, ceiling: float, budget: Budget) -> FloatArray | None:
        """The cheapest row outside of all zones, if there is one below a ceiling and it is found in time."""
        while self.left and not is_closed(self.bound, ceiling) and not budget.spent():
            bound, _, part = heapq.heappop(self.left)
            parts = self._fitting(part)
            if parts:
                self._keep(bound, parts)
                continue
            program = PartProgram(self.choices, part, self.zones, ceiling)
            bound = max(bound, program.bound)
            if np.isinf(bound) or is_closed(bound, ceiling):
                continue
            if self.left and bound > self.left[0].bound + CLOSE * (1 + bound):
                self._keep(bound, [part])
                continue
            parts = self._split(part, program)
            if parts:
                self._keep(bound, parts)
                continue
            row, cost = program.row, self.choices.cost(program.row)
            parts = self._cut(part, program, program.dearer()) if cost > bound + CLOSE * (1 + bound) else []
            if program.depth >= SURELY and cost < ceiling and row.tobytes() not in self.proposed:
                self._keep(bound, parts or [part])
                self.proposed.add(row.tobytes())
                return row
            self._keep(bound, parts or self._around(part, program, bound))
        return None

    def _fitting(self, part: Part) -> list[Part]:
        """A part in two, if the row as it is lies between its ends and is not one that it may become."""
        own = self.choices.row
        for j in self.choices.coarse.tolist():
            if part.low[j] < own[j] < part.high[j] and not self.choices.fits(j, float(own[j])):
                return self.choices.split(part, j, float(own[j]))
        return []

    def _split(self, part: Part, program: PartProgram) -> list[Part]:
        """A part in two, if its program proposes a row that is in a zone, or that is none of the part."""
        parts = self._cut(part, program, program.errors()) if program.depth < OUTSIDE else []
        if parts or program.depth < SURELY:
            return parts
        for j in self.choices.coarse.tolist():
            number = float(program.number[j])
            if not np.isnan(program.row[j]) and not self.choices.fits(j, number):
                return self.choices.split(part, j, number)
        return self._with_fewer_changes(part, program)

    def _cut(self, part: Part, program: PartProgram, errors: FloatArray) -> list[Part]:
        """A part in two, at the feature about which the program is most wrong."""
        for j in np.argsort(-errors).tolist():
            if errors[j] <= WORTH_A_SPLIT:
                break
            mode = program.most_taken(j)
            if mode is not None:
                return self.choices.chosen(part, j, mode)
            low, at, high = float(part.low[j]), float(program.number[j]), float(part.high[j])
            if low < high:
                parts = self.choices.split(part, j, at if at < high else low + (high - low) / 2)
                if len(parts) > 1:
                    return parts
        return []

    def _with_fewer_changes(self, part: Part, program: PartProgram) -> list[Part]:
        """A part in two, if the row of its program changes too many features: one of them is kept, or it is changed."""
        own = self.choices.row
        changed = ~same(program.row, own)
        for columns, most in self.choices.counted:
            if changed[columns].sum() <= most:
                continue
            free = columns[(changed & self.choices.can_stay(part))[columns]]
            for j in free.tolist():
                if j in part.modes and program.modes[j] != self.choices.own[j]:
                    return self.choices.chosen(part, j, self.choices.own[j])
                at = float(own[j])
                return self.choices.split(part, j, at if program.number[j] > at else float(np.nextafter(at, -np.inf)))
        return []

    def _around(self, part: Part, program: PartProgram, bound: float) -> list[Part]:
        """A part in two, one of which has the value of a row that fails. No zone has taken it: its ball only touches one.

        A number that may take any value cannot be set apart. The rows beside it cost hardly more.
        """
        for j, mode in program.modes.items():
            if part.modes[j].sum() > 1:
                return self.choices.chosen(part, j, mode)
        wide = part.low < part.high
        for j in np.flatnonzero(wide & (self.choices.problem.domain.step > 0)).tolist():
            at = float(program.number[j])
            return self.choices.split(part, j, at if at < part.high[j] else float(np.nextafter(at, -np.inf)))
        halves = self._halves(part) if program.depth < SURELY else []
        if wide.any() and len(halves) < 2:
            self.aside = min(self.aside, bound)
            return []
        return halves

    def _halves(self, part: Part) -> list[Part]:
        """A part in two halves, where its program told nothing."""
        width = np.where(np.isfinite(part.high - part.low), part.high - part.low, 0.0)
        j = int(width.argmax())
        return self.choices.split(part, j, float(part.low[j] + width[j] / 2)) if width[j] > 0 else []
