"""The kinds of table that an estimator may be called with."""

from __future__ import annotations

from enum import Enum
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray


class TableKind(Enum):
    """The kind of table that an estimator is called with: that of the data, or what is made of it."""

    GIVEN = "given"
    PANDAS = "pandas"
    ARRAY = "array"


def frame_kinds(table: Any) -> tuple[TableKind, ...]:
    """The kinds of data frame that a data frame can become. Not all libraries take arrow tables, but all take pandas."""
    arrow = nw.dependencies.is_pyarrow_table(table)
    return (TableKind.GIVEN, TableKind.PANDAS) if arrow else (TableKind.GIVEN,)


def as_kind(table: Any, kind: TableKind) -> Any:
    """A data frame as this kind of table."""
    if kind is TableKind.GIVEN:
        return table
    frame = nw.from_native(table, eager_only=True)
    return frame.to_pandas() if kind is TableKind.PANDAS else _plain(frame.to_numpy())


def _plain(rows: NDArray[Any]) -> NDArray[Any]:
    """Rows as an array in which every missing value is NaN. No estimator takes the marker of pandas."""
    if rows.dtype != np.object_:
        return rows
    lost = np.frompyfunc(lambda value: type(value).__name__ == "NAType", 1, 1)(rows).astype(np.bool_)
    return np.where(lost, np.nan, rows) if lost.any() else rows
