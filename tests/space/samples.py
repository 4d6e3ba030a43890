"""Kinds of tables that a space is made of."""

from __future__ import annotations

from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa

FRAMES: dict[str, Any] = {
    "pandas": pd.DataFrame,
    "pandas object": lambda rows: pd.DataFrame(rows, dtype=object),
    "pandas nullable": lambda rows: pd.DataFrame(rows).convert_dtypes(),
    "polars": pl.DataFrame,
    "arrow": pa.table,
}
"""A table of each library, made of a list for each column."""
