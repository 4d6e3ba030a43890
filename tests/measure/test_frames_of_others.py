"""Answers as other libraries hand them over: as DiCE's `final_cfs_df` comes, and worse."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import butfor as bf
from butfor.measure.judge import MEASURES

RNG = np.random.default_rng(0)
X = pd.DataFrame(
    {
        "age": RNG.integers(18, 80, 80),
        "job": RNG.choice(["clerk", "nurse", "pilot"], 80),
        "pay": RNG.random(80).round(2),
        "flat": RNG.integers(0, 2, 80),
    }
)
Y = (X["age"] / 80 + X["pay"] + 0.3 * X["flat"] > 1.2).astype(int)
MODEL = make_pipeline(
    make_column_transformer((OneHotEncoder(), ["job"]), remainder="passthrough"), LogisticRegression(max_iter=1000)
).fit(X, Y)
ROWS = X[MODEL.predict(X) == 0].iloc[:2]
SETS = [ROWS.iloc[[at, at]].assign(age=[79, 70], pay=[0.93, 0.99]) for at in (0, 1)]


@pytest.fixture(scope="module")
def judge() -> Any:
    return bf.measure.Judge(MODEL, X, target=1, space={"flat": bf.Categorical([0, 1])})


FRAMES = {
    "with the outcome": lambda one: one.assign(target=1),
    "with another index": lambda one: one.set_axis([7, 7]),
    "in another order": lambda one: one[["flat", "pay", "job", "age"]],
    "objects": lambda one: one.astype(object),
    "text": lambda one: one.astype(str),
    "text of decimals": lambda one: one.assign(age=one["age"].map("{:.2f}".format), flat=one["flat"].map("{:.1f}".format)),
    "levels as text": lambda one: one.assign(flat=one["flat"].astype(str)),
    "single precision": lambda one: one.assign(age=one["age"].astype("float32"), pay=one["pay"].astype("float32")),
    "whole numbers as decimals": lambda one: one.assign(age=one["age"].astype(float), flat=one["flat"].astype(float)),
    "polars text": lambda one: pl.from_pandas(one.astype(str)),
}  # fmt: skip


@pytest.mark.parametrize("kind", FRAMES)
def test_answers_are_read_whatever_the_types(judge, kind) -> None:
    """Each is measured as the same answers in the data's own types are (single precision moves a price by 1e-8)."""
    due = judge.measures(SETS, ROWS, k=2)
    found = judge.measures([FRAMES[kind](one) for one in SETS], ROWS, k=2)
    assert due["coverage"] == 1.0
    for name in MEASURES:
        assert found[name] == pytest.approx(due[name], abs=1e-6, nan_ok=True), name


def test_what_single_precision_did_to_the_factual_is_no_change(judge) -> None:
    one = ROWS.iloc[[0]].assign(age=79)
    narrow = one.assign(pay=one["pay"].astype("float32"))
    assert float(narrow["pay"].iloc[0]) != float(one["pay"].iloc[0])
    table = judge.frame({"narrow": narrow, "wide": one}, ROWS.iloc[[0]]).set_index("method")
    assert table.loc["wide", "sparsity"] == 0.25
    assert table.loc["narrow"].equals(table.loc["wide"])


def test_text_that_spells_nothing_is_refused(judge) -> None:
    with pytest.raises(bf.errors.InputError, match=r"answers of 'dice'.*'forty'"):
        judge.frame({"dice": SETS[0].assign(age="forty")}, ROWS.iloc[[0]])
    with pytest.raises(bf.errors.InputError, match=r"answers of 'dice'.*'2'"):
        judge.frame({"dice": SETS[0].assign(flat="2")}, ROWS.iloc[[0]])


def test_seconds_are_a_column_over_one_set_and_many(judge) -> None:
    one = judge.measures(SETS[0], ROWS.iloc[[0]], seconds=0.5)
    assert one["seconds"] == 0.5
    both = judge.frame({"dice": SETS, "again": SETS}, ROWS, seconds={"dice": [1.0, 3.0], "again": 6.0}, by="factual")
    assert both["seconds"].tolist() == [1.0, 3.0, 3.0, 3.0]
