"""scikit-learn's ensembles of trees: the imported model says what the estimator says, at every cut and beside it."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn import ensemble as se
from sklearn.compose import make_column_transformer
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import FixedThresholdClassifier, GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeRegressor

import butfor as bf
from butfor.importers.libraries import sklearn_ensembles as ours
from butfor.importers.read import read
from butfor.model.questions import evaluate
from butfor.model.trees import Trees
from butfor.testing.importer_contract import ImporterContract, check_importer
from tests.importers.checks import check_caught, why_unread
from tests.importers.samples import NUMBERS, REST, TEXT, amounts, answers, labels, numbers, people
from tests.shorter import diagonal

DEEP = DecisionTreeClassifier(max_depth=4)

CLASSIFIERS: dict[str, Callable[[], Any]] = {
    "forest": lambda: se.RandomForestClassifier(8, random_state=0),
    "forest of an even number of stumps": lambda: se.RandomForestClassifier(4, max_depth=1, random_state=0),
    "forest with weights": lambda: se.RandomForestClassifier(7, max_depth=4, class_weight="balanced", random_state=0),
    "forest without bootstrap": lambda: se.RandomForestClassifier(5, bootstrap=False, max_features=1, random_state=0),
    "forest of one": lambda: se.RandomForestClassifier(1, random_state=0),
    "extra trees": lambda: se.ExtraTreesClassifier(8, max_depth=5, random_state=0),
    "boosting": lambda: se.GradientBoostingClassifier(n_estimators=8, random_state=0),
    "boosting of one": lambda: se.GradientBoostingClassifier(n_estimators=1, random_state=0),
    "boosting from zero": lambda: se.GradientBoostingClassifier(n_estimators=5, init="zero", random_state=0),
    "boosting from a constant": lambda: se.GradientBoostingClassifier(
        n_estimators=5, init=DummyClassifier(strategy="prior"), subsample=0.6, random_state=0
    ),
    "boosting, stopped early": lambda: se.GradientBoostingClassifier(
        n_estimators=60, learning_rate=0.5, n_iter_no_change=2, max_depth=2, random_state=0
    ),
    "ada boost": lambda: se.AdaBoostClassifier(n_estimators=8, random_state=0),
    "ada boost of trees": lambda: se.AdaBoostClassifier(DEEP, n_estimators=5, learning_rate=0.3, random_state=0),
    "bagging": lambda: se.BaggingClassifier(n_estimators=6, random_state=0),
    "bagging of columns": lambda: se.BaggingClassifier(
        DEEP, n_estimators=6, max_features=0.5, max_samples=0.3, random_state=0
    ),
    "bagging of repeated columns": lambda: se.BaggingClassifier(
        n_estimators=4, max_features=3, bootstrap_features=True, random_state=0
    ),
    "bagging of few rows": lambda: se.BaggingClassifier(DEEP, n_estimators=6, max_samples=4, random_state=0),
    "grid": lambda: GridSearchCV(se.RandomForestClassifier(4, random_state=0), {"max_depth": [2, 3]}, cv=2),
}
BINARY: dict[str, Callable[[], Any]] = {
    "exponential loss": lambda: se.GradientBoostingClassifier(loss="exponential", n_estimators=8, random_state=0),
    "threshold of a forest": lambda: FixedThresholdClassifier(
        se.RandomForestClassifier(9, random_state=0), threshold=0.3, pos_label="yes"
    ),
    "threshold of boosting": lambda: FixedThresholdClassifier(
        se.GradientBoostingClassifier(n_estimators=6, random_state=0), threshold=0.7, pos_label="no"
    ),
    "threshold of a score": lambda: FixedThresholdClassifier(
        se.GradientBoostingClassifier(n_estimators=6, random_state=0), threshold=-0.4, response_method="decision_function",
        pos_label="yes",
    ),
}  # fmt: skip
REGRESSORS: dict[str, Callable[[], Any]] = {
    "forest": lambda: se.RandomForestRegressor(8, random_state=0),
    "forest of medians": lambda: se.RandomForestRegressor(3, criterion="absolute_error", max_depth=4, random_state=0),
    "extra trees": lambda: se.ExtraTreesRegressor(8, max_depth=5, random_state=0),
    **{
        f"boosting {loss}": lambda loss=loss: se.GradientBoostingRegressor(loss=loss, n_estimators=8, random_state=0)
        for loss in ("squared_error", "absolute_error", "huber", "quantile")
    },
    "boosting from zero": lambda: se.GradientBoostingRegressor(n_estimators=5, init="zero", random_state=0),
    "boosting from a constant": lambda: se.GradientBoostingRegressor(
        n_estimators=5, init=DummyRegressor(strategy="median"), random_state=0
    ),
    "bagging": lambda: se.BaggingRegressor(n_estimators=6, random_state=0),
    "bagging of columns": lambda: se.BaggingRegressor(
        ExtraTreeRegressor(max_depth=5), n_estimators=6, max_features=2, random_state=0
    ),
}


@pytest.mark.shorter(12)
@pytest.mark.parametrize("several", [False, True], ids=["two classes", "several classes"])
@pytest.mark.parametrize(("name", "seed"), diagonal(CLASSIFIERS, range(2)))
def test_classifiers(name, seed, several) -> None:
    rng = np.random.default_rng(seed)
    X = numbers(rng, single=bool(seed))
    classes = int(rng.integers(3, 5)) if several else 2
    reading = check_importer(CLASSIFIERS[name]().fit(X, labels(rng, X, classes)), X, rng)
    assert isinstance(reading.model, Trees)


@pytest.mark.parametrize("name", BINARY)
def test_two_classes(name) -> None:
    for seed in range(2):
        rng = np.random.default_rng(seed)
        X = numbers(rng)
        check_importer(BINARY[name]().fit(X, labels(rng, X, 2)), X, rng)


@pytest.mark.parametrize("name", REGRESSORS)
def test_regressors(name) -> None:
    for seed in range(2):
        rng = np.random.default_rng(seed)
        X = numbers(rng, single=bool(seed))
        check_importer(REGRESSORS[name]().fit(X, amounts(rng, X)), X, rng)


@pytest.mark.parametrize("kind", [se.RandomForestClassifier, se.ExtraTreesClassifier, se.BaggingClassifier])
def test_missing_values(kind) -> None:
    for seed in range(2):
        rng = np.random.default_rng(seed)
        X = numbers(rng, missing=True)
        reading = check_importer(kind(n_estimators=6, random_state=seed).fit(X, labels(rng, X, 3)), X, rng)
        assert {feature.missing for feature in reading.space} == {True}


STEPS = {
    "one hot": (SimpleImputer(), OneHotEncoder()),
    "bins and levels": (make_pipeline(SimpleImputer(), KBinsDiscretizer(4, strategy="uniform")), OneHotEncoder()),
    "scaled": (make_pipeline(StandardScaler(), SimpleImputer(add_indicator=True)), OneHotEncoder(drop="first")),
}


@pytest.mark.shorter(4)
@pytest.mark.parametrize("name", STEPS)
@pytest.mark.parametrize(
    "model",
    [
        se.RandomForestClassifier(6, random_state=0),
        se.GradientBoostingClassifier(n_estimators=6, random_state=0),
        se.AdaBoostClassifier(n_estimators=6, random_state=0),
        se.BaggingClassifier(n_estimators=5, max_features=0.6, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_pipelines(model, name) -> None:
    X = people(lost=("income",))
    for_numbers, for_text = STEPS[name]
    columns = make_column_transformer((for_numbers, NUMBERS), (for_text, TEXT), ("passthrough", REST))
    reading = check_importer(make_pipeline(columns, model).fit(X, answers(X)), X)
    assert reading.space["income"].missing


def test_explained() -> None:
    X = people(lost=("income",))
    columns = make_column_transformer((SimpleImputer(), NUMBERS), (OneHotEncoder(), TEXT), ("passthrough", REST))
    fitted = make_pipeline(columns, se.RandomForestClassifier(5, max_depth=3, random_state=0)).fit(X, answers(X))
    answer = bf.Explainer(fitted, X).explain(X.iloc[[0]])
    assert answer.certificate.status is bf.Status.PROVEN_OPTIMAL
    assert fitted.predict(answer.point) != fitted.predict(X.iloc[[0]])


def test_equal_votes_are_exactly_equal() -> None:
    """Half of the votes each: the first class, whatever 1/T rounds to."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    forest = se.RandomForestClassifier(6, random_state=0).fit(X, rng.random(80) < 0.5)
    reading = check_importer(forest, X)
    grid = rng.normal(size=(2000, 2))
    tied = grid[forest.predict_proba(grid)[:, 0] == 0.5]
    assert len(tied) > 20
    scores = evaluate(reading.model, tied)
    assert (scores[:, 0] == scores[:, 1]).all()


REFUSED = {
    "AdaBoostRegressor over LinearRegression": lambda: se.AdaBoostRegressor(LinearRegression(), n_estimators=3),
    "GradientBoostingRegressor starts from LinearRegression": lambda: se.GradientBoostingRegressor(
        n_estimators=3, init=LinearRegression()
    ),
    "AdaBoostClassifier over LogisticRegression": lambda: se.AdaBoostClassifier(LogisticRegression(), n_estimators=3),
    "GradientBoostingClassifier starts from LogisticRegression": lambda: se.GradientBoostingClassifier(
        n_estimators=3, init=LogisticRegression()
    ),
}


@pytest.mark.parametrize("reason", REFUSED)
def test_what_is_no_sum_of_trees_is_refused_by_name(reason) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    y = X[:, 0] > 0 if "Classifier" in reason else X[:, 0]
    assert re.search(reason, why_unread(REFUSED[reason]().fit(X, y), X))


def test_several_outputs_are_refused() -> None:
    X = np.random.default_rng(0).normal(size=(50, 2))
    assert "2 outputs" in why_unread(se.RandomForestRegressor(3).fit(X, X), X)


def averaged_votes(forest, columns):
    """Divided by the number of trees twice: the labels are right, the probabilities are not."""
    model, readout = ours.read_forest(forest, columns)
    return replace(model, value=model.value / len(forest.estimators_)), readout


def without_the_last_tree(boosting, columns):
    model, readout = ours.read_gradient_boosting(boosting, columns)
    return replace(model, roots=model.roots[:-1]), readout


def without_the_start(boosting, columns):
    model, readout = ours.read_gradient_boosting(boosting, columns)
    return replace(model, base=model.base * 0), readout


def all_columns(bagging, columns):
    """As if every tree had seen every column."""
    return ours._mean(bagging, columns, bagging.estimators_, None)


def one_vote_each(boosting, columns):
    model, readout = ours.read_ada_boost(boosting, columns)
    return replace(model, value=np.sign(model.value)), readout


def cut_next_door(forest, columns):
    """One cut of one tree is one float64 too low."""
    model, readout = ours.read_forest(forest, columns)
    cut = model.cut.copy()
    node = int(np.flatnonzero(model.feature == 0)[0])
    cut[node] = np.nextafter(cut[node], -np.inf)
    edges = np.unique(cut[model.feature == 0])
    return replace(model, cut=cut, cells=(replace(model.cells[0], edges=edges), *model.cells[1:])), readout


WRONG = [
    (se.RandomForestClassifier(5, random_state=0), averaged_votes),
    (se.RandomForestClassifier(5, max_depth=3, random_state=0), cut_next_door),
    (se.GradientBoostingClassifier(n_estimators=5, random_state=0), without_the_last_tree),
    (se.GradientBoostingClassifier(n_estimators=5, random_state=0), without_the_start),
    (se.BaggingClassifier(n_estimators=5, max_features=2, random_state=0), all_columns),
    (se.AdaBoostClassifier(n_estimators=5, random_state=0), one_vote_each),
]


@pytest.mark.parametrize(("estimator", "importer"), WRONG, ids=lambda thing: getattr(thing, "__name__", ""))
def test_a_wrong_importer_is_caught(estimator, importer, monkeypatch) -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(150, 3))
    estimator.fit(X, X @ [1.0, 0.5, -0.5] + rng.normal(size=150) * 0.3 > 0.4)
    check_caught(importer, estimator, X, monkeypatch)


@pytest.mark.shorter(1)
@pytest.mark.parametrize(
    "estimator",
    [
        se.RandomForestClassifier(100, random_state=0),
        se.GradientBoostingRegressor(n_estimators=500, max_depth=6, subsample=0.5, random_state=0),
    ],
    ids=["forest", "boosting"],
)
@pytest.mark.slow
def test_a_large_ensemble_is_read_in_two_seconds(estimator) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 10))
    estimator.fit(X, (X @ rng.normal(size=10) + rng.normal(size=1500) * 2 > 0).astype(float))
    read(estimator, X[:100])  # the kernels are compiled once
    start = time.perf_counter()
    read(estimator, X)
    assert time.perf_counter() - start < 2


class TestForest(ImporterContract):
    seeds = range(3)

    def fitted(self, rng):
        X = numbers(rng, missing=True)
        return se.RandomForestClassifier(5, max_depth=5, random_state=0).fit(X, labels(rng, X, 3)), X


class TestGradientBoosting(ImporterContract):
    seeds = range(3)

    def fitted(self, rng):
        X = numbers(rng)
        return se.GradientBoostingClassifier(n_estimators=5, random_state=0).fit(X, labels(rng, X, 3)), X


class TestAdaBoost(ImporterContract):
    seeds = range(3)

    def fitted(self, rng):
        X = numbers(rng)
        return se.AdaBoostClassifier(n_estimators=5, random_state=0).fit(X, labels(rng, X, 3)), X


class TestBagging(ImporterContract):
    seeds = range(3)

    def fitted(self, rng):
        X = numbers(rng, missing=True)
        members = DecisionTreeRegressor(max_depth=4)
        return se.BaggingRegressor(members, n_estimators=5, max_features=3, random_state=0).fit(X, amounts(rng, X)), X


def members(kind: str) -> list[tuple[str, Any]]:
    if kind == "classifier":
        binned = make_pipeline(KBinsDiscretizer(4, strategy="uniform"), DecisionTreeClassifier(max_depth=3))
        return [("a", se.RandomForestClassifier(4, random_state=0)), ("b", DEEP), ("c", binned)]
    binned = make_pipeline(KBinsDiscretizer(4, strategy="uniform"), DecisionTreeRegressor(max_depth=3))
    return [
        ("a", se.ExtraTreesRegressor(4, random_state=0)), ("b", se.HistGradientBoostingRegressor(max_iter=4)), ("c", binned),
    ]  # fmt: skip


@pytest.mark.parametrize("weights", [None, [1, 2.5, 0.5]])
@pytest.mark.parametrize("classes", [0, 2, 3])
def test_voting(classes, weights) -> None:
    for seed in range(2):
        rng = np.random.default_rng(seed)
        X = numbers(rng)
        if classes:
            voting = se.VotingClassifier(members("classifier"), voting="soft", weights=weights)
            check_importer(voting.fit(X, labels(rng, X, classes)), X, rng)
        else:
            check_importer(se.VotingRegressor(members("regressor"), weights=weights).fit(X, amounts(rng, X)), X, rng)
