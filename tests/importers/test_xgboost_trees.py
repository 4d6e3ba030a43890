"""XGBoost: both interfaces, missing values, categories, best iterations, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import KBinsDiscretizer, MaxAbsScaler, OneHotEncoder, RobustScaler, StandardScaler

import butfor as bf
from butfor.errors import InputError
from butfor.importers import registry
from butfor.importers.libraries.xgboost_trees import read_booster
from butfor.testing.importer_contract import check_importer
from tests.importers.checks import BoostingContract, check_booster, check_caught, check_refused, usual_columns
from tests.importers.samples import (
    KINDS,
    NUMBERS,
    QUANTILES,
    REST,
    amounts,
    answers,
    categories,
    codes,
    numbers,
    people,
)

xgb = pytest.importorskip("xgboost")

pytestmark = pytest.mark.filterwarnings("ignore:.*XGBRF:FutureWarning")  # read as long as it is there
SMALL = {"n_estimators": 6, "max_depth": 4, "n_jobs": 1, "random_state": 0}


def classifier(**given: Any) -> Any:
    return xgb.XGBClassifier(**{**SMALL, **given})


def regressor(**given: Any) -> Any:
    return xgb.XGBRegressor(**{**SMALL, **given})


CLASSIFIERS: dict[str, Callable[[], Any]] = {
    "plain": classifier,
    "exact": lambda: classifier(tree_method="exact"),
    "stumps": lambda: classifier(max_depth=1, n_estimators=20),
    "one tree": lambda: classifier(n_estimators=1),
    "base score": lambda: classifier(base_score=0.2),
    "random forest": lambda: xgb.XGBRFClassifier(**SMALL),
    "parallel trees": lambda: classifier(num_parallel_tree=3, subsample=0.5, n_estimators=3),
    "lossguide": lambda: classifier(grow_policy="lossguide", max_leaves=6, max_depth=0),
}


@pytest.mark.parametrize(
    "objective", ["reg:squarederror", "reg:absoluteerror", "reg:pseudohubererror", "reg:quantileerror"]
)
def test_regressors(objective) -> None:
    given = {"quantile_alpha": 0.3} if "quantile" in objective else {}
    for seed in range(2):
        rng = np.random.default_rng(seed)
        X = numbers(rng, missing=bool(seed))
        check_importer(regressor(objective=objective, **given).fit(X, amounts(rng, X)), X, rng)


@pytest.mark.parametrize("classes", [2, 3])
def test_stopped_early(classes) -> None:
    rng = np.random.default_rng(0)
    X = numbers(rng)
    y = codes(rng, X, classes)
    y[::5] = rng.integers(classes, size=len(y[::5]))
    model = classifier(n_estimators=60, early_stopping_rounds=8, learning_rate=0.8)
    model.fit(X[:80], y[:80], eval_set=[(X[80:], y[80:])], verbose=False)
    assert model.best_iteration + 1 < model.get_booster().num_boosted_rounds()
    reading = check_importer(model, X)
    assert len(reading.model.roots) == (model.best_iteration + 1) * (1 if classes == 2 else classes)


def test_monotone_weights_and_thresholds() -> None:
    rng = np.random.default_rng(0)
    X = numbers(rng)
    y = codes(rng, X, 2)
    model = classifier(monotone_constraints=(1, 0, -1, 0, 1), scale_pos_weight=3.0)
    check_importer(model.fit(X, y), X)
    check_importer(FixedThresholdClassifier(classifier(), threshold=0.7).fit(X, y), X)


@pytest.mark.parametrize("objective", ["binary:logistic", "multi:softprob", "multi:softmax", "reg:squarederror"])
def test_boosters(objective) -> None:
    rng = np.random.default_rng(0)
    X = numbers(rng, missing=True)
    y = amounts(rng, X) if objective.startswith("reg") else codes(rng, X, 2 if objective.startswith("b") else 3)
    given = {"objective": objective, "max_depth": 3, "nthread": 1}
    given |= {"num_class": 3} if objective.startswith("multi") else {}
    check_booster(
        lambda table: xgb.train(given, xgb.DMatrix(table, y), num_boost_round=5),
        X,
        target=bf.value(at_least=float(np.median(y))) if objective.startswith("reg") else "other",
    )


@pytest.mark.parametrize("lost", [(), ("income", "job")], ids=["known", "missing"])
@pytest.mark.parametrize("onehot", [1, 100], ids=["partition", "one against rest"])
def test_native_categories(onehot, lost) -> None:
    X = categories(lost)
    y = (answers(people(rows=200)) == "yes").astype(int)
    model = classifier(enable_categorical=True, max_cat_to_onehot=onehot, n_estimators=10).fit(X, y)
    reading = check_importer(model, X)
    assert reading.space["job"].levels == ("smith", "clerk", "pilot", "nurse")
    assert len(reading.model.cell_sets) > 3


def test_a_category_that_training_did_not_have() -> None:
    """XGBoost would take it for another one."""
    X, y = categories(), (answers(people(rows=200)) == "yes").astype(int)
    model = classifier(enable_categorical=True).fit(X, y)
    check_importer(model, X.assign(job=X["job"].cat.reorder_categories(["clerk", "nurse", "pilot", "smith"])))
    with pytest.raises(InputError, match="column 'job' has the category 'baker', with which XGBoost was not trained"):
        bf.Explainer(model, data=X.assign(job=X["job"].cat.add_categories("baker")))


def test_a_booster_with_categories() -> None:
    X = categories(("income",))
    rows = xgb.DMatrix(X, answers(people(rows=200)) == "yes", enable_categorical=True)
    given = {"objective": "binary:logistic", "max_depth": 4, "nthread": 1, "max_cat_to_onehot": 1}
    check_importer(xgb.train(given, rows, num_boost_round=5), X)


@pytest.mark.parametrize("kind", ["pandas", "pandas nullable", "polars", "arrow"])
def test_every_kind_of_table(kind) -> None:
    X = people()[[*NUMBERS, *REST]]
    check_importer(classifier().fit(X, answers(people()) == "yes"), KINDS[kind](X))


def test_categories_as_numbers() -> None:
    X = people()[["age", "rooms"]].to_numpy(dtype=float)
    y = (answers(people()) == "yes") ^ np.isin(X[:, 1], [2, 5])
    model = classifier(feature_types=["float", "c"], enable_categorical=True, max_cat_to_onehot=1).fit(X, y)
    assert check_importer(model, X).space.features[1].levels == (1, 2, 3, 4, 5)


def test_pipelines() -> None:
    X = people(lost=("income",))
    y = (answers(X) == "yes").astype(int)
    for columns in usual_columns():
        check_importer(make_pipeline(columns, classifier()).fit(X, y), X)


def sparse_pipelines() -> dict[str, Any]:
    words, rest = (OneHotEncoder(), ["job", "owns"]), ("passthrough", ["a", "b"])
    bins = KBinsDiscretizer(**QUANTILES)
    return {
        "one-hot": [make_column_transformer(words, rest)],
        "one-hot, dense": [make_column_transformer(words, rest, sparse_threshold=0)],
        "scaled": [make_column_transformer(words, rest), StandardScaler(with_mean=False)],
        "scaled by the largest": [make_column_transformer(words, rest), MaxAbsScaler()],
        "scaled by quantiles": [make_column_transformer(words, rest), RobustScaler(with_centering=False)],
        "bins": [make_column_transformer(words, (bins, ["a", "b"]))],
        "union": [make_union(make_column_transformer(words), make_column_transformer(rest))],
    }


@pytest.mark.parametrize("steps", sparse_pipelines())
def test_zeros_that_a_sparse_table_leaves_out_are_missing(steps) -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame({
        "a": np.round(rng.normal(size=400), 1), "b": rng.integers(-1, 5, 400),
        "job": rng.choice(list("abcdefghijkl"), 400), "owns": rng.choice(list("pqrstklm"), 400),
    })  # fmt: skip
    y = (X.a + 0.3 * X.b + (X.job < "d") + rng.normal(size=400) * 0.3 > 1).astype(int)
    model = make_pipeline(*sparse_pipelines()[steps], classifier())
    check_importer(model.fit(X, y), X)


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "dart": (lambda: classifier(booster="dart", rate_drop=0.9), "'dart'"),
    "linear": (lambda: classifier(booster="gblinear", updater="coord_descent", max_depth=None), "'gblinear'"),
    "hinge": (lambda: classifier(objective="binary:hinge"), "'binary:hinge'"),
    "cox": (lambda: regressor(objective="survival:cox"), "'survival:cox'"),
    "missing": (lambda: classifier(missing=-1.0), "missing=-1.0"),
}


@pytest.mark.filterwarnings("ignore:.*is deprecated:UserWarning")  # boosters, by XGBoost 3.4
@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_read_is_refused_by_name(name) -> None:
    make, reason = REFUSED[name]
    check_refused(make(), reason)


def at_most_instead_of_below(estimator, columns):
    """Wrong exactly on the threshold."""
    ours, readout = registry._models["xgboost.XGBClassifier"](estimator, columns)
    up = np.nextafter(ours.cut.astype(np.float32), np.float32(np.inf)).astype(np.float64)
    cut = np.where((ours.feature >= 0) & (ours.member < 0), up, ours.cut)
    cells = tuple(replace(cell, edges=np.unique(cut[ours.feature == j])) for j, cell in enumerate(ours.cells))
    return replace(ours, cut=cut, cells=cells), readout


def every_round(estimator, columns):
    """Past the best iteration."""
    return read_booster(estimator.get_booster(), columns, (0, 1), None)


def no_base_score(estimator, columns):
    ours, readout = registry._models["xgboost.XGBClassifier"](estimator, columns)
    return replace(ours, base=ours.base * 0), readout


@pytest.mark.parametrize("importer", [at_most_instead_of_below, every_round, no_base_score])
def test_a_wrong_importer_is_caught(importer, monkeypatch) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = (X @ [1.0, 0.5, -0.5] + rng.normal(size=200) > 0.4).astype(int)
    model = classifier(n_estimators=40, early_stopping_rounds=3, learning_rate=0.8, base_score=0.3)
    model.fit(X[:120], y[:120], eval_set=[(X[120:], y[120:])], verbose=False)
    check_caught(importer, model, X, monkeypatch)


class TestXgboost(BoostingContract):
    classifiers = CLASSIFIERS
    classes = staticmethod(codes)
