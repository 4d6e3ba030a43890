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
from butfor.importers.read import read
from butfor.model.ask import BlackBox
from butfor.testing.importer_contract import ImporterContract, check_importer
from tests.importers.samples import amounts, labels, numbers
from tests.importers.test_pipelines import NUMBERS, REST, TEXT, answers, people

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


@pytest.mark.parametrize("missing", [False, True], ids=["known", "missing"])
@pytest.mark.parametrize("several", [False, True], ids=["two classes", "several classes"])
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_classifiers(name, several, missing) -> None:
    for seed in range(2):
        rng = np.random.default_rng(seed)
        X = numbers(rng, missing=missing, single=bool(seed))
        check_importer(CLASSIFIERS[name]().fit(X, labels(rng, X, 3 if several else 2)), X, rng)


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
        ours = read(model, data).model
        assert isinstance(ours, BlackBox)
        assert reason in ours.why


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
    check_importer(model, X)
    monkeypatch.setitem(registry._models, cb.CatBoostClassifier, importer)
    with pytest.raises(bf.FidelityError, match=r"disagree|differ"):
        check_importer(model, X)


class TestCatboost(ImporterContract):
    seeds = range(3)

    def fitted(self, rng):
        X = numbers(rng, missing=True)
        return classifier().fit(X, labels(rng, X, 3)), X
