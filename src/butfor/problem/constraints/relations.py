"""Relations: constraints on several columns at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from butfor.arrays import BoolArray, FloatArray
from butfor.errors import InputError, InputTypeError, number
from butfor.model.scores import UNIT_DOUBLE, UNIT_SINGLE
from butfor.problem.constraints.constraint import Relation
from butfor.problem.constraints.restrictions import Allowed, Between
from butfor.problem.form import ConstraintKind
from butfor.space.space import Space, same


@dataclass(frozen=True)
class AtMost(Relation):
    """See `at_most_changes`."""

    kind = ConstraintKind.AT_MOST

    count: int

    def __repr__(self) -> str:
        return f"at_most_changes({self.count!r})"

    def validate(self, space: Space) -> None:
        message = (f"{self!r} was given.", "It takes a whole number of at least 1.")
        count = number(self.count, *message)
        if not (count >= 1 and count.is_integer()):
            raise InputError(*message)

    def holds_between(self, space: Space, before: FloatArray, after: FloatArray) -> BoolArray:
        return np.asarray((~same(before, after)).sum(axis=1) <= self.count)


RELATION_KEPT = 1e-8
"""How exactly a linear relation is kept, as a share of the ranges of its columns. HiGHS keeps its rows no better."""


@dataclass(frozen=True)
class LinearRelation(Relation):
    """See `linear`."""

    kind = ConstraintKind.LINEAR

    weights: tuple[tuple[str, float], ...]
    sense: Literal["<=", ">=", "=="]
    bound: float

    def __repr__(self) -> str:
        return f"linear({dict(self.weights)!r}, {self.sense!r}, {self.bound!r})"

    @property
    def numbers(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.weights)

    def validate(self, space: Space) -> None:
        if self.sense not in ("<=", ">=", "=="):
            raise InputError(f"{self!r} was given.", "The sense must be '<=', '>=' or '=='.")
        if not np.isfinite([self.bound, *(weight for _, weight in self.weights)]).all():
            raise InputError(f"{self!r} was given.", "Weights and bound must be finite.")
        if not any(weight for _, weight in self.weights):
            raise InputError(f"{self!r} says nothing.", "At least one column must have a weight that is not 0.")
        for name, _ in self.weights:
            if space[name].levels is not None and space[name].numbers is None:
                raise InputError(
                    f"{self!r} was given, but {name!r} is not a number.", "", "Use bf.implies or bf.moves."
                )

    def rounding(self, size: FloatArray) -> FloatArray:
        """By how much rounding may change the sum, if its terms have the total size `size`."""
        return np.asarray(4 * (len(self.weights) + 2) * UNIT_DOUBLE * size)

    def slack(self, space: Space, sizes: FloatArray) -> FloatArray:
        """By how much the sum may miss the bound, if its terms have these sizes (n, columns).

        It may by `RELATION_KEPT` of the columns' ranges, by the rounding of float32 columns, and by that of the sum.
        """
        columns = [space[name] for name, _ in self.weights]
        kept = sum(
            RELATION_KEPT * abs(weight) * column.range
            for (_, weight), column in zip(self.weights, columns, strict=True)
        )
        written = UNIT_SINGLE * sizes[:, [column.single for column in columns]].sum(axis=1)
        return np.asarray(kept + written + self.rounding(abs(self.bound) + sizes.sum(axis=1)))

    def holds_between(self, space: Space, before: FloatArray, after: FloatArray) -> BoolArray:
        parts = np.column_stack(
            [weight * space[name].in_numbers(after[:, space.index(name)]) for name, weight in self.weights]
        )
        total, slack = parts.sum(axis=1), self.slack(space, np.abs(parts))
        if self.sense == "<=":
            return np.asarray(total <= self.bound + slack)
        if self.sense == ">=":
            return np.asarray(total >= self.bound - slack)
        return np.asarray(np.abs(total - self.bound) <= slack)


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
        if wanted and not self.by and feature.levels is None and not feature.step:
            raise InputError(f"{self!r} was given as a consequence.", "Say by how much the number must change: by=...")

    def holds(self, space: Space, before: FloatArray, after: FloatArray) -> BoolArray:
        """In which rows it happens."""
        j = space.index(self.name)
        if self.word == "becomes":
            code = space.features[j].code(self.level, repr(self))
            return np.asarray((after[:, j] == code) & (before[:, j] != code))
        gain = self.sign * (after[:, j] - before[:, j])
        return np.asarray(gain >= self.by * (1 - 1e-9) if self.by else gain > 0)


Part = Event | Between | Allowed
"""A part of an implication: a change of a column, or where the column ends."""


@dataclass(frozen=True)
class Implication(Relation):
    """See `implies`."""

    kind = ConstraintKind.IMPLIES

    cause: Part
    consequence: Part

    def __repr__(self) -> str:
        return f"implies({self.cause!r}, {self.consequence!r})"

    @property
    def numbers(self) -> tuple[str, ...]:
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


@dataclass(frozen=True)
class Fresh(Relation):
    """Not all of these columns change together. It makes the next of several answers a different one."""

    kind = ConstraintKind.FRESH

    names: tuple[str, ...]

    def __repr__(self) -> str:
        return f"unlike the answer that changes {', '.join(self.names)}"

    def validate(self, space: Space) -> None:
        for name in self.names:
            space.index(name)

    def holds_between(self, space: Space, before: FloatArray, after: FloatArray) -> BoolArray:
        at = [space.index(name) for name in self.names]
        return np.asarray(np.any(same(before[:, at], after[:, at]), axis=1))


DISTANCE_KEPT = 1e-9
"""How exactly a distance is kept, as a share of the range."""


@dataclass(frozen=True)
class Apart(Relation):
    """The answer is far from an earlier one, and does not just do the same and more.

    - `point`: the earlier answer, encoded;
    - `distance`: in ranges. At least one column is so far from its value there, is another level, or is missing where it
      was not.
    """

    kind = ConstraintKind.APART

    point: tuple[float, ...]
    distance: float

    def __repr__(self) -> str:
        return f"at least {self.distance:g} ranges from an earlier answer"

    def validate(self, space: Space) -> None:
        if len(self.point) != len(space):
            raise InputError(f"{self!r} was given.", "It must be an answer with the same columns.")

    def holds_between(self, space: Space, before: FloatArray, after: FloatArray) -> BoolArray:
        return self.far(space, after) & ~self.dominated(space, before, after)

    def far(self, space: Space, after: FloatArray) -> BoolArray:
        """Which rows are far from the earlier answer."""
        point = np.array(self.point)
        share = np.array([self.distance - DISTANCE_KEPT if feature.levels is None else 1.0 for feature in space])
        with np.errstate(invalid="ignore"):
            far = np.abs(after - point) >= share * np.array([feature.range for feature in space])
        return np.asarray((far | (np.isnan(after) != np.isnan(point))).any(axis=1))

    def dominated(self, space: Space, before: FloatArray, after: FloatArray) -> BoolArray:
        """Which rows change whatever the earlier answer changes as far as it does, or farther."""
        point = np.array(self.point)
        number = np.array([feature.levels is None for feature in space])
        with np.errstate(invalid="ignore"):
            farther = number & (((before < point) & (point <= after)) | ((before > point) & (point >= after)))
        return np.asarray((same(before, point) | same(after, point) | farther).all(axis=1))
