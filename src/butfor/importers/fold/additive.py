"""An additive model over the columns that reach an estimator: columns that are bent become shapes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from butfor.arrays import FloatArray
from butfor.errors import UnsupportedModelError
from butfor.experimental import experimental
from butfor.importers.fold.column import Column, as_it_is, reached
from butfor.importers.fold.linear import linear_over
from butfor.model.additive import Additive, Shape
from butfor.model.float_order import LARGEST_FLOAT
from butfor.model.linear import Linear


@experimental
def additive_over(columns: list[Column], coef: FloatArray, intercept: FloatArray) -> Linear | Additive:
    """The model `coef @ columns + intercept`, folded onto raw features. For your own importers.

    It is linear if all columns are affine, binned or levels. Others are bent: the model is additive.
    The arguments are those of `linear_over`.
    """
    coef = np.atleast_2d(coef)
    bent = np.array([column.table is None and column.edges is None and not column.affine for column in columns])
    straight = [
        replace(column, at=as_it_is, slope=1.0, affine=True) if away else column
        for column, away in zip(columns, bent, strict=True)
    ]
    line = linear_over(straight, np.where(bent, 0.0, coef), intercept)
    shapes = [_shape(columns[k], coef[:, k]) for k in np.flatnonzero(bent)]
    return Additive(replace(line, folded=True), tuple(shapes)) if shapes else line


def _shape(column: Column, weight: FloatArray) -> Shape:
    """A bent column. It is defined between the numbers at which it becomes infinite."""
    low, high = -np.inf, np.inf
    if not column.turns:
        below, last = reached(column, [-LARGEST_FLOAT, LARGEST_FLOAT]).tolist()
        low = float(np.nextafter(below, np.inf)) if below > -np.inf else low
        high = last if last < LARGEST_FLOAT else high
    if column.domain is not None:
        low, high = max(low, column.domain[0]), min(high, column.domain[1])
        if not np.isnan(column.at(_beyond(column.domain))).all():
            raise UnsupportedModelError(
                f"{column.bent_by} is not defined for all numbers, and a later step fills in what is missing.",
                "A linear model, or an oblique tree, must follow steps that are defined everywhere.",
                "Put trees after it, or let the swarm search.",
            )
    return Shape(column.feature, column.at, weight.copy(), low, high, None if column.bends is None else column.bends())


def _beyond(domain: tuple[float, float]) -> FloatArray:
    """A number beyond each end of a domain that ends."""
    around = np.nextafter(np.array(domain), np.array([-np.inf, np.inf]))
    return np.asarray(around[np.isfinite(around)])
