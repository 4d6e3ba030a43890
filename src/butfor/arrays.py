"""The kinds of arrays that all layers pass on, and single values of them."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]
ShortArray = NDArray[np.int32]
"""Numbers of columns, cells and places, of which large models have so many that their bytes count."""

BoolArray = NDArray[np.bool_]


def as_run(rows: IntArray | BoolArray | slice) -> IntArray | slice:
    """Rows in a run as a slice, which copies nothing."""
    if isinstance(rows, slice):
        return rows
    rows = np.flatnonzero(rows) if rows.dtype == np.bool_ else rows.astype(np.intp, copy=False)
    if not len(rows) or (np.diff(rows) != 1).any():
        return rows
    return slice(int(rows[0]), int(rows[-1]) + 1)


def plain(value: Any) -> Any:
    """A value of numpy as Python's own, so that it prints as it is written; anything else as it is."""
    return value.item() if isinstance(value, np.generic) else value


def plain_within(value: Any) -> Any:
    """The same for all that a list, a tuple or a dict holds. A series of pandas is a dict."""
    if type(value) is list or type(value) is tuple:
        return type(value)(map(plain_within, value))
    if type(value) is not dict and hasattr(value, "to_dict") and getattr(value, "ndim", None) == 1:
        value = value.to_dict()
    if type(value) is dict:
        return {plain_within(name): plain_within(one) for name, one in value.items()}
    return plain(value)


def keep_plain(record: Any) -> None:
    """Make the fields of a frozen dataclass plain: what it says is printed and kept in records."""
    for one in fields(record):
        object.__setattr__(record, one.name, plain_within(getattr(record, one.name)))
