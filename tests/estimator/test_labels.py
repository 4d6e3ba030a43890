"""Columns that are called by numbers or tuples: pandas does that if nobody names them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import butfor as bf
from tests.shorter import diagonal

VALUES = np.random.default_rng(0).normal(size=(80, 3))
CLASSES = (VALUES[:, 0] + VALUES[:, 1] > 0).astype(int)
LABELS: dict[str, Any] = {
    "numbers": None,
    "years": [2001, 2002, 2003],
    "fractions": [0.5, 1.5, 2.5],
    "tuples": pd.MultiIndex.from_tuples([("g", "a"), ("g", "b"), ("h", "a")]),
}
MODELS = {
    "tree": DecisionTreeClassifier(random_state=0),
    "linear": make_pipeline(StandardScaler(), LogisticRegression()),
    "by position": make_pipeline(
        make_column_transformer((StandardScaler(), [0, 2]), remainder="passthrough"),
        RandomForestClassifier(5, random_state=0),
    ),
}


def frame(labels: str) -> pd.DataFrame:
    return pd.DataFrame(VALUES, columns=LABELS[labels])


def boosted(library: str) -> Any:
    module = pytest.importorskip(library)
    return (
        module.XGBClassifier(n_estimators=5)
        if library == "xgboost"
        else module.LGBMClassifier(n_estimators=5, verbose=-1)
    )


@pytest.mark.shorter(1)
@pytest.mark.parametrize(("name", "labels"), diagonal([*MODELS, "xgboost", "lightgbm"], LABELS))
def test_answers_keep_the_labels_of_the_frame(name, labels) -> None:
    if (name, labels) == ("lightgbm", "tuples"):
        pytest.skip("LightGBM takes no such labels")
    X = frame(labels)
    model = (MODELS[name] if name in MODELS else boosted(name)).fit(X, CLASSES)
    first, second, third = X.columns
    explainer = bf.Explainer(model, data=X)
    assert explainer.space.names == tuple(map(str, X.columns))
    wanted = [bf.fixed(third), bf.between(first, -2, 2), bf.linear({str(second): 1.0}, "<=", 9.0)]
    answer = explainer.explain(X.iloc[[3]], cost=bf.L1(weights={first: 2.0}), constraints=wanted)
    assert answer.only.found
    assert answer.point.columns.equals(X.columns)
    assert list(model.predict(answer.point)) == [answer.after]
    assert {change.name for change in answer.changes} <= {str(first), str(second)}
    read = bf.Explanation.from_json(answer.to_json())
    assert read == answer.only
    pd.testing.assert_frame_equal(read.point, answer.point)
    assert bf.check(read, model).passed
    assert bf.check(answer, model).passed


@pytest.mark.parametrize("labels", LABELS)
def test_views_and_measures_take_such_columns(labels) -> None:
    X = frame(labels)
    model = MODELS["linear"].fit(X, CLASSES)
    first = X.columns[0]
    explainer = bf.Explainer(model, data=X, space={first: bf.Continuous(-4, 4)})
    assert explainer.space.features[0].why == "given"
    answers = explainer.explain(X.iloc[:4])
    assert answers.points.columns.equals(X.columns)
    assert list(answers.to_frame().columns[-3:]) == list(explainer.space.names)
    assert str(first) in answers.to_html() or repr(first) in repr(answers)
    assert answers[0].plot() is not None
    measured = bf.measure.Judge(model, X).measures(answers, X.iloc[:4])
    assert measured["validity"] == 1.0


def test_a_black_box_gets_the_labels_of_the_frame() -> None:
    X = frame("numbers")
    answer = bf.Explainer(lambda rows: rows[0] + rows[1] > 0, data=X).explain(X.iloc[[3]])
    assert answer.point.columns.equals(X.columns)


def test_labels_that_are_the_same_as_text_are_refused() -> None:
    X = pd.DataFrame(VALUES, columns=pd.Index([1, "1", 2], dtype=object))
    with pytest.raises(bf.errors.InputError, match=r"\[1, '1'\] are the same as text.*Rename"):
        bf.Explainer(DecisionTreeClassifier().fit(VALUES, CLASSES), data=X)
