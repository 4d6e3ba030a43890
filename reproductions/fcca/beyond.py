"""Beyond the paper: XGBoost with 300 trees of depth 6 as the model, on Adult, German Credit and Spambase."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

import butfor as bf
from benchmarks.harness import SEED, where
from reproductions.fcca.folds import DEPTH, engines
from reproductions.fcca.sets import beyond

ROWS_ASKED = 1000
"""How many training rows are asked for counterfactuals. Each category is among them."""

SECONDS = 150.0
"""The time limit for all of them."""

QUANTILE = 0.7

SCALES = ("range", "std")
"""What changes are measured in: the paper's ranges, and standard deviations."""


def pipeline(X: pd.DataFrame, smoke: bool) -> Any:
    """One-hot categories, and boosting."""
    from xgboost import XGBClassifier

    texts = [name for name in X.columns if not pd.api.types.is_numeric_dtype(X[name])]
    boosting = XGBClassifier(
        n_estimators=10 if smoke else 300, max_depth=2 if smoke else 6, learning_rate=0.1, n_jobs=1, random_state=SEED
    )
    return make_pipeline(
        make_column_transformer((OneHotEncoder(handle_unknown="ignore"), texts), remainder="passthrough"), boosting
    )


def some_rows(X: pd.DataFrame, count: int) -> Any:
    """The numbers of the first rows, and of the first row with each category."""
    firsts = [X[name].drop_duplicates().index for name in X.columns if not pd.api.types.is_numeric_dtype(X[name])]
    needed = X.index.isin(np.concatenate([*firsts, X.index[:count]]))
    return np.flatnonzero(needed)


def lines(smoke: bool) -> Iterator[dict[str, Any]]:
    """One line per set and tree."""
    if find_spec("xgboost") is None:
        return
    for name, X, y in beyond(smoke):
        inside, test = train_test_split(np.arange(len(X)), test_size=0.3, random_state=SEED, stratify=y)
        part = (X.iloc[inside], y[inside], X.iloc[test], y[test])
        model = pipeline(X, smoke).fit(*part[:2])
        about = {
            "kind": "beyond", "set": name, "commit": where()["commit"], "dirty": where()["dirty"], "quantile": QUANTILE,
            "raw_columns": X.shape[1],
            "model_accuracy": float(model.score(*part[2:])),
        }  # fmt: skip
        yield about | _raw(model, part)
        for scale in SCALES:
            for line in _compressed(model, part, scale, smoke):
                yield about | {"scale": scale} | line


def _raw(model: Any, part: tuple[Any, ...]) -> dict[str, Any]:
    """A CART of the same depth on one-hot columns."""
    train, labels, test, truth = part
    texts = [name for name in train.columns if not pd.api.types.is_numeric_dtype(train[name])]
    one_hot = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), texts), remainder="passthrough")
    raw = make_pipeline(one_hot, DecisionTreeClassifier(max_depth=DEPTH, random_state=SEED)).fit(train, labels)
    return {
        "engine": "cart on raw columns", "accuracy": float(raw.score(test, truth)),
        "rules": int(raw[-1].get_n_leaves()), "fidelity": float(np.mean(raw.predict(test) == model.predict(test))),
    }  # fmt: skip


def _compressed(model: Any, part: tuple[Any, ...], scale: str, smoke: bool) -> Iterator[dict[str, Any]]:
    """One line per tree over the binary columns."""
    train, labels, test, truth = part
    asked = some_rows(train, 40 if smoke else ROWS_ASKED)
    begin = time.perf_counter()
    disc = bf.compress.CounterfactualDiscretizer(
        model, quantile=QUANTILE, scale=scale, time_limit=5.0 if smoke else SECONDS, progress=False
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # how much was found in time is in the line
        disc.fit(train.iloc[asked], labels[asked])
    found = disc.crossings_
    about = {
        "seconds": time.perf_counter() - begin, "rows": found.rows, "answered": found.answered, "proven": found.proven,
        "thresholds": len(disc.thresholds_), "all_thresholds": len(found.columns),
    }  # fmt: skip
    for kind in (kind for kind in engines() if kind != "gosdt"):
        tree = bf.compress.surrogate(disc, train, labels, kind=kind, depth=DEPTH)
        yield about | {
            "engine": kind, "accuracy": tree.score(test, truth), "rules": len(tree.rules),
            "fidelity": tree.fidelity(test), "tree_seconds": tree.certificate.seconds,
            "gap": tree.certificate.gap, "told": list(tree.rules),
        }  # fmt: skip
