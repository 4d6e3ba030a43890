"""Rows that keep relations exactly, in the cells that HiGHS chose. HiGHS keeps a relation only up to its tolerance.

If no row in these cells keeps the relations, a cut says so.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from butfor.arrays import FloatArray
from butfor.formulation.exact_program import Clash
from butfor.formulation.kept_relations import Place, kept
from butfor.problem.constraints.implications import Event, Implication
from butfor.problem.constraints.relations import LinearRelation
from butfor.problem.decimals import nearest, printed
from butfor.problem.problem import Problem
from butfor.programs.program import Program, Sum
from butfor.solvers.milp.features import Piece
from butfor.solvers.milp.models import beyond, needs_value
from butfor.solvers.milp.relations import end_of

RATHER = 1e-3
"""What a number costs that the model does not read as such, beside those that it does, per width."""

BARELY = 1e-9
"""What a number costs that has no price, per width. Without it, numbers would move for nothing."""


@dataclass(frozen=True)
class Room:
    """Between which floats a number may lie, and what must be at least 1 for a number below or above."""

    low: float
    high: float
    below: Sum
    above: Sum

    def meet(self, other: Room) -> Room:
        """Where both hold."""
        first = self if self.low >= other.low else other
        last = self if self.high <= other.high else other
        return Room(first.low, last.high, first.below, last.above)


@dataclass(frozen=True, eq=False)
class Landing:
    """The cells in which a solution `x` of a program lies, and whatever else it chose.

    - `target`: the row that it describes, up to the tolerance of HiGHS;
    - `events`: for each implication, the variable that says that its cause happens.
    """

    problem: Problem
    program: Program
    pieces: list[Piece]
    events: dict[Implication, Sum]
    x: FloatArray
    target: FloatArray

    def point(self) -> FloatArray | Clash | None:
        """The cheapest row here that keeps the relations; what clashes; None if floats are too coarse to tell."""
        if not self.rooms:
            return self.target
        numbers = {j: room for j, room in self.rooms.items() if j not in self.problem.domain.levels}
        return kept(self.problem, self.target, {j: self._place(j, room) for j, room in numbers.items()})

    def cut(self, clash: Clash) -> Sum:
        """What must be at least 1, because these ends clash."""
        total = Sum()
        for j, side in clash.ends:
            total = total + (self.rooms[j].below if side < 0 else self.rooms[j].above)
        return total

    def elsewhere(self) -> Sum:
        """What is at least 1 iff something is chosen otherwise than here."""
        total = Sum()
        for j, piece in enumerate(self.pieces):
            cell = int(piece.cells.index(self.target[[j]])[0])
            total = total + 1.0 + -1.0 * piece.cell[cell]
            if piece.counted:
                total = total + _other(piece.changed, self.x)
        for j, room in self.rooms.items():
            if self.pieces[j].by_value and self.problem.domain.step[j]:
                total = total + room.below + room.above
        for happens in self.events.values():
            total = total + _other(happens, self.x)
        return total

    @cached_property
    def rooms(self) -> dict[int, Room]:
        """Where each column may be that relations are about."""
        space, pieces = self.problem.space, self.pieces
        summed = {space.index(name) for one in self.problem.relations_of(LinearRelation) for name in one.numbers}
        moved = {space.index(name) for one in self.events for name in one.numbers} - summed
        free = {j for j in moved if pieces[j].by_value and not self.problem.domain.step[j]}
        rooms = {j: self._cell(j) for j in sorted(summed) + sorted(free) if not np.isnan(self.target[j])}
        for relation, happens in self.events.items():
            j, room = self._of_event(relation, happens)
            if j in rooms and room is not None:
                rooms[j] = rooms[j].meet(room)
        return rooms

    def _cell(self, j: int) -> Room:
        """The cell of a column, or the one value that it has."""
        problem, piece, here = self.problem, self.pieces[j], float(self.target[j])
        cell = int(piece.cells.index(np.array([here]))[0])
        if not piece.by_value:
            leave = Sum(constant=1.0) - piece.cell[cell]
            return Room(here, here, leave, leave)
        if problem.domain.step[j]:
            below, above = beyond(problem, self.program, piece, j, here)
            return Room(here, here, below + piece.missing, above + piece.missing)
        if piece.counted and here == piece.x and piece.changed.at(self.x) < 0.5:
            return Room(here, here, piece.changed, piece.changed)
        low, high = (float(end[0, cell]) for end in piece.choices.hull)
        below = Sum(constant=1.0) - piece.above[cell - 1] if cell else Sum()
        return Room(low, high, below, piece.above[cell] + piece.missing if cell < len(piece.above) else Sum())

    def _of_event(self, relation: Implication, happens: Sum) -> tuple[int, Room | None]:
        """Where a real number may be so that the cause of an implication does not happen, or its consequence follows."""
        does = happens.at(self.x) > 0.5
        part, literal = (relation.consequence, Sum(constant=1.0) - happens) if does else (relation.cause, happens)
        j = self.problem.space.index(relation.numbers[does])
        x, single = self.pieces[j].x, self.problem.space.features[j].single
        if not self.problem.space.features[j].is_real:
            return j, None
        if isinstance(part, Event):
            if part.word == "becomes" or np.isnan(x):
                return j, None
            side = 1 if part.word == "rises" else -1
            end = _float_from(part.end(self.problem.space, x), side, single)
            if not does:
                end = _next(end, -side, single) if part.by else x
        else:
            sign, least = end_of(part)
            side, end = int(sign), sign * least
            if single and float(np.float32(end)) != end:
                end = _float_from(Fraction(end), side, single)
            end = end if does else _next(end, -side, single)
        at_least = does == (side > 0)
        return j, Room(end, np.inf, literal, Sum()) if at_least else Room(-np.inf, end, Sum(), literal)

    def _place(self, j: int, room: Room) -> Place:
        """The room with a price. A number should stay, or be where HiGHS has it if more than rates of prices decides that."""
        problem, x, width = self.problem, self.pieces[j].x, self.problem.domain.width(j)
        if not self.pieces[j].by_value:
            return Place(room.low, room.high, room.low)
        read = needs_value(problem.model, len(self.pieces))
        if read.any() or not problem.prices.is_linear or np.isnan(x):
            return Place(room.low, room.high, float(self.target[j]), (1.0 if read[j] else RATHER) / width)
        return Place(room.low, room.high, x, max(float(problem.prices.l1[j]), BARELY / width))


def _other(choice: Sum, x: FloatArray) -> Sum:
    """What is 1 iff a choice between 0 and 1 is the other one."""
    return Sum(constant=1.0) - choice if choice.at(x) > 0.5 else choice


def _float_from(end: Fraction, side: int, single: bool) -> float:
    """The float nearest to an end that is printed as a number at least as far to a side."""
    found = nearest(end, single)
    return found if side * (printed(found, single) - end) >= 0 else _next(found, side, single)


def _next(value: float, side: int, single: bool) -> float:
    """The next float on a side."""
    if single:
        return float(np.nextafter(np.float32(value), np.float32(side * np.inf)))
    return float(np.nextafter(value, side * np.inf))
