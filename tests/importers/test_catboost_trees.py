"""CatBoost over numbers: oblivious and other trees, missing values, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import butfor as bf
from butfor.importers import registry
from butfor.testing.importer_contract import check_importer
from tests.importers.checks import BoostingContract, check_caught, why_unread
from tests.importers.samples import NUMBERS, REST, TEXT, amounts, answers, labels, numbers, people

cb = pytest.importorskip("catboost")
SMALL = {"iterations": 6, "depth": 3, "thread_count": 1, "verbose": 0, "allow_writing_files": False, "random_seed": 0}


def classifier(**given: Any) -> Any:
    return cb.CatBoostClassifier(**{**SMALL, **given})


def regressor(**given: Any) -> Any:
    return cb.CatBoostRegressor(**{**SMALL, **given})


CLASSIFIERS: dict[str, Callable[[], Any]] = {
    "plain": classifier,
    "by leaf": lambda: classifier(grow_policy="Lossguide", max_leaves=6),
    "by depth": lambda: classifier(grow_policy="Depthwise"),
    "missing is largest": lambda: classifier(nan_mode="Max"),
    "one tree": lambda: classifier(iterations=1),
    "weights": lambda: classifier(auto_class_weights="Balanced"),
}


def test_one_against_rest() -> None:
    rng = np.random.default_rng(0)
    X = numbers(rng)
    check_importer(classifier(loss_function="MultiClassOneVsAll").fit(X, labels(rng, X, 3)), X)


@pytest.mark.parametrize("loss", ["RMSE", "MAE", "Quantile:alpha=0.3", "Huber:delta=1.0"])
def test_regressors(loss) -> None:
    for seed in range(2):
        rng = np.random.default_rng(seed)
        X = numbers(rng, missing=bool(seed))
        check_importer(regressor(loss_function=loss).fit(X, amounts(rng, X)), X, rng)


def test_stopped_early() -> None:
    rng = np.random.default_rng(0)
    X = numbers(rng)
    y = labels(rng, X, 2)
    model = classifier(iterations=80, learning_rate=0.9)
    model.fit(X[:80], y[:80], eval_set=(X[80:], y[80:]), early_stopping_rounds=4)
    assert len(check_importer(model, X).model.roots) == model.tree_count_ < 80


def test_pipelines() -> None:
    X = people(lost=("income",))
    columns = make_column_transformer(("passthrough", NUMBERS), (OneHotEncoder(), TEXT), ("passthrough", REST))
    columns.set_params(sparse_threshold=0)
    check_importer(make_pipeline(columns, classifier()).fit(X, answers(X)), X)


def test_explained() -> None:
    X = people()[NUMBERS]
    model = classifier().fit(X, answers(people()))
    answer = bf.Explainer(model, X).explain(X.iloc[[0]])
    assert answer.certificate.status is bf.Status.PROVEN_OPTIMAL


def test_what_cannot_be_read_is_refused_by_name() -> None:
    X = people()
    y = answers(X)
    threshold = classifier().fit(X[NUMBERS], y)
    threshold.set_probability_threshold(0.3)
    refused = {
        "categorical features": (classifier(cat_features=TEXT).fit(X, y), X),
        "'Poisson'": (regressor(loss_function="Poisson").fit(X[NUMBERS], X["rooms"]), X[NUMBERS]),
        "probability 0.3": (threshold, X[NUMBERS]),
    }
    for reason, (model, data) in refused.items():
        assert reason in why_unread(model, data)


def usual(estimator, columns):
    return registry._models["catboost.CatBoostClassifier"](estimator, columns)


def below_instead_of_at_most(estimator, columns):
    ours, readout = usual(estimator, columns)
    cut = np.where(ours.feature >= 0, np.nextafter(ours.cut, -np.inf), 0.0)
    cells = tuple(replace(cell, edges=np.unique(cut[ours.feature == j])) for j, cell in enumerate(ours.cells))
    return replace(ours, cut=cut, cells=cells), readout


def splits_reversed(estimator, columns):
    ours, readout = usual(estimator, columns)
    return replace(ours, left=ours.right, right=ours.left), readout


@pytest.mark.parametrize("importer", [below_instead_of_at_most, splits_reversed])
def test_a_wrong_importer_is_caught(importer, monkeypatch) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    model = classifier().fit(X, X @ [1.0, 0.5, -0.5] + rng.normal(size=200) > 0.4)
    check_caught(importer, model, X, monkeypatch)


class TestCatboost(BoostingContract):
    classifiers = CLASSIFIERS
