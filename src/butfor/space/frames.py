"""Tables of any kind: pandas, polars and pyarrow (through narwhals), and numpy arrays.

Functions that return a table return the same kind that they got.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from narwhals.exceptions import DuplicateError

from butfor.arrays import FloatArray, IntArray
from butfor.errors import InputError, InputTypeError, choice
from butfor.space.dictionaries import entries, in_dictionary
from butfor.space.series import opened_structs


def is_array(table: Any) -> bool:
    """Whether `table` is a numpy array (columns are then called x0, x1, ...)."""
    return isinstance(table, np.ndarray)


def is_pandas(table: Any) -> bool:
    """Whether `table` is a data frame of pandas. To open one takes a tenth of a millisecond, and this takes nothing."""
    pandas = nw.dependencies.get_pandas()
    return pandas is not None and isinstance(table, pandas.DataFrame)


def as_table(table: Any) -> Any:
    """`table`, if it is a data frame or a 2-D array.

    A list of rows becomes an array. Anything else is refused.
    """
    if isinstance(table, nw.DataFrame):  # it was opened, and so looked at
        return table
    if is_array(table) or isinstance(table, list | tuple):
        array = np.asarray(table)
        if array.ndim != 2:
            raise InputError(
                f"an array of shape {array.shape} was given.",
                "Rows must be given as a table: two dimensions, one row per case.",
                "Use x.reshape(1, -1) for one row.",
            )
        return array
    if type(table).__module__.startswith("scipy.sparse"):
        raise InputTypeError("a sparse matrix was given.", "A dense table is needed.", "Call .toarray() first.")
    if is_pandas(table):
        if not (table.columns.is_unique and all_text(table.columns.tolist())):
            _check_labels(table.columns)
        return table
    table = opened_structs(table)
    try:
        frame = nw.from_native(table, eager_only=True, allow_series=True)
    except DuplicateError:
        _check_labels(getattr(table, "column_names", table.columns))
        raise
    except TypeError:
        raise InputTypeError(
            f"{type(table).__name__} was given.",
            "Rows must be given as a pandas, polars or pyarrow table, or as a 2-D array.",
        ) from None
    if isinstance(frame, nw.Series):
        raise InputTypeError(
            "a single series was given.",
            "Rows must be given as a table, even if there is only one.",
            "Select with double brackets: X.iloc[[3]].",
        )
    return table


def _check_labels(found: Iterable[Any]) -> None:
    """Refuse labels that are the same, or differ, but not as text."""
    count = Counter(map(str, found))
    twice = list(dict.fromkeys(label for label in found if count[str(label)] > 1))
    if twice:
        differ = len(twice) > len(set(map(str, twice)))
        given = f"the columns {twice} are the same as text." if differ else f"the columns {twice} occur more than once."
        raise InputError(given, "Each column needs its own name.", "Rename one of them.")


def opened(table: Any) -> Any:
    """The table in a form that gives one column after the other quickly. Its labels are text."""
    if is_array(table) or isinstance(table, nw.DataFrame):
        return table
    if is_pandas(table) and not all_text(table.columns.tolist()):
        own, table = names(table), table.copy(deep=False)
        table.columns = own
    return nw.from_native(table, eager_only=True)


def names(table: Any) -> tuple[str, ...]:
    """The column names: the labels as text."""
    if is_array(table):
        return tuple(f"x{j}" for j in range(table.shape[1]))
    return tuple(str(label) for label in labels(table))


def positions(table: Any) -> dict[str, int]:
    """The position of each column, by its name."""
    return {name: position for position, name in enumerate(names(table))}


def labels(table: Any) -> list[Any]:
    """The columns' own labels. In pandas they may be numbers or tuples."""
    found = table.columns
    if not isinstance(found, list):
        return list(found.tolist())
    return found if all_text(found) else nw.from_native(table, eager_only=True).columns  # pyarrow's are the columns


def all_text(found: Sequence[Any]) -> bool:
    """Whether all labels are text."""
    return all(isinstance(label, str) for label in found)


def row_labels(table: Any) -> list[Any] | None:
    """The label of each row; None if the table has none. Only pandas has labels."""
    return list(table.index.tolist()) if is_pandas(table) else None


def relabelled(table: Any, labels: Sequence[Any]) -> Any:
    """A pandas table with these labels for its rows."""
    made = table.copy(deep=False)
    made.index = list(labels)
    return made


def height(table: Any) -> int:
    """The number of rows."""
    return int(table.shape[0])


def take(table: Any, rows: Sequence[int] | IntArray) -> Any:
    """The given rows, in that order. A row may be taken twice."""
    rows = np.asarray(rows, dtype=np.intp)
    if is_array(table):
        return table[rows]
    return table.iloc[rows] if is_pandas(table) else nw.from_native(table, eager_only=True)[rows, :].to_native()


def take_or_leave(table: Any, rows: Sequence[int | None]) -> Any:
    """The given rows of a data frame, in that order, and a row without values for each None."""
    if None not in rows:
        return take(table, [row for row in rows if row is not None])
    if is_pandas(table):
        return table.reset_index(drop=True).reindex([-1 if row is None else row for row in rows])
    if nw.dependencies.is_pyarrow_table(table):
        import pyarrow as pa

        return table.take(pa.array(rows, pa.int64()))
    import polars as pl

    return table.select(pl.all().gather(pl.lit(pl.Series(rows, dtype=pl.Int64))))


def dtype(table: Any, name: str) -> str:
    """One word for the type of a column.

    It is float, float32, int, bool, ordered, category, text, or the library's own word.
    """
    if is_array(table):
        words = {"i": "int", "u": "int", "b": "bool", "O": "object", "U": "text", "S": "text"}
        words["f"] = "float32" if table.dtype.itemsize < 8 else "float"
        return words.get(table.dtype.kind, str(table.dtype))
    column = opened(table)[name]
    try:
        found = column.dtype
    except (TypeError, ValueError):  # pandas before 3 cannot tell apart categories of any objects
        return "category of objects"
    if str(found) in ("Float32", "Float16"):
        return "float32"
    if found.is_float() or found.is_decimal():
        return "float"
    if found.is_integer():
        return "int"
    if found == nw.Boolean:
        return "bool"
    dictionary = in_dictionary(column)
    if found == nw.Enum or (dictionary is not None and dictionary.type.ordered):
        return "ordered"
    if found == nw.Categorical:
        return "category"
    if found == nw.String:
        return "text"
    if found == nw.Object:
        return "object"
    native = column.to_native()
    return str(found if found != nw.Unknown else native.dtype if hasattr(native, "dtype") else native.type)


def categories(table: Any, name: str) -> tuple[Any, ...]:
    """The categories that the column's own type declares."""
    column = opened(table)[name]
    native = column.to_native()
    if hasattr(native, "cat") and hasattr(native.cat, "categories"):
        return tuple(native.cat.categories.tolist())
    if isinstance(column.dtype, nw.Enum):
        return tuple(column.dtype.categories)
    dictionary = in_dictionary(column)
    if dictionary is not None:
        return entries(dictionary)
    return tuple(column.cat.get_categories().to_list())


def numbers(table: Any, name: str, position: int) -> FloatArray:
    """A column as float64. Missing values are NaN."""
    if is_array(table):
        column = table[:, position]
        return _floats(name, column.tolist()) if column.dtype.kind in "OUS" else column.astype(np.float64)
    native = _in_pandas(table, name)
    if native is not None and isinstance(native.dtype, np.dtype) and native.dtype.kind in "fiub":
        return np.asarray(native.to_numpy(), dtype=np.float64)
    series = opened(table)[name]
    if series.dtype.is_numeric() or series.dtype == nw.Boolean:
        return np.asarray(series.cast(nw.Float64()).to_numpy(), dtype=np.float64)
    return _floats(name, series.to_list())


def _in_pandas(table: Any, name: str) -> Any:
    """A column as pandas itself has it, which takes a tenth of the time; None for any other kind of table."""
    if is_pandas(table) and name in table.columns:
        return table[name]
    frame = opened(table)
    return frame.to_native()[name] if frame.implementation.is_pandas() else None


def plain_numbers(table: Any, names: Sequence[str]) -> FloatArray | None:
    """Columns as float64, all at once; None if one is not of plain numbers.

    Many columns would be slow one by one.
    """
    if is_array(table) or len(names) < 8:
        return None
    chosen = select(nw.to_native(table, pass_through=True), names)
    if not (
        is_pandas(chosen) and all(isinstance(kind, np.dtype) and kind.kind in "fiu" for kind in set(chosen.dtypes))
    ):
        chosen = nw.from_native(chosen, eager_only=True)
        if not all(kind.is_float() or kind.is_integer() for kind in chosen.schema.values()):
            return None
    found = chosen.to_numpy()
    return found.astype(np.float64) if found.dtype.kind in "fiu" else None


def holds_floats(table: Any, names: Sequence[str]) -> bool:
    """Whether these columns are all plain float64."""
    if is_array(table):
        return bool(table.dtype == np.float64)
    if is_pandas(table):
        return set(select(table, names).dtypes) <= {np.dtype(np.float64)}
    return all(kind == nw.Float64 for kind in opened(table).select(list(names)).schema.values())


def of_floats(table: Any, names: Sequence[str], block: FloatArray) -> Any:
    """A table of the same kind with only these columns, filled from `block`."""
    if is_array(table):
        return block.copy()
    made = nw.from_numpy(block, schema=list(names), backend=nw.get_native_namespace(table)).to_native()
    own = labels(table)
    if not all_text(own):
        made.columns = select(table, names).columns
    return made


def _floats(name: str, column: list[Any]) -> FloatArray:
    """Python values as float64.

    Text is refused even if it spells a number, because the model would not read it as one.
    """
    if set(map(type, column)) <= _PLAIN:
        return np.array(column, dtype=np.float64)
    try:
        return np.array([np.nan if is_missing(v) else _float(v) for v in column], dtype=np.float64)
    except (TypeError, ValueError):
        bad = next((v for v in column if isinstance(v, str)), column[0])
        raise InputError(
            f"column {name!r} holds {bad!r}.", "It held numbers in the training data.", "Convert it to numbers."
        ) from None


_PLAIN = {float, int, bool, type(None)}
"""The types that numpy reads as numbers all at once. None becomes NaN."""


def _float(value: Any) -> float:
    if isinstance(value, str | bytes):
        raise TypeError(value)
    return float(value)


def values(table: Any, name: str, position: int) -> list[Any]:
    """A column as a list of the user's values. Missing values are None."""
    return [None if is_missing(value) else value for value in as_held(table, name, position)]


def named_column(table: Any, name: str, given: str) -> list[Any]:
    """The values of a column that somebody named. `given` is what an error says was given."""
    known = names(table)
    if str(name) not in known:
        raise InputError(f"{given} was given.", *choice("The columns are", name, known))
    return values(table, str(name), known.index(str(name)))


def marker(table: Any, name: str, position: int) -> Any:
    """What a column holds in place of a missing value: None or NaN, for example. NaN if it has none."""
    return next((value for value in as_held(table, name, position) if is_missing(value)), float("nan"))


def looked_up(table: Any, name: str, position: int, code: Mapping[Any, float]) -> FloatArray:
    """The code of each value of a column. Missing values are NaN.

    A value without a code raises `KeyError` or `TypeError`.
    """
    column = as_held(table, name, position)
    known = _Codes({**code, None: np.nan, np.nan: np.nan})
    return np.fromiter(map(known.__getitem__, column), dtype=np.float64, count=len(column))


class _Codes(dict[Any, float]):
    """A dict from values to codes. Only a value without a code is tested for being missing."""

    def __missing__(self, value: Any) -> float:
        if is_missing(value):
            return float("nan")
        raise KeyError(value)


def as_held(table: Any, name: str, position: int) -> list[Any]:
    """A column as a list of the user's values. Missing values are what the table holds in their place."""
    if is_array(table):
        return list(table[:, position].tolist())
    native = _in_pandas(table, name)
    if native is not None:
        return list(native.tolist())
    series: nw.Series[Any] = opened(table)[name]
    dictionary = in_dictionary(series)
    if dictionary is not None:  # value by value, a dictionary is a hundred times slower than its plain values
        return list(dictionary.cast(dictionary.type.value_type).to_pylist())
    return series.to_list()


def is_missing(value: Any) -> bool:
    """Whether a value is one of the markers of a missing value."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float | np.floating) and bool(value != value)


def select(table: Any, chosen: Sequence[str]) -> Any:
    """The chosen columns, in that order."""
    given = names(table)
    if is_array(table) or given == tuple(chosen):
        return table
    if is_pandas(table):
        at = {name: position for position, name in enumerate(given)}
        return table.iloc[:, [at[name] for name in chosen]]
    return nw.from_native(table, eager_only=True).select(list(chosen)).to_native()


def like(table: Any, columns: Mapping[str, Sequence[Any]]) -> Any:
    """A new table of the same kind as `table`.

    Pandas takes columns of values of several types. For other tables, numbers become real if one is, and a column of
    anything else becomes text.
    """
    backend = nw.from_native(table, eager_only=True).implementation
    one_type = list if backend.is_pandas() else _of_one_type
    return nw.from_dict({name: one_type(column) for name, column in columns.items()}, backend=backend).to_native()


def _of_one_type(column: Sequence[Any]) -> list[Any]:
    kinds = {type(value) for value in column if value is not None}
    if len(kinds) < 2:
        return list(column)
    common = float if kinds <= {int, float} else str
    return [None if value is None else common(value) for value in column]


def beside(table: Any, columns: Mapping[str, str], other: Any) -> Any:
    """A data frame with columns of another beside its own: `columns` says what they are called, and were."""
    frame, more = opened(table), opened(other)
    if frame.implementation.is_pandas():
        more = nw.from_native(more.to_native().set_axis(frame.to_native().index), eager_only=True)
    return frame.with_columns(*(more[name].alias(new) for new, name in columns.items())).to_native()


def framed(table: Any, columns: Mapping[str, Sequence[Any]]) -> Any:
    """Columns as a table of the same kind as `table`. Beside an array, they are a dict of lists."""
    return {name: list(column) for name, column in columns.items()} if is_array(table) else like(table, columns)


def listed(table: Any) -> dict[str, list[Any]]:
    """The columns of a table, or of the dict that `framed` made beside an array. Missing values are None."""
    if isinstance(table, Mapping):
        return {str(name): [None if is_missing(value) else value for value in column] for name, column in table.items()}
    return {name: values(table, name, position) for position, name in enumerate(names(as_table(table)))}
