"""The kind of a table as plain data, and its rows rebuilt from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from butfor.errors import InputError, MissingExtraError
from butfor.problem.spec import from_spec
from butfor.records.column_types import (
    arrow_array,
    arrow_column,
    pandas_column,
    pandas_series,
    polars_column,
    polars_type,
)
from butfor.space import frames

TABLE_KINDS = ("array", "pandas", "polars", "pyarrow")


def kind_of(table: Any, names: Sequence[str]) -> dict[str, Any]:
    """The kind of a table, with the names and types of its columns: what all of its rows share."""
    if frames.is_array(table):
        return {"kind": "array", "columns": [{"name": name, "type": str(table.dtype)} for name in names]}
    frame = nw.from_native(table, eager_only=True)
    kind = frame.implementation.value
    if kind == "pandas":
        own = {str(label): (label, one) for label, one in zip(table.columns, table.dtypes, strict=True)}
        return {"kind": kind, "columns": [pandas_column(name, *own[name]) for name in names]}
    if kind == "polars":
        return {"kind": kind, "columns": [polars_column(name, table.schema[name]) for name in names]}
    return {"kind": kind, "columns": [arrow_column(name, frame[name]) for name in names]}


def labels_of(table: Any) -> list[str | int | None]:
    """The label of each row: a number or a text. Only pandas has labels, and other ones are written as text."""
    own = frames.row_labels(table)
    if own is None:
        return [None] * frames.height(table)
    return [label if label is None or isinstance(label, str | int) else str(label) for label in own]


def blanks(table: Any, columns: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    """For each row, the columns of objects that write a missing value as NaN and not as None.

    Estimators distinguish them.
    """
    found: list[list[str]] = [[] for _ in range(frames.height(table))]
    of_objects = [(j, column["name"]) for j, column in enumerate(columns) if column["type"] == "object"]
    for j, name in of_objects:
        cells = table[:, j] if frames.is_array(table) else table.iloc[:, frames.names(table).index(name)]
        for blank, value in zip(found, cells.tolist(), strict=True):
            if isinstance(value, float) and value != value:
                blank.append(name)
    return found


def rebuild(
    described: Mapping[str, Any],
    cells: Sequence[Sequence[Any]],
    labels: Sequence[str | int | None],
    blank: Sequence[Sequence[str]],
) -> Any:
    """A table of the kind that `kind_of` described.

    - `cells`: the values, column by column; a missing one is None;
    - `labels`, `blank`: what `labels_of` and `blanks` found, for each row.
    """
    kind, columns = described["kind"], described["columns"]
    filled = [
        [
            np.nan if value is None and column["name"] in without else value
            for value, without in zip(cell, blank, strict=True)
        ]
        for column, cell in zip(columns, cells, strict=True)
    ]
    if kind == "array":
        made = np.empty((len(labels), len(columns)), dtype=columns[0]["type"])
        for j, cell in enumerate(filled):
            made[:, j] = cell
        return made
    if kind not in TABLE_KINDS:
        raise InputError(f"a row in a {kind} table was given.", f"The known kinds are {', '.join(TABLE_KINDS)}.")
    try:
        library = import_module(kind)
    except ImportError:
        raise MissingExtraError(
            f"the row is from a {kind} table.", f"{kind} is needed to rebuild it.", f"Run: pip install {kind}"
        ) from None
    if kind == "pandas":
        return _pandas_table(library, columns, filled, labels)
    by_name = {c["name"]: (c, cell) for c, cell in zip(columns, filled, strict=True)}
    if kind == "polars":
        series = [library.Series(name, cell, polars_type(library, c)) for name, (c, cell) in by_name.items()]
        return library.DataFrame(series)
    return library.table({name: arrow_array(c, cell) for name, (c, cell) in by_name.items()})


def _pandas_table(
    pandas: Any, columns: Sequence[Mapping[str, Any]], filled: list[list[Any]], labels: Sequence[str | int | None]
) -> Any:
    index = pandas.Index(list(labels))
    made = {c["name"]: pandas_series(pandas, c, cell, index) for c, cell in zip(columns, filled, strict=True)}
    frame = pandas.DataFrame(made)
    if any("label" in c for c in columns):
        own = [from_spec(c.get("label", c["name"])) for c in columns]
        tuples = all(isinstance(label, tuple) for label in own)
        frame.columns = pandas.MultiIndex.from_tuples(own) if tuples else own
    return frame
