"""Kinds of tables that a space is made of."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import Any

import numpy as np
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

HEIGHT = 60
"""How many rows the odd tables have."""

WHOLE = [k % 20 for k in range(HEIGHT)]
REAL = [float(x) for x in np.random.default_rng(0).normal(0, 3, HEIGHT)]
"""Two plain columns that stand beside the odd one, so that a whole and a real number may change together."""


def repeated(values: Iterable[Any]) -> list[Any]:
    """As many values as the odd tables have rows."""
    known = list(values)
    return [known[k % len(known)] for k in range(HEIGHT)]


def _pandas(kind: Any, values: Iterable[Any]) -> pd.DataFrame:
    return pd.DataFrame({"whole": WHOLE, "real": REAL, "odd": pd.Series(repeated(values), dtype=kind)})


def _categories(values: Any, ordered: bool = False) -> pd.DataFrame:
    return _pandas(pd.CategoricalDtype(values, ordered=ordered), values)


def _polars(kind: Any, values: Iterable[Any]) -> pl.DataFrame:
    return pl.DataFrame({"whole": WHOLE, "real": REAL, "odd": pl.Series(repeated(values), dtype=kind)})


def _arrow(kind: Any, values: Iterable[Any]) -> pa.Table:
    return pa.table({"whole": WHOLE, "real": REAL, "odd": pa.array(repeated(values), kind)})


def _dictionary(kind: Any, values: Iterable[Any], index: Any = "int8", ordered: bool = False) -> pa.Table:
    levels = list(values)
    codes = pa.array(repeated(range(len(levels))), index)
    odd = pa.DictionaryArray.from_arrays(codes, pa.array(levels, kind), ordered=ordered)
    return pa.table({"whole": WHOLE, "real": REAL, "odd": odd})


def _array(kind: Any, values: Iterable[Any] = ()) -> np.ndarray:
    odd = repeated(values) if values else WHOLE
    made = np.empty((HEIGHT, 3), dtype=kind)
    for j, column in enumerate((WHOLE, np.abs(REAL), odd)):
        made[:, j] = column
    return made


TEXT = ["low", "middle", "high"]
NUMBERS = [1, 4, 9, 2]
HALVES = [0.5, 1.5, -2.0, 7.0]
PRICES = [Decimal("0.50"), Decimal("12.25"), Decimal("3.00")]
DAYS = [dt.date(2024, 2, 29), dt.date(2023, 1, 1), dt.date(2025, 12, 31)]
TIMES = [dt.datetime(2024, 2, 29, 12, 30, 1, 5), dt.datetime(2023, 1, 1), dt.datetime(2025, 12, 31, 23)]
BERLIN = pd.DatetimeIndex(["2024-01-01 12:00", "2024-07-01 12:00", "2024-07-02"], tz="Europe/Berlin")
LONG = "large_string"

ODD_TABLES: dict[str, Callable[[], Any]] = {
    **{
        f"pandas {kind}": (lambda kind=kind: _pandas(kind, NUMBERS))
        for kind in ("int8", "uint16", "int64", "uint64", "Int8", "Int64", "UInt32", "int64[pyarrow]", "uint8[pyarrow]")
    },
    **{
        f"pandas {kind}": (lambda kind=kind: _pandas(kind, HALVES))
        for kind in ("float16", "float32", "float64", "Float32", "Float64", "float[pyarrow]", "double[pyarrow]")
    },
    **{
        f"pandas {kind}": (lambda kind=kind: _pandas(kind, [True, False, False]))
        for kind in ("bool", "boolean", "bool[pyarrow]", "object")
    },
    **{
        f"pandas text as {kind}": (lambda kind=kind: _pandas(kind, TEXT))
        for kind in ("object", "str", "string", "string[python]", "category")
    },
    "pandas text as string[pyarrow]": lambda: _pandas(pd.StringDtype("pyarrow"), TEXT),
    "pandas text as ArrowDtype": lambda: _pandas(pd.ArrowDtype(pa.string()), TEXT),
    "pandas text as long ArrowDtype": lambda: _pandas(pd.ArrowDtype(pa.large_string()), TEXT),
    "pandas dictionary as ArrowDtype": lambda: _pandas(pd.ArrowDtype(pa.dictionary(pa.int8(), pa.string())), TEXT),
    "pandas decimal as ArrowDtype": lambda: _pandas(pd.ArrowDtype(pa.decimal128(10, 2)), PRICES),
    "pandas objects, gaps as None": lambda: _pandas(object, ["low", None, "high"]),
    "pandas objects, gaps as NaN": lambda: _pandas(object, ["low", np.nan, "high"]),
    "pandas objects, numbers": lambda: _pandas(object, [1, 2.5, 4]),
    "pandas Int64 with gaps": lambda: _pandas("Int64", [1, None, 7]),
    "pandas boolean with gaps": lambda: _pandas("boolean", [True, None, False]),
    "pandas string with gaps": lambda: _pandas("string", ["low", None, "high"]),
    "pandas Float32 with gaps": lambda: _pandas("Float32", [0.5, None, 7.0]),
    "pandas float64 with gaps": lambda: _pandas("float64", [0.5, None, 7.0]),
    "pandas categories, ordered": lambda: _categories(TEXT, ordered=True),
    "pandas categories with gaps": lambda: _pandas(pd.CategoricalDtype(TEXT), [*TEXT, None]),
    "pandas categories of objects": lambda: _categories(pd.Index(TEXT, dtype=object)),
    "pandas categories of string": lambda: _categories(pd.Index(TEXT, dtype="string")),
    "pandas categories of whole numbers": lambda: _categories([3, 1, 2]),
    "pandas categories of int8": lambda: _categories(pd.Index([3, 1, 2], dtype="int8")),
    "pandas categories of Int64": lambda: _categories(pd.Index([3, 1, 2], dtype="Int64")),
    "pandas categories of numbers": lambda: _categories([0.5, 1.5, np.inf]),
    "pandas categories of float32": lambda: _categories(pd.Index([0.1, 0.5], dtype="float32")),
    "pandas categories of booleans": lambda: _categories([True, False]),
    "pandas categories, mixed": lambda: _categories(pd.Index(["none", 1, 2.5], dtype=object)),
    "pandas categories of tuples": lambda: _categories(pd.Index([("a", 1), ("b", 2)], tupleize_cols=False)),
    "pandas categories of intervals": lambda: _categories(pd.cut([1.0, 5.0, 9.0], 3).categories, ordered=True),
    "pandas categories of open intervals": lambda: _categories(
        pd.cut([1.0, 5.0, 9.0], [-np.inf, 2, 6, np.inf], right=False).categories
    ),
    "pandas categories of whole intervals": lambda: _categories(pd.interval_range(0, 3)),
    "pandas categories of time intervals": lambda: _categories(pd.interval_range(pd.Timestamp("2024-01-01"), periods=3)),
    "pandas categories of times": lambda: _categories(pd.DatetimeIndex(TIMES)),
    "pandas categories of times in ns": lambda: _categories(pd.DatetimeIndex([1, 2, 3], dtype="datetime64[ns]")),
    "pandas categories of times in a zone": lambda: _categories(BERLIN),
    "pandas categories of dates": lambda: _categories(pd.Index(DAYS, dtype=object)),
    "pandas categories of times of day": lambda: _categories(pd.Index([dt.time(8), dt.time(17, 30)], dtype=object)),
    "pandas categories of durations": lambda: _categories(pd.to_timedelta(["1h", "2 days", "3ns"])),
    "pandas categories of months": lambda: _categories(pd.period_range("2024-01", periods=3, freq="M"), ordered=True),
    "pandas categories of weeks": lambda: _categories(pd.period_range("2024-01", periods=3, freq="W-WED")),
    "pandas categories of Decimal": lambda: _categories(pd.Index(PRICES, dtype=object)),
    "pandas categories of bytes": lambda: _categories(pd.Index([b"a", b"\xff"], dtype=object)),
    "pandas categories of arrow dates": lambda: _categories(pd.Index(DAYS, dtype=pd.ArrowDtype(pa.date32()))),
    **{
        f"polars {kind}": (lambda kind=kind: _polars(kind, NUMBERS))
        for kind in (pl.Int8, pl.Int64, pl.UInt16, pl.UInt64, pl.Int128)
    },
    **{f"polars {kind}": (lambda kind=kind: _polars(kind, HALVES)) for kind in (pl.Float32, pl.Float64)},
    "polars Boolean": lambda: _polars(pl.Boolean, [True, False, False]),
    "polars String": lambda: _polars(pl.String, TEXT),
    "polars String with gaps": lambda: _polars(pl.String, [*TEXT, None]),
    "polars Int64 with gaps": lambda: _polars(pl.Int64, [1, None, 7]),
    "polars Categorical": lambda: _polars(pl.Categorical, TEXT),
    "polars Enum": lambda: _polars(pl.Enum(TEXT), TEXT),
    "polars Object": lambda: _polars(pl.Object, TEXT),
    "polars Decimal": lambda: _polars(pl.Decimal(10, 2), PRICES),
    **{
        f"arrow {kind}": (lambda kind=kind: _arrow(kind, NUMBERS)) for kind in (pa.int8(), pa.int64(), pa.uint32())
    },
    **{f"arrow {kind}": (lambda kind=kind: _arrow(kind, HALVES)) for kind in (pa.float32(), pa.float64())},
    "arrow bool": lambda: _arrow(pa.bool_(), [True, False, False]),
    **{f"arrow {kind}": (lambda kind=kind: _arrow(kind, TEXT)) for kind in (pa.string(), pa.large_string())},
    "arrow string with gaps": lambda: _arrow(pa.string(), [*TEXT, None]),
    "arrow decimal128": lambda: _arrow(pa.decimal128(10, 2), PRICES),
    **{
        f"arrow dictionary of {kind}": (lambda kind=kind, values=values: _dictionary(kind, values))
        for kind, values in (
            (pa.string(), TEXT), (pa.large_string(), TEXT), (pa.int64(), NUMBERS), (pa.float64(), HALVES),
            (pa.bool_(), [True, False]), (pa.date32(), DAYS), (pa.timestamp("us"), TIMES),
            (pa.timestamp("ms", "Europe/Berlin"), [t.replace(microsecond=0, tzinfo=dt.UTC) for t in TIMES]),
            (pa.decimal128(10, 2), PRICES), (pa.binary(), [b"a", b"\xff"]), (pa.duration("s"), [dt.timedelta(d) for d in (1, 2)]),
        )
    },
    "arrow dictionary, ordered": lambda: _dictionary(pa.string(), TEXT, "int32", ordered=True),
    **{
        f"array {kind}": (lambda kind=kind: _array(kind)) for kind in ("float64", "float32", "float16", "int64", "uint8", "bool")
    },
    "array of text": lambda: _array("U8", TEXT),
    "array of objects": lambda: _array(object, TEXT),
    "array of objects with gaps": lambda: _array(object, [*TEXT, None, np.nan]),
}  # fmt: skip
"""Tables with a whole number, a real number, and a column of a kind that is taken, however odd."""

REFUSED_TABLES: dict[str, Callable[[], Any]] = {
    "pandas Sparse": lambda: _pandas(pd.SparseDtype("float64"), HALVES),
    "pandas dates": lambda: _pandas(object, DAYS),
    "pandas times": lambda: _pandas("datetime64[ns]", TIMES),
    "pandas Decimal": lambda: _pandas(object, PRICES),
    "pandas complex": lambda: _pandas("complex128", [1j, 2.0]),
    "pandas categories of objects": lambda: _categories(pd.Index([range(2), range(3)], dtype=object)),
    "pandas categories of UUID": lambda: _categories(pd.Index([uuid.UUID(int=1), uuid.UUID(int=2)], dtype=object)),
    "pandas categories of complex numbers": lambda: _categories(pd.Index([1j, 2j])),
    "polars Date": lambda: _polars(pl.Date, DAYS),
    "polars List": lambda: _polars(pl.List(pl.Int64), [[1], [2]]),
    "arrow decimal256": lambda: _arrow(pa.decimal256(40, 2), PRICES),
    "arrow timestamp": lambda: _arrow(pa.timestamp("us"), TIMES),
    "arrow binary": lambda: _arrow(pa.binary(), [b"a", b"b"]),
    "array of bytes": lambda: _array("S8", [b"a", b"b"]),
    "array of complex numbers": lambda: _array("complex128"),
    "array of dates": lambda: np.array([[day] for day in DAYS], dtype="datetime64[D]"),
}
"""Tables with a column of a kind that is not taken: what it means for a change to be small, or how it is saved, is open."""
