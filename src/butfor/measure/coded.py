"""Rows as the measures see them: encoded by the space. So the answers of all libraries are read alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from butfor.arrays import FloatArray, IntArray
from butfor.errors import InputError
from butfor.space.space import Space


@dataclass(frozen=True, eq=False)
class Coded:
    """Rows that are already encoded."""

    codes: FloatArray


def encoded(table: Any, space: Space) -> FloatArray:
    """The rows of a table, encoded. Unseen categories, and missing values that are not allowed, are refused."""
    return table.codes if isinstance(table, Coded) else space.encode(table)


def one(factual: Any, space: Space) -> FloatArray:
    """The only row of a table, encoded, with shape (1, features)."""
    codes = encoded(factual, space)
    if len(codes) != 1:
        raise InputError(
            f"{len(codes)} rows were given as the factual.",
            "A set of answers belongs to one row.",
            "Measure the answers to many rows with butfor.measure.Judge.",
        )
    return codes


def distinct(codes: FloatArray) -> IntArray:
    """The positions of the rows that do not repeat an earlier one."""
    known = np.where(np.isnan(codes), np.inf, codes)  # encoded values are finite
    _, first = np.unique(known, axis=0, return_index=True)
    return np.sort(first)
