"""How much a table compresses, and what it can no longer tell apart."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from butfor.arrays import IntArray
from butfor.errors import InputError
from butfor.experimental import experimental
from butfor.space.frames import is_missing

SHARE_ROUNDING = 1e-9
"""Differences between sums of shares that are rounding."""


@experimental
def compression_rate(rows: Any) -> float:
    """The share of the rows that are spared if equal rows are kept once: 1 - distinct rows / rows.

    >>> compression_rate([[0, 1], [0, 1], [1, 1], [0, 1]])
    0.5
    """
    group = groups(rows)
    return 1.0 - (int(group.max()) + 1) / len(group)


@experimental
def inconsistency_rate(rows: Any, labels: Any) -> float:
    """The share of the rows whose label is not the most frequent one among equal rows.

    No classifier of these columns is right about more than the rest. Missing values are equal.

    >>> inconsistency_rate([[0, 1], [0, 1], [1, 1], [0, 1]], ["yes", "no", "no", "yes"])
    0.25
    """
    group = groups(rows)
    classes, codes = np.unique(np.asarray(labels), return_inverse=True)
    if len(codes) != len(group):
        raise InputError(f"{len(group)} rows and {len(codes)} labels were given.", "Each row needs one label.")
    counts = np.zeros((int(group.max()) + 1, len(classes)), dtype=np.intp)
    np.add.at(counts, (group, codes), 1)
    return 1.0 - float(counts.max(axis=1).sum()) / len(group)


def groups(rows: Any) -> IntArray:
    """The number of the group of equal rows that each row belongs to."""
    table = np.asarray(rows)
    if table.ndim != 2 or not len(table):
        raise InputError(f"a table of shape {table.shape} was given.", "It needs two dimensions and a row.")
    if not table.shape[1]:
        return np.zeros(len(table), dtype=np.intp)
    bits = table.dtype.kind in "biuf" and ((table == 0) | (table == 1)).all()
    packed = np.packbits(table.astype(np.bool_), axis=1) if bits else np.transpose([_numbered(one) for one in table.T])
    whole = np.ascontiguousarray(packed)
    whole = whole.view(np.dtype((np.void, whole.shape[1] * whole.itemsize))).ravel()
    return np.unique(whole, return_inverse=True)[1].astype(np.intp)


def _numbered(column: NDArray[Any]) -> IntArray:
    """A number for each value of a column. Equal values have equal numbers."""
    known: dict[Any, int] = {}
    values = (None if is_missing(value) else value for value in column.tolist())
    return np.array([known.setdefault(value, len(known)) for value in values], dtype=np.intp)
