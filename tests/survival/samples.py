"""Patients, and models of their survival."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("sksurv", reason="scikit-survival is not installed: pip install butfor[survival]")

from sksurv.ensemble import (
    ComponentwiseGradientBoostingSurvivalAnalysis,
    ExtraSurvivalTrees,
    GradientBoostingSurvivalAnalysis,
    RandomSurvivalForest,
)
from sksurv.linear_model import CoxnetSurvivalAnalysis, CoxPHSurvivalAnalysis, IPCRidge
from sksurv.svm import FastSurvivalSVM
from sksurv.tree import SurvivalTree

HAZARDS: dict[str, Callable[[], Any]] = {
    "cox": lambda: CoxPHSurvivalAnalysis(alpha=0.01),
    "cox efron": lambda: CoxPHSurvivalAnalysis(ties="efron"),
    "coxnet": lambda: CoxnetSurvivalAnalysis(fit_baseline_model=True),
    "boosting": lambda: GradientBoostingSurvivalAnalysis(n_estimators=15, max_depth=2, random_state=0),
    "boosting with dropout": lambda: GradientBoostingSurvivalAnalysis(
        n_estimators=15, max_depth=2, dropout_rate=0.3, random_state=0
    ),
    "componentwise": lambda: ComponentwiseGradientBoostingSurvivalAnalysis(n_estimators=40, random_state=0),
}
LEAVES: dict[str, Callable[[], Any]] = {
    "forest": lambda: RandomSurvivalForest(n_estimators=6, min_samples_leaf=20, random_state=0),
    "extra": lambda: ExtraSurvivalTrees(n_estimators=6, min_samples_leaf=20, random_state=0),
    "tree": lambda: SurvivalTree(max_depth=3, random_state=0),
}
TIMES: dict[str, Callable[[], Any]] = {
    "ridge": lambda: IPCRidge(),
    "boosting of times": lambda: GradientBoostingSurvivalAnalysis(n_estimators=15, loss="ipcwls", random_state=0),
    "componentwise of times": lambda: ComponentwiseGradientBoostingSurvivalAnalysis(
        n_estimators=60, learning_rate=1.0, loss="squared"
    ),
    "machine of times": lambda: FastSurvivalSVM(rank_ratio=0.5, fit_intercept=True, max_iter=500, tol=1e-5),
}
RISKS: dict[str, Callable[[], Any]] = {
    "machine": lambda: FastSurvivalSVM(max_iter=500, tol=1e-5),
    "coxnet without a baseline": lambda: CoxnetSurvivalAnalysis(),
    "forest of low memory": lambda: RandomSurvivalForest(n_estimators=8, low_memory=True, random_state=0),
}
CURVED = HAZARDS | LEAVES


def outcome(event: Any, time: Any) -> Any:
    """What scikit-survival is fitted on."""
    return np.array(
        list(zip(np.asarray(event, dtype=bool), np.asarray(time, dtype=float), strict=True)),
        dtype=[("dead", bool), ("days", float)],
    )


def weibull(rows: int = 150, columns: int = 3, seed: int = 0, *, whole: bool = False) -> tuple[np.ndarray, Any]:
    """Cox-Weibull times, some censored, and with ties; the numbers are any, or (`whole`) of 0 to 9."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 10, (rows, columns)).astype(float) if whole else rng.random((rows, columns))
    risk = (X / X.max()) @ rng.uniform(-2.0, 2.0, columns)
    time = np.ceil(400 * (-np.log(rng.random(rows)) / np.exp(risk)) ** 0.5) + 1
    return X, outcome(rng.random(rows) < 0.8, time)


def patients(rows: int = 200, seed: int = 0) -> tuple[pd.DataFrame, Any]:
    """Whole numbers, any numbers and categories."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "age": rng.integers(30, 80, rows),
            "crp": rng.gamma(2.0, 4.0, rows).round(1),
            "stage": rng.choice(["I", "II", "III"], rows),
            "drug": rng.choice(["no", "yes"], rows),
        }
    )
    risk = X["age"] / 30 + X["crp"] / 8 + (X["stage"] == "III") * 1.2 - (X["drug"] == "yes") * 0.8
    time = np.ceil(900 * (-np.log(rng.random(rows)) / np.exp(risk - risk.mean())) ** 0.7) + 1
    return X, outcome(rng.random(rows) < 0.75, time)


def own_mean(model: Any, X: Any, tail: float = 0.0, horizon: float | None = None) -> np.ndarray:
    """The mean time as the library's step functions have it, added up step by step: slow, and by none of butfor's code."""
    means = []
    for step in model.predict_survival_function(X):
        end = step.x[-1] + tail if horizon is None else horizon
        total, before, height = 0.0, 0.0, 1.0
        for time, after in zip(step.x, step(step.x), strict=True):
            total += height * (min(time, end) - min(before, end))
            before, height = time, after
        means.append(total + height * max(0.0, end - before))
    return np.array(means)
