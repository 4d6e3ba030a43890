"""Relations: constraints on several columns at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from operator import mul
from typing import Literal, Self

import numpy as np

from butfor.arrays import BoolArray, FloatArray
from butfor.errors import InputError, number
from butfor.model.lattice import meant
from butfor.model.scores import UNIT_DOUBLE, UNIT_SINGLE
from butfor.problem.constraints.constraint import AbstractConstraint, Relation
from butfor.problem.constraints.linked import counted, counting
from butfor.problem.decimals import nearest, printed
from butfor.problem.form import ConstraintKind
from butfor.space.feature import Feature
from butfor.space.space import Space, same


@dataclass(frozen=True)
class AtMost(Relation):
    """See `at_most_changes`. Columns that belong together count as one, and those that follow from others as none."""

    of_values = False
    kind = ConstraintKind.AT_MOST

    count: int
    together: tuple[tuple[str, ...], ...] = ()

    def __repr__(self) -> str:
        return f"at_most_changes({self.count!r})"

    def validate(self, space: Space) -> None:
        message = (f"{self!r} was given.", "It takes a whole number of at least 1.")
        count = number(self.count, *message)
        if not (count >= 1 and count.is_integer()):
            raise InputError(*message)

    def holds_between(self, space: Space, before: FloatArray, after: FloatArray) -> BoolArray:
        return np.asarray(counted(space, ~same(before, after), self.together).sum(axis=1) <= self.count)

    def among(self, constraints: tuple[AbstractConstraint, ...]) -> Self:
        return replace(self, together=counting(constraints))


SMALLEST_WEIGHT, LARGEST_WEIGHT = 1e-100, 1e100
"""Between which sizes weights and bounds lie, so that no sum of terms is beyond what floats hold."""


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
        sizes = np.abs([self.bound, *(weight for _, weight in self.weights)])
        if not np.isfinite(sizes).all():
            raise InputError(f"{self!r} was given.", "Weights and bound must be finite.")
        if any(size and not SMALLEST_WEIGHT <= size <= LARGEST_WEIGHT for size in sizes.tolist()):
            raise InputError(
                f"{self!r} was given.",
                f"The sizes of weights and bound must be 0 or lie between {SMALLEST_WEIGHT:g} and {LARGEST_WEIGHT:g}.",
            )
        if not any(weight for _, weight in self.weights):
            raise InputError(f"{self!r} says nothing.", "At least one column must have a weight that is not 0.")
        for name, _ in self.weights:
            if space[name].levels is not None and space[name].numbers is None:
                raise InputError(
                    f"{self!r} was given, but {name!r} is not a number.", "", "Use bf.implies or bf.moves."
                )

    def of_numbers(self, space: Space) -> dict[int, Fraction]:
        """The weights of the columns that are no levels."""
        return {j: weight for j, weight in self._columns(space) if space.features[j].levels is None}

    def of_levels(self, space: Space) -> dict[int, list[Fraction]]:
        """What each level of a column adds to the sum."""
        return {
            j: [weight * printed(number) for number in space.features[j].numbers or ()]
            for j, weight in self._columns(space)
            if space.features[j].levels is not None
        }

    def doubt(self, space: Space, sizes: Mapping[int, float]) -> float:
        """By how much a sum of floats may differ from that of the printed numbers, if the terms of columns have these sizes.

        What is forgiven to computed totals is less.
        """
        names = [space.names[j] for j in sizes]
        return float(self._rounding(np.array(list(sizes.values())) @ _units(space, names)))

    def _rounding(self, size: FloatArray) -> FloatArray:
        """What rounding may do to a sum, for what it may do to its terms."""
        return np.asarray(4 * (len(self.weights) + 2) * (size + UNIT_DOUBLE * abs(self.bound)))

    def _columns(self, space: Space) -> list[tuple[int, Fraction]]:
        """The columns and their weights, as the numbers that were meant: a third of a column is a third."""
        return [(space.index(name), meant(weight)) for name, weight in self.weights]

    def holds_between(self, space: Space, before: FloatArray, after: FloatArray) -> BoolArray:
        names, weights = [name for name, _ in self.weights], np.array([weight for _, weight in self.weights])
        parts = weights * np.column_stack([space[name].in_numbers(after[:, space.index(name)]) for name in names])
        over = parts.sum(axis=1) - self.bound
        held = {"<=": over <= 0, ">=": over >= 0, "==": over == 0}[self.sense]
        with np.errstate(invalid="ignore"):
            whole = bool((np.append(weights, self.bound) % 1 == 0).all()) & (parts % 1 == 0).all(axis=1)
            whole &= np.abs(parts).sum(axis=1) + abs(self.bound) < 2.0**52  # floats add these without rounding
            doubt = self._rounding(np.abs(parts) @ _units(space, names))
            near = np.flatnonzero(~whole & (np.abs(over) <= doubt))
        held[near] = [self._kept(space, before[i], after[i]) for i in near.tolist()]
        return np.asarray(held)

    def ends(self, space: Space, before: FloatArray) -> tuple[Fraction | None, Fraction | None]:
        """Between which ends the sum of printed numbers must lie in an answer to this row (None: there is no end).

        A total that was computed is off by its rounding. If the row itself misses the bound by no more than that, an
        answer may miss it as far.
        """
        missed = self._missed(space, before)
        low = None if self.sense == "<=" else printed(self.bound) + min(missed, Fraction(0))
        high = None if self.sense == ">=" else printed(self.bound) + max(missed, Fraction(0))
        return low, high

    def computes(self, space: Space) -> int:
        """How many roundings it takes to compute the sum. To compare two numbers takes none."""
        scaled = sum(abs(weight) != 1 for _, weight in self._columns(space))
        return max(0, len(self.weights) + bool(self.bound) - 2) + scaled

    def _missed(self, space: Space, before: FloatArray) -> Fraction:
        """By how much a row misses the bound, if that is no more than the rounding of the sum; otherwise 0."""
        terms, roundings = self._terms(space, before), self.computes(space)
        if terms is None or not roundings or len(terms) == 1:  # a single number is no total
            return Fraction(0)
        units = map(Fraction, [*_units(space, [name for name, _ in self.weights]).tolist(), UNIT_DOUBLE])
        missed, sizes = sum(terms, -printed(self.bound)), map(abs, [*terms, printed(self.bound)])
        rounding = (roundings + 1) * sum(map(mul, units, sizes), Fraction(0))
        return missed if abs(missed) <= rounding else Fraction(0)

    def _terms(self, space: Space, row: FloatArray) -> list[Fraction] | None:
        """The terms of the sum of printed numbers; None if a number is missing."""
        columns = self._columns(space)
        numbers = [float(space.features[j].in_numbers(row[[j]])[0]) for j, _ in columns]
        if not np.isfinite(numbers).all():
            return None
        return [weight * printed(x, space.features[j].single) for (j, weight), x in zip(columns, numbers, strict=True)]

    def _kept(self, space: Space, before: FloatArray, after: FloatArray) -> bool:
        """Whether the printed numbers of a row keep the relation in exact arithmetic.

        An equation also holds if some real number is the float that the others make it: often no float is that exactly.
        """
        terms, (low, high) = self._terms(space, after), self.ends(space, before)
        if terms is None:
            return False
        total = sum(terms, Fraction(0))
        short = max(Fraction(0) if low is None else low - total, Fraction(0))
        short -= max(Fraction(0) if high is None else total - high, Fraction(0))
        if not short or self.sense != "==" or not self.computes(space):
            return not short
        columns = zip(self._columns(space), terms, strict=True)
        return any(
            w and _is_made(space.features[j]) and nearest((term + short) / w, space.features[j].single) == after[j]
            for (j, w), term in columns
        )


def _is_made(feature: Feature) -> bool:
    """Whether other numbers can make a feature any number. A constant is none: it is what it is."""
    return feature.is_real and feature.low < feature.high


def _units(space: Space, names: Sequence[str]) -> FloatArray:
    """The unit roundoff of each of these columns."""
    return np.array([UNIT_SINGLE if space[name].single else UNIT_DOUBLE for name in names])


@dataclass(frozen=True)
class Fresh(Relation):
    """Not all of these columns change together. It makes the next of several answers a different one.

    Of columns that belong together (`together`), the first is named, and stands for all.
    """

    of_values = False
    kind = ConstraintKind.FRESH

    names: tuple[str, ...]
    together: tuple[tuple[str, ...], ...] = ()

    def __repr__(self) -> str:
        return f"unlike the answer that changes {', '.join(self.names)}"

    @classmethod
    def from_answer(
        cls, space: Space, start: FloatArray, point: FloatArray, together: tuple[tuple[str, ...], ...] = ()
    ) -> Fresh:
        """Unlike an answer to the row `start`."""
        changed = counted(space, ~same(point, start)[None], together)[0]
        return cls(tuple(name for name, moved in zip(space.names, changed, strict=True) if moved), together)

    def validate(self, space: Space) -> None:
        for name in self.names:
            space.index(name)

    def holds_between(self, space: Space, before: FloatArray, after: FloatArray) -> BoolArray:
        at = [space.index(name) for name in self.names]
        return np.asarray(~counted(space, ~same(before, after), self.together)[:, at].all(axis=1))


DISTANCE_KEPT = 1e-9
"""How exactly a distance is kept, as a share of the range."""


@dataclass(frozen=True)
class Apart(Relation):
    """The answer is far from an earlier one, and does not just do the same and more.

    - `point`: the earlier answer, encoded;
    - `distance`: in ranges. At least one column is so far from its value there, is another level, or is missing where it
      was not.
    """

    of_values = False
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
