"""Rows and answers on which importers are tried."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn

Rng = np.random.Generator

SKLEARN = tuple(map(int, sklearn.__version__.split(".")[:2]))
"""The version of scikit-learn, for what older ones cannot do."""

QUANTILES = {"quantile_method": "averaged_inverted_cdf"} if SKLEARN >= (1, 7) else {}
"""How `KBinsDiscretizer` is told of its quantiles. Newer versions warn if it is not."""

FIRST_WINS = SKLEARN >= (1, 9)
"""Whether the first of equal classes wins in `OneVsRestClassifier`. Where it does not, several classes are refused."""

LINES_ARE_SINGLE = SKLEARN >= (1, 9)
"""Whether a logistic regression that was fitted to float32 computes in it."""

TEXT = ["job", "town"]
NUMBERS = ["age", "income"]
REST = ["owns", "rooms"]

KINDS: dict[str, Callable[[pd.DataFrame], Any]] = {
    "pandas": lambda X: X,
    "pandas object": lambda X: X.astype(dict.fromkeys(TEXT, object)),
    "pandas category": lambda X: X.astype(dict.fromkeys(TEXT, "category")),
    "pandas nullable": lambda X: X.convert_dtypes(),
    "polars": pl.from_pandas,
    "polars categorical": lambda X: pl.from_pandas(X).with_columns(pl.col(TEXT).cast(pl.Categorical)),
    "arrow": lambda X: pa.Table.from_pandas(X, preserve_index=False),
}


def skip_polars(kind: str) -> None:
    """ColumnTransformer passes a polars frame through since scikit-learn 1.8 only."""
    if kind.startswith("polars") and SKLEARN < (1, 8):
        pytest.skip("this scikit-learn passes no polars frame through a ColumnTransformer")


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


def codes(rng: Rng, X: np.ndarray, classes: int) -> np.ndarray:
    return np.unique(labels(rng, X, classes), return_inverse=True)[1]


def amounts(rng: Rng, X: np.ndarray) -> np.ndarray:
    return np.nan_to_num(X).astype(np.float64) @ rng.normal(size=X.shape[1]) + rng.normal(size=len(X))


def people(seed: int = 0, rows: int = 120, *, lost: tuple[str, ...] = ()) -> pd.DataFrame:
    """Text, whole numbers, any numbers, booleans and a whole-number code; the columns `lost` miss some values."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "age": rng.integers(18, 80, rows),
            "income": (rng.normal(30_000, 9_000, rows)).round(2),
            "job": rng.choice(["clerk", "nurse", "pilot", "smith"], rows, p=[0.5, 0.3, 0.17, 0.03]),
            "town": rng.choice(["a", "b", "c"], rows),
            "owns": rng.random(rows) < 0.4,
            "rooms": rng.integers(1, 6, rows),
        }
    )
    for name in lost:
        gone = rng.random(rows) < 0.1
        kept = X[name].astype(float) if X[name].dtype.kind in "if" else X[name].astype(object)
        X[name] = kept.where(~gone, np.nan)
    return X


def answers(X: pd.DataFrame) -> np.ndarray:
    rng = np.random.default_rng(1)
    score = X["age"].fillna(40) / 30 + X["income"].fillna(20_000) / 20_000 + (X["job"] == "pilot") - (X["town"] == "a")
    score = score + rng.normal(size=len(X)) * 0.3 + 0.3 * X["rooms"].fillna(3).astype(float)
    return np.where(score > score.median(), "yes", "no")


def categories(lost: tuple[str, ...] = ()) -> pd.DataFrame:
    X = people(rows=200, lost=lost).astype(dict.fromkeys(TEXT, "category"))
    X["job"] = X["job"].cat.reorder_categories(["smith", "clerk", "pilot", "nurse"])
    return X.assign(code=pd.Categorical(X["rooms"] * 3, categories=[15, 3, 9, 12, 6]))


def parities(seed: int, rows: int = 150) -> tuple[pd.DataFrame, pd.Series]:
    """Categories that say something only together."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "a": rng.choice(list("pqrs"), rows),
            "b": rng.choice(list("xyz"), rows),
            "c": rng.integers(0, 4, rows),
            "d": rng.integers(-2, 4, rows) / 2,
            "e": rng.random(rows) < 0.5,
        }
    )
    odd = X["a"].isin(["p", "q"]) ^ (X["b"] == "x") ^ (X["c"] > 1) ^ (X["d"] > 0)
    return X, 2.0 * odd + X["d"] + rng.normal(size=rows) * 0.3
