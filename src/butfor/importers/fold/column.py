"""A column that reaches an estimator, as a function of one raw feature: what pipelines fold into.

The function is evaluated as the source computes it, in the same floating-point type, so that the exact raw value at
which a threshold flips can be found by bisection and no epsilon is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from butfor.arrays import BoolArray, FloatArray
from butfor.errors import InputError
from butfor.space.feature import Feature

Values = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Column:
    """One input of an estimator (or of a pipeline step).

    For a feature with levels, `table` lists the column's value for each level and, last, for "missing". For a number,
    `at` maps raw values to the column's; it rises with them: with slope `slope` where it is affine, in jumps right after
    `edges` where it is binned. `refuses_missing` says that a step before raises on a missing value; `declared`, that the
    user gave the levels and their order.
    """

    feature: int
    table: Values | None = None
    at: Callable[[FloatArray], FloatArray] = lambda x: x
    slope: float = 1.0
    edges: FloatArray | None = None
    affine: bool = True
    single: bool = False
    refuses_missing: bool = False
    declared: bool = False

    def map(self, function: Callable[[Values], Values], **changes: Any) -> Column:
        """This column after an elementwise step."""
        if self.table is not None:
            return replace(self, table=function(self.table), **changes)
        before = self.at
        return replace(self, at=lambda x: function(before(x)), **changes)

    def coded(self, names: Sequence[Any]) -> Column:
        """This column with each value as its position in `names`, NaN where it is none of them."""
        position = {name: float(k) for k, name in enumerate(names)}
        return self.map(lambda x: np.array([position.get(value, np.nan) for value in x.tolist()]))

    def missing_value(self) -> float:
        """What a missing raw value becomes; NaN if it stays missing."""
        value = self.at(np.array([np.nan])) if self.table is None else in_numbers(self.table[-1:])
        return float(value[0])

    def level_values(self) -> FloatArray:
        """The column's value for each level, as numbers."""
        assert self.table is not None
        return in_numbers(self.table[:-1]).astype(np.float64)


class NeedsLevels(Exception):  # noqa: N818 - a request to the caller, not an error
    """Raw numbers reach an encoder of categories: the space must treat these features as levels, and the fold start anew."""

    def __init__(self, levels: dict[int, tuple[Any, ...]], ordered: bool) -> None:
        self.levels, self.ordered = levels, ordered
        super().__init__(levels)


def in_numbers(x: Values) -> Values:
    """Values of a column as numbers; text that is none is refused, as the estimator would."""
    return x if x.dtype != object else np.array([_number(value) for value in x.tolist()], dtype=np.float64)


def _number(value: Any) -> float:
    try:
        return np.nan if value is None else float(value)
    except (TypeError, ValueError):
        raise InputError(
            f"a column holds {value!r} where the model needs numbers.",
            "",
            "Correct the data; or, if the column is meant to be text, encode it in the pipeline (OneHotEncoder, OrdinalEncoder).",
        ) from None


def raw_columns(features: tuple[Feature, ...]) -> list[Column]:
    """The columns before any step."""
    return [_raw(j, feature) for j, feature in enumerate(features)]


def _raw(j: int, feature: Feature) -> Column:
    if feature.levels is None:
        at = (lambda x: x.astype(np.float32)) if feature.single else (lambda x: x)
        return Column(j, at=at, single=feature.single)
    if feature.numbers is not None:
        dtype = np.float32 if feature.single else np.float64
        table = np.array([*feature.numbers, np.nan], dtype=dtype)
        return Column(j, table=table, single=feature.single, declared=feature.why == "given")
    words = np.empty(len(feature.levels) + 1, dtype=object)
    words[:-1] = feature.levels
    return Column(j, table=words, declared=feature.why == "given")


def last_where(column: Column, holds: Callable[[FloatArray], BoolArray], count: int) -> FloatArray:
    """For `count` questions about a number, each true up to some raw value and false after: the last value where it is true.

    Bisection over the float64 numbers in their order, all questions at once.
    """
    biggest = np.finfo(np.float64).max
    low = np.full(count, _rank(np.array([-biggest]))[0])
    high = np.full(count, _rank(np.array([biggest]))[0])
    with np.errstate(over="ignore", invalid="ignore"):
        if not count:
            return np.empty(0)
        while np.any(low < high):
            middle = _middle_up(low, high)
            yes = holds(column.at(_unrank(middle)))
            low, high = np.where(yes, middle, low), np.where(yes, high, middle - 1)
        last = _unrank(low)
        return np.where(holds(column.at(last)), last, -np.inf)


def _rank(x: FloatArray) -> NDArray[np.int64]:
    bits = x.view(np.int64)
    return np.where(bits >= 0, bits, np.iinfo(np.int64).min - bits)


def _unrank(rank: NDArray[np.int64]) -> FloatArray:
    bits = np.where(rank >= 0, rank, np.iinfo(np.int64).min - rank)
    return np.ascontiguousarray(bits, dtype=np.int64).view(np.float64)


def _middle_up(low: NDArray[np.int64], high: NDArray[np.int64]) -> NDArray[np.int64]:
    """The upper middle of two ranks, without overflow."""
    return np.asarray((low >> 1) + (high >> 1) + ((low | high) & 1))
