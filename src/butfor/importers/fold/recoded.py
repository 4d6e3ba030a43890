"""Columns of few values, those of levels or of bins. A step turns each value into another, whatever else is there."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from butfor.importers.fold.column import Column, Values
from butfor.model.cells import number_cells, representatives


def is_binned(column: Column) -> bool:
    """Whether a column has few values, one for each bin of a number."""
    return column.table is None and column.edges is not None


def few_values(column: Column) -> Values:
    """The values that a column of levels or of bins may have. The last is the missing one."""
    if column.table is not None:
        return column.table
    bins = np.unique(column.at(representatives(number_cells(column.jumps))))
    return np.append(bins, column.missing_value())


def recoded(column: Column, values: Values, new: Values, **changes: Any) -> Column:
    """A column whose few `values` have become `new` ones."""
    if column.table is not None:
        return replace(column, table=new, **changes)
    return column.map(partial(_looked_up, values, new), slope=0.0, **changes)


def _looked_up(values: Values, new: Values, x: Values) -> Values:
    """What the numbers of bins have become."""
    at = np.where(np.isnan(x), len(values) - 1, np.searchsorted(values[:-1], np.nan_to_num(x)))
    return new[at]
