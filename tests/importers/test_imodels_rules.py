"""imodels: every class that is read, on numbers and in frames, what is refused, and answers that enumeration confirms."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest

import butfor as bf
from butfor.testing.importer_contract import ImporterContract, check_importer
from tests.importers.checks import check_caught, why_unread
from tests.shorter import first

imodels = pytest.importorskip("imodels")
pytestmark = pytest.mark.filterwarnings("ignore")

BINARY = ("FPLassoClassifier", "FPLassoRegressor", "FPSkopeClassifier")
"""They are made for columns of 0 and 1."""

NAMES = (
    *BINARY, "FIGSClassifier", "FIGSRegressor", "FIGSClassifierCV", "FIGSRegressorCV", "RuleFitClassifier",
    "RuleFitRegressor", "SkopeRulesClassifier", "GreedyRuleListClassifier", "OneRClassifier", "FastFrugalTreeClassifier",
    "HSTreeClassifier", "HSTreeRegressor", "HSTreeClassifierCV", "HSTreeRegressorCV", "DecisionTreeCCPClassifier",
    "DecisionTreeCCPRegressor", "TaoTreeClassifier", "TaoTreeRegressor", "SLIMClassifier", "SLIMRegressor",
    "GreedyTreeClassifier", "GreedyTreeRegressor", "BoostedRulesRegressor",
)  # fmt: skip


def fitted(name: str, seed: int, *, single: bool = False) -> tuple[Any, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(150, 4))
    X[:, 2], X[:, 3] = rng.integers(0, 4, 150), np.round(X[:, 3], 1)
    X = (X > 0).astype(float) if name in BINARY else X.astype(np.float32) if single else X
    score = X[:, 0] + X[:, 1] * (X[:, 2] > 1) + 0.2 * rng.normal(size=150)
    y = score if "Regressor" in name else np.where(score > 0.2, "yes", "no")
    return getattr(imodels, name)().fit(X, y), X


class TestFIGS(ImporterContract):
    seeds = range(2)

    def fitted(self, rng):
        return fitted("FIGSClassifier", int(rng.integers(99)))


def people(seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": rng.integers(0, 6, 200),
            "town": rng.choice(list("abc"), 200),
            "income": rng.integers(0, 6, 200),
            "job": rng.choice(["x", "y"], 200),
        }
    )


def of_categories(kind: str, seed: int, rules: int = 8) -> tuple[Any, pd.DataFrame]:
    X = people(seed)
    score = X.age + 2 * (X.town == "a") + X.income * (X.job == "x") + np.random.default_rng(seed).normal(size=200)
    y = score if kind == "FIGSRegressor" else np.where(score > 5, "yes", "no")
    return getattr(imodels, kind)(max_rules=rules).fit(X, y, categorical_features=["town", "job"]), X


class TestFIGSOfCategories(ImporterContract):
    seeds = range(2)

    def fitted(self, rng):
        return of_categories("FIGSRegressor", int(rng.integers(99)))


def test_classes_of_figs_with_categories() -> None:
    model, X = of_categories("FIGSClassifier", 1)
    check_importer(model, X)
    polars = pytest.importorskip("polars")
    check_importer(model, polars.from_pandas(X))


def test_figs_with_categories_asks_for_the_columns_it_was_given() -> None:
    model, X = of_categories("FIGSClassifier", 1)
    with pytest.raises(bf.errors.InputError, match="lacks the columns \\['job'\\]"):
        bf.Explainer(model, X.drop(columns=["job"]))


def test_figs_with_categories_keeps_the_order_of_its_fit() -> None:
    model, X = of_categories("FIGSClassifier", 1)
    turned = X[["job", "income", "town", "age"]]
    reading = check_importer(model, turned)
    np.testing.assert_array_equal(reading.source.labels(turned), model.predict(X))


def test_figs_with_categories_agrees_with_enumeration() -> None:
    model, X = of_categories("FIGSClassifier", 2)
    every = pd.DataFrame(product(range(6), "abc", range(6), ["x", "y"]), columns=X.columns)
    met = model.predict(every) == "yes"
    explainer = bf.Explainer(model, X)
    row = X[model.predict(X) == "no"].iloc[[0]]
    answer = explainer.explain(row, target="yes").only
    listed = explainer.explain(row, target="yes", constraints=[bf.candidates(every[met])]).only
    assert answer.certificate.status is bf.Status.PROVEN_OPTIMAL
    assert answer.cost == pytest.approx(listed.cost)


@pytest.mark.parametrize("seed", first(1, range(3)))
@pytest.mark.parametrize("name", NAMES)
def test_models(name, seed) -> None:
    model, X = fitted(name, seed)
    check_importer(model, X, seed)


@pytest.mark.parametrize(
    "name", ["FIGSClassifier", "FIGSRegressor", "GreedyRuleListClassifier", "FastFrugalTreeClassifier"]
)
def test_float32(name) -> None:
    check_importer(*fitted(name, 1, single=True))


def test_boosted_rules_of_numbered_classes() -> None:
    _, X = fitted("FIGSClassifier", 0)
    check_importer(imodels.BoostedRulesClassifier().fit(X, (X[:, 0] > 0).astype(int)), X)


def test_what_cannot_be_read_says_so() -> None:
    model, X = fitted("RuleFitRegressor", 0, single=True)
    assert "Give float64" in why_unread(model, X)


def test_a_wrong_importer_is_caught(monkeypatch) -> None:
    from butfor.importers import registry

    usual = registry._models["imodels.FIGSClassifier"]

    def turned(estimator, columns):
        model, readout = usual(estimator, columns)
        return type(model)(**{**vars_of(model), "left": model.right, "right": model.left}), readout

    model, X = fitted("FIGSClassifier", 0)
    check_caught(turned, model, X, monkeypatch)


def vars_of(model: Any) -> dict[str, Any]:
    return {name: getattr(model, name) for name in model.__dataclass_fields__}


@pytest.mark.parametrize("seed", first(1, range(5)))
@pytest.mark.parametrize("name", ["FIGSClassifier", "RuleFitClassifier", "SkopeRulesClassifier"])
def test_enumeration_finds_nothing_cheaper(name, seed) -> None:
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.integers(0, 6, (200, 3)), columns=list("abc"))
    given = {} if name == "FIGSClassifier" else {"random_state": seed}
    model = getattr(imodels, name)(**given).fit(X, (X.a + X.b * (X.c > 2) + rng.normal(size=200) > 5).astype(int))
    every = pd.DataFrame(product(range(6), repeat=3), columns=list("abc"))
    chance = model.predict_proba(every)[:, 1]
    level = float((chance.max() + chance.min()) / 2)
    row = X[model.predict_proba(X)[:, 1] < level].iloc[[0]]
    answer = bf.Explainer(model, X).explain(row, target=bf.probability(1, at_least=level)).only
    best = (np.abs(every[chance >= level] - row.to_numpy()).sum(axis=1) / 5).min()
    assert answer.certificate.status is bf.Status.PROVEN_OPTIMAL
    assert answer.cost == pytest.approx(best, rel=1e-6)
