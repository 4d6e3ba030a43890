"""Histogram gradient boosting: native categories, missing values, every loss, and importers that are wrong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

from butfor.importers.libraries.sklearn_hist_boosting import read_hist_boosting
from butfor.testing.importer_contract import check_importer
from tests.importers.checks import BoostingContract, check_caught
from tests.importers.samples import NUMBERS, REST, TEXT, amounts, answers, categories, labels, numbers, people


def classifier(**given: Any) -> HistGradientBoostingClassifier:
    return HistGradientBoostingClassifier(**{"max_iter": 6, "min_samples_leaf": 3, "random_state": 0, **given})


def regressor(**given: Any) -> HistGradientBoostingRegressor:
    return HistGradientBoostingRegressor(**{"max_iter": 6, "min_samples_leaf": 3, "random_state": 0, **given})


CLASSIFIERS: dict[str, Callable[[], Any]] = {
    "plain": classifier,
    "few bins": lambda: classifier(max_bins=5, max_leaf_nodes=6),
    "one iteration": lambda: classifier(max_iter=1),
    "stopped early": lambda: classifier(early_stopping=True, n_iter_no_change=2, max_iter=40, learning_rate=0.5),
    "weights": lambda: classifier(class_weight="balanced", l2_regularization=1.0),
    "numbers as categories": lambda: classifier(categorical_features=[2, 3]),
}


def test_monotone_and_thresholds() -> None:
    rng = np.random.default_rng(0)
    X = numbers(rng)
    y = labels(rng, X, 2)
    check_importer(classifier(monotonic_cst=[1, 0, -1, 0, 1]).fit(X, y), X)
    check_importer(FixedThresholdClassifier(classifier(), threshold=0.7, pos_label="yes").fit(X, y), X)


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "quantile"])
def test_regressors(loss) -> None:
    for seed in range(2):
        rng = np.random.default_rng(seed)
        X = numbers(rng, missing=bool(seed))
        check_importer(regressor(loss=loss, quantile=0.3).fit(X, amounts(rng, X)), X, rng)


@pytest.mark.parametrize("lost", [(), ("income", "job")], ids=["known", "missing"])
@pytest.mark.parametrize("given", ["from_dtype", ["job", "rooms"], None])
def test_native_categories(given, lost) -> None:
    X = categories(lost)
    if given is None:
        X = X.drop(columns=[*TEXT, "code"])
    elif given != "from_dtype":
        X = X.drop(columns=["town", "code"])
    y = answers(people(rows=200))
    reading = check_importer(classifier(categorical_features=given, max_iter=10).fit(X, y), X)
    if given == "from_dtype":
        assert reading.space["job"].levels == ("smith", "clerk", "pilot", "nurse")
        assert set(reading.space["code"].levels) == {3, 6, 9, 12, 15}
    elif given:
        assert reading.space["rooms"].levels == (1, 2, 3, 4, 5)


def test_pipelines() -> None:
    X = people(lost=("income",))
    for step in (OneHotEncoder(sparse_output=False), OrdinalEncoder()):
        columns = make_column_transformer((StandardScaler(), NUMBERS), (step, TEXT), ("passthrough", REST))
        chosen = [2, 3] if isinstance(step, OrdinalEncoder) else None
        check_importer(make_pipeline(columns, classifier(categorical_features=chosen)).fit(X, answers(X)), X)


def mirrored_categories(boosting, columns):
    model, readout = read_hist_boosting(boosting, columns)
    return replace(model, cell_sets=tuple(~mask for mask in model.cell_sets)), readout


def missing_astray(boosting, columns):
    model, readout = read_hist_boosting(boosting, columns)
    return replace(model, missing_left=~model.missing_left), readout


@pytest.mark.parametrize("importer", [mirrored_categories, missing_astray])
def test_a_wrong_importer_is_caught(importer, monkeypatch) -> None:
    X = categories(("income",))
    estimator = classifier().fit(X, answers(people(rows=200)))
    check_caught(importer, estimator, X, monkeypatch)


class TestHistBoosting(BoostingContract):
    classifiers = CLASSIFIERS
