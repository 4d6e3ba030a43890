"""Dictionaries of pyarrow: columns of categories, in a table of pyarrow or of pandas."""

from __future__ import annotations

from typing import Any

import narwhals.stable.v2 as nw


def in_dictionary(column: nw.Series[Any]) -> Any:
    """A column as pyarrow itself has it, if it is a dictionary of pyarrow; otherwise None."""
    native = column.to_native()
    if column.dtype != nw.Categorical or hasattr(native, "cat") or column.implementation.is_polars():
        return None
    if column.implementation.is_pandas():
        import pyarrow as pa

        native = pa.chunked_array(pa.array(native))
    return native


def entries(dictionary: Any) -> tuple[Any, ...]:
    """The values that a dictionary knows, in its order."""
    return tuple(dictionary.unify_dictionaries().chunk(0).dictionary.to_pylist()) if dictionary.num_chunks else ()
