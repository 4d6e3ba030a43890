"""Single series, which may stand for a row or, of structs, for a table."""

from __future__ import annotations

from typing import Any

import narwhals.stable.v2 as nw


def is_series(given: Any) -> bool:
    """Whether it is a single series of pandas, polars or pyarrow, and no table of structs."""
    if hasattr(type(given), "columns"):  # a table: to ask narwhals takes longer, and fails if two columns have one name
        return False
    found = nw.from_native(opened_structs(given), eager_only=True, allow_series=True, pass_through=True)
    return isinstance(found, nw.Series)


def opened_structs(given: Any) -> Any:
    """A polars series of structs as the table that it is; anything else as it is."""
    if (
        type(given).__module__.startswith("polars")
        and hasattr(given, "struct")
        and str(given.dtype).startswith("Struct")
    ):
        return given.struct.unnest()
    return given


def series_items(series: Any) -> list[tuple[Any, Any]]:
    """The labels of a series, with their values. Only pandas has labels."""
    labelled = nw.from_native(series, series_only=True).implementation.is_pandas()
    return list(zip(series.index.tolist(), series.tolist(), strict=True)) if labelled else []
