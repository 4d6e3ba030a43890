"""From the user's table to numbers and back: nothing is lost, nothing else changes, wrong values are named."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import butfor as bf
from butfor.space import frames
from butfor.space.infer import infer
from butfor.testing.problems import Kinds, random_row, random_space
from tests.space.samples import FRAMES

LIBRARIES = {**FRAMES, "array": lambda rows: np.array(list(zip(*rows.values(), strict=True)), dtype=object)}
VALUES = {
    "amount": st.floats(-1e6, 1e6).map(lambda x: x if abs(x) > 1e-90 else 0.0),
    "count": st.integers(-1000, 1000),
    "truth": st.booleans(),
    "job": st.sampled_from(["clerk", "nurse", "pilot", ""]),
    "digits": st.sampled_from(["1", "10", "2"]),
}
ROWS = st.lists(
    st.fixed_dictionaries({name: st.none() | value for name, value in VALUES.items()}), min_size=2, max_size=8
)


def listed(table: Any) -> list[list[Any]]:
    """Every value as a plain Python object, missing as None."""
    return [frames.values(table, name, j) for j, name in enumerate(frames.names(table))]


@pytest.mark.shorter(3)
@pytest.mark.parametrize("library", LIBRARIES)
@settings(max_examples=40, deadline=None)
@given(rows=ROWS, data=st.data())
def test_round_trip(library, rows, data) -> None:
    """Each row becomes another row of the table: what is written back reads as that row."""
    columns = {name: [row[name] for row in rows] for name in VALUES}
    if any(all(value is None for value in column) for column in columns.values()):
        return
    table = LIBRARIES[library](columns)
    space = infer(table)
    codes = space.encode(table)
    assert np.array_equal(space.encode(space.decode(codes, table)), codes, equal_nan=True)
    order = data.draw(st.permutations(range(len(rows))))
    written = space.decode(codes[order], table)
    assert type(written) is type(table)
    assert frames.names(written) == frames.names(table)
    assert np.array_equal(space.encode(written), codes[order], equal_nan=True)
    assert listed(written) == [[column[row] for row in order] for column in listed(table)]


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10_000), library=st.sampled_from(["pandas", "polars", "arrow"]))
def test_random_spaces_round_trip(seed, library) -> None:
    rng = np.random.default_rng(seed)
    space = random_space(rng, Kinds())
    codes = np.array([random_row(rng, space) for _ in range(5)])
    values = {f.name: [f.value(code) for code in codes[:, j]] for j, f in enumerate(space)}
    table = LIBRARIES[library](values)
    assert np.array_equal(space.encode(table), codes, equal_nan=True)
    other = np.array([random_row(rng, space) for _ in range(5)])
    assert np.array_equal(space.encode(space.decode(other, table)), other, equal_nan=True)


def test_types_are_kept_where_they_hold_the_value() -> None:
    table = pd.DataFrame(
        {
            "i": np.array([1, 2, 5], dtype=np.int32), "f": np.float32([0.5, 1.5, 4.0]), "b": [True, False, True],
            "c": pd.Categorical(["x", "y", "x"]), "n": pd.array([1, 2, 4], dtype="Int64"), "t": ["u", "v", "w"],
        },
        index=[7, 9, 11],
    )  # fmt: skip
    space = infer(table)
    codes = space.encode(table)
    written = space.decode(codes[[2, 0, 1]], table)
    assert written.dtypes.tolist() == table.dtypes.tolist()
    assert written.index.tolist() == [7, 9, 11]
    half = codes.copy()
    half[0, [0, 4]] = 1.5
    assert space.decode(half, table)["i"].tolist() == [1.5, 2.0, 5.0]
    assert space.decode(half, table)["n"].tolist() == [1.5, 2.0, 4.0]
    assert space.decode(half, table)["b"].dtype == bool


def test_polars_and_arrow_keep_whole_numbers_and_categories() -> None:
    rows = {"i": [1, 2, 5], "c": ["x", "y", "x"]}
    frame = pl.DataFrame(rows, schema={"i": pl.Int16, "c": pl.Enum(["x", "y", "z"])})
    space = infer(frame)
    assert space.decode(space.encode(frame)[[1, 2, 0]], frame).schema == frame.schema
    table = pa.table({"i": pa.array(rows["i"], pa.int16()), "c": pa.array(rows["c"]).dictionary_encode()})
    space = infer(table)
    written = space.decode(space.encode(table)[[1, 2, 0]], table)
    assert written.schema.field("i").type == pa.int16()
    assert written.column("c").to_pylist() == ["y", "x", "x"]


def test_a_missing_value_looks_as_it_did() -> None:
    """None and NaN are different categories for an encoder, so the one that is there stays."""
    for marker in (None, np.nan):
        table = pd.DataFrame({"c": pd.Series(["a", "b", marker], dtype=object)})
        space = infer(table)
        written = space.decode(space.encode(table)[[2, 1, 0]], table)["c"].tolist()
        assert written[0] is marker
        assert written[1:] == ["b", "a"]


def test_columns_in_which_nothing_changed_are_the_same_object() -> None:
    table = pd.DataFrame({"a": [1.5, 2.5], "c": pd.Series(["u", None], dtype=object), "other": [object(), object()]})
    space = infer(table[["a", "c"]])
    codes = space.encode(table)
    assert space.decode(codes, table) is table
    codes[0, 0] = 2.0
    written = space.decode(codes, table)
    assert written["c"].tolist() == ["u", None]
    assert written["other"].tolist() == table["other"].tolist()
    assert table["a"].tolist() == [1.5, 2.5]


def test_order_of_columns_and_extra_columns_do_not_matter() -> None:
    table = pl.DataFrame({"a": [1.5, 2.5], "c": ["u", "v"]})
    space = infer(table)
    assert (space.encode(table.select("c", "a").with_columns(z=1)) == space.encode(table)).all()


def test_equal_levels_of_other_types_are_the_same_level() -> None:
    space = infer(pd.DataFrame({"flag": [0, 1, 1]}))
    for column in ([True, False], [1.0, 0.0], np.array([1, 0], dtype=np.int8)):
        assert space.encode(pd.DataFrame({"flag": column}))[:, 0].tolist() == [1.0, 0.0]
    truth = infer(pd.DataFrame({"owns": [True, False]}))
    assert truth.encode(pd.DataFrame({"owns": [0, 1]}))[:, 0].tolist() == [0.0, 1.0]


@pytest.mark.parametrize("library", LIBRARIES)
def test_unseen_categories_and_missing_values_are_named(library) -> None:
    make = LIBRARIES[library]
    name = "x0" if library == "array" else "job"
    space = infer(make({"job": ["clerk", "nurse", "pilot"]}))
    with pytest.raises(
        bf.errors.InputError, match=f"'{name}' holds 'judge', which was not seen before.*clerk, nurse, pilot"
    ):
        space.encode(make({"job": ["clerk", "judge"]}))
    with pytest.raises(bf.errors.InputError, match=f"'{name}' is missing in row 1"):
        space.encode(make({"job": ["clerk", None]}))


def test_every_marker_of_a_missing_value_is_one() -> None:
    space = infer(pd.DataFrame({"c": ["a", "b", None], "x": [1.5, 2.0, None]}))
    for marker in (None, np.nan, float("nan"), np.float32("nan"), pd.NA, pd.NaT):
        table = pd.DataFrame({"c": pd.Series([marker], dtype=object), "x": pd.Series([marker], dtype=object)})
        assert np.isnan(space.encode(table)).all()


def test_decimals_and_large_numbers_are_numbers() -> None:
    from decimal import Decimal

    for table in (pl.DataFrame({"a": [Decimal("1.5"), None]}), pd.DataFrame({"a": [Decimal("1.5"), None]})):
        assert infer(pl.DataFrame({"a": [1.5, None]})).encode(table)[0, 0] == 1.5
    big = pd.DataFrame({"a": [2**53, 2**60 + 2**20]})
    assert infer(big).encode(big)[:, 0].tolist() == [2.0**53, 2.0**60 + 2.0**20]


@pytest.mark.parametrize("library", ["pandas", "pandas nullable", "polars", "arrow", "float32", "mixed"])
def test_many_number_columns_at_once_are_the_same_as_one_by_one(library) -> None:
    rng = np.random.default_rng(0)
    rows: dict[str, list[Any]] = {f"n{j}": rng.normal(size=6).tolist() for j in range(9)}
    rows |= {
        "whole": [1, 2, 2**40 + 1, 4, 5, 6],
        "lost": [1.5, None, 3.5, None, 0.0, 1.0],
        "few": [1, None, 3, 4, None, 6],
    }
    table = LIBRARIES.get(library, pd.DataFrame)(rows)
    if library == "float32":
        table = table.drop(columns=["whole"]).astype("float32")
    elif library == "mixed":
        table = table.astype({"n1": "float32", "n2": "float64", "whole": "int64"})
    space = infer(table)
    together = space.encode(table)
    alone = np.column_stack([frames.numbers(table, name, j) for j, name in enumerate(space.names)])
    assert np.array_equal(together, alone, equal_nan=True)
    wrong = {name: list(column) for name, column in rows.items()}
    wrong["n4"][2] = float("inf")
    with pytest.raises(bf.errors.InputError, match="'n4' holds an infinite value"):
        space.encode(LIBRARIES.get(library, pd.DataFrame)(wrong))


def test_numbers_alone_are_written_as_one_block_and_keep_index_columns_and_the_given_table() -> None:
    table = pd.DataFrame(np.arange(20.0).reshape(2, 10), index=[7, 3], columns=[f"c{j}" for j in range(10)])
    space = infer(table)
    points = space.encode(table)
    points[1, [0, 9]] = [0.5, 0.25]
    before = table.copy()
    written = space.decode(points, table)
    assert written.index.tolist() == [7, 3]
    assert written.columns.tolist() == table.columns.tolist()
    assert written.loc[3, ["c0", "c1", "c9"]].tolist() == [0.5, 11.0, 0.25]
    assert written.loc[7].equals(before.loc[7])
    pd.testing.assert_frame_equal(table, before)
