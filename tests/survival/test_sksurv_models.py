"""scikit-survival's estimators are read as they predict: scores and, where there are any, survival functions."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("sksurv", reason="scikit-survival is not installed: pip install butfor[survival]")

from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import butfor as bf
from butfor.importers.builtin import load_builtin
from butfor.importers.libraries import sksurv_models
from butfor.importers.read import read
from butfor.model.black_box import BlackBox
from butfor.model.questions import evaluate
from butfor.model.survival.curves import Chance, MeanTime
from butfor.model.survival.readout import Hazards, LeafCurves, LogTime, RiskOnly, Wish
from butfor.testing.importer_contract import ImporterContract, check_importer
from tests.importers.checks import check_caught
from tests.survival.samples import CURVED, HAZARDS, LEAVES, RISKS, TIMES, patients, weibull

KINDS = dict.fromkeys(HAZARDS, Hazards) | dict.fromkeys(LEAVES, LeafCurves) | dict.fromkeys(TIMES, LogTime)
KINDS |= dict.fromkeys(RISKS, RiskOnly)


@pytest.mark.parametrize("name", [*CURVED, *TIMES, *RISKS])
def test_is_read_as_it_predicts(name) -> None:
    for seed, whole in ((0, False), (1, True)):
        X, y = weibull(seed=seed, whole=whole)
        reading = check_importer((CURVED | TIMES | RISKS)[name]().fit(X, y), X, seed)
        assert type(reading.readout) is KINDS[name]


class TestForest(ImporterContract):
    seeds = range(2)

    def fitted(self, rng):
        X, y = weibull(seed=int(rng.integers(100)))
        X[rng.random(X.shape) < 0.1] = np.nan
        return LEAVES["forest"]().fit(X, y), X


class TestCox(ImporterContract):
    seeds = range(2)

    def fitted(self, rng):
        X, y = weibull(seed=int(rng.integers(100)))
        return HAZARDS["cox"]().fit(X, y), X


@pytest.mark.parametrize("name", list(LEAVES))
def test_leaves_add_up_to_what_the_forest_says(name) -> None:
    X, y = weibull()
    model = LEAVES[name]().fit(X, y)
    reading = read(model, X)
    new = np.random.default_rng(1).random((500, 3)) * 1.2 - 0.1
    curves = reading.source.curves(new)
    for quantity in (MeanTime(), MeanTime(tail=99.0), MeanTime(horizon=250.0), Chance(200.0), Chance(0.5)):
        said = quantity.of(curves)
        focused = reading.readout.focus(reading.model, Wish(quantity, said, up=True))
        assert np.abs(evaluate(focused, new)[:, 0] - said).max() <= 1e-12 * (1 + np.abs(said).max())
        assert reading.readout.focus(reading.model, Wish(quantity, said, up=False)) is focused


@pytest.mark.shorter(5)
@pytest.mark.parametrize("name", [*CURVED, *TIMES, *RISKS])
def test_behind_a_pipeline_with_categories(name) -> None:
    X, y = patients()
    codes = make_column_transformer(
        (OneHotEncoder(drop="first"), ["stage", "drug"]), (StandardScaler(), ["age", "crp"])
    )
    model = make_pipeline(codes, (CURVED | TIMES | RISKS)[name]()).fit(X, y)
    reading = check_importer(model, X)
    assert reading.space["stage"].levels == ("I", "II", "III")
    assert type(reading.readout) is KINDS[name]


@pytest.mark.parametrize("name", ["cox", "forest"])
def test_behind_the_encoder_of_the_library(name) -> None:
    from sksurv.preprocessing import OneHotEncoder as OwnOneHotEncoder

    X, y = patients()
    X = X.astype({"stage": "category", "drug": "category"})
    model = make_pipeline(OwnOneHotEncoder(), StandardScaler(), CURVED[name]()).fit(X, y)
    assert check_importer(model, X).space["stage"].levels == ("I", "II", "III")


def test_a_wrong_baseline_is_caught(monkeypatch) -> None:
    X, y = weibull()

    def wrong(estimator, columns):
        model, readout = sksurv_models.read_cox(estimator, columns)
        return model, Hazards(times=readout.times, hazard=readout.hazard * (1 + 1e-6))

    monkeypatch.setitem(sksurv_models.__dict__, "__doc__", "")
    from butfor.importers import registry

    model = HAZARDS["cox"]().fit(X, y)
    load_builtin()
    monkeypatch.setitem(registry._models, "sksurv.CoxPHSurvivalAnalysis", wrong)
    with pytest.raises(bf.errors.FidelityError, match="mean time to event"):
        read(model, X)


def test_a_wrong_score_is_caught(monkeypatch) -> None:
    X, y = weibull()

    def wrong(estimator, columns):
        return sksurv_models.read_cox(estimator, columns)[0], LogTime()

    check_caught(wrong, HAZARDS["cox"]().fit(X, y), X, monkeypatch)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_kernel_is_refused() -> None:
    from sksurv.svm import FastKernelSurvivalSVM

    X, y = weibull(rows=40)
    model = read(FastKernelSurvivalSVM(kernel="rbf", max_iter=20).fit(X, y), X).model
    assert isinstance(model, BlackBox)
    assert "kernel" in model.why
