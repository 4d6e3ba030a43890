"""Columns of 0 and 1 that hold one feature together: dummies, and thermometer codes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Literal, Self

import numpy as np

from butfor.arrays import BoolArray, FloatArray
from butfor.errors import NAMES_LISTED, InputError
from butfor.space import frames

Code = Literal["one_hot", "thermometer"]
"""How levels are written in columns of 0 and 1."""

RULES: dict[Code, str] = {
    "one_hot": "one of them is 1, and all others are 0",
    "thermometer": "each of them is 1 only if the one before it is",
}


@dataclass(frozen=True)
class Dummies:
    """The columns over which a feature is spread.

    - `code`: the rule that they keep;
    - `columns`: their names in the user's table;
    - `at`: their positions among the columns that the model reads;
    - `last`: for each level, the place of the last 1 in `columns`; -1 if all are 0;
    - `truth`: whether they hold true and false, and no numbers.
    """

    code: Code
    columns: tuple[str, ...]
    at: tuple[int, ...]
    last: tuple[int, ...]
    truth: bool = False

    def of(self, levels: Sequence[int]) -> Self:
        """The same with only these levels, in that order."""
        return replace(self, last=tuple(self.last[k] for k in levels))

    def ones(self, place: int) -> BoolArray:
        """In which levels the column at a place is 1."""
        last = np.array(self.last)
        return np.asarray(last == place if self.code == "one_hot" else last >= place)

    def cells(self, place: int, codes: FloatArray) -> list[Any]:
        """What the column at a place holds in encoded rows, as the user's values. A missing row has None."""
        values = [(bool if self.truth else int)(one) for one in self.ones(place)]
        return [values[int(code)] if code == code else None for code in codes]

    def encode(self, name: str, table: Any, given: Mapping[str, int]) -> FloatArray:
        """The level of each row of a table, whose columns are at the positions `given`."""
        level, odd = self.read(table, given)
        if odd is not None:
            raise InputError(
                f"{odd} of those given.",
                f"These columns are one feature, {name!r}: {RULES[self.code]}, as in the data.",
                f"Correct the row. If they are no such feature, write bf.Explainer(..., space={{{name!r}: None}}).",
            )
        return level

    def read(self, table: Any, given: Mapping[str, int]) -> tuple[FloatArray, str | None]:
        """The level of each row of a table, and the first row that has none, in words."""
        last = np.full(frames.height(table), -1)
        for place, held in enumerate(self._held(table, given)):
            last[held != 0] = place
        level_of = np.full(len(self.columns) + 1, -1)  # by the place of the last 1; the end stands for -1
        level_of[list(self.last)] = np.arange(len(self.last))
        level = level_of[last]
        right = level >= 0
        for place, held in enumerate(self._held(table, given)):
            right &= held == self.ones(place)[level]
        if right.all():
            return level.astype(np.float64), None
        row = int(right.argmin())
        return level.astype(np.float64), f"{self._said([held[row] for held in self._held(table, given)])} in row {row}"

    def _held(self, table: Any, given: Mapping[str, int]) -> Iterator[FloatArray]:
        """One column of a table after the other. A table of many dummies is not held twice."""
        return (frames.numbers(table, column, given[column]) for column in self.columns)

    def _said(self, held: Sequence[float]) -> str:
        """What is odd about a row, in words."""
        for column, value in zip(self.columns, held, strict=True):
            if value not in (0.0, 1.0):
                return f"{column!r} " + (f"holds {value:g}" if value == value else "is missing")
        ones = [column for column, value in zip(self.columns, held, strict=True) if value]
        if not ones:
            return f"none of {listed(self.columns)} is 1"
        gaps = [(one, before) for before, one in pairwise(self.columns) if one in ones and before not in ones]
        if gaps and self.code == "thermometer":
            return f"{gaps[0][0]!r} is 1 and {gaps[0][1]!r} is 0"
        return f"{listed(ones)} {'is' if len(ones) == 1 else 'are'} 1"


def listed(columns: Sequence[str]) -> str:
    """Columns in words."""
    more = len(columns) - NAMES_LISTED
    return ", ".join(map(repr, columns[:NAMES_LISTED])) + (f" and {more} more" if more > 0 else "")
