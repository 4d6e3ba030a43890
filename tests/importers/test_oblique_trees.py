"""TAO's trees and trees handed in as arrays, alone and behind a pipeline's steps."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from butfor.model.oblique import ObliqueTree
from butfor.testing.importer_contract import ImporterContract, check_importer
from butfor.trees import ObliqueTreeClassifier, ObliqueTreeRegressor, TAOClassifier, TAORegressor
from tests.shorter import first


class TestTAOClassifier(ImporterContract):
    seeds = range(4)

    def fitted(self, rng):
        X = rng.normal(size=(200, 3))
        y = rng.choice(["a", "b", "c"], 200)
        return TAOClassifier(3, alpha=0.1, max_iter=100, tol=0.1).fit(X, y), X


class TestTAORegressor(ImporterContract):
    seeds = range(4)

    def fitted(self, rng):
        X = np.round(rng.normal(size=(200, 3)))
        return TAORegressor(3, split="axis", max_iter=100, tol=0.1).fit(X, X[:, 0] * X[:, 1]), X


def test_behind_a_pipeline_with_categories():
    rng = np.random.default_rng(0)
    data = pd.DataFrame(
        {"age": rng.integers(18, 80, 300), "job": rng.choice(["a", "b", "c"], 300), "pay": rng.normal(size=300)}
    )
    y = (data.age > 40) ^ (data.job == "a")
    steps = make_column_transformer((OneHotEncoder(), ["job"]), (StandardScaler(), ["age", "pay"]))
    reading = check_importer(make_pipeline(steps, TAOClassifier(4, alpha=0.1, tol=0.1)).fit(data, y), data)
    assert isinstance(reading.model, ObliqueTree)
    assert reading.space["job"].levels == ("a", "b", "c")


def test_a_single_leaf():
    X = np.arange(6.0).reshape(3, 2)
    reading = check_importer(TAOClassifier(alpha=100.0).fit(X, ["a", "a", "b"]), X)
    assert len(reading.model.paths) == 1


@pytest.mark.parametrize("seed", first(2, range(5)))
def test_arrays(seed):
    rng = np.random.default_rng(seed)
    weights = rng.integers(-2, 3, (7, 2)).astype(float)  # whole weights on whole rows: many scores are exactly 0
    bias, left, right = rng.integers(-2, 3, 7), [1, 2, -1, -1, 5, -1, -1], [4, 3, -1, -1, 6, -1, -1]
    X = rng.integers(-3, 4, (100, 2)).astype(float)
    shares = rng.dirichlet(np.ones(3), 7)
    check_importer(ObliqueTreeClassifier(weights, bias, left, right, shares, ["x", "y", "z"]), X)
    check_importer(ObliqueTreeRegressor(weights, bias, left, right, rng.normal(size=7)), X)
