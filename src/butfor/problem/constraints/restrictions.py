"""Constraints on one column at a time. They narrow its domain."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from butfor.arrays import BoolArray, FloatArray
from butfor.errors import InputError, InputTypeError, number
from butfor.model.grid_points import finer_than_floats, on_grid
from butfor.model.lattice import Lattice
from butfor.problem.constraints.constraint import AbstractConstraint, CodedConstraint
from butfor.problem.domain import Domain
from butfor.problem.prices import Prices
from butfor.space.feature import Feature
from butfor.space.space import Space, same


class Restriction(CodedConstraint):
    """A constraint on one column at a time. It narrows the domain."""

    widens: ClassVar[bool] = False
    """Whether it widens the domain, and so comes before those that narrow it."""

    @abstractmethod
    def narrowed(self, domain: Domain, space: Space) -> Domain:
        """The part of a domain that keeps the constraint."""


@dataclass(frozen=True)
class Fixed(Restriction):
    """See `fixed`."""

    of_values = False

    names: tuple[str, ...]

    def __repr__(self) -> str:
        return f"fixed({', '.join(map(repr, self.names))})"

    def validate(self, space: Space) -> None:
        for name in self.names:
            space.position(name)

    def atoms(self) -> tuple[AbstractConstraint, ...]:
        return tuple(Fixed((name,)) for name in self.names)

    def narrowed(self, domain: Domain, space: Space) -> Domain:
        kept = np.zeros(len(space), dtype=np.bool_)
        kept[[space.position(name) for name in self.names]] = True
        return domain.without_moves(kept)

    def holds_between(self, space: Space, before: FloatArray, after: FloatArray) -> BoolArray:
        at = [space.position(name) for name in self.names]
        return np.asarray(np.all(same(before[:, at], after[:, at]), axis=1))


@dataclass(frozen=True)
class Direction(Restriction):
    """See `only_up` and `only_down`."""

    of_values = False

    names: tuple[str, ...]
    up: bool

    def __repr__(self) -> str:
        return f"only_{'up' if self.up else 'down'}({', '.join(map(repr, self.names))})"

    def validate(self, space: Space) -> None:
        for name in self.names:
            feature = space[name]
            if feature.levels is not None and not feature.ordered:
                raise InputError(
                    f"{self!r} was given, but the values of {name!r} ({feature.describe()}) have no order.",
                    "",
                    f"Declare an order with space={{{name!r}: bf.Ordinal([...])}}, or list moves with bf.moves.",
                )

    def atoms(self) -> tuple[AbstractConstraint, ...]:
        return tuple(Direction((name,), self.up) for name in self.names)

    def narrowed(self, domain: Domain, space: Space) -> Domain:
        at = [space.index(name) for name in self.names]
        for j in (j for j in at if j in domain.levels):
            x, code = domain.factuals[:, j], np.arange(domain.levels[j].shape[1])
            start = np.where(np.isnan(x), -1 if self.up else len(code), x)[:, None]
            domain = domain.at_levels(j, code >= start if self.up else code <= start)
        numbers = [j for j in at if j not in domain.levels]
        x = domain.factuals[:, numbers]
        known = ~np.isnan(x)
        low, high = np.where(known & self.up, x, -np.inf), np.where(known & (not self.up), x, np.inf)
        return domain.narrowed(numbers, low, high)

    def holds_between(self, space: Space, before: FloatArray, after: FloatArray) -> BoolArray:
        at = [space.index(name) for name in self.names]
        b, a = before[:, at], after[:, at]
        fine = (a >= b) if self.up else (a <= b)
        return np.asarray(np.all(fine | np.isnan(b) | np.isnan(a), axis=1))


@dataclass(frozen=True)
class Between(Restriction):
    """See `between`."""

    name: str
    low: Any
    high: Any

    def __repr__(self) -> str:
        if _endless(self.low):
            return f"between({self.name!r}, high={self.high!r})"
        return f"between({self.name!r}, {self.low!r}" + (")" if _endless(self.high) else f", {self.high!r})")

    @property
    def closed(self) -> bool:
        """Whether it limits both ends."""
        return not _endless(self.low) and not _endless(self.high)

    def _ends(self, feature: Feature) -> tuple[float, float]:
        """Its ends: numbers, or positions of levels that are none."""
        if feature.levels is None or feature.numbers is not None:
            return float(self.low), float(self.high)
        low = 0.0 if _endless(self.low) else float(feature.code(self.low, repr(self)))
        return low, float(len(feature.levels) - 1 if _endless(self.high) else feature.code(self.high, repr(self)))

    def _inside(self, feature: Feature, codes: FloatArray) -> BoolArray:
        """Which encoded values lie between its ends. Levels that are numbers may have any order: the numbers count."""
        low, high = self._ends(feature)
        values = codes if feature.numbers is None else feature.in_numbers(codes)
        return np.asarray((values >= low) & (values <= high))

    def validate(self, space: Space) -> None:
        feature = space[self.name]
        if feature.levels is not None and not feature.ordered:
            raise InputError(
                f"{self!r} was given, but the values of {self.name!r} have no order.",
                "",
                "Use bf.allowed(name, values).",
            )
        try:
            low, high = self._ends(feature)
        except (TypeError, ValueError) as error:
            if isinstance(error, InputError):
                raise
            raise InputTypeError(f"{self!r} was given.", f"{self.name!r} is a number: give two numbers.") from None
        if np.isnan(low) or np.isnan(high):
            raise InputError(f"{self!r} was given.", "An end must not be NaN.", "Leave out an end that limits nothing.")
        if low > high:
            raise InputError(
                f"{self!r} was given.",
                "The first end must not exceed the second.",
                "Nothing lies between: swap the ends.",
            )

    def narrowed(self, domain: Domain, space: Space) -> Domain:
        j = space.index(self.name)
        feature = space.features[j]
        if j in domain.levels:
            return domain.at_levels(j, self._inside(feature, np.arange(domain.levels[j].shape[1], dtype=np.float64)))
        return domain.narrowed(j, *self._ends(feature))

    def holds_between(self, space: Space, before: FloatArray, after: FloatArray) -> BoolArray:
        j = space.index(self.name)
        a = after[:, j]
        return np.asarray(self._inside(space.features[j], a) | np.isnan(a))


@dataclass(frozen=True)
class Within(Restriction):
    """See `within`."""

    name: str
    share: float

    def __repr__(self) -> str:
        return f"within({self.name!r}, {self.share!r})"

    def validate(self, space: Space) -> None:
        if space[self.name].levels is not None:
            raise InputError(
                f"{self!r} was given, but {self.name!r} is not a number.", "", "Use bf.allowed or bf.moves."
            )
        message = (f"{self!r} was given.", "The share must be finite and not negative; 0.1 is plus or minus 10 %.")
        if not 0 <= number(self.share, *message) < np.inf:
            raise InputError(*message)

    def _ends(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        room = self.share * np.abs(x)
        return np.where(np.isnan(x), -np.inf, x - room), np.where(np.isnan(x), np.inf, x + room)

    def narrowed(self, domain: Domain, space: Space) -> Domain:
        j = space.index(self.name)
        return domain.narrowed(j, *self._ends(domain.factuals[:, j]))

    def holds_between(self, space: Space, before: FloatArray, after: FloatArray) -> BoolArray:
        j = space.index(self.name)
        low, high = self._ends(before[:, j])
        a = after[:, j]
        return np.asarray(((a >= low) & (a <= high)) | np.isnan(a))


@dataclass(frozen=True)
class Grid(Restriction):
    """See `step` and `whole`."""

    of_values = False

    name: str
    step: float
    anchor: float = 0.0

    def __repr__(self) -> str:
        if self.step == 1 and not self.anchor:
            return f"whole({self.name!r})"
        return f"step({self.name!r}, {self.step!r}" + (f", anchor={self.anchor!r})" if self.anchor else ")")

    def validate(self, space: Space) -> None:
        if space[self.name].levels is not None:
            raise InputError(
                f"{self!r} was given, but {self.name!r} is not a number.", "", "Use bf.allowed or bf.moves."
            )
        message = (f"{self!r} was given.", "The step must be a positive number, and the anchor a number.")
        if not (0 < number(self.step, *message) < np.inf and np.isfinite(number(self.anchor, *message))):
            raise InputError(*message)

    def narrowed(self, domain: Domain, space: Space) -> Domain:
        return domain.coarsened(space.index(self.name), self.step, self.anchor) if self._limits(space) else domain

    def holds_between(self, space: Space, before: FloatArray, after: FloatArray) -> BoolArray:
        j = space.index(self.name)
        a = after[:, j]
        kept = on_grid(a, *self._grid()) | (not self._limits(space))
        return np.asarray(same(before[:, j], a) | np.isnan(a) | kept)

    def _grid(self) -> tuple[float, float]:
        """Its step and an anchor close to 0."""
        return Lattice.of(self.step, self.anchor).in_floats()

    def _limits(self, space: Space) -> bool:
        """Whether it forbids any number. A grid finer than floats are at the column's values does not."""
        feature = space[self.name]
        return not finer_than_floats(feature.low, feature.high, *self._grid())


@dataclass(frozen=True)
class Allowed(Restriction):
    """See `allowed`."""

    name: str
    values: tuple[Any, ...]

    def __repr__(self) -> str:
        return f"allowed({self.name!r}, {list(self.values)!r})"

    def _codes(self, space: Space) -> BoolArray:
        feature = space[self.name]
        assert feature.levels is not None
        mask = np.zeros(len(feature.levels), dtype=np.bool_)
        mask[[feature.code(value, repr(self)) for value in self.values]] = True
        return mask

    def validate(self, space: Space) -> None:
        if space[self.name].levels is None:
            raise InputError(f"{self!r} was given, but {self.name!r} is a number.", "", "Use bf.between and bf.step.")
        if not self.values:
            raise InputError(f"{self!r} was given.", "At least one value must be allowed.")
        self._codes(space)

    def narrowed(self, domain: Domain, space: Space) -> Domain:
        return domain.at_levels(space.index(self.name), self._codes(space))

    def holds_between(self, space: Space, before: FloatArray, after: FloatArray) -> BoolArray:
        a = after[:, space.index(self.name)]
        mask = np.append(self._codes(space), True)
        return np.asarray(mask[np.where(np.isnan(a), len(mask) - 1, a).astype(np.intp)])


@dataclass(frozen=True)
class AllowedMoves(Restriction):
    """See `moves`."""

    of_values = False

    name: str
    table: tuple[tuple[Any, tuple[Any, ...]], ...]

    def __repr__(self) -> str:
        return f"moves({self.name!r}, { {before: list(after) for before, after in self.table}!r})"

    def _matrix(self, space: Space) -> BoolArray:
        feature = space[self.name]
        assert feature.levels is not None
        matrix = np.eye(len(feature.levels), dtype=np.bool_)
        for before, after in self.table:
            for level in after:
                matrix[feature.code(before, repr(self)), feature.code(level, repr(self))] = True
        return matrix

    def validate(self, space: Space) -> None:
        if space[self.name].levels is None:
            raise InputError(
                f"{self!r} was given, but {self.name!r} is a number.", "", "Use bf.only_up, bf.within, ..."
            )
        self._matrix(space)

    def narrowed(self, domain: Domain, space: Space) -> Domain:
        j = space.index(self.name)
        x = domain.factuals[:, j]
        allowed = self._matrix(space)[np.nan_to_num(x).astype(np.intp)]
        return domain.at_levels(j, np.where(np.isnan(x)[:, None], True, allowed))

    def holds_between(self, space: Space, before: FloatArray, after: FloatArray) -> BoolArray:
        j = space.index(self.name)
        b, a = before[:, j], after[:, j]
        known = ~(np.isnan(b) | np.isnan(a))
        fine = self._matrix(space)[np.nan_to_num(b).astype(np.intp), np.nan_to_num(a).astype(np.intp)]
        return np.asarray(~known | fine)


@dataclass(frozen=True)
class MayVanish(Restriction):
    """See `may_be_missing`."""

    of_values = False
    widens = True

    names: tuple[str, ...]

    def __repr__(self) -> str:
        return f"may_be_missing({', '.join(map(repr, self.names))})"

    def validate(self, space: Space) -> None:
        for name in self.names:
            if not space[name].missing:
                raise InputError(
                    f"{self!r} was given, but the model takes no missing value in {name!r}.",
                    "",
                    "Leave that column out, or put an imputer into the pipeline.",
                )

    def narrowed(self, domain: Domain, space: Space) -> Domain:
        return domain.with_missing([space.index(name) for name in self.names])

    def holds_between(self, space: Space, before: FloatArray, after: FloatArray) -> BoolArray:
        return np.ones(len(before), dtype=np.bool_)


def _endless(end: Any) -> bool:
    """Whether an end does not limit anything."""
    return isinstance(end, float) and bool(np.isinf(end))


def restrictions_in(constraints: Iterable[AbstractConstraint]) -> tuple[Restriction, ...]:
    """The restrictions among constraints, those that widen a domain first."""
    found = (constraint for constraint in constraints if isinstance(constraint, Restriction))
    return tuple(sorted(found, key=lambda constraint: not constraint.widens))


def moves_at_a_price(prices: Prices, space: Space, row: FloatArray) -> Iterator[AllowedMoves]:
    """To which levels a row may move, for each column of which not every move has a price."""
    for j in sorted({*prices.tables, *prices.linf_tables}):
        feature, x = space.features[j], row[[j]]
        codes = np.arange(len(feature.levels or ()), dtype=np.float64)
        able = np.isfinite(prices.separable(j, x[:, None], codes[None]) + prices.reach(j, x[:, None], codes[None]))[0]
        if not np.isnan(x[0]) and not able.all():
            others = tuple(feature.value(code) for code in codes[able & (codes != x[0])])
            yield AllowedMoves(feature.name, ((feature.value(x[0]), others),))


def narrowing_and_others(
    constraints: Iterable[AbstractConstraint],
) -> tuple[list[Restriction], list[AbstractConstraint]]:
    """The restrictions that narrow a domain, in any order, and all other constraints."""
    narrowing, others = list[Restriction](), list[AbstractConstraint]()
    for constraint in constraints:
        if isinstance(constraint, Restriction) and not constraint.widens:
            narrowing.append(constraint)
        else:
            others.append(constraint)
    return narrowing, others


def narrowed_by(domain: Domain, restrictions: Iterable[Restriction], space: Space) -> Domain:
    """The part of a domain that keeps several restrictions."""
    for constraint in restrictions:
        domain = constraint.narrowed(domain, space)
    return domain
