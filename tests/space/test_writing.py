"""What is written back is what was meant: a type that cannot hold a value gets wider, in every library."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from butfor.space import frames
from butfor.space.feature import Feature
from butfor.space.space import Space

NUMBER = Space((Feature("a", low=-1e9, high=1e9, missing=True),))
LEVELS = Space((Feature("a", levels=("u", "v", "w"), missing=True),))
TRUTH = Space((Feature("a", levels=(False, True), ordered=True, missing=True),))


def pandas(kind: Any) -> Any:
    return lambda values: pd.DataFrame({"a": pd.Series(values, dtype=kind)})


def polars(kind: Any) -> Any:
    return lambda values: pl.DataFrame({"a": pl.Series(values, dtype=kind)})


def arrow(kind: Any) -> Any:
    return lambda values: pa.table({"a": pa.array(values, kind)})


def array(kind: Any) -> Any:
    return lambda values: np.array([values], dtype=kind).T


def of_type(table: Any) -> str:
    if isinstance(table, np.ndarray):
        return str(table.dtype)
    return str(table.schema.field("a").type if isinstance(table, pa.Table) else table["a"].dtype)


NUMBERS = {
    "pandas uint8": (pandas("uint8"), [7], 304.0, "int64"),
    "pandas uint8, held": (pandas("uint8"), [7], 255.0, "uint8"),
    "pandas int8, below": (pandas("int8"), [7], -129.0, "int64"),
    "pandas int16, large": (pandas("int16"), [7], 2.0**40, "int64"),
    "pandas int64, beyond": (pandas("int64"), [7], 2.0**63, "float64"),
    "pandas uint64, held": (pandas("uint64"), [7], 2.0**63, "uint64"),
    "pandas int8, fraction": (pandas("int8"), [7], 0.1, "float64"),
    "pandas int8, missing": (pandas("int8"), [7], np.nan, "float64"),
    "pandas bool": (pandas("bool"), [True], 3.0, "int64"),
    "pandas float32": (pandas("float32"), [7], 0.1, "float64"),
    "pandas float32, held": (pandas("float32"), [7], 0.5, "float32"),
    "pandas float16": (pandas("float16"), [7], float(np.float32(0.1)), "float32"),
    "pandas UInt8": (pandas("UInt8"), [7], 304.0, "Int64"),
    "pandas Int16, held": (pandas("Int16"), [7], 304.0, "Int16"),
    "pandas Int16, missing": (pandas("Int16"), [7], np.nan, "Int16"),
    "pandas Int8, fraction": (pandas("Int8"), [7], 0.1, "Float64"),
    "pandas boolean": (pandas("boolean"), [True], 3.0, "Int64"),
    "pandas Float32": (pandas("Float32"), [7], 0.1, "Float64"),
    "pandas arrow uint8": (pandas("uint8[pyarrow]"), [7], 304.0, "int64[pyarrow]"),
    "pandas arrow uint8, missing": (pandas("uint8[pyarrow]"), [7], np.nan, "uint8[pyarrow]"),
    "pandas arrow float": (pandas("float[pyarrow]"), [7], 0.1, "double[pyarrow]"),
    "polars UInt8": (polars(pl.UInt8), [7], 304.0, "Int64"),
    "polars UInt8, held": (polars(pl.UInt8), [7], 255.0, "UInt8"),
    "polars Int8, fraction": (polars(pl.Int8), [7], 0.1, "Float64"),
    "polars Int8, missing": (polars(pl.Int8), [7], np.nan, "Int8"),
    "polars Boolean": (polars(pl.Boolean), [True], 3.0, "Int64"),
    "polars Float32": (polars(pl.Float32), [7], 0.1, "Float64"),
    "polars Decimal": (polars(pl.Decimal(10, 2)), [7], 0.125, "Float64"),
    "polars Decimal, held": (polars(pl.Decimal(10, 2)), [7], 0.25, "Decimal(precision=10, scale=2)"),
    "arrow uint8": (arrow(pa.uint8()), [7], 304.0, "int64"),
    "arrow uint8, missing": (arrow(pa.uint8()), [7], np.nan, "uint8"),
    "arrow float": (arrow(pa.float32()), [7], 0.1, "double"),
    "arrow bool": (arrow(pa.bool_()), [True], 3.0, "int64"),
    "array uint8": (array("uint8"), [7], 304.0, "int64"),
    "array uint8, held": (array("uint8"), [7], 255.0, "uint8"),
    "array float16": (array("float16"), [7], float(np.float32(0.1)), "float32"),
    "array float32": (array("float32"), [7], 0.1, "float64"),
    "array bool": (array("bool"), [True], 3.0, "int64"),
}


@pytest.mark.parametrize("case", NUMBERS)
def test_a_number_is_never_wrapped_or_rounded(case) -> None:
    make, old, new, kind = NUMBERS[case]
    space = NUMBER if not case.startswith("array") else Space((Feature("x0", low=-1e9, high=1e9, missing=True),))
    written = space.decode(np.array([[new], [old[0]]]), make(old * 2))
    assert np.array_equal(space.encode(written), [[new], [old[0]]], equal_nan=True)
    assert of_type(written) == kind


ORDERED = pa.dictionary(pa.int8(), pa.string(), ordered=True)
CATEGORIES = {
    "pandas": (pandas(pd.CategoricalDtype(["u"])), ("u", "v", "w"), False),
    "pandas, ordered": (pandas(pd.CategoricalDtype(["u", "w"], ordered=True)), ("u", "v", "w"), True),
    "pandas, held": (pandas(pd.CategoricalDtype(["w", "v", "u"], ordered=True)), ("w", "v", "u"), True),
    "pandas, one more": (pandas(pd.CategoricalDtype(["u", "z"])), ("u", "v", "w", "z"), False),
    "polars": (polars(pl.Enum(["u"])), ("u", "v", "w"), True),
    "polars, held": (polars(pl.Enum(["w", "v", "u"])), ("w", "v", "u"), True),
    "arrow": (lambda values: pa.table({"a": pa.array(values).dictionary_encode()}), ("u", "v", "w"), False),
    "arrow, ordered": (
        lambda values: pa.table(
            {"a": pa.DictionaryArray.from_arrays(pa.array([0] * len(values), pa.int8()), ["u", "w"], ordered=True)}
        ),
        ("u", "v", "w"),
        True,
    ),
}


@pytest.mark.parametrize("case", CATEGORIES)
def test_a_type_with_categories_gains_those_of_the_data_in_their_order(case) -> None:
    make, categories, ordered = CATEGORIES[case]
    table = make(["u", "u", "u"])
    written = LEVELS.decode(np.array([[1.0], [np.nan], [0.0]]), table)
    assert frames.values(written, "a", 0) == ["v", None, "u"]
    assert frames.categories(written, "a") == categories
    assert frames.dtype(written, "a") == ("ordered" if ordered else "category")


@pytest.mark.parametrize(
    "make",
    [polars(pl.Categorical), polars(pl.String), pandas("str"), pandas(object), array("U1")]
    + [arrow(kind()) for kind in (pa.string, pa.large_string, pa.string_view)],
    ids=[
        "polars Categorical",
        "polars String",
        "pandas str",
        "pandas object",
        "array U1",
        "arrow",
        "arrow large",
        "arrow view",
    ],
)
def test_text_takes_every_level(make) -> None:
    table = make(["u", "u"])
    space = Space((Feature(frames.names(table)[0], levels=("u", "longer"), missing=True),))
    written = space.decode(np.array([[1.0], [0.0]]), table)
    assert frames.values(written, space.names[0], 0) == ["longer", "u"]
    if not isinstance(table, np.ndarray):  # a wider text of numpy is another type
        assert of_type(written) == of_type(table)


@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (pandas("int64"), "int64"), (pandas("float64"), "float64"), (pandas("Int8"), "Int8"), (pandas("bool"), "bool"),
        (polars(pl.Int8), "Int8"), (polars(pl.Float64), "Float64"), (arrow(pa.int8()), "int8"),
    ],
)  # fmt: skip
def test_truth_values_in_a_column_of_numbers(make, kind) -> None:
    written = TRUTH.decode(np.array([[1.0], [0.0]]), make([0, 0]))
    assert TRUTH.encode(written).ravel().tolist() == [1.0, 0.0]
    assert of_type(written) == kind
