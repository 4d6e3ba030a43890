"""Regressors that predict a function of their score: log links of every library, and their thresholds."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import GammaRegressor, PoissonRegressor, TweedieRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import butfor as bf
from butfor.importers import registry
from butfor.model.linked import Linked
from butfor.model.readout import Value
from butfor.testing.importer_contract import ImporterContract, check_importer
from tests.importers.samples import numbers

SMALL = {"n_estimators": 5, "max_depth": 3, "n_jobs": 1, "random_state": 0}


def boosted(library: str, **given: Any) -> Any:
    if library == "xgboost":
        from xgboost import XGBRegressor

        return XGBRegressor(**SMALL, **given)
    from lightgbm import LGBMRegressor

    return LGBMRegressor(**SMALL, verbose=-1, min_child_samples=3, **given)


def histogram(loss: str) -> HistGradientBoostingRegressor:
    return HistGradientBoostingRegressor(loss=loss, max_iter=5, min_samples_leaf=3, random_state=0)


MODELS: dict[str, Callable[[], Any]] = {
    "poisson": lambda: make_pipeline(StandardScaler(), PoissonRegressor()),
    "gamma": lambda: make_pipeline(StandardScaler(), GammaRegressor()),
    "tweedie": lambda: make_pipeline(StandardScaler(), TweedieRegressor(power=1.5)),
    "tweedie with a log link": lambda: make_pipeline(StandardScaler(), TweedieRegressor(power=0, link="log")),
    "histogram poisson": lambda: histogram("poisson"),
    "histogram gamma": lambda: histogram("gamma"),
    "xgboost poisson": lambda: boosted("xgboost", objective="count:poisson"),
    "xgboost gamma": lambda: boosted("xgboost", objective="reg:gamma"),
    "xgboost tweedie": lambda: boosted("xgboost", objective="reg:tweedie", base_score=2.0),
    "xgboost logistic": lambda: boosted("xgboost", objective="reg:logistic"),
    "lightgbm poisson": lambda: boosted("lightgbm", objective="poisson"),
    "lightgbm gamma": lambda: boosted("lightgbm", objective="gamma"),
    "lightgbm tweedie": lambda: boosted("lightgbm", objective="tweedie"),
    "lightgbm cross entropy": lambda: boosted("lightgbm", objective="cross_entropy"),
    "lightgbm square root": lambda: boosted("lightgbm", reg_sqrt=True),
}


def rates(X: np.ndarray, name: str) -> np.ndarray:
    """Positive answers; shares for a logistic link, and some below zero for a square root."""
    size = np.nan_to_num(X.astype(np.float64))
    score = ((size - size.mean(axis=0)) / (size.std(axis=0) + 1e-9)) @ np.linspace(-0.4, 0.6, X.shape[1])
    if "logistic" in name or "entropy" in name:
        return 1 / (1 + np.exp(-score))
    return score if "root" in name else np.exp(score)


def fitted(name: str, rng: np.random.Generator, *, single: bool = False) -> tuple[Any, np.ndarray]:
    library = name.split()[0]
    if library in ("xgboost", "lightgbm") and not find_spec(library):
        pytest.skip(f"{library} is not installed")
    X = numbers(rng, single=single)
    return MODELS[name]().fit(X, rates(X, name)), X


@pytest.mark.shorter(10)
@pytest.mark.parametrize("single", [False, True], ids=["double", "single"])
@pytest.mark.parametrize("name", MODELS)
def test_agrees_with_the_estimator(name, single) -> None:
    for seed in range(2):
        rng = np.random.default_rng(seed)
        model, X = fitted(name, rng, single=single)
        assert isinstance(check_importer(model, X, rng).readout, Linked)


class TestPoisson(ImporterContract):
    seeds = range(3)

    def fitted(self, rng):
        return fitted("histogram poisson", rng)


@pytest.mark.shorter(5)
@pytest.mark.parametrize("name", MODELS)
def test_values_that_other_rows_attain_are_reached_at_no_more_cost(name) -> None:
    """The estimator gives another row exactly this value, so that row is an answer."""
    model, X = fitted(name, np.random.default_rng(0))
    predicted = np.asarray(model.predict(X), dtype=np.float64)
    explainer = bf.Explainer(model, X)
    start = X[[0]]
    for at in np.argsort(predicted)[[30, 90]]:
        up = predicted[at] > predicted[0]
        target = bf.value(at_least=predicted[at]) if up else bf.value(at_most=predicted[at])
        answer = explainer.explain(start, target=target)
        assert answer.certificate.status is bf.Status.PROVEN_OPTIMAL
        assert answer.cost <= explainer.explain(start, target=target, constraints=[bf.candidates(X[[at]])]).cost + 1e-9
        after = float(np.asarray(model.predict(np.asarray(answer.point)))[0])
        assert after >= predicted[at] if up else after <= predicted[at]


def test_both_ends_and_changes_relative_to_the_value() -> None:
    model, X = fitted("histogram gamma", np.random.default_rng(1))
    explainer = bf.Explainer(model, X)
    before = model.predict(X[:5])
    for found, now in zip(explainer.explain(X[:5], target=bf.relative_change(0.25)), before, strict=True):
        assert found.certificate.status is bf.Status.PROVEN_OPTIMAL
        assert model.predict(np.asarray(found.point))[0] >= 1.25 * now
    inside = explainer.explain(X[[0]], target=bf.value(at_least=1.2 * before[0], at_most=1.4 * before[0]))
    assert 1.2 * before[0] <= model.predict(np.asarray(inside.point))[0] <= 1.4 * before[0]


@pytest.mark.parametrize("target", [bf.value(at_most=0.0), bf.value(at_most=-1.0), bf.value(at_least=1e300)])
def test_a_value_that_no_score_gives(target) -> None:
    model, X = fitted("histogram poisson", np.random.default_rng(0))
    answer = bf.Explainer(model, X).explain(X[[0]], target=target)
    assert answer.certificate.status is bf.Status.PROVEN_INFEASIBLE


def test_an_importer_that_forgets_the_link_is_caught(monkeypatch) -> None:
    model, X = fitted("histogram poisson", np.random.default_rng(0))
    read = registry._models["HistGradientBoostingRegressor"]
    monkeypatch.setitem(registry._models, type(model), lambda *given: (read(*given)[0], Value()))
    with pytest.raises(bf.errors.FidelityError, match="disagree"):
        check_importer(model, X)
