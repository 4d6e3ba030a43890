"""The kind of table of a row, as plain data, and the row rebuilt from it."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw
import numpy as np

from butfor.errors import InputError, MissingExtraError
from butfor.problem.spec import from_spec, to_spec
from butfor.space import frames

if TYPE_CHECKING:
    from butfor.explanation.explanation import Explanation

TABLE_KINDS = ("array", "pandas", "polars", "pyarrow")


def describe(table: Any, names: Sequence[str]) -> dict[str, Any]:
    """The kind of a table of one row, with the names and types of its columns."""
    if frames.is_array(table):
        columns = [_column(name, str(table.dtype), table[0, j]) for j, name in enumerate(names)]
        return {"kind": "array", "index": None, "columns": columns}
    frame = frames.opened(table)
    kind = frame.implementation.value
    if kind != "pandas":
        return {"kind": kind, "index": None, "columns": [_narwhals_column(name, frame[name].dtype) for name in names]}
    own = dict(zip(frame.columns, frames.labels(table), strict=True))
    label = table.index[0]
    index = label.item() if isinstance(label, np.generic) else label
    return {
        "kind": kind,
        "index": index if isinstance(index, str | int) else None,
        "columns": [_pandas_column(name, frame[name].to_native()) | _label(own[name]) for name in names],
    }


def _label(label: Any) -> dict[str, Any]:
    """The column's own label in pandas, if it is a number or a tuple."""
    return {} if isinstance(label, str) else {"label": to_spec(label)}


def label_of(answer: Explanation) -> str:
    """The label of the row in the user's table; empty if it has none, or if the label is its position."""
    label = describe(answer.factual, ())["index"]
    return "" if label in (None, answer.row) else str(label)


def rebuild(described: dict[str, Any], values: Sequence[Any]) -> Any:
    """A table of one row as `describe` described it, filled with `values`."""
    kind, columns = described["kind"], described["columns"]
    filled = [
        np.nan if value is None and c.get("missing") == "NaN" else value
        for c, value in zip(columns, values, strict=True)
    ]
    if kind == "array":
        return np.array([filled], dtype=columns[0]["type"])
    if kind not in TABLE_KINDS:
        raise InputError(f"a row in a {kind} table was given.", f"The known kinds are {', '.join(TABLE_KINDS)}.")
    try:
        library = import_module(kind)
    except ImportError:
        raise MissingExtraError(
            f"the row is from a {kind} table.", f"{kind} is needed to rebuild it.", f"Run: pip install {kind}"
        ) from None
    if kind == "pandas":
        index = None if described["index"] is None else [described["index"]]
        made = {
            c["name"]: library.Series([value], index=index, dtype=_pandas_type(library, c))
            for c, value in zip(columns, filled, strict=True)
        }
        frame = library.DataFrame(made)
        if any("label" in c for c in columns):
            own = [from_spec(c.get("label", c["name"])) for c in columns]
            tuples = all(isinstance(label, tuple) for label in own)
            frame.columns = library.MultiIndex.from_tuples(own) if tuples else own
        return frame
    schema = {c["name"]: _narwhals_type(c) for c in columns}
    cells = {c["name"]: [value] for c, value in zip(columns, filled, strict=True)}
    return nw.from_dict(cells, schema, backend=kind).to_native()


def _column(name: str, kind: str, value: Any) -> dict[str, Any]:
    """The name and type of a column.

    For a column of objects it also says whether a missing value is NaN and not None, because estimators distinguish
    them.
    """
    column = {"name": name, "type": kind}
    if kind == "object" and isinstance(value, float) and value != value:
        column["missing"] = "NaN"
    return column


def _pandas_column(name: str, series: Any) -> dict[str, Any]:
    column = _column(name, str(series.dtype), series.iloc[0])
    if column["type"] != "category":
        return column
    return {**column, "categories": series.cat.categories.tolist(), "ordered": bool(series.cat.ordered)}


def _pandas_type(pandas: Any, column: dict[str, Any]) -> Any:
    if column["type"] != "category":
        return column["type"]
    return pandas.CategoricalDtype(column["categories"], ordered=column["ordered"])


def _narwhals_column(name: str, kind: Any) -> dict[str, Any]:
    if isinstance(kind, nw.Enum):
        return {"name": name, "type": "Enum", "categories": list(kind.categories)}
    return {"name": name, "type": str(kind)}


def _narwhals_type(column: dict[str, Any]) -> Any:
    return nw.Enum(column["categories"]) if column["type"] == "Enum" else getattr(nw, column["type"])()
