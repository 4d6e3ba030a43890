"""A column after a function that rises and is not affine."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from butfor.arrays import FloatArray
from butfor.errors import UnsupportedModelError
from butfor.importers.fold.column import Column, Values, in_numbers, reached


def bent(
    column: Column, function: Callable[[Values], Values], by: str, at: Sequence[float] | None = None, **changes: Any
) -> Column:
    """A column after a rising function that is not affine. It is convex, or concave, between the values `at`.

    Below the numbers for which it is defined, the estimator accepts no row. There the function is taken for minus
    infinity, so that it rises everywhere.
    """
    number = column.table is None and column.edges is None
    bends: Callable[[], FloatArray] | None = None
    if number and at is not None and column.affine:
        bends = partial(reached, column, at)
    elif number and column.turns:
        raise UnsupportedModelError(
            f"{by} bends a column that turns around: {column.bent_by}.", "It must never turn around.", "Leave one out."
        )
    return column.map(partial(_rising, function), affine=False, bent_by=by, bends=bends, **changes)


def _rising(function: Callable[[Values], Values], x: Values) -> Values:
    x = in_numbers(x)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        out = np.asarray(function(x))
    lost = np.isnan(out) & ~np.isnan(x)
    return np.where(lost, np.copysign(np.inf, x), out) if lost.any() else out
