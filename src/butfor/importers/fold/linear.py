"""A linear model over the columns that reach an estimator, folded onto raw features."""

from __future__ import annotations

import numpy as np

from butfor.arrays import FloatArray
from butfor.errors import UnsupportedModelError
from butfor.experimental import experimental
from butfor.importers.fold.column import Column
from butfor.model.cells import Cells, level_cells, number_cells, representatives
from butfor.model.linear import Linear


@experimental
def linear_over(columns: list[Column], coef: FloatArray, intercept: FloatArray) -> Linear:
    """The linear model `coef @ columns + intercept`, folded onto raw features. For your own importers.

    - `columns`: the columns that reach the estimator, as `read(estimator, columns)` gets them;
    - `coef` (scores, columns), `intercept` (scores): the weights.
    """
    coef, intercept = np.atleast_2d(coef), np.atleast_1d(np.asarray(intercept, dtype=np.float64))
    count = 1 + max(column.feature for column in columns)
    cells = tuple(_cells([column for column in columns if column.feature == j]) for j in range(count))
    slope = np.zeros((len(coef), count))
    steps = [np.zeros((len(coef), cell.count + 1)) for cell in cells]
    centre, blur = np.zeros(count), np.zeros(count)
    constant = np.broadcast_to(intercept, (len(coef),)).astype(np.float64)
    for weight, column in zip(coef.T, columns, strict=True):
        j = column.feature
        missing = np.nan_to_num(column.missing_value())
        blur[j] = max(blur[j], column.blur)
        if column.table is not None:
            steps[j][:, :-1] += np.outer(weight, np.nan_to_num(column.level_values()))
            steps[j][:, -1] += weight * missing
        elif column.edges is not None:
            steps[j][:, :-1] += np.outer(weight, np.nan_to_num(column.at(representatives(cells[j]))))
            steps[j][:, -1] += weight * missing
        elif column.affine:
            middle = float(column.at(np.array([column.centre]))[0])
            slope[:, j] += weight * column.slope
            constant = constant + weight * middle
            steps[j][:, -1] += weight * (missing - middle)
            centre[j] = column.centre
        else:
            raise UnsupportedModelError(
                f"a linear model follows a step that is not affine: {column.bent_by or 'one of your own'}.",
                "Scores must be linear in each number.",
                "Leave the step out, bin the column, or put trees after it. Until then, the swarm searches.",
            )
    return Linear(constant, slope, cells, tuple(steps), centre, blur, _folded(columns))


def _folded(columns: list[Column]) -> bool:
    """Whether some term stands for more than one weight times a raw number or a code."""
    features = {column.feature for column in columns}
    return not all(_as_it_is([column for column in columns if column.feature == j]) for j in features)


def _as_it_is(columns: list[Column]) -> bool:
    """Whether the only weights of a feature are for its raw number, or for whole codes of its levels, one at a time."""
    first, *others = columns
    if first.table is not None:
        values = np.nan_to_num([column.level_values() for column in columns])
        return bool((values == np.round(values)).all() and (np.count_nonzero(values, axis=0) <= 1).all())
    middle = np.array([first.centre])
    return not others and first.affine and first.edges is None and first.slope == 1 and bool(first.at(middle) == middle)


def _cells(columns: list[Column]) -> Cells:
    tables = [column.table for column in columns if column.table is not None]
    if tables:
        return level_cells(len(tables[0]) - 1)
    edges = [column.jumps for column in columns if column.edges is not None]
    return number_cells(np.concatenate([np.empty(0), *edges]))
