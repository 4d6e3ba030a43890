"""Explainable boosting machines: links, pairs of columns, levels, missing values, and answers that enumeration confirms."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest

import butfor as bf
from butfor.testing.importer_contract import ImporterContract, check_importer
from tests.importers.checks import MISSING, check_caught, why_unread
from tests.importers.samples import KINDS, NUMBERS, TEXT, amounts, answers, labels, numbers, people
from tests.shorter import first

glassbox = pytest.importorskip("interpret.glassbox")
SMALL = {"n_jobs": 1, "outer_bags": 2, "max_rounds": 60, "random_state": 0, "min_samples_leaf": 2}
pytestmark = pytest.mark.filterwarnings("ignore:Missing values detected", "ignore:Interactions with multiclass")


def classifier(**given: Any) -> Any:
    return glassbox.ExplainableBoostingClassifier(**{**SMALL, **given})


def regressor(**given: Any) -> Any:
    return glassbox.ExplainableBoostingRegressor(**{**SMALL, **given})


class TestPairs(ImporterContract):
    seeds = range(2)

    def fitted(self, rng):
        X = people(int(rng.integers(99)))
        return classifier(interactions=4).fit(X, answers(X)), X


@pytest.mark.shorter(2)
@MISSING
@pytest.mark.parametrize("classes", [2, 3])
def test_classes(classes, missing) -> None:
    rng = np.random.default_rng(classes)
    X = numbers(rng, missing=missing)
    check_importer(classifier(interactions=3 if classes == 2 else 0).fit(X, labels(rng, X, classes)), X, rng)


@pytest.mark.parametrize("objective", ["rmse", "poisson_deviance"])
def test_values(objective) -> None:
    rng = np.random.default_rng(1)
    X = numbers(rng, missing=True, single=True)
    y = amounts(rng, X)
    check_importer(regressor(objective=objective).fit(X, y if objective == "rmse" else np.exp(y / y.max())), X, rng)


@pytest.mark.parametrize("kind", [name for name in KINDS if not name.startswith(("polars", "arrow"))])
def test_tables(kind) -> None:
    X = people(lost=(*NUMBERS, *TEXT))
    table = KINDS[kind](X)
    check_importer(classifier(interactions=3).fit(table, answers(X)), table)


def test_levels_that_are_numbers() -> None:
    X = people()
    types = ["continuous", "continuous", "nominal", "nominal", "nominal", "ordinal"]
    X["rooms"] = X["rooms"].astype(str)
    reading = check_importer(classifier(feature_types=[*types[:-1], ["1", "2", "3", "4", "5"]]).fit(X, answers(X)), X)
    X["rooms"] = X["rooms"].astype(int)
    reading = check_importer(classifier(feature_types=[*types[:-1], "nominal"]).fit(X, answers(X)), X)
    assert reading.space["rooms"].levels == (1, 2, 3, 4, 5)


def test_one_class_says_so() -> None:
    X = np.random.default_rng(0).normal(size=(60, 2))
    assert "'monoclassification'" in why_unread(classifier().fit(X, np.zeros(60)), X)


def test_a_wrong_reading_is_caught(monkeypatch) -> None:
    from butfor.importers.libraries.interpret_ebm import read_ebm

    def wrong(machine, columns):
        model, readout = read_ebm(machine, columns)
        value = model.value.copy()
        value[np.argmax(np.abs(value[:, 0]))] *= -1
        return type(model)(**{**{f: getattr(model, f) for f in model.__dataclass_fields__}, "value": value}), readout

    X = people()
    check_caught(wrong, classifier().fit(X, answers(X)), X, monkeypatch)


@pytest.mark.shorter(2)
@pytest.mark.parametrize("seed", first(2, range(12)))
@pytest.mark.parametrize("pairs", [0, 3])
def test_enumeration_confirms_the_answers(pairs, seed) -> None:
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({name: rng.integers(0, 7, 150) for name in "abc"} | {"d": rng.choice(["x", "y", "z"], 150)})
    total = X["a"] - X["b"] + (X["c"] - 3) ** 2 / 2 + 2 * (X["d"] == "y") * (X["a"] > 3) + rng.normal(size=150)
    machine = classifier(interactions=pairs).fit(X, total > np.quantile(total, 0.7))
    explainer = bf.Explainer(machine, X)
    every = pd.DataFrame(list(product(*(sorted(X[name].unique()) for name in X))), columns=list(X))
    taken = every[machine.predict(every)]
    rows = X[~machine.predict(X)].iloc[:5]
    ranges = np.array([explainer.space[name].range for name in "abc"])
    for answer, (_, row) in zip(explainer.explain(rows, target=True), rows.iterrows(), strict=True):
        away = np.abs(taken[list("abc")].to_numpy() - row[list("abc")].to_numpy(float)) / ranges
        least = (away.sum(axis=1) + (taken["d"] != row["d"])).min()
        assert answer.certificate.status is bf.Status.PROVEN_OPTIMAL
        assert answer.cost == pytest.approx(least, abs=1e-9)
