"""Columns that are weighted sums of others. To all steps that follow, each is one more raw number."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from butfor.arrays import FloatArray
from butfor.errors import UnsupportedModelError
from butfor.experimental import experimental
from butfor.importers.fold.column import Column, as_it_is, in_single
from butfor.importers.fold.linear import linear_over
from butfor.model.cells import representatives
from butfor.model.linear import Linear
from butfor.model.scores import UNIT_SINGLE


@experimental
def projected(columns: list[Column], weight: FloatArray, constant: FloatArray, *, single: bool = False) -> list[Column]:
    """The columns `constant + weight @ columns`, for a step of your own that is affine.

    - `weight` (sums, columns), `constant` (sums): as the step has them;
    - `single`: whether it adds up in float32.
    """
    projections = columns[0].projections
    if projections is None:
        raise UnsupportedModelError(
            "a step adds up columns that are no raw columns, but predictions of other models.",
            "They must be read one by one.",
            "Leave the step out, or let the swarm search.",
        )
    weight, constant = np.asarray(weight, dtype=np.float64), np.asarray(constant, dtype=np.float64)
    line = _sized(linear_over(columns, weight, constant), columns, weight, constant)
    if single:
        line = replace(line, unit=UNIT_SINGLE)
    at = in_single if single else as_it_is
    return [
        Column(number, at=at, single=single, centre=float(middle), projections=projections)
        for number, middle in zip(projections.add(line), line.intercept, strict=True)
    ]


def _sized(line: Linear, columns: list[Column], weight: FloatArray, constant: FloatArray) -> Linear:
    """The linear model with the sizes of the terms that the step adds up, although they may cancel out."""
    cancelled, slope = np.abs(constant), -np.abs(line.slope)
    for own, column in zip(np.abs(weight).T, columns, strict=True):
        if column.table is not None:
            values = column.level_values()
        elif column.edges is not None:
            values = column.at(representatives(line.cells[column.feature]))
        else:
            values = column.at(np.array([column.centre]))
            slope[:, column.feature] += own * abs(column.slope)
        cancelled = cancelled + own * np.abs(np.nan_to_num(values)).max(initial=0.0)
    return replace(line, cancelled=cancelled, cancelled_slope=np.maximum(slope, 0.0), folded=True)
