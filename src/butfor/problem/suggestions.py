"""What holds in every row of the data, as constraints to choose from.

That something held so far does not make it a rule. So only what chance would hardly leave unbroken is listed: it holds in every
row, and would be broken in many of them if the columns had nothing to do with each other.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, permutations
from typing import Any, Self, overload

import numpy as np

from butfor.arrays import BoolArray, FloatArray
from butfor.errors import InputError, suggests
from butfor.experimental import experimental
from butfor.problem.constraints import names as rule
from butfor.problem.constraints.constraint import AbstractConstraint
from butfor.problem.constraints.linked_names import combinations as together
from butfor.problem.constraints.linked_names import linked
from butfor.problem.spec import from_spec, to_spec
from butfor.space import frames
from butfor.space.encodings import Encoding
from butfor.space.feature import Feature
from butfor.space.infer import infer

EXPECTED = 10.0
"""How many rows chance would have to break, at least, for that none does to mean something."""

MOST_SOURCES = 1_000
"""How many values a column may have that others follow from."""

MOST_TERMS = 7
"""How many columns a total and its parts may be."""

NOT_A_TERM = 1e-9
"""What is smaller than this share of the largest counts as nothing."""

OF_TOTALS = 1e-9
"""By which share of its size a total may be off, because it was added up in floats."""


@dataclass(frozen=True)
class Suggestions(Sequence[AbstractConstraint]):
    """What holds in every row. A sequence of constraints: take those that you want.

    - `constraints`: what may be given as `constraints=`;
    - `why`: for each, what the data says, in words.
    """

    constraints: tuple[AbstractConstraint, ...]
    why: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.constraints)

    @overload
    def __getitem__(self, at: int) -> AbstractConstraint: ...
    @overload
    def __getitem__(self, at: slice) -> Suggestions: ...
    def __getitem__(self, at: int | slice) -> AbstractConstraint | Suggestions:
        return Suggestions(self.constraints[at], self.why[at]) if isinstance(at, slice) else self.constraints[at]

    def __repr__(self) -> str:
        if not self.constraints:
            return "nothing holds in every row that chance would have broken"
        told = [repr(one) for one in self.constraints]
        width = max(map(len, told))
        return "\n".join(
            f"{number}  {one:{width}}  {why}" for number, (one, why) in enumerate(zip(told, self.why, strict=True))
        )

    def to_json(self) -> str:
        """All of them as text, to keep in a file."""
        told = zip(self.constraints, self.why, strict=True)
        return json.dumps([{"constraint": to_spec(one), "why": why} for one, why in told], ensure_ascii=False, indent=1)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """What `to_json` wrote."""
        try:
            told = [(from_spec(one["constraint"]), str(one["why"])) for one in json.loads(text)]
        except (ValueError, TypeError, LookupError):
            told = [(None, "")]
        if not all(isinstance(one, AbstractConstraint) for one, _ in told):
            raise InputError("a text was given that holds no suggestions.", "It must be what to_json() wrote.")
        return cls(tuple(one for one, _ in told), tuple(why for _, why in told))


Found = Iterator[tuple[AbstractConstraint, str]]
"""Constraints, and what the data says of each."""


@experimental
@suggests
def suggest(data: Any) -> Suggestions:
    """What holds in every row of a table: dummies, functions, orders, sums, implications, numbers that are not negative.

    Choose it to find out which rules a table follows before you ask for changes, and pass on those that are rules. Nothing is
    applied by itself. Of functions, orders and implications, only those are listed that chance would have broken in at
    least ten rows. Look at the others with care where rows are few.

    >>> import butfor as bf, pandas as pd
    >>> table = pd.DataFrame({"low": range(50), "high": [i + i % 7 for i in range(50)]})
    >>> bf.suggest(table)
    0  linear({'low': 1.0, 'high': -1.0}, '<=', 0.0)  holds in all 50 rows; chance would break it in 22
    """
    table = frames.opened(frames.as_table(data))
    if frames.height(table) < 2:
        raise InputError(
            f"a table of {frames.height(table)} rows was given.", "What holds in every row takes many rows to be seen."
        )
    space = infer(table)
    columns = _Columns(space.features, space.encode(table))
    found: list[tuple[AbstractConstraint, str]] = []
    for look in (_dummies, _functions, _orders, _totals, _implications, _not_negative):
        found += look(columns)
    return Suggestions(tuple(one for one, _ in found), tuple(why for _, why in found))


class _Columns:
    """The columns of a table, encoded.

    - `taken`: columns about which enough is said: dummies of one level, and columns that follow from another one.
    """

    def __init__(self, features: tuple[Feature, ...], X: FloatArray) -> None:
        self.features, self.X, self.taken = features, X, set[int]()

    @property
    def rows(self) -> str:
        return f"in all {len(self.X):,} rows"

    def numbers(self) -> list[int]:
        """The columns of numbers that are never missing, and change."""
        return [j for j in self._left() if self.features[j].levels is None]

    def groups(self) -> list[int]:
        """The columns of few values that are never missing, and change."""
        return [j for j in self._left() if self._counts[j] <= MOST_SOURCES]

    def _left(self) -> list[int]:
        return [j for j, count in enumerate(self._counts) if count > 1 and j not in self.taken]

    @cached_property
    def _counts(self) -> list[int]:
        """How many values each column has; none if one is missing."""
        return [0 if np.isnan(x).any() else len(np.unique(x)) for x in self.X.T]

    def name(self, j: int) -> str:
        return self.features[j].name

    def is_numeric(self, j: int) -> bool:
        return self.features[j].levels is None or self.features[j].numbers is not None

    def values(self, j: int) -> FloatArray:
        """A column as numbers, its levels, too."""
        return self.features[j].in_numbers(self.X[:, j])


def _dummies(columns: _Columns) -> Found:
    """Groups of columns of 0 and 1 that add up to 1, neighbours in the table first. They are no feature of the space yet."""
    left = [j for j in columns.groups() if columns.is_numeric(j) and np.isin(columns.values(j), (0.0, 1.0)).all()]
    while left:
        first, *others = left
        group, total = [first], columns.values(first)
        for j in others:
            if (total + columns.values(j) <= 1).all():
                group, total = [*group, j], total + columns.values(j)
        left = [j for j in left if j not in group] if (total == 1).all() else others
        if len(group) > 1 and (total == 1).all():
            columns.taken.update(group)
            names = [columns.name(j) for j in group]
            yield together(*names), f"one of them is 1 {columns.rows}: declare bf.{Encoding('one_hot', tuple(names))!r}"


def _functions(columns: _Columns) -> Found:
    """Columns that follow from another one, whose values occur often enough to tell."""
    of = {j: np.unique(columns.X[:, j], return_inverse=True)[1] for j in columns.groups()}
    for a, b in permutations(of, 2):
        if {a, b} & columns.taken:
            continue
        count = int(of[a].max()) + 1
        said = np.zeros(count, dtype=np.intp)
        said[of[a]] = of[b]
        again = len(columns.X) - count  # rows whose value of the first column was seen before
        if count > 2 and (said[of[a]] == of[b]).all() and again * (1 - _agreement(of[b])) >= EXPECTED:
            columns.taken.add(b)
            what = f"each {columns.name(a)} has one {columns.name(b)}"
            yield linked(columns.name(a), columns.name(b)), f"{what} {columns.rows}"


def _agreement(codes: Any) -> float:
    """How often two rows have the same value by chance."""
    shares = np.bincount(codes) / len(codes)
    return float(shares @ shares)


def _orders(columns: _Columns) -> Found:
    """Numbers that are never larger than another one, although their ranges overlap."""
    for a, b in combinations(columns.numbers(), 2):
        for low, high in ((a, b), (b, a)):
            x, y = columns.X[:, low], columns.X[:, high]
            by_chance = float(len(x) - np.searchsorted(np.sort(x), y, side="right").mean())
            if (x <= y).all() and (x != y).any() and by_chance >= EXPECTED:
                weights = {columns.name(low): 1.0, columns.name(high): -1.0}
                yield rule.linear(weights, "<=", 0.0), _unbroken(columns, by_chance)


def _unbroken(columns: _Columns, by_chance: float) -> str:
    return f"holds {columns.rows}; chance would break it in {by_chance:,.0f}"


def _totals(columns: _Columns) -> Found:
    """Weighted sums of numbers that are the same in every row. They are the null space of the table, beside a column of ones."""
    numbers = columns.numbers()
    X = columns.X[:, numbers]
    scale = np.append(np.abs(X).max(axis=0, initial=0.0), 1.0)
    table = np.column_stack([X, np.ones(len(X))]) / scale
    for row in _reduced(_null_space(table), len(numbers)):
        weights = _few_digits(row / scale)
        terms = {columns.name(j): float(w) for j, w in zip(numbers, weights[:-1], strict=True) if w}
        parts = np.append(X, np.ones((len(X), 1)), axis=1) * weights
        off = np.abs(parts.sum(axis=1)) > OF_TOTALS * np.abs(parts).sum(axis=1)
        if 2 <= len(terms) <= MOST_TERMS and not off.any():
            yield rule.linear(terms, "==", float(0.0 - weights[-1])), f"adds up {columns.rows}"


def _null_space(table: FloatArray) -> FloatArray:
    """The weights with which the columns add up to nothing, as rows."""
    _, size, directions = np.linalg.svd(table, full_matrices=len(table) < table.shape[1])
    rank = int((size > NOT_A_TERM * size.max(initial=0.0)).sum())
    return np.asarray(directions[rank:])


def _reduced(rows: FloatArray, pivots: int) -> Iterator[FloatArray]:
    """The rows in echelon form: each has a column of its own, among the first ones, with weight 1. So they are short."""
    left = rows.copy()
    for place in range(len(left) if pivots else 0):
        size = np.abs(left[place:, :pivots])
        if size.max() <= NOT_A_TERM:
            return
        rising = np.argwhere(size >= size.max() / 10)  # a total mostly stands behind its parts
        i, j = (int(at) for at in rising[rising[:, 1].argmax()])
        left[[place, place + i]] = left[[place + i, place]]
        left[place] /= left[place, j]
        others = np.arange(len(left)) != place
        left[others] -= np.outer(left[others, j], left[place])
    yield from np.where(np.abs(left) <= NOT_A_TERM, 0.0, left)


def _few_digits(weights: FloatArray) -> FloatArray:
    """The weights as a person writes them: the first is 1, and the others have four digits."""
    first = weights[np.flatnonzero(weights[:-1])[0]]
    return np.array([float(f"{w:.4g}") if abs(w) > NOT_A_TERM else 0.0 for w in (weights / first).tolist()])


def _implications(columns: _Columns) -> Found:
    """Levels of one column that leave out levels of another one which chance would have brought together."""
    levels = [j for j in columns.groups() if columns.features[j].levels is not None]
    for a, b in permutations(levels, 2):
        first, second = columns.features[a].levels, columns.features[b].levels
        assert first is not None
        assert second is not None
        counts = np.zeros((len(first), len(second)))
        np.add.at(counts, (columns.X[:, a].astype(int), columns.X[:, b].astype(int)), 1)
        by_chance = counts.sum(axis=1, keepdims=True) * counts.sum(axis=0) / len(columns.X)
        for code, level in enumerate(first):
            absent: BoolArray = (counts[code] == 0) & (by_chance[code] > 0)
            missing = float(by_chance[code][absent].sum())
            if missing >= EXPECTED and missing >= by_chance[code].sum() / 2:
                kept = [value for value, out in zip(second, absent, strict=True) if not out]
                whole = rule.implies(rule.allowed(columns.name(a), [level]), rule.allowed(columns.name(b), kept))
                yield whole, _unbroken(columns, missing)


def _not_negative(columns: _Columns) -> Found:
    """Numbers that reach 0 and are never below it."""
    for j in columns.numbers():
        at_zero = int((columns.X[:, j] == 0).sum())
        if columns.X[:, j].min() == 0 and at_zero >= EXPECTED:
            yield rule.between(columns.name(j), low=0), f"never below 0, and 0 in {at_zero:,} rows"
