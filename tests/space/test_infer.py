"""What is inferred of each kind of column in each kind of table, and what the user says instead."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import butfor as bf
from butfor.space.infer import infer
from tests.space.samples import FRAMES

COLUMNS: dict[str, tuple[list[Any], str]] = {
    "amount": ([1.5, 2.25, 9.0, -3.0], "continuous"),
    "count": ([3, 7, 5, 40], "integer"),
    "whole": ([3.0, 7.0, 5.0, 40.0], "integer"),
    "flag": ([0, 1, 1, 0], "binary"),
    "truth": ([True, False, True, True], "binary"),
    "sex": (["f", "m", "m", "f"], "binary"),
    "job": (["nurse", "clerk", "pilot", "clerk"], "categorical"),
    "same": ([2.0, 2.0, 2.0, 2.0], "constant"),
    "word": (["x", "x", "x", "x"], "constant"),
}
ROWS = {name: values for name, (values, _) in COLUMNS.items()}
LEVELS = ["low", "mid", "high"]


@pytest.mark.parametrize("library", FRAMES)
@pytest.mark.parametrize("name", COLUMNS)
def test_each_kind_in_each_library(library, name) -> None:
    space = infer(FRAMES[library](ROWS))
    values, kind = COLUMNS[name]
    feature = space[name]
    assert feature.kind == kind
    assert feature.why
    assert not feature.missing
    if feature.levels is None:
        assert (feature.low, feature.high) == (min(values), max(values))
    else:
        assert set(feature.levels) == set(values)


@pytest.mark.parametrize("library", FRAMES)
def test_missing_values_are_seen_and_say_nothing_of_the_kind(library) -> None:
    lost = {name: [*values, None] for name, values in ROWS.items()}
    space = infer(FRAMES[library](lost))
    for name, (_, kind) in COLUMNS.items():
        assert space[name].kind == kind
        assert space[name].missing
        codes = space.encode(FRAMES[library](lost))[:, space.index(name)]
        assert np.isnan(codes).tolist() == [False] * 4 + [True]


def test_arrays() -> None:
    X = np.array([[1.5, 3.0, 0.0], [2.5, 4.0, 1.0], [0.5, 9.0, 1.0]])
    assert [feature.kind for feature in infer(X)] == ["continuous", "integer", "binary"]
    assert infer(X).names == ("x0", "x1", "x2")
    assert [feature.single for feature in infer(X.astype(np.float32))] == [True, True, True]
    mixed = infer(np.array([["a", 1.5, True], ["b", 2.0, None]], dtype=object))
    assert [feature.kind for feature in mixed] == ["binary", "continuous", "binary"]
    assert [feature.missing for feature in mixed] == [False, False, True]
    assert [feature.levels for feature in infer(np.array([["u"], ["v"], ["w"]]))] == [("u", "v", "w")]
    assert infer([[1, 2.5], [3, 4.5]]).names == ("x0", "x1")


ORDERED: dict[str, Any] = {
    "pandas": lambda: pd.DataFrame({"c": pd.Categorical(["high", "low"], categories=LEVELS, ordered=True)}),
    "polars": lambda: pl.DataFrame({"c": ["high", "low"]}, schema={"c": pl.Enum(LEVELS)}),
    "arrow": lambda: pa.table({"c": pa.DictionaryArray.from_arrays([2, 0], LEVELS, ordered=True)}),
}


@pytest.mark.parametrize("library", ORDERED)
def test_a_type_that_declares_an_order(library) -> None:
    feature = infer(ORDERED[library]())["c"]
    assert feature.levels == tuple(LEVELS)
    assert feature.kind == "ordinal"


def test_a_type_that_declares_categories_without_order() -> None:
    table = pd.DataFrame({"c": pd.Categorical(["high", "low"], categories=LEVELS)})
    assert (infer(table)["c"].levels, infer(table)["c"].kind) == (tuple(LEVELS), "categorical")
    numbers = pd.DataFrame({"c": pd.Categorical([3, 1, 3], categories=[3, 2, 1])})
    assert infer(numbers)["c"].levels == (3, 2, 1)


def test_float32_is_noted() -> None:
    assert infer(pl.DataFrame({"a": [1.5, 2.5]}, schema={"a": pl.Float32}))["a"].single
    assert infer(pd.DataFrame({"a": np.float32([1.5, 2.5])}))["a"].single
    assert not infer(pd.DataFrame({"a": [1.5, 2.5]}))["a"].single


def test_what_the_data_say_of_the_middle_and_the_spread() -> None:
    space = infer(pd.DataFrame({"a": [1.0, 2.0, 3.0, 10.5, np.nan], "c": ["x", "y", "y", "z", "y"]}))
    assert space["a"].typical in (2.0, 3.0)
    assert space["a"].mad == pytest.approx(1.0)
    assert space["a"].std == pytest.approx(np.std([1.0, 2.0, 3.0, 10.5]))
    assert space["c"].typical == 1.0


def test_equal_values_have_no_spread() -> None:
    """The mean of three times 0.1 is another float."""
    space = infer(pd.DataFrame({"a": [0.1] * 3, "b": [0.1, 0.2, 0.4]}))
    assert np.std([0.1] * 3) > 0
    assert (space["a"].std, space["a"].mad) == (0.0, 0.0)
    assert bf.L1(scale="std").widths(space).tolist() == [1.0, space["b"].std]
    answers = pd.DataFrame({"a": [0.1, 0.1], "b": [0.1, 0.4]})
    assert bf.measure.standardised_diversity(answers, space) == pytest.approx(0.3 / space["b"].std)


@pytest.mark.parametrize(
    ("said", "kind", "shown"),
    [
        (bf.Continuous(), "continuous", "1 to 9"), (bf.Continuous(0, 20.5), "continuous", "0 to 20.5"),
        (bf.Continuous(low=-4), "continuous", "-4 to 9"), (bf.Integer(0), "integer", "0 to 9"),
        (bf.Step(2.5, 0, 10), "step", "0 to 10, steps of 2.5"), (bf.Step(1), "integer", "1 to 9"),
        (bf.Categorical([9, 5, 1]), "categorical", "9, 5, 1"), (bf.Ordinal([9, 5, 1]), "ordinal", "9 < 5 < 1"),
        (bf.Integer(4, 4), "constant", "4 to 4"),
    ],
    ids=repr,
)  # fmt: skip
def test_what_the_user_says_counts(said, kind, shown) -> None:
    feature = infer(pd.DataFrame({"a": [1, 5, 9]}), {"a": said})["a"]
    assert (feature.kind, feature.describe(), feature.why) == (kind, shown, "given")


def test_levels_that_are_numbers_may_be_declared_a_number() -> None:
    feature = infer(pd.DataFrame({"a": [0, 1, 1]}), {"a": bf.Continuous()})["a"]
    assert (feature.kind, feature.low, feature.high) == ("continuous", 0.0, 1.0)


def test_levels_beyond_the_data_are_kept_and_those_of_the_data_are_needed() -> None:
    table = pd.DataFrame({"c": ["a", "b"]})
    assert infer(table, {"c": bf.Ordinal(["b", "z", "a"])})["c"].levels == ("b", "z", "a")
    with pytest.raises(bf.errors.InputError, match=r"'b', which was not seen before.*Its values are a, z"):
        infer(table, {"c": bf.Categorical(["a", "z"])})


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (pd.DataFrame({"a": [1, 2]}).iloc[:0], "no rows"),
        (pd.DataFrame(index=[0, 1]), "no columns"),
        (pd.DataFrame({"a": [np.nan, np.nan]}), "no value"),
        (pd.DataFrame({"a": [1.0, np.inf]}), "infinite"),
        (pd.DataFrame({"a": [datetime.date(2020, 1, 1)]}), "days since"),
        (pl.DataFrame({"a": [datetime.datetime(2020, 1, 1)]}), "days since"),
        (pl.DataFrame({"a": [[1, 2], [3]]}), "numbers, text, booleans or categories"),
        (pl.DataFrame({"a": [None, None]}), "no value|of type"),
    ],
)
def test_what_cannot_be_inferred_is_refused(table, words) -> None:
    with pytest.raises(bf.ButforError, match=words):
        infer(table)


def test_a_space_prints_what_was_inferred() -> None:
    table = pd.DataFrame({"age": [20, 30, 71], "job": ["a", "b", "<c>"], "pay": [1.5, np.nan, 3.0]})
    space = infer(table, {"job": bf.Ordinal(["a", "b", "<c>"])})
    assert repr(space).splitlines() == [
        "column  kind        values       missing         why",
        "age     integer     20 to 71                     whole-number type; range of the data",
        "job     ordinal     a < b < <c>                  given",
        "pay     continuous  1.5 to 3     may be missing  numbers; range of the data",
    ]
    page = space._repr_html_()
    assert page.count("<tr>") == 4
    assert "a &lt; b &lt; &lt;c&gt;" in page
    assert "<c>" not in page
    many = infer(pd.DataFrame({"c": [f"level {k}" for k in range(9)]}))
    assert "and 3 more" in repr(many)


def test_a_space_is_asked_by_name() -> None:
    space = infer(pd.DataFrame({"income": [1.5, 2.5], "age": [3, 4]}))
    assert len(space) == 2
    assert [feature.name for feature in space] == list(space.names) == ["income", "age"]
    with pytest.raises(bf.errors.UnknownColumnError, match=r"no column 'incme'.*income"):
        space["incme"]
