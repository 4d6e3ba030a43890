"""Binary columns: questions about one raw column of a row, with how many counterfactuals cross each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from butfor.arrays import FloatArray
from butfor.experimental import experimental
from butfor.space import frames
from butfor.space.feature import Feature
from butfor.space.space import encode_column
from butfor.views.text import plain, table


class ColumnTest(StrEnum):
    """What a binary column asks of a value."""

    ABOVE = "above"  # is the number, or the rank of the ordered level, above `at`?
    LEVEL = "level"  # is it the level with the number `at`?
    MISSING = "missing"  # is it missing?


@experimental
@dataclass(frozen=True)
class BinaryColumn:
    """A question about one raw column, such as "income > 41250".

    - `column`, `feature`: the name and the position of the raw column;
    - `test`, `at`: what is asked of an encoded value. A missing value is above nothing;
    - `count`: how many counterfactuals cross it;
    - `survives`: the highest quantile at which it is kept;
    - `ask`: the question without the name of the column.
    """

    column: str
    feature: int
    test: ColumnTest
    at: float
    count: int
    survives: float
    ask: str

    @property
    def name(self) -> str:
        """The name of the binary column."""
        return f"{self.column} {self.ask}"

    def named(self, column: str) -> str:
        """The same name, if the raw column is called otherwise."""
        return f"{column} {self.ask}"

    def write(self, codes: FloatArray, out: NDArray[np.bool_]) -> None:
        """Answer the question for encoded values."""
        if self.test is ColumnTest.ABOVE:
            np.greater(codes, self.at, out=out)
        elif self.test is ColumnTest.LEVEL:
            np.equal(codes, self.at, out=out)
        else:
            np.isnan(codes, out=out)


@experimental
class BinaryColumns(tuple[BinaryColumn, ...]):
    """Binary columns in the order of the raw columns and of their values. They print as a table."""

    __slots__ = ()

    def __new__(cls, columns: Iterable[BinaryColumn] = ()) -> Self:
        return super().__new__(cls, columns)

    @property
    def names(self) -> tuple[str, ...]:
        """The name of each."""
        return tuple(one.name for one in self)

    @property
    def features(self) -> tuple[str, ...]:
        """The raw columns that are asked about, in order."""
        return tuple(dict.fromkeys(one.column for one in self))

    def kept(self, quantile: float) -> BinaryColumns:
        """Those that survive a quantile of the counts."""
        return BinaryColumns(one for one in self if one.survives >= quantile - 1e-9)

    def answers(self, rows: Any, features: Sequence[Feature]) -> NDArray[np.uint8]:
        """0 or 1 for each row of a table and each column. Raw columns that are not asked about are not read."""
        out = np.empty((frames.height(rows), len(self)), dtype=np.uint8, order="F")
        truth = out.view(np.bool_)
        opened = frames.opened(rows)
        given = frames.positions(opened)
        codes, read = np.empty(0), -1
        for k, one in enumerate(self):
            if one.feature != read:
                read = one.feature
                codes = encode_column(features[read], opened, given)
            one.write(codes, truth[:, k])
        return out

    def __repr__(self) -> str:
        lines = [(one.name, str(one.count), f"{one.survives:.2f}") for one in self]
        return plain(table(("binary column", "crossed by", "kept up to quantile"), lines))
