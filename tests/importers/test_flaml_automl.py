"""FLAML: each estimator that it may choose, on frames and arrays, what is refused, and answers that enumeration confirms."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest

import butfor as bf
from butfor.importers.libraries.flaml_automl import adapt, read_automl
from butfor.testing.importer_contract import check_importer
from tests.importers.checks import check_caught, why_unread
from tests.shorter import first

flaml = pytest.importorskip("flaml")
pytestmark = pytest.mark.filterwarnings("ignore")

CHOICES = ("lgbm", "rf", "extra_tree", "xgboost", "xgb_limitdepth", "catboost")


def table(seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {"a": rng.normal(size=250), "c": rng.choice(["x", "y", "z"], 250), "b": rng.integers(0, 5, 250), "same": 1}
    )
    return X, np.asarray(X.a + (X.c == "x") + 0.3 * X.b * (X.c == "y") + 0.2 * rng.normal(size=250))


def fitted(choice: str, X: Any, score: np.ndarray, classes: int = 2) -> Any:
    task = "classification" if classes else "regression"
    y = np.array(["a", "b", "c"])[np.digitize(score, [0.3, 1.2][: classes - 1])] if classes else score
    model = flaml.AutoML()
    model.fit(
        X,
        y,
        task=task,
        estimator_list=[choice],
        max_iter=2,
        time_budget=-1,
        verbose=0,
        eval_method="holdout",
        seed=1,
        n_jobs=1,
    )
    return model


@pytest.mark.parametrize("seed", first(1, range(3)))
@pytest.mark.parametrize("classes", [0, 2, 3])
@pytest.mark.parametrize("choice", CHOICES)
def test_frames(choice, classes, seed) -> None:
    X, score = table(seed)
    check_importer(fitted(choice, X, score, classes), X, seed)


@pytest.mark.parametrize("choice", [*CHOICES, "lrl1"])
def test_arrays(choice) -> None:
    X, score = table(1)
    rows = X[["a", "b"]].to_numpy()
    check_importer(fitted(choice, rows, score), rows)


@pytest.mark.parametrize("choice", ["lgbm", "rf", "xgboost"])
def test_missing_values_and_categories(choice) -> None:
    X, score = table(2)
    X.loc[::7, "a"], X.loc[::5, "c"] = np.nan, None
    X["d"] = pd.Categorical(X.b % 3)
    reading = check_importer(fitted(choice, X, score), X)
    assert {feature.name for feature in reading.space if feature.missing} >= {"a", "c"}


def test_logistic_regression_of_a_frame() -> None:
    X, score = table(0)
    check_importer(fitted("lrl1", X, score, 3), X)


def test_what_is_not_fitted_is_refused() -> None:
    with pytest.raises(bf.errors.NotFittedError):
        bf.Explainer(flaml.AutoML(), table(0)[0])


def test_what_cannot_be_read_says_so() -> None:
    X, score = table(0)
    rows = X[["a", "b"]].to_numpy()
    assert "KNeighborsEstimator" in why_unread(fitted("kneighbor", rows, score), rows)


def test_a_wrong_importer_is_caught(monkeypatch) -> None:
    def turned(estimator, columns):
        model, readout = read_automl(estimator, columns)
        return replace(model, left=model.right, right=model.left), readout

    X, score = table(0)
    check_caught(turned, adapt(fitted("rf", X, score)), X, monkeypatch)


@pytest.mark.parametrize("seed", first(1, range(3)))
def test_enumeration_finds_nothing_cheaper(seed) -> None:
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.integers(0, 6, (200, 3)), columns=list("abc"))
    model = fitted("rf", X, np.asarray(X.a + X.b * (X.c > 2) - 4 + rng.normal(size=200)))
    every = pd.DataFrame(product(range(6), repeat=3), columns=list("abc"))
    wanted = every[model.predict(every) == "b"]
    row = X[model.predict(X) == "a"].iloc[[0]]
    answer = bf.Explainer(model, X).explain(row, target="b").only
    assert answer.certificate.status is bf.Status.PROVEN_OPTIMAL
    assert answer.cost == pytest.approx((np.abs(wanted - row.to_numpy()).sum(axis=1) / 5).min())
