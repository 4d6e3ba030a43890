"""One row in every form that a user may have at hand: all are the same question."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

import butfor as bf
from butfor.space import frames

RNG = np.random.default_rng(0)
X = pd.DataFrame(
    {
        "a": RNG.normal(size=200),
        "n": RNG.integers(0, 9, 200),
        "c": RNG.choice(list("uvw"), 200),
        "t": RNG.random(200) < 0.5,
    },
    index=[f"case {k}" for k in range(200)],
)
FOREST = make_pipeline(
    make_column_transformer((OneHotEncoder(), ["c"]), remainder="passthrough"),
    RandomForestClassifier(5, random_state=0),
).fit(X, X.a + (X.c == "v") > 0.5)
EXPLAINER = bf.Explainer(FOREST, data=X)
EXPECTED = EXPLAINER.explain(X.iloc[[7]])

POLARS = pl.from_pandas(X)

FORMS = {
    "a series": X.iloc[7],
    "a series in another order": X.iloc[7][["t", "c", "n", "a"]],
    "a dict": X.iloc[7].to_dict(),
    "a dict of polars": POLARS.row(7, named=True),
    "a list of one dict": [POLARS.row(7, named=True)],
    "a struct of polars": POLARS[[7]].to_struct("row"),
}


@pytest.mark.parametrize("form", FORMS)
def test_one_row_in_any_form_is_the_same_question(form) -> None:
    answer = EXPLAINER.explain(FORMS[form])
    assert answer.only == EXPECTED.only
    assert answer.certificate.status is bf.Status.PROVEN_OPTIMAL
    assert frames.values(answer.factual, "n", 0) == [int(X.n.iloc[7])]


def test_a_series_keeps_its_label_and_the_types_of_the_columns() -> None:
    answer = EXPLAINER.explain(X.iloc[7])
    pd.testing.assert_frame_equal(answer.factual, X.iloc[[7]])
    assert answer.only.label == "case 7"


def test_a_series_may_hold_more_than_the_model_reads() -> None:
    row = pd.concat([X.iloc[7], pd.Series({"when": pd.Timestamp("2024-05-01")})])
    answer = EXPLAINER.explain(row)
    assert answer.point["when"].tolist() == [pd.Timestamp("2024-05-01")]
    assert answer.only == EXPECTED.only


def test_a_series_of_floats_is_read_by_the_types_of_the_columns() -> None:
    numbers = X[["a", "n"]]
    explainer = bf.Explainer(DecisionTreeClassifier(random_state=0).fit(numbers, X.n > 4), data=numbers)
    assert numbers.iloc[3].dtype == float
    pd.testing.assert_frame_equal(explainer.explain(numbers.iloc[3]).factual, numbers.iloc[[3]])


def test_several_dicts_are_several_rows() -> None:
    answers = EXPLAINER.explain(POLARS[[7, 8, 9]].to_dicts())
    assert [one == other for one, other in zip(answers, EXPLAINER.explain(X.iloc[7:10]), strict=True)] == [True] * 3
    assert answers.labels == [0, 1, 2]


def test_one_row_of_an_array_needs_no_second_brackets() -> None:
    rows = RNG.normal(size=(100, 3))
    explainer = bf.Explainer(DecisionTreeClassifier(random_state=0).fit(rows, rows[:, 0] > 0), data=rows)
    expected = explainer.explain(rows[[4]])
    for form in (rows[4], rows[4].tolist(), [rows[4].tolist()], tuple(rows[4])):
        assert explainer.explain(form) == expected


def test_methods_with_several_answers_take_a_series_too() -> None:
    assert len(EXPLAINER.menu(X.iloc[7], most=1)) == len(EXPLAINER.menu(X.iloc[[7]], most=1))


@pytest.mark.parametrize(
    ("row", "error", "words"),
    [
        (
            X["a"],
            bf.errors.InputTypeError,
            r"labels case 0, case 1, case 2, \.\.\..*columns a, n, c, t.*X\.iloc\[\[0\]\]",
        ),
        (pl.Series([1.0]), bf.errors.InputTypeError, r"a single series was given\..*X\.iloc\[\[0\]\]"),
        (X.iloc[7].rename({"a": "A"}), bf.errors.UnknownColumnError, "missing: a.*Rename 'A' to 'a'"),
        (X.iloc[7].rename({"a": "c"}), bf.errors.InputError, r"\['c'\] occur more than once"),
        (X.iloc[7].astype(object).replace({X.c.iloc[7]: "z"}), bf.errors.InputError, "'z', which was not seen"),
        ([{"a": 1.0}, {"n": 2}], bf.errors.InputError, "same columns"),
    ],
    ids=["a column", "a series without labels", "a near miss", "a label twice", "an unknown level", "unlike dicts"],
)
def test_what_is_no_row(row, error, words) -> None:
    with pytest.raises(error, match=words):
        EXPLAINER.explain(row)
