"""One line per fold and method: accuracy, thresholds, columns, compression, inconsistency, seconds."""

from __future__ import annotations

import time
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

import butfor as bf
from benchmarks.harness import SEED, where
from butfor.compress import recent
from butfor.compress.engines.grown import GrownTree, TreeTask
from butfor.compress.surrogate_tree import ENGINES, LEAF_ROWS
from butfor.compress.tree import planted
from reproductions.fcca import rivals
from reproductions.fcca.sets import DataSet

QUANTILES = (0.0, 0.7, 0.8, 0.9, 0.95)
DEPTH = 3
TREE_SECONDS = 60.0
GOSDT_THRESHOLDS = 64
"""GOSDT is asked up to so many thresholds. Its memory grows with the third power of them."""

FOREST_SECONDS = 30.0
"""The time limit for the counterfactuals of the forest, per fold."""

Line = dict[str, Any]


def engines() -> list[str]:
    """The learners of trees that are installed."""
    return ["cart", *(kind for kind, library in (("gosdt", "gosdt"), ("streed", "pystreed")) if find_spec(library))]


def stumps(trees: int) -> Any:
    return GradientBoostingClassifier(n_estimators=trees, max_depth=1, learning_rate=0.1, random_state=SEED)


def models(of: DataSet, smoke: bool) -> dict[str, Any]:
    """The paper's model; on Boston also the two of its figure 13."""
    found = {"boosted stumps": stumps(10 if smoke else 100)}
    if of.name == "Boston":
        found["forest"] = RandomForestClassifier(100, max_depth=3, random_state=SEED)
        found["linear SVM"] = make_pipeline(MinMaxScaler(), LinearSVC(C=1.0, random_state=SEED))
    return found


def lines(of: DataSet, smoke: bool) -> Iterator[Line]:
    """All folds of one set, for each model."""
    splits = StratifiedKFold(2 if smoke else 5, shuffle=True, random_state=SEED)
    for model_name, model in models(of, smoke).items():
        for fold, (train, test) in enumerate(splits.split(of.X, of.y)):
            about = {"set": of.name, "model": model_name, "fold": fold, "commit": where()["commit"]}
            part = (of.X.iloc[train], of.y[train], of.X.iloc[test], of.y[test])
            for line in _fold(of, model_name, model, part, smoke):
                yield about | line


def _fold(of: DataSet, model_name: str, model: Any, part: tuple[Any, ...], smoke: bool) -> Iterator[Line]:
    X, y, X_test, y_test = part
    recent.forget()
    limit = FOREST_SECONDS if model_name == "forest" else None
    begin = time.perf_counter()
    disc = bf.compress.CounterfactualDiscretizer(
        model, quantile=0.0, p1=of.p1 if hasattr(model, "predict_proba") else 1.0, time_limit=limit, progress=False
    )
    with np.errstate(all="ignore"):
        disc = _fitted(disc, X, y)
    seconds = time.perf_counter() - begin
    found = disc.crossings_
    outside = {} if of.outside is None else {"external": float(disc.model_.score(of.outside, of.outside_y))}
    yield {
        "kind": "model", "accuracy": float(disc.model_.score(X_test, y_test)), "seconds": seconds, "rows": found.rows,
        "answered": found.answered, "proven": found.proven, "columns": X.shape[1], **outside,
        "heat": _heat(disc),
    }  # fmt: skip
    if model_name == "boosted stumps":
        raw = DecisionTreeClassifier(max_depth=DEPTH, random_state=SEED).fit(X, y)
        asked = raw.tree_.feature[raw.tree_.feature >= 0]
        yield {
            "kind": "tree", "method": "raw columns", "engine": "cart", "accuracy": float(raw.score(X_test, y_test)),
            "features": len(set(asked.tolist())), **_external(of, lambda rows: raw.predict(rows)),
        }  # fmt: skip
    budget = 1
    for quantile in QUANTILES:
        disc.set_quantile(quantile)
        budget = len(disc.thresholds_) if quantile == 0.7 else budget
        cuts = [(one.feature, one.at) for one in disc.thresholds_]
        yield from _trees("FCCA", cuts, part, of, quantile=quantile)
    if model_name != "boosted stumps":
        return
    begin = time.perf_counter()
    reference = rivals.gtre(X, y, 10 if smoke else 100)
    yield from _trees("GTRE", reference, part, of, seconds=time.perf_counter() - begin)
    yield from _trees("equal bins", rivals.bins(X, y, budget), part, of)
    yield from _trees("cuts of a CART", rivals.cart_cuts(X, y, budget), part, of)


def _fitted(disc: Any, X: pd.DataFrame, y: Any) -> Any:
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that the time limit of the forest cut the search short is in the line
        return disc.fit(X, y)


def _trees(method: str, cuts: rivals.Cuts, part: tuple[Any, ...], of: DataSet, **about: Any) -> Iterator[Line]:
    """One line per engine for some cuts."""
    X, y, X_test, y_test = part
    inside, test = rivals.answers(X, cuts), rivals.answers(X_test, cuts)
    rates = {
        "compression": bf.compress.compression_rate(test),
        "inconsistency": bf.compress.inconsistency_rate(test, y_test),
        "train_inconsistency": bf.compress.inconsistency_rate(inside, y),
    }
    task = TreeTask(inside, y.astype(np.intp), 2, DEPTH, LEAF_ROWS / len(y), TREE_SECONDS)
    for engine in engines():
        if engine == "gosdt" and len(cuts) > GOSDT_THRESHOLDS:
            continue
        begin = time.perf_counter()
        grown: GrownTree = ENGINES[engine](task)
        seconds = time.perf_counter() - begin
        tree = planted(grown.shape, inside, task.codes, 2)

        def said(rows: np.ndarray[Any, Any], tree: Any = tree) -> Any:
            return tree.label[tree.reached(rows)]

        wrong = float(np.mean(said(inside) != y))
        yield {
            "kind": "tree", "method": method, "engine": engine, "thresholds": len(cuts), **about, **rates,
            "features": len({cuts[j][0] for j in tree.column if j >= 0}), "leaves": len(tree.leaves),
            "accuracy": float(np.mean(said(test) == y_test)), "objective": wrong + task.penalty * len(tree.leaves),
            "proven": grown.proven, "tree_seconds": seconds,
            **_external(of, lambda rows, said=said: said(rivals.answers(rows, cuts))),
        }  # fmt: skip


def _external(of: DataSet, predict: Any) -> Line:
    return {} if of.outside is None else {"external": float(np.mean(predict(of.outside) == of.outside_y))}


def _heat(disc: Any) -> dict[str, list[tuple[float, float]]]:
    """The thresholds of each column: place in its range, and the highest quantile that keeps it."""
    found: dict[str, list[tuple[float, float]]] = {}
    for one in disc.crossings_.columns:
        feature = disc.space_.features[one.feature]
        place = 0.5 if feature.levels is not None else (one.at - feature.low) / feature.range
        found.setdefault(one.column, []).append((round(place, 3), round(one.survives, 3)))
    return found
