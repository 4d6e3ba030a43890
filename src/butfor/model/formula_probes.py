"""Whether a function computes what its formulas say: both are asked about values that tell most functions apart.

A function that was called with names in place of numbers has not met a missing value, a 0, or a number that stands for
something else.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from butfor.arrays import BoolArray, FloatArray, IntArray
from butfor.model.formula import ROUNDING, Formula
from butfor.model.scores import UNIT_DOUBLE, UNIT_SINGLE

Values = NDArray[Any]

Function = Callable[[list[Values]], Sequence[Any]]
"""From columns of values to columns of what is made of them."""

TELLING_NUMBERS = np.array([
    0.0, *range(1, 11), *range(-10, 0), 0.5, -0.5, 1.5, 2.5, -2.5, 0.25, 1 / 3, -2 / 3, 0.1, 0.005, 2.675, 1e-6, -1e-9,
    99.0, -99.0, 100.0, 365.25, 999.0, -999.0, 1000.0, 1234.5678, 9999.0, -9999.0, 99999.0, -99999.0, 999999.0, -1e6,
    123456.789, 1e9, -1e9, 1e12,
])  # fmt: skip
"""Numbers that some functions treat otherwise: 0, whole and broken ones, those below 0, large ones, and those that stand for
"not known" in tables."""

TIMES = 4
"""How often each value stands beside others."""

ROWS_WITH_GAP = 3
"""In how many rows a value of each column is missing."""

ALL_MISSING = -1
"""Stands for all columns where one of them is named."""

SPARE_ROUNDING = 4.0
"""By how many times the rounding of a formula what a function makes may differ: it may add up in another order."""


def mixed_rows(pools: Sequence[Values]) -> list[Values]:
    """Rows of the values that each column may have, column by column.

    Each value stands beside `TIMES` others. Where columns may have the same values, some rows hold the same in all.
    """
    rng, height = np.random.default_rng(0), max(map(len, pools))
    mixed = [[np.resize(rng.permutation(pool), height) for _ in range(TIMES)] for pool in pools]
    return [np.concatenate([np.resize(pool, height), *times]) for pool, times in zip(pools, mixed, strict=True)]


def rows_with_gaps(rows: Sequence[Values], lost: Mapping[int, Any]) -> tuple[list[Values], IntArray]:
    """Some rows in which one column misses its value, and some in which all do, and which column it is.

    `lost` says for each column that may miss a value what stands in its place.
    """
    which = np.repeat([*lost, ALL_MISSING], ROWS_WITH_GAP)
    out = [np.resize(column[::-1], len(which)) for column in rows]
    for i, value in lost.items():
        here = (which == i) | (which == ALL_MISSING)
        column = out[i] if out[i].dtype != object and value is not None else out[i].astype(object)
        column[here] = value
        out[i] = column
    return out, which


@dataclass(frozen=True, eq=False)
class Probed:
    """A function of columns, and the formulas that it has told, one for each column that it makes.

    - `names`: how the formulas call the columns that it gets.
    """

    function: Function
    formulas: Sequence[Formula]
    names: Sequence[Hashable]

    def wrong(self, rows: Sequence[Values]) -> BoolArray | None:
        """In which rows the function makes something else than its formulas say; None if it takes none of the rows.

        Rows that it refuses are not wrong.
        """
        out, taken = np.zeros(len(rows[0]), dtype=np.bool_), False
        for at, made in self._made(rows, np.arange(len(out))):
            given = {name: column[at] for name, column in zip(self.names, rows, strict=True)}
            if len(made) != len(self.formulas) or any(len(column) != len(at) for column in made):
                out[at] = True
            for formula, column in zip(self.formulas, made, strict=False):
                if len(column) == len(at):
                    out[at] |= _differs(formula, given, np.asarray(column))
            taken = True
        return out if taken else None

    def _made(self, rows: Sequence[Values], at: IntArray) -> Iterator[tuple[IntArray, Sequence[Any]]]:
        """What the function makes of as many rows together as it takes, and which rows these are."""
        try:
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                made = self.function([column[at] for column in rows])
        except Exception:  # whatever it does not take, it does not take it in a row of a user either
            for half in np.array_split(at, 2) if len(at) > 1 else ():
                yield from self._made(rows, half)
            return
        yield at, made


def _differs(formula: Formula, given: Mapping[Any, Values], made: Values) -> BoolArray:
    """In which rows something else was made of the given values than a formula says.

    Where it divides by 0, whatever is no number is right.
    """
    if formula.sign == "column":
        return ~_same(given[formula.parts[0]], made)
    numbers = {name: _in_numbers(given[name]) for name in formula.columns}
    single = bool(numbers) and all(column.dtype == np.float32 for column in numbers.values())
    with np.errstate(all="ignore"):
        value, doubt = _rounded(formula, numbers, UNIT_SINGLE if single else UNIT_DOUBLE)
        found = _in_numbers(made)
        lost = np.any([np.isnan(column) for column in numbers.values()], axis=0)
        unlike = ~(np.abs(found - value) <= SPARE_ROUNDING * doubt)
    return np.where(np.isfinite(value), unlike, np.where(lost, ~np.isnan(found), np.isfinite(found)))


def _same(some: Values, others: Values) -> BoolArray:
    """Where two columns hold the same. NaN is NaN, and None is None."""
    return np.array([_equal(one, other) for one, other in zip(some.tolist(), others.tolist(), strict=True)])


def _equal(one: Any, other: Any) -> bool:
    try:
        return one is other or bool(one == other) or bool(one != one and other != other)
    except (TypeError, ValueError):
        return False


def _in_numbers(values: Values) -> FloatArray:
    """Values as numbers. What is none is NaN."""
    return values if values.dtype.kind in "fiu" else np.array([_number(value) for value in values.tolist()])


def _number(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        return np.nan


def _rounded(formula: Formula, numbers: Mapping[Any, FloatArray], unit: float) -> tuple[FloatArray, FloatArray]:
    """What a formula is, and by how much it is off with this unit roundoff, whatever the order of its operations."""
    value = np.asarray(formula.at(numbers), dtype=np.float64)
    if formula.sign in ("column", "number"):
        return value, np.zeros_like(value)
    (left, off), *others = (_rounded(part, numbers, unit) for part in formula.parts if isinstance(part, Formula))
    if formula.sign in ROUNDING:  # libraries differ on what lies in the middle between two rounded numbers
        step = 10.0 ** -formula.parts[1]
        from_middle = step * np.abs(np.abs(left) / step % 1 - 0.5)
        return value, np.where(from_middle <= off + SPARE_ROUNDING * unit * np.abs(left), step, 0.0) + unit * np.abs(
            value
        )
    ((right, more),) = others
    if formula.sign == "/":
        doubt = (off + np.abs(value) * more) / np.abs(right)
    elif formula.sign == "*":
        doubt = off * np.abs(right) + more * np.abs(left)
    else:
        doubt = off + more + unit * (np.abs(left) + np.abs(right))
    return value, doubt + unit * np.abs(value)
