"""Columns that belong together: only certain combinations of their values exist."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, ClassVar, Self, TypeVar

import numpy as np

from butfor.arrays import BoolArray, FloatArray, IntArray, plain
from butfor.errors import InputError, UnknownColumnError, choice, number
from butfor.problem.constraints.constraint import AbstractConstraint, Relation
from butfor.problem.form import ConstraintKind
from butfor.space import frames
from butfor.space.feature import Feature
from butfor.space.space import Space, encode_column, same

MOST_TOGETHER = 1_000
"""How many combinations of values columns may have that belong together."""

FOLLOWING = ""
"""In place of the first column of a group: its columns follow from others, and count as none."""

N = TypeVar("N", bound=Hashable)

Row = tuple[Any, ...]
"""The values of some columns, as the user writes them. A missing one is None."""


@dataclass(frozen=True)
class Combinations(Relation):
    """See `combinations`. `table` are the combinations that exist (None: they are not learnt yet)."""

    kind = ConstraintKind.LINKED
    word: ClassVar[str] = "combinations"

    names: tuple[str, ...]
    table: tuple[Row, ...] | None = None

    def __repr__(self) -> str:
        return f"{self.word}({', '.join(map(repr, self.names))})"

    @property
    def numbers(self) -> tuple[str, ...]:
        return self.names

    def validate(self, space: Space) -> None:
        for name in self.names:
            space.index(name)
        if len(set(self.names)) < 2 or len(set(self.names)) < len(self.names):
            raise InputError(f"{self!r} was given.", "It takes at least two columns, each once.")
        if self.table is not None:
            self.codes(space)

    def of(self, table: Any) -> Self:
        """The combinations in the rows of a table."""
        table = frames.opened(frames.as_table(table))
        given = frames.names(table)
        absent = [name for name in self.names if name not in given]
        if absent:
            raise UnknownColumnError(
                f"{self!r} was given a table without {', '.join(map(repr, absent))}.",
                *choice("Its columns are", absent[0], given),
            )
        columns = [map(plain, frames.values(table, name, given.index(name))) for name in self.names]
        first: dict[Row, int] = {}
        for number_of, row in enumerate(zip(*columns, strict=True)):
            first.setdefault(row, number_of)
        self._check([*first], [*first.values()], "the table")
        return replace(self, table=(*first,))

    def learnt(self, space: Space, data: Any) -> Self:
        """The combinations that occur in the data, without those that the model does not take."""
        if self.table is not None:
            return self
        codes, first = _occurring(self._features(space), frames.opened(frames.as_table(data)))
        rows = [
            tuple(feature.value(code) for feature, code in zip(self._features(space), row, strict=True))
            for row in codes.tolist()
        ]
        self._check(rows, first, "the data")
        return replace(self, table=tuple(rows))

    def codes(self, space: Space) -> FloatArray:
        """The combinations, encoded (combinations, columns)."""
        assert self.table is not None, "combinations are learnt when the question is asked"
        return _encoded(repr(self), self._features(space), self.table)

    def holds_between(self, space: Space, before: FloatArray, after: FloatArray) -> BoolArray:
        at = [space.index(name) for name in self.names]
        kept = same(before[:, at], after[:, at]).all(axis=1)
        return np.asarray(kept | (positions(self.codes(space), after[:, at]) >= 0))

    def _features(self, space: Space) -> tuple[Feature, ...]:
        return tuple(space[name] for name in self.names)

    def _check(self, rows: Sequence[Row], at: Sequence[int], where: str) -> None:
        """Refuse combinations that are too many. `at` are the rows in which they were found."""
        if len(rows) > MOST_TOGETHER:
            each = {name: len({row[j] for row in rows}) for j, name in enumerate(self.names)}
            raise InputError(
                f"{self!r} was given, and {where} has {len(rows):,} combinations of their values.",
                f"It takes at most {MOST_TOGETHER:,}.",
                f"Leave out {max(each, key=lambda name: each[name])!r}, or round it before the model reads it.",
            )


@dataclass(frozen=True, repr=False)
class LinkedColumns(Combinations):
    """See `linked`."""

    word: ClassVar[str] = "linked"

    def _check(self, rows: Sequence[Row], at: Sequence[int], where: str) -> None:
        super()._check(rows, at, where)
        known: dict[Any, tuple[Row, int]] = {}
        for row, number_of in zip(rows, at, strict=True):
            other, first = known.setdefault(row[0], (row, number_of))
            j = next((j for j in range(len(row)) if row[j] != other[j]), None)
            if j is not None:
                raise InputError(
                    f"{self!r} was given, and {where} contradicts it: where {self.names[0]!r} is {row[0]!r}, "
                    f"{self.names[j]!r} is {other[j]!r} in row {first} and {row[j]!r} in row {number_of}.",
                    f"All other columns must follow from {self.names[0]!r}.",
                    f"Correct these rows, or use bf.combinations({', '.join(map(repr, self.names))}).",
                )


def _occurring(features: tuple[Feature, ...], table: Any) -> tuple[FloatArray, list[int]]:
    """The combinations of a table, encoded and each once, and the rows in which they occur first."""
    given = frames.positions(table)
    columns = [encode_column(replace(feature, missing=True), table, given) for feature in features]
    codes = np.column_stack(columns)
    lost = np.isnan(codes)
    taken = np.flatnonzero(~(lost & ~np.array([feature.missing for feature in features])).any(axis=1))
    first = first_of_each(codes[taken])
    return codes[taken[first]], taken[first].tolist()


def first_of_each(rows: FloatArray) -> IntArray:
    """Where each row occurs first, in the order of their values. Two missing values are the same."""
    which, first = np.zeros(len(rows), dtype=np.intp), np.zeros(min(1, len(rows)), dtype=np.intp)
    for column in rows.T:
        values, inverse = np.unique(column, return_inverse=True)
        _, first, which = np.unique(which * len(values) + inverse, return_index=True, return_inverse=True)
    return first


@lru_cache(maxsize=64)
def _encoded(whose: str, features: tuple[Feature, ...], table: tuple[Row, ...]) -> FloatArray:
    """Combinations as numbers, without those that the model does not take. A value that no column has is an error."""
    codes = [[_code(feature, value, whose) for feature, value in zip(features, row, strict=True)] for row in table]
    found = np.array(codes, dtype=np.float64).reshape(len(table), len(features))
    taken = ~(np.isnan(found) & ~np.array([feature.missing for feature in features])).any(axis=1)
    found = np.asarray(found[taken])
    found.setflags(write=False)
    return found


def _code(feature: Feature, value: Any, whose: str) -> float:
    if value is None:
        return np.nan
    if feature.levels is not None:
        return float(feature.code(value, whose))
    found = number(value, f"{whose} was given {value!r} for {feature.name!r}.", "This column holds numbers.")
    return float(np.float32(found)) if feature.single else found


def positions(codes: FloatArray, points: FloatArray) -> IntArray:
    """Which combination (combinations, columns) each point (n, columns) is; -1 if it is none."""
    if not len(codes):
        return np.full(len(points), -1, dtype=np.intp)
    matches = np.asarray(same(points[:, None], codes[None]).all(axis=2))
    return np.asarray(np.where(matches.any(axis=1), matches.argmax(axis=1), -1))


def groups(constraints: Iterable[AbstractConstraint]) -> tuple[tuple[str, ...], ...]:
    """The names of the columns that belong together. Groups that share a column are one."""
    return sharing(constraint.names for constraint in constraints if isinstance(constraint, Combinations))


def counting(constraints: Iterable[AbstractConstraint]) -> tuple[tuple[str, ...], ...]:
    """How changes are counted: groups of columns that count as one, and after `FOLLOWING` those that count as none."""
    listed = tuple(constraints)
    following = dict.fromkeys(name for constraint in listed for name in constraint.following)
    return (*groups(listed), (FOLLOWING, *following)) if following else groups(listed)


def sharing(several: Iterable[tuple[N, ...]]) -> tuple[tuple[N, ...], ...]:
    """Groups of names, where those that share a name are one, directly or by others."""
    found: list[tuple[N, ...]] = []
    for names in several:
        near: list[tuple[N, ...]] = [group for group in found if set(group) & set(names)]
        found = [group for group in found if group not in near]
        joined: list[N] = []
        for group in [*near, names]:
            joined += group
        found.append(tuple(dict.fromkeys(joined)))
    return tuple(found)


def counted(space: Space, changed: BoolArray, together: tuple[tuple[str, ...], ...]) -> BoolArray:
    """Which columns (n, columns) count as changed. Those that belong together count as one: the first of them."""
    out = changed.copy()
    for first, *names in together:
        others = [space.index(name) for name in names]
        if first != FOLLOWING:
            out[:, space.index(first)] |= changed[:, others].any(axis=1)
        out[:, others] = False
    return out


def number_counted(names: Iterable[str], together: tuple[tuple[str, ...], ...]) -> int:
    """As how many the columns of these names count. Those that belong together count as one."""
    group = {name: names[0] for names in together for name in names}
    return len({group.get(name, name) for name in names} - {FOLLOWING})
