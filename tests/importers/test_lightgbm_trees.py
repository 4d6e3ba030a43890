"""LightGBM: both interfaces, every kind of missing value, categories, boosting types, and what is refused."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.pipeline import make_pipeline

import butfor as bf
from butfor.importers import registry
from butfor.testing.importer_contract import check_importer
from tests.importers.checks import (
    MISSING,
    BoostingContract,
    check_booster,
    check_caught,
    check_refused,
    usual_columns,
    why_unread,
)
from tests.importers.samples import KINDS, NUMBERS, REST, amounts, answers, categories, labels, numbers, people

lgb = pytest.importorskip("lightgbm")
SMALL = {"n_estimators": 6, "num_leaves": 8, "min_child_samples": 3, "n_jobs": 1, "random_state": 0, "verbose": -1}
# LightGBM names the columns of an array when it is fitted, and scikit-learn then warns that an array has none
pytestmark = [
    pytest.mark.filterwarnings("ignore:X does not have valid feature names"),
    pytest.mark.filterwarnings("ignore:The argument 'eval_set' is deprecated"),
]


def classifier(**given: Any) -> Any:
    return lgb.LGBMClassifier(**{**SMALL, **given})


def regressor(**given: Any) -> Any:
    return lgb.LGBMRegressor(**{**SMALL, **given})


FOREST = {"boosting_type": "rf", "subsample": 0.6, "subsample_freq": 1}
CLASSIFIERS: dict[str, Callable[[], Any]] = {
    "plain": classifier,
    "zero is missing": lambda: classifier(zero_as_missing=True),
    "missing is zero": lambda: classifier(use_missing=False),
    "random forest": lambda: classifier(**FOREST),
    "dart": lambda: classifier(boosting_type="dart", drop_rate=0.5),
    "goss": lambda: classifier(data_sample_strategy="goss"),
    "one iteration": lambda: classifier(n_estimators=1),
    "weights": lambda: classifier(class_weight="balanced", extra_trees=True),
    "sigmoid": lambda: classifier(sigmoid=2.0),
    "linear leaves": lambda: classifier(linear_tree=True, linear_lambda=0.1),
    "linear leaves, missing is zero": lambda: classifier(linear_tree=True, use_missing=False),
    "nothing learnt": lambda: classifier(min_child_samples=1000),
}


def test_one_against_rest() -> None:
    rng = np.random.default_rng(0)
    X = numbers(rng)
    check_importer(classifier(objective="multiclassova").fit(X, labels(rng, X, 3)), X)


@pytest.mark.parametrize("objective", ["regression", "regression_l1", "huber", "fair", "quantile", "mape"])
def test_regressors(objective) -> None:
    for seed in range(2):
        rng = np.random.default_rng(seed)
        X = numbers(rng, missing=bool(seed))
        given = FOREST if seed and objective == "regression" else {}
        check_importer(regressor(objective=objective, **given).fit(X, amounts(rng, X)), X, rng)


@pytest.mark.parametrize("classes", [2, 3])
def test_stopped_early(classes) -> None:
    rng = np.random.default_rng(0)
    X = numbers(rng)
    y = labels(rng, X, classes)
    y[::5] = rng.choice(np.unique(y), size=len(y[::5]))
    model = classifier(n_estimators=60, learning_rate=0.8)
    model.fit(X[:80], y[:80], eval_set=[(X[80:], y[80:])], callbacks=[lgb.early_stopping(4, verbose=False)])
    assert 0 < model.best_iteration_ < 60
    reading = check_importer(model, X)
    assert len(reading.model.roots) == model.best_iteration_ * (1 if classes == 2 else classes)


def test_a_booster_says_which_iteration_was_best() -> None:
    rng = np.random.default_rng(0)
    X = numbers(rng)
    y = np.unique(labels(rng, X, 2), return_inverse=True)[1]
    booster = lgb.train({"objective": "binary", "verbose": -1, "num_threads": 1}, lgb.Dataset(X, y), num_boost_round=9)
    booster.best_iteration = 4
    assert len(check_importer(booster, X).model.roots) == 4


@MISSING
def test_categories_as_numbers(missing) -> None:
    for seed in range(2):
        rng = np.random.default_rng(seed)
        X = numbers(rng, missing=missing, single=bool(seed))
        X[:, 2] *= 2
        y = np.isin(X[:, 2], [1, 2, 5, 7]) ^ (X[:, 4] > 1)
        model = classifier(min_data_per_group=3, cat_smooth=1.0)
        reading = check_importer(model.fit(X, y, categorical_feature=[2, 3]), X, rng)
        assert reading.space.features[2].levels == tuple(range(9))


def test_monotone_and_thresholds() -> None:
    rng = np.random.default_rng(0)
    X = numbers(rng)
    y = labels(rng, X, 2)
    check_importer(classifier(monotone_constraints=[1, 0, -1, 0, 1]).fit(X, y), X)
    check_importer(FixedThresholdClassifier(classifier(), threshold=0.7, pos_label="yes").fit(X, y), X)


@pytest.mark.parametrize("objective", ["binary", "multiclass", "regression"])
def test_boosters(objective) -> None:
    rng = np.random.default_rng(0)
    X = numbers(rng, missing=True)
    y = amounts(rng, X) if objective == "regression" else np.unique(labels(rng, X, 2), return_inverse=True)[1]
    given = {"objective": objective, "num_leaves": 5, "min_data_in_leaf": 3, "verbose": -1, "num_threads": 1}
    given |= {"num_class": 3} if objective == "multiclass" else {}
    check_booster(
        lambda table: lgb.train(given, lgb.Dataset(table, y), num_boost_round=5),
        X,
        target=bf.value(at_least=float(np.median(y))) if objective == "regression" else "other",
    )


@pytest.mark.parametrize("lost", [(), ("income", "job")], ids=["known", "missing"])
@pytest.mark.parametrize("onehot", [1, 100], ids=["partition", "one against rest"])
def test_native_categories(onehot, lost) -> None:
    X = categories(lost)
    model = classifier(max_cat_to_onehot=onehot, n_estimators=10, min_data_per_group=3, cat_smooth=1.0)
    reading = check_importer(model.fit(X, answers(people(rows=200))), X)
    assert reading.space["job"].levels == ("smith", "clerk", "pilot", "nurse")
    assert len(reading.model.cell_sets) >= 2


def ordered(X: pd.DataFrame, name: str) -> pd.DataFrame:
    return X.assign(**{name: X[name].cat.as_ordered()})


def with_more(X: pd.DataFrame, name: str) -> pd.DataFrame:
    more = ["boss"] if name == "job" else [21]
    return X.assign(**{name: X[name].cat.set_categories([*more, *X[name].cat.categories])})


@pytest.mark.parametrize("linear", [False, True], ids=["constants", "linear leaves"])
@pytest.mark.parametrize("name", ["job", "code"])
@pytest.mark.parametrize("how", ["ordered", "one more", "ordered and one more"])
def test_categories_in_an_order_and_those_that_were_not_trained(how, name, linear) -> None:
    """LightGBM lists ordered categories, too, but takes them for numbers. What it was not trained on is missing."""
    X = categories(("income",))
    X = ordered(X, name) if "ordered" in how else X
    model = classifier(min_data_per_group=3, cat_smooth=1.0, linear_tree=linear).fit(X, answers(people(rows=200)))
    if "more" in how:
        X = with_more(X, name)
        X.loc[:9, name] = X[name].cat.categories[0]
    reading = check_importer(model, X)
    assert len(reading.space[name].levels) == len(X[name].cat.categories)


@pytest.mark.parametrize("more", [False, True], ids=["trained", "one more"])
def test_answers_about_categories_in_an_order_are_those_of_enumeration(more) -> None:
    kinds = {"age": range(20, 26), "job": ["smith", "clerk", "pilot", "nurse"], "code": [15, 3, 9], "owns": [0, 1]}
    X = pd.DataFrame(list(itertools.product(*kinds.values())), columns=[*kinds])
    y = (X["age"] > 22) + X["job"].isin(["clerk", "nurse"]) * 1.5 - (X["code"] == 3) + 0.5 * X["owns"]
    for name in ("job", "code"):
        X[name] = pd.Categorical(X[name], kinds[name], ordered=name == "job")
    model = regressor(n_estimators=20, min_data_per_group=3, cat_smooth=1.0).fit(X, y)
    if more:
        X = with_more(with_more(X, "job"), "code")
        lists = [range(20, 26), X["job"].cat.categories, X["code"].cat.categories, [0, 1]]
        cells = pd.DataFrame(list(itertools.product(*lists)), columns=[*kinds])
        X = cells.astype({"job": X["job"].dtype, "code": X["code"].dtype})
    values, rows = model.predict(X), X.sample(8, random_state=0)
    least = float(np.quantile(values, 0.9)) - 1e-6
    ranks = X["job"].cat.codes / (len(X["job"].cat.categories) - 1)
    check_importer(model, X)
    found = bf.Explainer(model, X).explain(rows, bf.value(at_least=least))
    for answer, (at, row) in zip(found, rows.iterrows(), strict=True):
        cost = (X["age"] - row["age"]).abs() / 5 + (ranks - ranks[at]).abs()
        cost = cost + (X["code"] != row["code"]) + (X["owns"] != row["owns"])
        assert answer.certificate.status is bf.Status.PROVEN_OPTIMAL
        assert answer.cost == pytest.approx(cost[values >= least].min(), abs=1e-9)


def test_columns_of_numbers_that_may_be_any_of_the_categories_are_refused() -> None:
    X = categories()
    model = classifier().fit(X, answers(people(rows=200)))
    other = X.assign(code=X["code"].cat.remove_unused_categories().cat.rename_categories({15: 16, 3: 2}))
    assert "trained on 3 category columns" in why_unread(model, other)


def test_a_booster_with_categories() -> None:
    X = categories(("income",))
    rows = lgb.Dataset(X, answers(people(rows=200)) == "yes")
    given = {"objective": "binary", "min_data_in_leaf": 3, "min_data_per_group": 3, "max_cat_to_onehot": 1}
    check_importer(lgb.train({**given, "verbose": -1, "num_threads": 1}, rows, num_boost_round=5), X)


@pytest.mark.parametrize("kind", ["pandas", "pandas nullable", "polars", "arrow"])
def test_every_kind_of_table(kind) -> None:
    X = people()[[*NUMBERS, *REST]]
    check_importer(classifier().fit(X, answers(people()) == "yes"), KINDS[kind](X))


def test_zero_between_the_cuts() -> None:
    """Where zero is missing, what goes left may be two intervals with a hole of one number."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 1))
    X[::3] = 0.0
    y = (X[:, 0] == 0) ^ (X[:, 0] > 1)
    reading = check_importer(classifier(zero_as_missing=True).fit(X, y), X)
    assert reading.model.cell_sets
    tiny = np.float64(np.float32(1e-35))
    assert {np.nextafter(-tiny, -1.0), tiny} <= set(reading.model.cells[0].edges)


def test_pipelines() -> None:
    X = people(lost=("income",))
    for columns in usual_columns():
        check_importer(make_pipeline(columns, classifier()).fit(X, answers(X)), X)


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "cross entropy of rates": (lambda: regressor(objective="cross_entropy_lambda"), "'cross_entropy_lambda'"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_read_is_refused_by_name(name) -> None:
    make, reason = REFUSED[name]
    check_refused(make(), reason)


def usual(estimator, columns):
    return registry._models["lightgbm.LGBMClassifier"](estimator, columns)


def in_single(estimator, columns):
    """Compared in float32, as others do."""
    ours, readout = usual(estimator, columns)
    cut = ours.cut.astype(np.float32).astype(np.float64)
    cells = tuple(replace(cell, edges=np.unique(cut[ours.feature == j])) for j, cell in enumerate(ours.cells))
    return replace(ours, cut=cut, cells=cells), readout


def missing_astray(estimator, columns):
    ours, readout = usual(estimator, columns)
    return replace(ours, missing_left=~ours.missing_left), readout


def summed(estimator, columns):
    """The trees of a random forest summed, not averaged."""
    ours, readout = usual(estimator, columns)
    return replace(ours, value=ours.value * len(ours.roots)), readout


@pytest.mark.parametrize("importer", [in_single, missing_astray, summed])
def test_a_wrong_importer_is_caught(importer, monkeypatch) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    X[rng.random(X.shape) < 0.1] = np.nan
    y = np.nan_to_num(X) @ [1.0, 0.5, -0.5] + rng.normal(size=200) > 0.4
    model = classifier(**FOREST).fit(X, y)
    check_caught(importer, model, X, monkeypatch)


class TestLightgbm(BoostingContract):
    classifiers = CLASSIFIERS


def test_columns_with_spaces_are_found_again() -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(80, 2)), columns=["mean radius", "worst area"])
    model = classifier().fit(X, (X["mean radius"] > 0).astype(int))
    answer = bf.Explainer(model, data=X).explain(X.iloc[[0]])
    assert answer.certificate.status is bf.Status.PROVEN_OPTIMAL
    assert [change.name for change in answer.changes] == ["mean radius"]
