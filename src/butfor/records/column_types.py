"""The type of a column as plain data, and the type again: of pandas, polars and pyarrow, in the words of each."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

import narwhals.stable.v2 as nw

from butfor.problem.spec import from_spec, to_spec

IN_ARROW = "[pyarrow]"
"""The ending of types that pandas has from pyarrow."""


def pandas_column(name: str, label: Any, kind: Any) -> dict[str, Any]:
    """The name and type of a column, and its own label if that is a number or a tuple."""
    column = {"name": name, **_pandas_words(kind)}
    return column if isinstance(label, str) else column | {"label": to_spec(label)}


def _pandas_words(kind: Any) -> dict[str, Any]:
    words: dict[str, Any] = {"type": str(kind)}
    if words["type"] == "category":
        own = kind.categories.dtype
        words |= {"categories": [to_spec(level) for level in kind.categories.tolist()], "ordered": bool(kind.ordered)}
        if pandas_type(import_module("pandas"), words).categories.dtype != own:
            words["of"] = _pandas_words(own)
    elif words["type"] == "string" and (kind.storage == "python" or type(kind)().storage != kind.storage):
        words["storage"] = kind.storage  # of "str", that depends on whether pyarrow is there
    return words


def pandas_type(pandas: Any, column: Mapping[str, Any]) -> Any:
    """The type of pandas that `pandas_column` described."""
    words = column["type"]
    if words == "category":
        levels = [from_spec(level) for level in column["categories"]]
        kind = pandas_type(pandas, column["of"]) if "of" in column else None
        return pandas.CategoricalDtype(pandas.Index(levels, dtype=kind, tupleize_cols=False), ordered=column["ordered"])
    if words.endswith(IN_ARROW):
        return pandas.ArrowDtype(arrow_type(words.removesuffix(IN_ARROW)))
    if column.get("storage"):
        return pandas.StringDtype(column["storage"])
    return words


def pandas_series(pandas: Any, column: Mapping[str, Any], values: Sequence[Any], index: Any) -> Any:
    """Values as a series of the type that `pandas_column` described."""
    kind = pandas_type(pandas, column)
    if column["type"].startswith("decimal"):  # it is made of floats, as every number
        return pandas.Series(values, index=index, dtype="double[pyarrow]").astype(kind)
    return pandas.Series(values, index=index, dtype=kind)


def polars_column(name: str, kind: Any) -> dict[str, Any]:
    """The name and type of a column of polars. Most types have the same words in narwhals."""
    if hasattr(kind, "categories") and str(kind).startswith("Enum"):
        return {"name": name, "type": "Enum", "categories": kind.categories.to_list()}
    return {"name": name, "type": str(kind)}


def polars_type(polars: Any, column: Mapping[str, Any]) -> Any:
    """The type of polars that `polars_column` described."""
    words = column["type"]
    if words == "Enum":
        return polars.Enum(column["categories"])
    found = re.fullmatch(r"Decimal\(precision=(\d+), scale=(\d+)\)", words)
    return polars.Decimal(*map(int, found.groups())) if found else getattr(polars, words.partition("(")[0])()


def arrow_column(name: str, column: nw.Series[Any]) -> dict[str, Any]:
    """The name and type of a column of pyarrow, in the words of narwhals and in its own, which say more."""
    words = {"name": name, "type": str(column.dtype), "arrow": str(column.to_native().type)}
    if column.dtype != nw.Categorical:
        return words
    return words | {"categories": [to_spec(level) for level in column.cat.get_categories().to_list()]}


def arrow_array(column: Mapping[str, Any], values: list[Any]) -> Any:
    """Values as an array of the type that `arrow_column` described."""
    import pyarrow as pa

    if "arrow" not in column and column["type"] == "Categorical":  # as earlier versions wrote it
        return pa.array(values, pa.dictionary(pa.uint32(), pa.string()))
    if "arrow" not in column:
        return nw.new_series("", values, getattr(nw, column["type"])(), backend="pyarrow").to_native()
    kind = arrow_type(column["arrow"])
    if "categories" not in column:
        return pa.array(values, pa.float64()).cast(kind) if pa.types.is_decimal(kind) else pa.array(values, kind)
    levels = [from_spec(level) for level in column["categories"]]
    code = {level: k for k, level in enumerate(levels)}
    codes = pa.array([None if value is None else code[value] for value in values], kind.index_type)
    return pa.DictionaryArray.from_arrays(codes, pa.array(levels, kind.value_type), ordered=kind.ordered)


def arrow_type(words: str) -> Any:
    """The type of pyarrow that is printed as these words."""
    import pyarrow as pa

    if found := re.fullmatch(r"dictionary<values=(.+), indices=(\w+), ordered=(\d)>", words):
        values, indices, ordered = found.groups()
        return pa.dictionary(arrow_type(indices), arrow_type(values), ordered=ordered == "1")
    if found := re.fullmatch(r"timestamp\[(\w+), tz=(.+)\]", words):
        return pa.timestamp(*found.groups())
    if found := re.fullmatch(r"(decimal\d+)\((\d+), (-?\d+)\)", words):
        return getattr(pa, found[1])(int(found[2]), int(found[3]))
    return pa.type_for_alias(words)
