"""A column after a function that rises and is not affine."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from butfor.arrays import BoolArray, FloatArray
from butfor.errors import UnsupportedModelError
from butfor.importers.fold.column import Column, Values, in_numbers, last_where, reached
from butfor.model.float_order import LARGEST_FLOAT

Function = Callable[[Values], Values]


def bent(column: Column, function: Function, by: str, at: Sequence[float] | None = None, **changes: Any) -> Column:
    """A column after a rising function that is not affine. It is convex, or concave, between the values `at`.

    Beyond the numbers for which it is defined it is not a number: there some estimators accept no row, and others take it
    for missing. If no number of the range lies there, it is taken for infinite, so that it rises everywhere.
    """
    number = column.table is None and column.edges is None
    bends: Callable[[], FloatArray] | None = None
    if number and at is not None and column.affine:
        bends = partial(reached, column, at)
    elif number and column.turns:
        raise UnsupportedModelError(
            f"{by} bends a column that turns around: {column.bent_by}.", "It must never turn around.", "Leave one out."
        )
    changes = {"affine": False, "bent_by": by, "bends": bends, **changes}
    if not number:
        return column.map(partial(_called, function), **changes)
    defined = _defined(column, function)
    changes["domain"] = defined.domain
    if defined.holds(column.ends):
        return column.map(partial(_rising, function, defined.middle), **{**changes, "domain": None})
    return column.map(partial(_called, function), **changes)


def _called(function: Function, x: Values) -> Values:
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.asarray(function(in_numbers(x)))


def _rising(function: Function, middle: float, x: Values) -> Values:
    """What the function makes of numbers. Where it is not defined, it is infinite, as it would be far from the middle."""
    out, x = _called(function, x), in_numbers(x)
    lost = np.isnan(out) & ~np.isnan(x)
    return np.where(lost, np.copysign(np.inf, x - middle), out) if lost.any() else out


class Defined(NamedTuple):
    """Where a function of a column is defined: between two raw numbers (None: everywhere), and for a value in the middle."""

    domain: tuple[float, float] | None
    middle: float = 0.0

    def holds(self, ends: tuple[float, float] | None) -> bool:
        """Whether it is defined everywhere between two raw numbers, if these are known."""
        if self.domain is None:
            return True
        return ends is not None and self.domain[0] <= ends[0] and ends[1] <= self.domain[1]


def _defined(column: Column, function: Function) -> Defined:
    """Where the column, and the function of it, are defined."""

    def lost(x: Values) -> BoolArray:
        return np.asarray(np.isnan(_called(function, x)) & ~np.isnan(x))

    with np.errstate(over="ignore", invalid="ignore"):
        tried = column.at(column.inside(np.array([LARGEST_FLOAT, -LARGEST_FLOAT, column.centre, 0.5, 0.0])))
    fine = np.flatnonzero(~lost(tried))
    if not len(fine) or {0, 1} <= set(fine.tolist()):
        return Defined(column.domain)
    middle = float(tried[fine[0]])
    below, last = last_where(
        column, lambda x: np.where([True, False], lost(x) & (x < middle), ~lost(x) | (x <= middle)), 2
    )
    first = -np.inf if below == -np.inf else np.nextafter(below, np.inf)
    first, last = column.inside(np.array([first, np.inf if last == LARGEST_FLOAT else last]))
    return Defined((float(first), float(last)), middle)
