"""Rows and answers on which importers are tried."""

from __future__ import annotations

import numpy as np

Rng = np.random.Generator


def numbers(rng: Rng, *, missing: bool = False, single: bool = False) -> np.ndarray:
    """Any numbers, whole numbers, halves, zero or one, and many equal values."""
    n = 120
    X = np.column_stack(
        [
            rng.normal(size=n) * 10.0 ** rng.integers(-3, 4), rng.integers(-5, 30, n), rng.integers(0, 9, n) / 2,
            rng.random(n) < 0.4, np.round(rng.normal(size=n), 1),
        ]
    )  # fmt: skip
    if missing:
        X[rng.random(X.shape) < 0.1] = np.nan
    return X.astype(np.float32) if single else X


def labels(rng: Rng, X: np.ndarray, classes: int) -> np.ndarray:
    size = np.nan_to_num(X)
    score = (size - size.mean(axis=0)) / (size.std(axis=0) + 1e-9) @ rng.normal(size=X.shape[1])
    ranks = np.argsort(np.argsort(score + rng.normal(size=len(X)) * 0.3))
    return np.array(["no", "yes", "maybe", "never"])[:classes][ranks * classes // len(X)]


def amounts(rng: Rng, X: np.ndarray) -> np.ndarray:
    return np.nan_to_num(X).astype(np.float64) @ rng.normal(size=X.shape[1]) + rng.normal(size=len(X))
