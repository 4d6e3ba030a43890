"""Consequences: what follows from changes by itself, and costs nothing.

Whoever acts on a row changes some columns, and others follow: for the actions `y` of a row `x`, its values become

    v_j  =  y_j + sum over linear consequences of by (v_i - x_i) + sum over events that happen of by

in an order in which causes come first. These are additive structural equations; nothing is learnt from data.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from butfor.arrays import BoolArray, FloatArray
from butfor.errors import InputError, InputTypeError, number
from butfor.problem.constraints.constraint import AbstractConstraint, CodedConstraint
from butfor.problem.constraints.implications import Event
from butfor.space.space import Space

KEPT_DIGITS = 15
"""What follows is computed to so many digits: a tenth of 3 is 0.3, and not 0.30000000000000004."""

EXACT_POWERS = 22
"""Powers of ten up to this one are exact."""


@dataclass(frozen=True)
class Follows(CodedConstraint):
    """See `follows`. It forbids nothing: it says what a row becomes. `of` is a column of numbers, or an event."""

    alters: ClassVar[bool] = True

    name: str
    by: float
    of: str | Event

    def __repr__(self) -> str:
        return f"follows({self.name!r}, by={self.by!r}, of={self.of!r})"

    @property
    def cause(self) -> str:
        """The column that it follows from."""
        return self.of.name if isinstance(self.of, Event) else self.of

    def atoms(self) -> tuple[AbstractConstraint, ...]:
        """Nothing: it makes no row impossible by itself, and without it the question is another one."""
        return ()

    def validate(self, space: Space) -> None:
        given = f"{self!r} was given."
        if not isinstance(self.of, str | Event):
            raise InputTypeError(given, "of must be a column, or an event: bf.rises, bf.falls or bf.becomes.")
        if space[self.name].levels is not None:
            raise InputError(
                given, f"Only a number can follow, and {self.name!r} has levels ({space[self.name].describe()})."
            )
        by = number(self.by, given, "by must be a number.")
        if not (np.isfinite(by) and by):
            raise InputError(given, "by must be finite, and not 0.")
        if isinstance(self.of, Event):
            self.of.validate(space, wanted=False)
        elif space[self.of].levels is not None:
            raise InputError(
                given,
                f"{self.of!r} is not a number ({space[self.of].describe()}).",
                f"Name an event, such as of=bf.rises({self.of!r}) or of=bf.becomes({self.of!r}, ...).",
            )

    def holds_between(self, space: Space, before: FloatArray, after: FloatArray) -> BoolArray:
        return np.ones(len(before), dtype=np.bool_)

    def gain(self, space: Space, before: FloatArray, after: FloatArray) -> FloatArray:
        """By how much the column changes in each row, if its cause changes so. It is 0 if the cause is missing."""
        if isinstance(self.of, Event):
            return np.asarray(self.by * self.of.holds(space, before, after), dtype=np.float64)
        j = space.index(self.of)
        return np.asarray(np.nan_to_num(self.by * (after[:, j] - before[:, j])))


@dataclass(frozen=True)
class Settled(Follows):
    """The same where it is settled whether its event happens."""

    happens: bool = False

    def gain(self, space: Space, before: FloatArray, after: FloatArray) -> FloatArray:
        return np.full(len(before), self.by * self.happens)


@dataclass(frozen=True, eq=False)
class Consequences:
    """All consequences of a question, causes first. Without any, a row becomes what one makes of it."""

    space: Space
    rules: tuple[Follows, ...]

    @classmethod
    def listed(cls, space: Space, constraints: Iterable[AbstractConstraint]) -> Consequences:
        """The consequences among constraints. Those that run in a circle are an error."""
        listed = [found for found in constraints if isinstance(found, Follows)]
        order = _causes_first(listed)
        return cls(space, tuple(sorted(listed, key=lambda rule: order.index(rule.name))))

    def __bool__(self) -> bool:
        return bool(self.rules)

    @cached_property
    def effects(self) -> tuple[int, ...]:
        """The columns that follow from others, causes first."""
        return tuple(dict.fromkeys(self.space.index(rule.name) for rule in self.rules))

    @property
    def causes(self) -> tuple[int, ...]:
        """The columns from which others follow."""
        return tuple(dict.fromkeys(self.space.index(rule.cause) for rule in self.rules))

    @property
    def events(self) -> tuple[Event, ...]:
        """The events from which columns follow."""
        return tuple(dict.fromkeys(rule.of for rule in self.rules if isinstance(rule.of, Event)))

    def settled(self, happens: Mapping[Event, bool]) -> Consequences:
        """The same where it is settled whether each event happens."""
        rules = (
            Settled(rule.name, rule.by, rule.of, happens[rule.of]) if isinstance(rule.of, Event) else rule
            for rule in self.rules
        )
        return Consequences(self.space, tuple(rules))

    def touch(self, names: Iterable[str]) -> bool:
        """Whether some of these columns follow from others."""
        return any(self.space.names[j] in set(names) for j in self.effects)

    def of(self, j: int) -> tuple[Follows, ...]:
        """The rules that a column follows."""
        return tuple(rule for rule in self.rules if self.space.index(rule.name) == j)

    def values(self, start: FloatArray, acted: FloatArray) -> FloatArray:
        """What rows become, if they are acted on so: `acted` is what one's own actions alone would make of them."""
        out = acted.copy()
        for j in self.effects:
            total = self._total(j, start, out)
            out[:, j] = self._rounded(j, acted[:, j] + total, acted[:, j], total)
        return out

    def actions(self, start: FloatArray, values: FloatArray) -> FloatArray:
        """What one's own actions alone would make of rows that become such values."""
        out = values.copy()
        for j in self.effects:
            x, total = start[:, j], self._total(j, start, values)
            idle = values[:, j] == self._rounded(j, x + total, x, total)
            out[:, j] = np.where(idle, x, self._rounded(j, values[:, j] - total, values[:, j], total))
        return out

    def _total(self, j: int, start: FloatArray, values: FloatArray) -> FloatArray:
        """By how much a column changes by itself. One that was missing does not."""
        total = np.zeros(len(values))
        for rule in self.of(j):
            total = total + rule.gain(self.space, start, values)
        return np.where(np.isnan(start[:, j]), 0.0, total)

    def _rounded(self, j: int, x: FloatArray, one: FloatArray, other: FloatArray) -> FloatArray:
        """The sum of two numbers without the digits that rounding leaves behind. Nothing is done to a number plus 0."""
        size = np.maximum(np.abs(one), np.abs(other))
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            digits = KEPT_DIGITS - 1 - np.floor(np.log10(size))
            scale = 10.0 ** np.abs(digits)
            near = np.where(digits < 0, np.round(x / scale) * scale, np.round(x * scale) / scale)
        told = np.where((other == 0) | ~(np.abs(digits) <= EXACT_POWERS), x, near)
        return told.astype(np.float32).astype(np.float64) if self.space.features[j].single else told

    def gains(self, j: int, start: FloatArray, low: FloatArray, high: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Between which ends a column changes by itself, if all columns end between `low` and `high` (n, columns)."""
        least, most = np.zeros(len(start)), np.zeros(len(start))
        for rule in self.of(j):
            if isinstance(rule.of, Event):
                ends = [np.zeros(len(start)), np.full(len(start), rule.by)]
            else:
                i = self.space.index(rule.of)
                ends = [np.nan_to_num(rule.by * (end[:, i] - start[:, i])) for end in (low, high)]
            least, most = least + np.minimum(*ends), most + np.maximum(*ends)
        return least, most


def _causes_first(rules: list[Follows]) -> list[str]:
    """The columns that follow from others, in an order in which causes come first."""
    done: list[str] = []

    def put(name: str, path: tuple[str, ...]) -> None:
        if name in path:
            raise InputError(
                f"consequences in a circle were given: {' from '.join([*path[path.index(name) :], name])}.",
                "No column may follow from itself, directly or by others.",
                "Leave out one of them.",
            )
        if name not in done:
            for rule in rules:
                if rule.name == name:
                    put(rule.cause, (*path, name))
            done.append(name)

    for rule in rules:
        put(rule.name, ())
    return done
