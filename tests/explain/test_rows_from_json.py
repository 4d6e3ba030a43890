"""A row from the body of a request: it has the types of the data, and what is wrong with it is said by name."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.tree import DecisionTreeClassifier

import butfor as bf
from tests.applicant import EXPLAINER, MODEL, ROW, X

BODY = json.loads(ROW.iloc[0].to_json())


def test_the_row_is_the_one_that_was_sent() -> None:
    row = EXPLAINER.row(BODY)
    pd.testing.assert_frame_equal(row, ROW.reset_index(drop=True))
    assert EXPLAINER.explain(row, target="approved").cost == EXPLAINER.explain(ROW, target="approved").cost


@pytest.mark.parametrize(
    "types",
    [
        {"income": "float32", "age": "int8"},
        {"income": "Int64", "savings": "Float64"},
        {"months": "category"},
        {"income": "int32[pyarrow]", "savings": "float[pyarrow]"},
    ],
    ids=["short", "nullable", "category", "arrow"],
)
def test_it_has_the_types_of_the_data(types: dict[str, str]) -> None:
    table = X[["age", "income", "months", "savings"]].dropna().astype({"age": int}).astype(types)
    numbers = table.astype(float)
    model = DecisionTreeClassifier(max_depth=4, random_state=0).fit(numbers, numbers["income"] > 30_000)
    explainer = bf.Explainer(model, table)
    sent = {name: json.loads(json.dumps(float(table[name].iloc[7]))) for name in table}
    row = explainer.row(sent)
    assert row.dtypes.to_dict() == table.dtypes.to_dict()
    assert row.iloc[0].astype(float).to_dict() == numbers.iloc[7].to_dict()


def test_tables_of_other_kinds() -> None:
    numbers = X[["age", "income"]].astype(float)
    for given in (pl.from_pandas(numbers), numbers.to_numpy()):
        model = DecisionTreeClassifier(max_depth=3, random_state=0).fit(given, numbers["income"] > 30_000)
        explainer = bf.Explainer(model, given)
        row = explainer.row(dict(zip(explainer.space.names, [31, 20_000], strict=True)))
        assert type(row) is type(given)
        assert np.asarray(row).tolist() == [[31.0, 20_000.0]]
        assert explainer.explain(row, target=True).found.all()


def test_null_is_a_missing_value_as_the_data_has_them() -> None:
    row = EXPLAINER.row({**BODY, "savings": None, "job": None})
    assert row[["savings", "job"]].isna().all(axis=None)
    assert MODEL.predict(row)[0] == EXPLAINER.explain(row, target="approved").only.before


def test_columns_that_the_model_does_not_read_are_kept() -> None:
    assert EXPLAINER.row({**BODY, "case": "A17"})["case"].tolist() == ["A17"]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"income": 5}, "columns are missing: age"),
        ({**BODY, "job": "pilot"}, "column 'job' holds 'pilot'"),
        ({**BODY, "sex": 5}, "column 'sex' holds "),
        ({**BODY, "income": True}, "column 'income' holds True. It needs a number"),
        ({**BODY, "income": "lots"}, "income"),
        ({**BODY, "income": [1, 2]}, "A dict holds one row"),
        ({**BODY, "income": {"value": 1}}, "A dict holds one row"),
        ({**BODY, "income": float("inf")}, "infinite"),
        ({"colour": "red"}, "a row with the columns"),
        ({}, "was given"),
        ([BODY], "list was given"),
        (json.dumps(BODY), "str was given"),
        (None, "NoneType was given"),
    ],
)
def test_what_no_row_is_is_refused_by_name(body: Any, words: str) -> None:
    with pytest.raises(bf.errors.ButforError) as found:
        EXPLAINER.row(body)
    assert words in str(found.value)
