"""Rows as users give them: a table, or rows that name their columns, such as a dict or a series."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from butfor.errors import InputError, InputTypeError, choice
from butfor.space.frames import (
    as_table,
    beside,
    is_array,
    is_missing,
    like,
    marker,
    names,
    relabelled,
    row_labels,
    select,
    take,
)
from butfor.space.series import is_series, series_items
from butfor.space.writing import write

Row = Mapping[Any, Any]
"""One row: its values by the names of the columns."""


def rows_given(data: Any, given: Any, unread: Collection[str] = ()) -> Any:
    """The rows that a user gave, as a table.

    Rows that name their columns become a table of the kind of `data`: a dict, a list of dicts, a series with the columns
    as its labels. A list or an array of one row needs no second pair of brackets if the data is an array. What nothing
    reads (`unread`) may hold anything.
    """
    if isinstance(given, Mapping):
        return named_rows(data, [given], unread)
    if isinstance(given, list | tuple) and given and all(isinstance(one, Mapping) for one in given):
        return named_rows(data, given, unread)
    if is_series(given):
        return _of_series(data, given, unread)
    if is_array(data) and isinstance(given, list | tuple | np.ndarray) and np.shape(given) == data.shape[1:]:
        return as_table([list(given)] if isinstance(given, list | tuple) else given[None])
    return as_table(given)


def named_rows(data: Any, given: Sequence[Row], unread: Collection[str] = ()) -> Any:
    """Rows that name their columns, as a table of the kind of `data`. It has its types as far as they hold the values.

    Columns that are `unread` get a type of their own if that of the data does not hold them.
    """
    rows = [{str(name): value for name, value in row.items()} for row in given]
    for row in rows:
        _check_row(row, rows[0], unread)
    own = names(data)
    known = [name for name in own if name in rows[0]]
    if not known:
        listed = choice("The columns are", next(iter(rows[0]), None), own)
        raise InputError(f"a row with the columns {list(rows[0])} was given.", *listed)
    start = np.zeros(len(rows), dtype=np.intp)
    table = take(data if is_array(data) else select(data, known), start)
    absent = [name for name in own if name not in rows[0]]
    if is_array(data) and absent:
        raise InputError(f"the row lacks the columns {absent}.", choice("The columns are", None, own)[0])
    columns = {name: [_as_in(data, name, row[name]) for row in rows] for name in known}
    free = () if is_array(data) else [name for name in known if name in unread]
    try:
        written = write(table, {name: column for name, column in columns.items() if name not in free})
    except (TypeError, ValueError) as error:
        raise InputError(
            f"the row {dict(given[0])!r} was given.", f"Its values must be like those of the data ({error})."
        ) from error
    for name in free:
        written = _written_or_put(written, name, columns[name])
    if row_labels(written) is not None:
        written = relabelled(written, list(range(len(rows))))  # they are not labelled like the first row of the data
    rest = {name: [row[name] for row in rows] for name in rows[0] if name not in known}
    return beside(written, {name: name for name in rest}, like(data, rest)) if rest and not is_array(data) else written


def _written_or_put(table: Any, name: str, column: list[Any]) -> Any:
    """A table with new values in a column: of its own type, or of whichever they have."""
    try:
        return write(table, {name: column})
    except Exception:  # each library has errors of its own for a value that its type does not hold
        return beside(table, {name: name}, like(table, {name: column}))


def _check_row(row: Row, first: Row, unread: Collection[str]) -> None:
    """Refuse a dict that holds several rows, and one whose columns are not those of the first."""
    for name, value in row.items():
        if (
            isinstance(value, Mapping | Sequence | np.ndarray)
            and not isinstance(value, str | bytes)
            and name not in unread
        ):
            raise InputError(
                f"the row {{{name!r}: {value!r}}} was given.",
                "A dict holds one row: one value for each column.",
                "Give several rows as a table, or as a list of dicts.",
            )
    if set(row) != set(first):
        raise InputError(
            f"rows with the columns {list(first)} and {list(row)} were given.", "All rows must have the same columns."
        )


def _of_series(data: Any, series: Any, unread: Collection[str]) -> Any:
    """One row from a series whose labels are columns, such as `X.iloc[0]`. It keeps its own label."""
    items = series_items(series)
    labels = [str(label) for label, _ in items]
    if not set(labels) & set(names(data)):
        shown = ", ".join(labels[:3]) + (", ..." if len(labels) > 3 else "")
        raise InputTypeError(
            f"a single series was given{f', with the labels {shown}' if labels else ''}.",
            f"{choice('A row needs the columns', None, names(data))[0]}",
            "Write X.iloc[0] or X.iloc[[0]] for the first row of X.",
        )
    twice = sorted({label for label in labels if labels.count(label) > 1})
    if twice:
        raise InputError(f"the labels {twice} occur more than once in a row.", "Each column needs its own name.")
    table = named_rows(data, [dict(items)], unread)
    return table if series.name is None or row_labels(table) is None else relabelled(table, [series.name])


def _as_in(data: Any, name: str, value: Any) -> Any:
    """A value; if it is missing, the marker of the data in its place. None and NaN are different for encoders."""
    return marker(data, name, names(data).index(name)) if is_missing(value) else value
