"""Write new values into a table. A column keeps its type if that type holds them; otherwise the type is widened."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from butfor.arrays import FloatArray
from butfor.space.dictionaries import entries, in_dictionary
from butfor.space.frames import is_array, is_missing, is_pandas, names, opened, positions

Levels = tuple[Any, ...]

WIDER = (np.dtype(np.int64), np.dtype(np.float32), np.dtype(np.float64))
"""The types that are tried, one after the other, if a column's own type does not hold the new values."""


def write(table: Any, columns: Mapping[str, Any], levels: Mapping[str, Levels] | None = None) -> Any:
    """A copy of `table` with some columns replaced.

    A column keeps its old type if that type holds the new values. Otherwise it gets a wider one. A type with categories
    gets those of `levels`.
    """
    if not columns:
        return table
    known = levels or {}
    if is_array(table):
        return _array(table, columns)
    table = nw.to_native(table, pass_through=True)
    if not is_pandas(table):
        frame = opened(table)
        return frame.with_columns(
            *(_series(frame[name], new, known.get(name, ())) for name, new in columns.items())
        ).to_native()
    at = positions(table)
    if set(table.dtypes) == {np.dtype(np.float64)} and all(map(_numeric, columns.values())):
        block = table.to_numpy(copy=True)  # many columns of numbers: a hundred times faster than one by one
        block[:, [at[name] for name in columns]] = np.column_stack(list(columns.values()))
        return type(table)(block, index=table.index, columns=table.columns)
    out = table.copy(deep=False)
    for name, new in columns.items():
        out.isetitem(at[name], _beside(table.iloc[:, at[name]], new, known.get(name, ())))
    return out


def _numeric(column: Any) -> bool:
    return isinstance(column, np.ndarray) and column.dtype.kind in "fiu"


def _array(table: Any, columns: Mapping[str, Any]) -> Any:
    """A copy of an array with some columns replaced. All columns share the widest type that is needed."""
    order = names(table)
    out = table.astype(np.result_type(table.dtype, *(_needed(table.dtype, new) for new in columns.values())))
    for name, new in columns.items():
        j = order.index(name)
        out[:, j] = _marked(new, table[:, j].tolist()) if out.dtype == object else new
    return out


def _needed(kind: np.dtype[Any], new: Any) -> np.dtype[Any]:
    """The array type that holds new values beside the old ones."""
    if kind.kind == "O":
        return kind
    if kind.kind in "US":
        return np.dtype(object) if _any_missing(new) else np.asarray(new).dtype
    return _holding(kind, _as_floats(new), missing=kind.kind == "f")


def _series(old: nw.Series[Any], new: Any, levels: Levels) -> nw.Series[Any]:
    """The new values as a series like the old one."""
    if old.implementation.is_pandas_like():
        return nw.from_native(_beside(old.to_native(), new, levels), series_only=True)
    listed = new.tolist() if isinstance(new, np.ndarray) else list(new)
    if _any_missing(new):
        listed = [None if is_missing(value) else value for value in listed]
    dictionary = in_dictionary(old)
    if dictionary is not None:
        made: nw.Series[Any] = nw.from_native(_dictionary(dictionary, listed, levels), series_only=True)
        return made.alias(old.name)
    if isinstance(old.dtype, nw.Enum):
        return _made(old, listed, nw.Enum(_categories(tuple(old.dtype.categories), listed, levels)))
    if old.dtype.is_decimal():
        return _decimal(old, listed)
    kind = _kind(old.dtype)
    if kind is None:
        return _text(old, listed)
    wide = _holding(kind, _as_floats(listed), missing=True)
    typed = [None if value is None else wide.type(value).item() for value in listed]
    return _made(old, typed, old.dtype if wide == kind else _TYPES[wide])


_TYPES = dict(zip(WIDER, (nw.Int64(), nw.Float32(), nw.Float64()), strict=True))
"""What narwhals calls the wider types."""


def _made(old: nw.Series[Any], listed: list[Any], kind: Any) -> nw.Series[Any]:
    return nw.new_series(old.name, listed, dtype=kind, backend=old.implementation)


def _text(old: nw.Series[Any], listed: list[Any]) -> nw.Series[Any]:
    """Text of the type that the library has for it. To narwhals, all text of pyarrow is one type."""
    text = _made(old, listed, old.dtype)
    if not old.implementation.is_pyarrow():
        return text
    own: nw.Series[Any] = nw.from_native(text.to_native().cast(old.to_native().type), series_only=True)
    return own.alias(old.name)


def _decimal(old: nw.Series[Any], listed: list[Any]) -> nw.Series[Any]:
    """Decimals if they have enough digits for the new values, otherwise float64."""
    floats = _made(old, listed, nw.Float64())
    try:
        found = floats.cast(old.dtype)
    except Exception:  # each library has errors of its own for a number that does not fit
        return floats
    return found if found.cast(nw.Float64()).to_list() == listed else floats


def _dictionary(old: Any, listed: list[Any], levels: Levels) -> Any:
    """A dictionary of pyarrow with the old order, plus the levels that it lacks."""
    import pyarrow as pa

    kind = old.type
    found = _categories(entries(old), listed, levels)
    code = {level: k for k, level in enumerate(found)}
    index = kind.index_type if len(found) <= np.iinfo(kind.index_type.to_pandas_dtype()).max else pa.int32()
    codes = pa.array([None if value is None else code[value] for value in listed], index)
    array = pa.DictionaryArray.from_arrays(codes, pa.array(found, kind.value_type), ordered=kind.ordered)
    return pa.chunked_array([array])


def _beside(old: Any, new: Any, levels: Levels) -> Any:
    """The new values as a pandas series like the old one."""
    kind, name = old.dtype, old.name
    if isinstance(kind, np.dtype) and kind.kind == "O":
        return type(old)(_marked(new, old.to_list()), index=old.index, name=name, dtype=object)
    fresh = type(old)(new, index=old.index, name=name)
    if hasattr(kind, "categories"):
        return fresh.astype(_category(old, new, levels))
    exact = kind
    if not isinstance(kind, np.dtype):
        seen = nw.from_native(old, series_only=True)
        dictionary = in_dictionary(seen)
        if dictionary is not None:
            listed = [None if is_missing(value) else value for value in new]
            made = kind.construct_array_type()(_dictionary(dictionary, listed, levels))
            return type(old)(made, index=old.index, name=name)
        if seen.dtype.is_decimal():
            return _beside_decimals(kind, fresh)
        exact = _kind(seen.dtype)
    if exact is None or exact.kind not in "biuf":
        return fresh.astype(kind)
    wide = _holding(exact, _as_floats(new), missing=not isinstance(kind, np.dtype) or kind.kind == "f")
    if wide == exact:
        return fresh.astype(kind)
    return fresh.astype(wide if isinstance(kind, np.dtype) else _nullable(kind, wide))


def _beside_decimals(kind: Any, fresh: Any) -> Any:
    """Decimals of pyarrow in pandas if they have enough digits, otherwise float64."""
    floats = fresh.astype("double[pyarrow]")
    try:
        found = floats.astype(kind)
    except Exception:  # whatever pyarrow has for a number that does not fit
        return floats
    return found if found.astype("double[pyarrow]").equals(floats) else floats


def _nullable(kind: Any, wide: np.dtype[Any]) -> str:
    """The name of a wider type in the same family of pandas: its own nullable types, or those of pyarrow."""
    if hasattr(kind, "pyarrow_dtype"):
        return {"float64": "double[pyarrow]", "float32": "float[pyarrow]"}.get(wide.name, f"{wide.name}[pyarrow]")
    return wide.name.capitalize()


def _category(old: Any, new: Any, levels: Levels) -> Any:
    """The categories of a pandas series, plus the levels that it lacks. The flag of an order stays."""
    known = tuple(old.cat.categories.tolist())
    found = _categories(known, new, levels)
    if found == known:
        return old.dtype
    added = old.cat.add_categories([level for level in found if level not in set(known)])
    return added.cat.reorder_categories(found).dtype


def _categories(known: Levels, new: Any, levels: Levels) -> Levels:
    """The categories that hold the new values: the known ones, or else those of the data in their order."""
    has = set(known)
    lacking = [value for value in dict.fromkeys(new) if not is_missing(value) and value not in has]
    return tuple(dict.fromkeys((*levels, *known, *lacking))) if lacking else known


def _kind(found: Any) -> np.dtype[Any] | None:
    """The numpy type of numbers or truth values; None for anything else."""
    if found == nw.Boolean:
        return np.dtype(np.bool_)
    if not (found.is_integer() or found.is_float()):
        return None
    try:
        return np.dtype(str(found).lower())
    except TypeError:  # numpy has no whole numbers of 128 bits
        return np.dtype(np.int64)


def _holding(kind: np.dtype[Any], values: FloatArray, *, missing: bool) -> np.dtype[Any]:
    """`kind` if it holds the values, otherwise the first wider type that does."""
    if _holds(kind, values, missing=missing):
        return kind
    wider = WIDER[1:] if kind.kind == "f" else WIDER[::2]
    return next((wide for wide in wider if _holds(wide, values, missing=missing or wide.kind == "f")), WIDER[-1])


def _holds(kind: np.dtype[Any], values: FloatArray, *, missing: bool) -> bool:
    """Whether a type holds the values without change. `missing` says whether it can hold missing values."""
    if kind == np.float64:
        return True
    lost = np.isnan(values)
    if lost.any() and not missing:
        return False
    known = values[~lost]
    if kind.kind == "f":
        with np.errstate(over="ignore"):
            return bool(np.all(known.astype(kind) == known))
    if kind.kind == "b":
        return bool(np.all((known == 0) | (known == 1)))
    ends = np.iinfo(kind)
    inside = (known >= float(ends.min)) & (known < float(ends.max) + 1)
    return bool(np.all(inside & (known == np.round(known))))


def _as_floats(new: Any) -> FloatArray:
    if _numeric(new):
        return np.asarray(new, dtype=np.float64)
    return np.array([np.nan if is_missing(value) else value for value in new], dtype=np.float64)


def _marked(new: Any, old: Sequence[Any]) -> list[Any]:
    """New values as a list. Where the old value is missing, too, its marker is kept."""
    listed = new.tolist() if isinstance(new, np.ndarray) else list(new)
    if not _any_missing(new):
        return listed
    return [was if is_missing(value) and is_missing(was) else value for value, was in zip(listed, old, strict=True)]


def _any_missing(column: Any) -> bool:
    if isinstance(column, np.ndarray) and column.dtype.kind == "f":
        return bool(np.isnan(column).any())
    return any(map(is_missing, column))
