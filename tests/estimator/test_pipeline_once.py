"""The transformers of a pipeline run once for each table, however many of its methods are asked."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.datasets import load_iris
from sklearn.ensemble import AdaBoostClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.tree import DecisionTreeClassifier

import butfor as bf
from butfor.estimator.opening import open_source
from butfor.estimator.prediction import Prediction

X, Y = load_iris(return_X_y=True, as_frame=True)


class Counting(FunctionTransformer):
    """Passes rows on, and counts the tables. Nothing of it is fitted."""

    tables = 0

    def transform(self, X: pd.DataFrame) -> pd.DataFrame:
        """The same rows."""
        Counting.tables += 1
        return X


class Other(Pipeline):
    """It could do anything before its last step."""


@pytest.fixture(autouse=True)
def from_zero() -> Iterator[None]:
    Counting.tables = 0
    yield
    Counting.tables = 0


def asked(pipeline: Pipeline) -> Prediction:
    """All that is known of ten rows; it must be what the pipeline itself says."""
    prediction = Prediction(open_source(pipeline, X), X[:10])
    assert prediction.labels == pipeline.predict(X[:10]).tolist()
    assert np.array_equal(prediction.probabilities, pipeline.predict_proba(X[:10]))
    return prediction


def fitted(kind: type[Pipeline] = Pipeline) -> Pipeline:
    steps = make_pipeline(Counting(), "passthrough", AdaBoostClassifier(n_estimators=3, random_state=0)).steps
    return kind(steps).fit(X, Y)


def test_two_methods_share_the_transformers() -> None:
    pipeline = fitted()
    before = Counting.tables
    asked(pipeline)
    assert Counting.tables - before == 3  # once for both, and twice for the test


def test_a_row_and_its_answer_are_transformed_once_each() -> None:
    explainer = bf.Explainer(fitted(), X)
    explainer.explain(X[60:61], target=2)
    Counting.tables = 0
    assert explainer.explain(X[61:62], target=2).certificate.status is bf.Status.PROVEN_OPTIMAL
    assert Counting.tables == 2


def test_what_is_kept_does_not_fill_the_memory(monkeypatch) -> None:
    monkeypatch.setattr("butfor.estimator.prediction.MOST_KEPT", 9)
    pipeline = fitted()
    before = Counting.tables
    asked(pipeline)
    assert Counting.tables - before == 4


def test_what_is_no_plain_pipeline_is_asked_itself() -> None:
    other = fitted(Other)
    before = Counting.tables
    asked(other)
    assert Counting.tables - before == 4
    plain = fitted()
    before = Counting.tables
    with sklearn.config_context(enable_metadata_routing=True):
        asked(plain)
    assert Counting.tables - before == 4


def test_a_refusal_of_a_transformer_is_told_like_one_of_the_model() -> None:
    class Strict(FunctionTransformer):
        def transform(self, X: pd.DataFrame) -> pd.DataFrame:
            if len(X) == 1:
                raise ValueError("a single row")
            return X

    pipeline = make_pipeline(Strict(), DecisionTreeClassifier(max_depth=3, random_state=0)).fit(X, Y)
    with pytest.raises(bf.errors.InputError, match="a single row"):
        _ = Prediction(open_source(pipeline, X), X[:1]).labels
