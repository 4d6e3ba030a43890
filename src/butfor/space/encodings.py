"""Levels that were written in columns of 0 and 1 before the model: declared by the user, or found by their names and values."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import lgamma, log
from typing import Any

import numpy as np

from butfor.arrays import FloatArray
from butfor.errors import InputError, InputTypeError, UnknownColumnError, choice, suggests
from butfor.experimental import experimental
from butfor.space import frames
from butfor.space.dummies import RULES, Code, Dummies
from butfor.space.feature import Feature

DUMMY_TYPES = ("int", "float", "float32", "bool")
"""The types that the columns may have."""

BY_CHANCE = 1e-3
"""Columns are one feature only if columns without a connection would look like it less often than that."""

BETWEEN_WORDS = re.compile(
    r"(?<=[\w)\]])(?<!_)"  # behind a word
    r"(?:_+|[<>]=?|=|\s+"
    r"|(?<!\d)[.:/|~#-]|[.:/|~#-](?!\d))"  # no point or sign of a number, a date or a range
)
"""What stands between the name of a feature and that of a level."""

AT_END = re.compile(r"[\W_]+$")
"""The same at the end of a beginning that names share."""

LEVEL_NUMBER = re.compile(r"(?:[<>]=?\s*)?([-+]?\d+(?:\.\d+)?)")
"""A level that is a number, perhaps as a bound."""


@dataclass(frozen=True)
class Encoding:
    """A declaration of columns that hold one feature: see `one_hot` and `thermometer`.

    - `names`: the columns, or patterns that match them;
    - `none`: the level of rows in which all are 0.
    """

    code: Code
    names: tuple[str, ...]
    none: str = "none"

    def __repr__(self) -> str:
        none = [] if self.none == "none" else [f"none={self.none!r}"]
        return f"{self.code}({', '.join([*map(repr, self.names), *none])})"

    def feature(self, name: str, table: Any, given: Mapping[str, int]) -> Feature:
        """The feature that its columns hold. Its levels are those that occur."""
        columns = self._columns(given)
        kind = _kind(self, table, columns)
        at = tuple(given[column] for column in columns)
        dummies = Dummies(self.code, columns, at, (-1, *range(len(columns))), truth=kind == "bool")
        start = len(shared_prefix(columns))
        levels = [column[start:] for column in columns]
        levels.insert(0, self.none if self.none not in levels else f"{self.none} of them")
        occurring = self._occurring(dummies, name, table, given)
        if self.code == "thermometer" and _falling(levels[1:]):
            occurring.reverse()
        return Feature(
            name,
            levels=tuple(levels[k] for k in occurring),
            ordered=self.code == "thermometer",
            single=kind == "float32",
            dummies=dummies.of(occurring),
            why=f"{len(columns)} columns {_pattern(columns)}, {self._told(empty=0 in occurring)}",
        )

    def _told(self, *, empty: bool) -> str:
        """The rule of its columns, in a few words."""
        if self.code == "thermometer":
            return "each 1 only if the one before it is"
        return "at most one of which is 1" if empty else "one of which is 1"

    def _occurring(self, dummies: Dummies, name: str, table: Any, given: Mapping[str, int]) -> list[int]:
        """Which levels occur in the data."""
        level, odd = dummies.read(table, given)
        if odd is not None:
            raise InputError(
                f"space={{{name!r}: bf.{self!r}}} was given, and {odd} of the data.",
                f"In each row, {RULES[self.code]}, or all are 0.",
                "Name the columns of one feature only.",
            )
        return [int(code) for code in np.unique(level)]

    def _columns(self, given: Iterable[str]) -> tuple[str, ...]:
        """The columns that the names and patterns match."""
        known = list(given)
        found = [[name] if name in known else fnmatch.filter(known, name) for name in self.names]
        for name, columns in zip(self.names, found, strict=True):
            if not columns:
                raise UnknownColumnError(f"bf.{self!r} names {name!r}.", *choice("The columns are", name, known))
        return tuple(dict.fromkeys(column for some in found for column in some))


@experimental
@suggests
def one_hot(*names: str | Iterable[str], none: str = "none") -> Encoding:
    """Declare columns to be the dummies of one feature: one of them is 1, and all others are 0.

    Dummies that share the beginning of their names are found by themselves. Choose it for those that are not: columns of an
    array, columns with names of their own, and dummies of which the first was dropped. A pattern such as `"job_*"` names all
    columns that it matches. `none` is the level of rows in which all are 0.

    >>> import butfor as bf
    >>> {"job": bf.one_hot("job_*", none="clerk")}
    {'job': one_hot('job_*', none='clerk')}
    """
    return Encoding("one_hot", _names(names, "one_hot"), none)


@experimental
@suggests
def thermometer(*names: str | Iterable[str], none: str = "none") -> Encoding:
    """Declare columns to be one feature with ordered levels: each is 1 only if the one before it is.

    Such columns are found by themselves if their names begin alike and end in numbers: `size>=1`, `size>=2`. `none` is the level
    of rows in which all are 0.

    >>> thermometer("size>=1", "size>=2")
    thermometer('size>=1', 'size>=2')
    """
    return Encoding("thermometer", _names(names, "thermometer"), none)


def _names(given: tuple[Any, ...], word: str) -> tuple[str, ...]:
    """Names that were given one by one, or as one list."""
    listed = given[0] if len(given) == 1 and not isinstance(given[0], str) else given
    if not isinstance(listed, Iterable) or isinstance(listed, Mapping):
        raise InputTypeError(f"bf.{word}({listed!r}) was given.", "It takes names of columns.")
    return tuple(map(str, listed))


def found(table: Any, columns: Mapping[str, Feature], known: Collection[str]) -> Iterator[tuple[str, Encoding]]:
    """The encodings that these columns of a table show, with a name for each that is not `known` yet.

    The names of the columns begin alike, and their values follow the rule in every row.
    """
    given = frames.positions(table)
    groups: dict[str, list[str]] = {}
    for name, feature in columns.items():
        if feature.levels in ((0, 1), (False, True)) and frames.dtype(table, name) in DUMMY_TYPES:
            for prefix in prefixes(name):
                groups.setdefault(prefix, []).append(name)
    left = set(columns)
    for prefix in sorted(groups, key=len):
        alike = [name for name in groups[prefix] if name in left]
        encoding = _encoding(alike, table, given) if len(alike) > 1 else None
        if encoding is not None:
            left -= set(alike)
            name = AT_END.sub("", shared_prefix(alike))
            yield (name if name not in known else _pattern(alike)), encoding


def _encoding(columns: list[str], table: Any, given: Mapping[str, int]) -> Encoding | None:
    """The rule that columns follow in every row, and hardly by chance; None if there is none."""
    if len({frames.dtype(table, column) for column in columns}) > 1:
        return None

    def held(column: str) -> FloatArray:
        return frames.numbers(table, column, given[column])

    counts = {column: float(held(column).sum()) for column in columns}
    rows = frames.height(table)
    if sum(counts.values()) == rows:
        ones = np.zeros(rows)
        for column in columns:
            ones += held(column)
        alone = bool((ones == 1).all())
        return Encoding("one_hot", tuple(columns)) if alone and _rare_one_hot([*counts.values()], rows) else None
    start = len(shared_prefix(columns))
    number = {column: _number(column[start:]) for column in columns}
    if None in number.values():
        return None
    columns = sorted(columns, key=lambda column: number[column] or 0.0)
    if counts[columns[0]] < counts[columns[-1]]:
        columns.reverse()
    within = all((held(inner) <= held(outer)).all() for outer, inner in pairwise(columns))
    rare = within and _rare_thermometer([counts[column] for column in columns], rows)
    return Encoding("thermometer", tuple(columns)) if rare else None


def _rare_one_hot(counts: Sequence[float], rows: int) -> bool:
    """Whether columns with so many ones hardly share the rows out among them by chance.

    n! / (c_1! ... c_k!) ways to share them out, of C(n, c_1) ... C(n, c_k) ways to put the ones into the columns.
    """
    ways = lgamma(rows + 1) - sum(lgamma(count + 1) for count in counts)
    return ways - sum(_log_choose(rows, count) for count in counts) < log(BY_CHANCE)


def _rare_thermometer(counts: Sequence[float], rows: int) -> bool:
    """Whether columns with so many ones hardly lie within each other by chance.

    C(c_1, c_2) C(c_2, c_3) ... ways, of C(n, c_2) C(n, c_3) ... ways.
    """
    steps = [_log_choose(outer, inner) - _log_choose(rows, inner) for outer, inner in pairwise(counts)]
    return sum(steps) < log(BY_CHANCE)


def _log_choose(of: float, some: float) -> float:
    return lgamma(of + 1) - lgamma(some + 1) - lgamma(of - some + 1)


def prefixes(name: str) -> list[str]:
    """The beginnings of a name, each up to a sign between words.

    >>> prefixes("home_owner_yes")
    ['home_', 'home_owner_']
    >>> prefixes("rate_>=0.5")
    ['rate_']
    """
    return [name[: cut.end()] for cut in BETWEEN_WORDS.finditer(name) if cut.end() < len(name)]


def shared_prefix(columns: Sequence[str]) -> str:
    """The longest beginning that names share, up to a sign between words; empty if there is none.

    Spaces are mostly within levels: `city_level 1` and `city_level 2` share `city_`.
    """
    shared = set[str].intersection(*(set(prefixes(column)) for column in columns))
    return max(shared, key=lambda prefix: (not prefix.endswith(" "), len(prefix)), default="")


def _falling(levels: Sequence[str]) -> bool:
    """Whether levels are numbers that become smaller."""
    numbers = [number for level in levels if (number := _number(level)) is not None]
    return len(numbers) == len(levels) and all(a > b for a, b in pairwise(numbers))


def _number(level: str) -> float | None:
    """The number that a level is, or its bound; None if it is none."""
    found = LEVEL_NUMBER.fullmatch(level)
    return float(found[1]) if found else None


def _kind(encoding: Encoding, table: Any, columns: Sequence[str]) -> str:
    """The type of the columns. They must have the same, and it must be of numbers or truth values."""
    kinds = {column: frames.dtype(table, column) for column in columns}
    first = kinds[columns[0]]
    odd = next((column for column, kind in kinds.items() if kind != first or kind not in DUMMY_TYPES), None)
    if odd is not None:
        raise InputTypeError(
            f"bf.{encoding!r} names {odd!r}, which is of type {kinds[odd]}.",
            "Its columns must all be of the same type: numbers, or true and false.",
            f"Convert them first: X[{odd!r}].astype(int).",
        )
    return first


def _pattern(columns: Sequence[str]) -> str:
    """Columns in a few words: the beginning that they share, or their names."""
    prefix = shared_prefix(columns)
    return f"{prefix}*" if prefix else ", ".join(columns)
