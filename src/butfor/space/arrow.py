"""Tables as those of pyarrow and back: how rows come from files of Parquet, and go there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from butfor.errors import ButforError, InputTypeError, MissingExtraError
from butfor.space import frames


def pyarrow(what: str = "") -> Any:
    """The library, or one of its modules, such as "parquet"."""
    try:
        return import_module(f"pyarrow.{what}" if what else "pyarrow")
    except ImportError:
        raise MissingExtraError(
            "pyarrow is not installed.", "Files of Parquet need it.", 'Run: pip install "butfor[frames]"'
        ) from None


@contextmanager
def held_by_parquet() -> Iterator[None]:
    """Say in words that a file of Parquet cannot hold what rows hold, such as text and numbers in one column."""
    try:
        yield
    except ButforError:
        raise
    except (pyarrow().ArrowException, TypeError, ValueError) as error:
        raise InputTypeError(
            f"a file of Parquet cannot hold these rows: {'; '.join(map(str, error.args))}.",
            "Each column must hold one type that Parquet knows.",
            "Turn such a column into numbers, text or categories of text, or ask without a file, with explain().",
        ) from None


def to_arrow(table: Any) -> Any:
    """A table of any kind as one of pyarrow. The labels of its rows are left out."""
    arrow = pyarrow()
    if frames.is_array(table):
        names = frames.names(table)
        return arrow.table({name: arrow.array(table[:, j].tolist()) for j, name in enumerate(names)})
    frame = nw.from_native(table, eager_only=True)
    if frame.implementation.is_pandas():
        named = table.copy(deep=False)
        named.columns = list(frames.names(table))
        return arrow.Table.from_pandas(named, preserve_index=False)
    return frame.to_arrow()


def sample_of(data: Any) -> Any:
    """A few rows of a table that show its types, and what each column holds in place of a missing value."""
    rows = {0}
    if frames.is_pandas(data):
        held = [j for j, kind in enumerate(data.dtypes) if kind.kind == "O"]
        lost = (data.iloc[:, j].isna().to_numpy() for j in held)
        rows |= {int(column.argmax()) for column in lost}
    return frames.take(data, sorted(rows))


def from_arrow(table: Any, like: Any) -> Any:
    """A table of pyarrow as one of the kind of another, of which a [sample](sample_of) is enough.

    A file does not say which numbers are categories, and what stands in place of a missing value. pandas does.
    """
    if frames.is_array(like):
        columns = [table[name].to_pylist() for name in frames.names(like)]
        if like.dtype == object:
            made = np.empty((table.num_rows, len(columns)), dtype=object)
            for j, column in enumerate(columns):
                made[:, j] = column
            return made
        return np.array(columns, dtype=like.dtype if like.dtype.kind in "bf" else None).T
    library = nw.from_native(like, eager_only=True).implementation
    if library.is_pyarrow():
        return table
    if library.is_pandas():
        return _typed_like(_labelled_like(table.to_pandas(), like), like)
    return nw.from_arrow(table, backend=library).to_native()


def _labelled_like(table: Any, like: Any) -> Any:
    """A pandas table with the labels of another, where these are the same as text. Its rows are numbered."""
    own = {str(label): label for label in frames.labels(like)}
    table.columns = [own.get(name, name) for name in frames.names(table)]
    return table.reset_index(drop=True)


def _typed_like(table: Any, like: Any) -> Any:
    """A pandas table whose columns have the types of another, where these are not those of numpy."""
    own, theirs = frames.positions(table), frames.positions(like)
    for name in own.keys() & theirs.keys():
        table.isetitem(own[name], _as_typed(table.iloc[:, own[name]], like.iloc[:, theirs[name]]))
    return table


def _as_typed(column: Any, like: Any) -> Any:
    """A pandas column with the type of another, if that holds its values. Missing ones are what the other has there."""
    kind = like.dtype
    if isinstance(kind, np.dtype) and kind.kind == "O":
        lost = next((value for value in like.tolist() if frames.is_missing(value)), None)
        held = column.astype(object)
        return held.where(held.notna(), lost) if lost is not None else held
    if column.dtype == kind or isinstance(kind, np.dtype):
        return column
    if hasattr(kind, "categories"):
        return column if hasattr(column.dtype, "categories") else _in_categories(column, like)
    try:
        return column.astype(kind)
    except (TypeError, ValueError):  # this type does not hold these values
        return column


def _in_categories(column: Any, like: Any) -> Any:
    """A pandas column in the categories of another. Values that are none of these become further ones."""
    known = like.cat.categories
    others = column[column.notna() & ~column.isin(known)].unique().tolist()
    return column.astype(type(like.dtype)([*known, *others], ordered=like.dtype.ordered))
