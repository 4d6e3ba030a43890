"""Calibrated boosters: the estimator inside may add up in float32, whatever type its calibrator returns."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import HistGradientBoostingClassifier, StackingClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import butfor as bf
from butfor.importers.read import read
from butfor.model.scores import UNIT_DOUBLE, UNIT_SINGLE
from butfor.testing.importer_contract import check_importer
from tests.importers.checks import why_unread
from tests.importers.samples import LINES_ARE_SINGLE, SKLEARN
from tests.shorter import first

SIZES = [
    (30, 3, "isotonic"),
    (100, 4, "sigmoid"),
    pytest.param((300, 5, "isotonic"), marks=pytest.mark.long),
    pytest.param((500, 6, "sigmoid"), marks=pytest.mark.long),
]
LIBRARIES = ["xgboost", "lightgbm", "catboost", "histogram"]
EVERY = pd.DataFrame(list(product(range(6), repeat=4)), columns=list("abcd")).astype(float)


def boosted(library: str, trees: int, depth: int) -> Any:
    if library == "histogram":
        return HistGradientBoostingClassifier(max_iter=trees, max_depth=depth, random_state=0)
    if library == "xgboost":
        return pytest.importorskip("xgboost").XGBClassifier(n_estimators=trees, max_depth=depth, n_jobs=1)
    if library == "lightgbm":
        lightgbm = pytest.importorskip("lightgbm")
        return lightgbm.LGBMClassifier(n_estimators=trees, max_depth=depth, n_jobs=1, verbose=-1)
    catboost = pytest.importorskip("catboost")
    return catboost.CatBoostClassifier(
        n_estimators=trees, depth=depth, thread_count=1, verbose=False, allow_writing_files=False
    )


def sample(seed: int, rows: int = 400) -> tuple[pd.DataFrame, np.ndarray]:
    """Whole numbers, so that all rows can be listed, and a noisy answer."""
    rng = np.random.default_rng(seed)
    X = EVERY.iloc[rng.integers(len(EVERY), size=rows)].reset_index(drop=True)
    y = (X["a"] + X["b"] * X["c"] / 2 - X["d"] + 2 * rng.normal(size=rows) > 4).astype(int).to_numpy()
    return X, y


def calibrated(how: str, base: Any, method: str, X: pd.DataFrame, y: np.ndarray) -> Any:
    if how == "several":
        return CalibratedClassifierCV(base, method=method, cv=3).fit(X, y)
    if SKLEARN < (1, 6):
        pytest.skip("this scikit-learn freezes no estimators")
    from sklearn.frozen import FrozenEstimator

    return CalibratedClassifierCV(FrozenEstimator(base.fit(X[:200], y[:200])), method=method).fit(X[200:], y[200:])


@pytest.mark.shorter(4)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("how", ["frozen", "several"])
@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("seeds", first(1, [range(1), range(1, 5)]), ids=str)
def test_every_sample_is_read_and_its_answers_are_the_cheapest_of_all(library, how, size, seeds) -> None:
    trees, depth, method = size
    for seed in seeds:
        X, y = sample(seed)
        model = calibrated(how, boosted(library, trees, depth), method, X, y)
        said = model.predict(EVERY)
        explainer, row = bf.Explainer(model, X), X[model.predict(X) == 0].iloc[[0]]
        answer = explainer.explain(row, target=1, cost=bf.L1(scale="range"))
        cheapest = (np.abs(EVERY - row.to_numpy()) / 5).sum(axis=1)[said == 1].min()
        assert answer.certificate.status is bf.Status.PROVEN_OPTIMAL
        assert answer.certificate.bound <= cheapest + 1e-9
        assert answer.cost == pytest.approx(cheapest, abs=1e-6)


@pytest.mark.parametrize("how", ["frozen", "several"])
@pytest.mark.parametrize("seed", first(1, range(3)))
def test_real_numbers_are_read_at_every_cut(how, seed) -> None:
    X, y = sample(seed)
    X = X + np.random.default_rng(seed).normal(size=X.shape)
    check_importer(calibrated(how, boosted("xgboost", 40, 4), "isotonic", X, y), X, seed)


def around(base: Any) -> dict[str, Any]:
    """A booster inside all that may stand around it."""
    line = LogisticRegression()
    return {
        "calibrator": CalibratedClassifierCV(base, cv=2),
        "threshold": FixedThresholdClassifier(CalibratedClassifierCV(base, cv=2), threshold=0.4),
        "pipeline": make_pipeline(StandardScaler(), CalibratedClassifierCV(base, cv=2)),
        "vote": VotingClassifier([("a", base), ("b", line)], voting="soft"),
        "votes": VotingClassifier([("a", base), ("b", line), ("c", base)], voting="hard"),
        "stack": StackingClassifier([("a", base), ("b", line)], cv=2),
    }


@pytest.mark.shorter(2)
@pytest.mark.parametrize("name", ["calibrator", "threshold", "pipeline", "vote", "votes", "stack"])
def test_the_coarsest_model_inside_decides_the_unit(name) -> None:
    X, y = sample(0)
    inside = around(boosted("xgboost", 10, 2))[name].fit(X, y)
    assert read(inside, X).unit == UNIT_SINGLE
    assert read(around(HistGradientBoostingClassifier(max_iter=5))[name].fit(X, y), X).unit == UNIT_DOUBLE


@pytest.mark.skipif(not LINES_ARE_SINGLE, reason="this scikit-learn computes lines in float64")
def test_columns_of_float32_count_for_every_member() -> None:
    """A line computes in float32 inside a stack whose end returns float64."""
    X, y = sample(0)
    single = X.astype(np.float32)
    stack = StackingClassifier([("a", LogisticRegression())], LogisticRegression(), cv=2)
    assert read(stack.fit(single, y), single).unit == UNIT_SINGLE
    mixed = single.astype({"a": np.float64})
    assert read(stack.fit(mixed, y), mixed).unit == UNIT_DOUBLE


def test_an_end_that_rounds_what_its_only_tree_says_is_named() -> None:
    X, y = sample(0)
    line = LogisticRegression()
    stack = StackingClassifier([("a", line), ("b", line)], boosted("xgboost", 1, 2), cv=2).fit(X, y)
    assert "which rounds" in why_unread(stack, X)
