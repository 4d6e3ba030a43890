"""Rows that are handed out beside answers are judged as they are written: float32 columns round them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import butfor as bf
from tests.shorter import diagonal


def shifted(type_: str, seed: int) -> tuple[pd.DataFrame, pd.Series]:
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(0, 3, (90, 2)), columns=["a", "b"]).astype(type_)
    return X, (X.a + X.b > 0).astype(int)


MODELS: dict[str, Any] = {
    "oblique": lambda: bf.trees.TAOClassifier(max_depth=2, random_state=0),
    "tree": lambda: DecisionTreeClassifier(max_depth=3, random_state=0),
    "linear": LogisticRegression,
}


@pytest.mark.shorter(1)
@pytest.mark.parametrize(("kind", "norm", "type_"), diagonal(MODELS, ["linf", "l1"], ["float32", "float64"]))
def test_the_worst_row_misses_the_target_as_it_is_written(kind: str, norm: str, type_: str) -> None:
    told = 0
    for seed in range(3):
        X, y = shifted(type_, seed)
        model = MODELS[kind]().fit(X, y)
        explainer = bf.Explainer(model, data=X)
        for i in range(6):
            row = X.iloc[[i]]
            target = int(model.predict(row)[0])
            found = explainer.robustness(row, target=target, norm=norm)
            if found.worst is not None:
                told += 1
                assert found.worst.dtypes.tolist() == row.dtypes.tolist()
                assert model.predict(found.worst)[0] != target
                assert 0 <= found.radius <= 1
    assert told > 9


@pytest.mark.shorter(1)
@pytest.mark.parametrize("make", [LogisticRegression, SVC, lambda: DecisionTreeClassifier(max_depth=4)])
def test_the_values_of_an_answer_are_those_of_its_row(make: Any) -> None:
    """What is said of an answer, such as its way through a tree, is said of the numbers that its columns hold."""
    X, y = shifted("float32", 0)
    model = make().fit(X, y)
    explainer = bf.Explainer(model, data=X)
    for one in explainer.explain(X[:8], target="other", time_limit=5.0):
        assert one.found
        held = one.point[["a", "b"]].to_numpy(dtype=np.float64)[0]
        assert one.point_codes.tolist() == held.tolist()
        if isinstance(model, DecisionTreeClassifier):
            assert explainer.tree_path(one).answer is one


def test_the_closest_row_misses_the_target() -> None:
    X, y = shifted("float32", 1)
    model = LogisticRegression().fit(X, y)
    stuck = bf.Explainer(model, data=X).explain(X[y == 0][:6], target=bf.probability(1, 0.999999))
    for one in stuck:
        if one.closest is not None:
            assert model.predict_proba(one.closest)[0, 1] < 0.999999


def test_a_column_of_decimals_keeps_its_type_if_its_steps_are_declared() -> None:
    X = shifted("float64", 0)[0].round(2)
    prices = pl.from_pandas(X).cast(pl.Decimal(10, 2))
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, X.a + X.b > 0)
    (row,) = np.flatnonzero(~model.predict(X))[:1]
    kinds = []
    for space in (None, {"a": bf.Step(0.01), "b": bf.Step(0.01)}):
        answer = bf.Explainer(model, data=prices, space=space).explain(prices[[int(row)]], target=True).only
        assert model.predict(answer.point.cast(pl.Float64).to_pandas()).all()
        kinds.append({str(kind) for kind in answer.point.schema.values()})
    assert kinds == [{"Float64", "Decimal(precision=10, scale=2)"}, {"Decimal(precision=10, scale=2)"}]
