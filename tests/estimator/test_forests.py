"""Forests that are asked tree by tree say what they say themselves, to the last bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor, RandomForestClassifier, RandomForestRegressor
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline

from butfor.estimator.forests import tree_by_tree
from butfor.estimator.opening import open_source

FORESTS: list[Any] = [
    RandomForestClassifier(30, random_state=0),
    ExtraTreesClassifier(30, max_depth=4, class_weight="balanced", random_state=0),
    RandomForestRegressor(30, random_state=0),
    ExtraTreesRegressor(30, max_leaf_nodes=9, random_state=0),
]


def rows(missing: bool) -> tuple[pd.DataFrame, np.ndarray]:
    X, y = make_classification(400, 6, n_informative=4, n_classes=3, random_state=1)
    table = pd.DataFrame(X, columns=list("abcdef"))
    return (table.mask(np.random.default_rng(0).random(table.shape) < 0.1) if missing else table), y


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("forest", FORESTS, ids=lambda forest: type(forest).__name__)
def test_the_same_to_the_last_bit(forest: Any, missing: bool) -> None:
    X, y = rows(missing)
    words = y if "Regressor" in type(forest).__name__ else np.array(["low", "mid", "high"])[y]
    fitted = forest.fit(X, words)
    methods = [name for name in ("predict", "predict_proba") if hasattr(fitted, name)]
    for method in methods:
        ours = tree_by_tree(fitted, method)
        assert ours is not None
        for some in (X, X[:1], X[5:17]):
            np.testing.assert_array_equal(ours(some), getattr(fitted, method)(some), strict=True)


def test_a_pipeline_asks_its_forest_so() -> None:
    X, y = rows(missing=True)
    model = make_pipeline(SimpleImputer(), RandomForestClassifier(30, random_state=0)).fit(X, y)
    source = open_source(model, X)
    np.testing.assert_array_equal(source.probabilities(source.begun(X[:9])), model.predict_proba(X[:9]))
    assert source._same == {"predict_proba": True}


class Loud(RandomForestClassifier):
    """A forest with a way of its own."""

    def predict_proba(self, X: Any) -> Any:
        return super().predict_proba(X)[:, ::-1]


def test_other_forests_are_asked_themselves() -> None:
    X, y = rows(missing=False)
    loud = Loud(5, random_state=0).fit(X, y)
    assert tree_by_tree(loud, "predict_proba") is None
    np.testing.assert_array_equal(open_source(loud, X).probabilities(X[:5]), loud.predict_proba(X[:5]))
    two = RandomForestRegressor(5, random_state=0).fit(X, np.column_stack([y, y]))
    assert tree_by_tree(two, "predict") is None


def test_a_forest_that_says_something_else_is_asked_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = rows(missing=False)
    forest = RandomForestClassifier(5, random_state=0).fit(X, y)
    own = forest.predict_proba(X[:5])
    monkeypatch.setattr("butfor.estimator.forests._mean", lambda forest, X: np.ones((len(X), 3)) / 3)
    source = open_source(forest, X)
    np.testing.assert_array_equal(source.probabilities(X[:5]), own)
    assert source._same == {"predict_proba": False}
