"""NGBoost: classes and means, what is refused, and answers that enumeration confirms."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from sklearn.linear_model import Ridge
from sklearn.tree import DecisionTreeRegressor

import butfor as bf
from butfor.importers.libraries.ngboost_trees import MEANS_OF_NGBOOST, read_classifier
from butfor.testing.importer_contract import ImporterContract, check_importer
from tests.importers.checks import check_caught, why_unread
from tests.shorter import first

ngboost = pytest.importorskip("ngboost")
GIVEN = {"n_estimators": 12, "learning_rate": 0.1, "verbose": False}


def fitted(kind: str, seed: int, classes: int = 2, *, single: bool = False, **given: Any) -> tuple[Any, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(150, 4)).astype(np.float32 if single else np.float64)
    score = X[:, 0] + X[:, 1] * (X[:, 2] > 0) + 0.3 * rng.normal(size=150)
    y: Any = (
        score if kind == "NGBRegressor" else np.array(["a", "b", "c"])[np.digitize(score, [-0.4, 0.6][: classes - 1])]
    )
    if kind == "NGBClassifier":
        given = {"Dist": ngboost.distns.k_categorical(classes), **given}
    elif given.get("Dist") is ngboost.distns.Poisson:
        y = np.round(np.exp(score))
    elif getattr(given.get("Dist"), "__name__", "") in ("Exponential", "LogNormal", "Gamma", "HalfNormal", "Weibull"):
        y = np.exp(score)
    elif given.get("Dist") is ngboost.distns.Beta:
        y = expit(score)
    return getattr(ngboost, kind)(random_state=seed, **{**GIVEN, **given}).fit(X, y), X


class TestNormal(ImporterContract):
    seeds = range(2)

    def fitted(self, rng):
        return fitted("NGBRegressor", int(rng.integers(99)), col_sample=0.5)

    def test_refuses_what_is_not_fitted(self) -> None:
        with pytest.raises(bf.errors.ButforError):
            bf.Explainer(ngboost.NGBRegressor(), np.zeros((3, 2)))


@pytest.mark.parametrize("seed", first(1, range(4)))
@pytest.mark.parametrize(("classes", "single"), [(2, False), (3, False), (2, True)])
def test_classifiers(classes, single, seed) -> None:
    check_importer(*fitted("NGBClassifier", seed, classes, single=single, col_sample=0.5), seed)


@pytest.mark.parametrize("name", MEANS_OF_NGBOOST)
def test_means(name) -> None:
    found = {**vars(ngboost.distns), **vars(ngboost.distns.normal), **vars(ngboost.distns.t)}
    check_importer(*fitted("NGBRegressor", 1, Dist=found[name]))


@pytest.mark.parametrize("kind", ["NGBClassifier", "NGBRegressor"])
def test_missing_values(kind) -> None:
    model, X = fitted(kind, 2)
    X[::9, 0] = np.nan
    assert all(feature.missing for feature in check_importer(model, X).space)
    model.fit(X, model.predict(X))  # trees that have seen missing values send them elsewhere
    check_importer(model, X)


def test_early_stopping_predicts_with_all_trees() -> None:
    check_importer(*fitted("NGBRegressor", 0, n_estimators=60, learning_rate=0.5, early_stopping_rounds=2))


def test_what_cannot_be_read_says_so() -> None:
    assert "Weibull" in why_unread(*fitted("NGBRegressor", 0, Dist=ngboost.distns.Weibull))
    assert "Ridge" in why_unread(*fitted("NGBRegressor", 0, Base=Ridge()))


def test_a_wrong_importer_is_caught(monkeypatch) -> None:
    def turned(estimator, columns):
        model, readout = read_classifier(estimator, columns)
        return replace(model, left=model.right, right=model.left), readout

    check_caught(turned, *fitted("NGBClassifier", 0), monkeypatch)


MADE = {
    ngboost.distns.Normal: lambda score: score,
    ngboost.distns.LogNormal: np.exp,
    ngboost.distns.Gamma: np.exp,
    ngboost.distns.Beta: expit,
}


@pytest.mark.parametrize("seed", first(1, range(4)))
@pytest.mark.parametrize("dist", MADE, ids=lambda dist: dist.__name__)
def test_enumeration_finds_nothing_cheaper(dist, seed) -> None:
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.integers(0, 6, (200, 3)), columns=list("abc"))
    score = (X.a + X.b * (X.c > 2) + rng.normal(size=200) * (1 + (X.c > 3)) - 4) / 3
    base = DecisionTreeRegressor(max_depth=2)
    model = ngboost.NGBRegressor(Dist=dist, Base=base, random_state=seed, **{**GIVEN, "learning_rate": 0.3}).fit(
        X, MADE[dist](score)
    )
    every = np.array(list(product(range(6), repeat=3)), dtype=float)
    value = model.predict(every)
    low, high = (float(np.quantile(value, q)) for q in (0.6, 0.8))
    explainer = bf.Explainer(model, X)
    for target, meets in (
        (bf.value(at_least=high), value >= high),
        (bf.value(at_most=low), value <= low),
        (bf.value(at_least=low, at_most=high), (value >= low) & (value <= high)),
        (bf.relative_change(0.1), None),
    ):
        now = model.predict(X.to_numpy(dtype=float))
        at = int(np.flatnonzero((now < low) if target != bf.value(at_most=low) else (now > low))[0])
        meets = value >= now[at] + 0.1 * abs(now[at]) if meets is None else meets
        row = X.iloc[[at]]
        answer = explainer.explain(row, target=target).only
        assert answer.certificate.status is bf.Status.PROVEN_OPTIMAL
        assert answer.cost == pytest.approx((np.abs(every[meets] - row.to_numpy()).sum(axis=1) / 5).min())
