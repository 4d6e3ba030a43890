"""Implications: where one change happens, or a column ends somewhere, another one must, too."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, Literal

import numpy as np

from butfor.arrays import BoolArray, FloatArray
from butfor.errors import InputError, InputTypeError, number
from butfor.model.scores import UNIT_DOUBLE, UNIT_SINGLE
from butfor.problem.constraints.constraint import Relation
from butfor.problem.constraints.restrictions import Allowed, Between
from butfor.problem.decimals import printed
from butfor.problem.form import ConstraintKind
from butfor.space.space import Space

STEPS_KEPT = 1e-9
"""How exactly a change in steps or ranks is counted, as a share of it. Values in between there are none."""


@dataclass(frozen=True)
class Event:
    """A change of one column, as a part of `implies`. See `rises`, `falls`, `becomes`."""

    word: Literal["rises", "falls", "becomes"]
    name: str
    by: float = 0.0
    level: Any = None

    def __repr__(self) -> str:
        if self.word == "becomes":
            return f"becomes({self.name!r}, {self.level!r})"
        return f"{self.word}({self.name!r}" + (f", by={self.by!r})" if self.by else ")")

    @property
    def sign(self) -> float:
        """+1 for a rise, -1 for a fall."""
        return 1.0 if self.word == "rises" else -1.0

    def validate(self, space: Space, *, wanted: bool) -> None:
        """Raise a clear error if the event makes no sense in this space."""
        feature = space[self.name]
        if self.word == "becomes":
            if feature.levels is None:
                raise InputError(f"{self!r} was given, but {self.name!r} is a number.", "", "Use bf.rises or bf.falls.")
            feature.code(self.level, repr(self))
            return
        if feature.levels is not None and not feature.ordered:
            raise InputError(
                f"{self!r} was given, but the values of {self.name!r} have no order.", "", "Use bf.becomes."
            )
        message = (f"{self!r} was given.", "by must be a finite number of at least 0.")
        if not 0 <= number(self.by, *message) < np.inf:
            raise InputError(*message)
        if wanted and not self.by and feature.is_real:
            raise InputError(f"{self!r} was given as a consequence.", "Say by how much the number must change: by=...")

    def holds(self, space: Space, before: FloatArray, after: FloatArray) -> BoolArray:
        """In which rows it happens."""
        j = space.index(self.name)
        if self.word == "becomes":
            code = space.features[j].code(self.level, repr(self))
            return np.asarray((after[:, j] == code) & (before[:, j] != code))
        gain, by = self.sign * (after[:, j] - before[:, j]), self.by
        if not by:
            return np.asarray(gain > 0)
        if not space.features[j].is_real:
            return np.asarray(gain >= by * (1 - STEPS_KEPT))
        happened = np.asarray(gain >= by)
        sizes = np.abs(after[:, j]) + np.abs(before[:, j]) + by
        near = np.abs(gain - by) <= 4 * (UNIT_SINGLE if space.features[j].single else UNIT_DOUBLE) * sizes
        for i in np.flatnonzero(near).tolist():
            end, now = self.end(space, float(before[i, j])), printed(float(after[i, j]), space.features[j].single)
            happened[i] = now >= end if self.word == "rises" else now <= end
        return happened

    def end(self, space: Space, before: float) -> Fraction:
        """The printed number that a real number must reach if it is to change so far."""
        return printed(before, space[self.name].single) + int(self.sign) * printed(self.by)


Part = Event | Between | Allowed
"""A part of an implication: a change of a column, or where the column ends."""

Holds = Callable[[Space, FloatArray, FloatArray], BoolArray]
"""In which rows it holds, before and after."""

At = Callable[[FloatArray], BoolArray]
"""At which values of a column it holds."""


@dataclass(frozen=True)
class Implication(Relation):
    """See `implies`."""

    kind = ConstraintKind.IMPLIES

    cause: Part
    consequence: Part

    def __repr__(self) -> str:
        return f"implies({self.cause!r}, {self.consequence!r})"

    @property
    def numbers(self) -> tuple[str, str]:
        return (self.cause.name, self.consequence.name)

    def validate(self, space: Space) -> None:
        for part, wanted in ((self.cause, False), (self.consequence, True)):
            if isinstance(part, Event):
                part.validate(space, wanted=wanted)
                continue
            if not isinstance(part, Part):
                raise InputTypeError(
                    f"{self!r} was given.",
                    "It takes two events or ends: bf.rises, bf.falls, bf.becomes, bf.between or bf.allowed.",
                )
            part.validate(space)
            if isinstance(part, Between) and part.closed and space[part.name].levels is None:
                raise InputError(
                    f"{self!r} was given.",
                    f"{part!r} limits both ends of a number.",
                    "Give one end, and another bf.implies for the other.",
                )

    def holds_between(self, space: Space, before: FloatArray, after: FloatArray) -> BoolArray:
        return np.asarray(~self.caused(space, before, after) | self.follows(space, before, after))

    def caused(self, space: Space, before: FloatArray, after: FloatArray) -> BoolArray:
        """In which rows the cause holds. It never does if the value is missing."""
        if isinstance(self.cause, Event):
            return self.cause.holds(space, before, after)
        known = ~np.isnan(after[:, space.index(self.cause.name)])
        return np.asarray(known & self.cause.holds_between(space, before, after))

    def follows(self, space: Space, before: FloatArray, after: FloatArray) -> BoolArray:
        """In which rows the consequence holds. What should become a level may have been that before.

        Where a column should end, a missing value is none that ends elsewhere, as in the constraint of that name.
        """
        if isinstance(self.consequence, Event) and self.consequence.word == "becomes":
            code = space[self.consequence.name].code(self.consequence.level, repr(self))
            return np.asarray(after[:, space.index(self.consequence.name)] == code)
        if isinstance(self.consequence, Event):
            return self.consequence.holds(space, before, after)
        return self.consequence.holds_between(space, before, after)

    def parts(self, space: Space, row: FloatArray) -> list[tuple[int, At]]:
        """The columns of the cause and of the consequence, and at which of its values each holds, of a row as it is."""
        columns = map(space.index, self.numbers)
        return [
            (j, partial(_at, holds, space, row, j))
            for j, holds in zip(columns, (self.caused, self.follows), strict=True)
        ]


def _at(holds: Holds, space: Space, row: FloatArray, j: int, values: FloatArray) -> BoolArray:
    """At which values of a column something holds."""
    before = np.repeat(row[None], len(values), axis=0)
    after = before.copy()
    after[:, j] = values
    return holds(space, before, after)
