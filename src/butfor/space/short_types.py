"""Which columns of a table have types of few digits, which estimators compute with in float32."""

from __future__ import annotations

from typing import Any

import numpy as np

from butfor.space.frames import is_array, is_pandas, names


def short_names(table: Any) -> frozenset[str]:
    """The columns of a pandas table whose numpy type becomes float32 beside float32: booleans and short whole numbers."""
    if not is_pandas(table):
        return frozenset()
    kinds = zip(names(table), table.dtypes, strict=True)
    return frozenset(
        name
        for name, kind in kinds
        if isinstance(kind, np.dtype) and kind.kind in "biu" and (kind.kind == "b" or kind.itemsize <= 2)
    )


def widened_names(table: Any) -> dict[str, str]:
    """The columns whose float32 numbers scikit-learn makes float64 of before it computes, with the library that holds them.

    It does so with types of pandas that are not numpy's, and with tables of other libraries.
    """
    if is_array(table):
        return {}
    if not is_pandas(table):
        return dict.fromkeys(names(table), "another library")
    kinds = zip(names(table), table.dtypes, strict=True)
    return {name: "pandas" for name, kind in kinds if not isinstance(kind, np.dtype)}


def half_names(table: Any) -> frozenset[str]:
    """The columns of a pandas table or an array that hold float16."""
    if is_array(table):
        return frozenset(names(table)) if table.dtype == np.float16 else frozenset()
    if not is_pandas(table):
        return frozenset()
    return frozenset(name for name, kind in zip(names(table), table.dtypes, strict=True) if kind == np.float16)
