"""Columns that a step calculates from several others. To all steps that follow, each is one more raw number."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from butfor.arrays import FloatArray
from butfor.errors import UnsupportedModelError
from butfor.experimental import experimental
from butfor.importers.fold.checked_formulas import check_formulas
from butfor.importers.fold.column import Column, Values, in_numbers
from butfor.importers.fold.projected import projected
from butfor.model.computed import ComputedFeature
from butfor.model.formula import CONSTANT, Formula, Quotient, ends


@experimental
def calculated(columns: list[Column], function: Callable[..., Sequence[Any]]) -> list[Column]:
    """What a function calculates from columns, for a step of your own: `lambda a, b: [a, a / b]`.

    It is called once with names in place of numbers, and must only add, subtract, multiply, divide and round. Then it is
    called with some numbers, to see whether it does.
    """
    formulas = list(function(*(Formula.column(i) for i in range(len(columns)))))
    if all(isinstance(formula, Formula) for formula in formulas):
        check_formulas(columns, formulas, partial(_row_by_row, function), "the function of a step")
    return of_formulas(columns, formulas)


def _row_by_row(function: Callable[..., Sequence[Any]], rows: list[Values]) -> list[Values]:
    """The columns that a function of single values makes of columns."""
    made = [list(function(*row)) for row in zip(*rows, strict=True)]
    return list(np.array(made, dtype=object).T)


def of_formulas(columns: list[Column], formulas: Sequence[Any]) -> list[Column]:
    """The columns that formulas say, of the numbers of other columns."""
    out = []
    for formula in formulas:
        if not isinstance(formula, Formula):
            raise UnsupportedModelError(
                f"a step returns {formula!r} as a column.",
                "It must return what it calculates from the columns that it gets.",
                "Let the swarm search.",
            )
        out.append(
            columns[formula.parts[0]]
            if formula.sign == "column"
            else _of_one(columns, formula) or _computed(columns, formula)
        )
    return out


def _of_one(columns: list[Column], formula: Formula) -> Column | None:
    """A rising multiple of one column, which needs no number of its own; None if the formula is none."""
    sums = formula.quotient()
    if sums is None or not sums.is_linear or len(formula.columns) != 1:
        return None
    (i,) = formula.columns
    column, slope = columns[int(str(i))], sums.upper[i] / sums.lower[CONSTANT]
    if not slope > 0 or column.in_odd_type:
        return None
    return column.map(lambda x: np.asarray(formula.at({i: in_numbers(x)})), slope=column.slope * slope)


def _computed(columns: list[Column], formula: Formula) -> Column:
    used = [columns[int(str(i))] for i in formula.columns]
    whole = sorted({column.feature for column in used})
    projections = used[0].projections if used else None
    if projections is None or any(column.feature >= projections.features for column in used):
        raise UnsupportedModelError(
            f"a step calculates {formula!r} from what another step has calculated.",
            "It must be calculated from columns.",
            "Let the swarm search: it needs only predictions.",
        )
    if any(column.in_odd_type for column in used):
        raise UnsupportedModelError(
            f"a step calculates {formula!r} in a short type, or from a sparse table.",
            "It rounds or wraps around there.",
            "Give the data as float64 or int64.",
        )
    single = all(column.single for column in used)
    quotient = _quotient(columns, formula)
    if quotient is None:
        raise UnsupportedModelError(
            f"a step calculates {formula!r}.",
            "It must be a quotient of sums of numbers, such as a ratio, a sum or a difference.",
            "Calculate it beforehand, and say so with bf.computed, or let the swarm search.",
        )
    if quotient.is_linear:
        (made,) = _linear(columns, formula, single=single)
        number = made.feature
    else:
        number = projections.reserved()
        made = Column(number, single=single, projections=projections, affine=True)
    kind = np.float32 if single else np.float64
    lost = any(column.refuses_missing for column in used)
    projections.calculated[number] = ComputedFeature(
        number, tuple(whole), _Calculated(columns, formula, tuple(whole)), quotient
    )
    return Column(
        number,
        at=lambda x: x.astype(kind),
        single=single,
        refuses_missing=lost,
        centre=made.centre,
        projections=projections,
        ends=_ends(columns, quotient),
        never_missing=used[0].never_missing,
    )


def _ends(columns: list[Column], quotient: Quotient) -> tuple[float, float] | None:
    """The ends of a quotient over the ranges of raw numbers; None if they are not known, or if it divides by 0 somewhere."""
    ranges = {column.feature: column.ends for column in columns if column.ends is not None}
    read = {*quotient.upper, *quotient.lower} - {CONSTANT}
    if not read <= set(ranges):
        return None
    low, high = ({j: ranges[j][end] for j in read} for end in (0, 1))
    upper, lower = ends(quotient.upper, low, high), ends(quotient.lower, low, high)
    if lower[0] <= 0 <= lower[1]:
        return None
    corners = [one / other for one in upper for other in lower]
    return min(corners), max(corners)


def _linear(columns: list[Column], formula: Formula, *, single: bool) -> list[Column]:
    """A formula that is a linear sum, as a projection: so it may come before linear models, too."""
    sums = formula.quotient()
    assert sums is not None
    by = sums.lower[CONSTANT]
    weight = np.array([[sums.upper.get(i, 0.0) / by for i in range(len(columns))]])
    at = np.flatnonzero(weight[0])
    constant = np.array([sums.upper.get(CONSTANT, 0.0) / by])
    return projected([columns[i] for i in at], weight[:, at], constant, single=single)


def _quotient(columns: list[Column], formula: Formula) -> Quotient | None:
    """The quotient of sums of raw numbers that a formula is; None if it is none."""
    found = formula.quotient()
    used = [columns[int(str(i))] for i in formula.columns]
    if found is None or any(
        column.table is not None or column.edges is not None or not column.affine for column in used
    ):
        return None

    def raw(linear: Any) -> dict[Any, float]:
        out = {CONSTANT: linear.get(CONSTANT, 0.0)}
        for i, factor in linear.items():
            if i is not CONSTANT:
                column = columns[i]
                middle = float(column.at(np.array([column.centre]))[0])
                out[column.feature] = out.get(column.feature, 0.0) + factor * column.slope
                out[CONSTANT] += factor * (middle - column.slope * column.centre)
        return out

    return Quotient(raw(found.upper), raw(found.lower))


@dataclass(frozen=True, eq=False)
class _Calculated:
    """A formula of columns as a function of the raw features on which these depend."""

    columns: list[Column]
    formula: Formula
    features: tuple[int, ...]

    def __call__(self, values: FloatArray) -> FloatArray:
        numbers = {i: self._column(self.columns[int(str(i))], values) for i in self.formula.columns}
        with np.errstate(all="ignore"):
            found = np.asarray(self.formula.at(numbers), dtype=np.float64)
        return np.broadcast_to(np.where(np.isfinite(found), found, np.nan), len(values))

    def _column(self, column: Column, values: FloatArray) -> Values:
        """The values of a column, in the type in which the step gets them."""
        x = values[:, self.features.index(column.feature)]
        if column.table is None:
            return column.at(x)
        table = in_numbers(column.table)
        return np.asarray(table[np.where(np.isnan(x), len(table) - 1, x).astype(np.intp)])
