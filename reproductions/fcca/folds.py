"""One line per fold and method: accuracy, thresholds, columns, compression, inconsistency, seconds."""

from __future__ import annotations

import time
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone
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
from reproductions.fcca import program, rivals
from reproductions.fcca.sets import DataSet

QUANTILES = (0.0, 0.7, 0.8, 0.9, 0.95)
DEPTH = 3
TREE_SECONDS = 60.0
GOSDT_THRESHOLDS = 64
"""GOSDT is asked up to so many thresholds. Its memory grows with the third power of them."""

FOREST_SECONDS = 60.0
"""The time limit for the counterfactuals of the forest, per fold."""

PROGRAM_ROWS = 1000
"""The paper's own program is solved where no more rows are asked about. It takes a tenth of a second for each."""

Line = dict[str, Any]


def engines() -> list[str]:
    """The learners of trees that are installed."""
    return ["cart", *(kind for kind, library in (("gosdt", "gosdt"), ("streed", "pystreed")) if find_spec(library))]


def stumps(trees: int) -> Any:
    return GradientBoostingClassifier(n_estimators=trees, max_depth=1, learning_rate=0.1, random_state=SEED)


def models(of: DataSet, smoke: bool) -> dict[str, Any]:
    """The paper's model; where `of` says so, also the two of its figure 13, with the depth and the C of the paper."""
    found = {"boosted stumps": stumps(10 if smoke else 100)}
    if of.all_models:
        found["forest"] = RandomForestClassifier(5 if smoke else 100, max_depth=2 if smoke else 4, random_state=SEED)
        found["linear SVM"] = make_pipeline(MinMaxScaler(), LinearSVC(C=1.0, random_state=SEED))
    return found


def on_the_margin(model: Any) -> list[Any]:
    """The margin of a linear support vector machine over columns from 0 to 1: constraint (17), w'x + b >= 1."""
    return [bf.margin(1.0 / float(np.linalg.norm(model[-1].coef_)))]


def lines(of: DataSet, smoke: bool) -> Iterator[Line]:
    """All folds of one set, for each model."""
    splits = StratifiedKFold(2 if smoke else 5, shuffle=True, random_state=SEED)
    for model_name, model in models(of, smoke).items():
        for fold, (train, test) in enumerate(splits.split(of.X, of.y)):
            about = {"set": of.name, "model": model_name, "fold": fold} | {
                key: where()[key] for key in ("commit", "dirty")
            }
            part = (of.X.iloc[train], of.y[train], of.X.iloc[test], of.y[test])
            for line in _fold(of, model_name, model, part, smoke):
                yield about | line


def _fold(of: DataSet, model_name: str, model: Any, part: tuple[Any, ...], smoke: bool) -> Iterator[Line]:
    X, y, X_test, y_test = part
    recent.forget()
    limit = FOREST_SECONDS if model_name == "forest" else None
    begin = time.perf_counter()
    fitted = clone(model).fit(X, y)
    disc = bf.compress.CounterfactualDiscretizer(
        fitted, quantile=0.0, p1=of.p1 if hasattr(model, "predict_proba") else 1.0, time_limit=limit, progress=False,
        constraints=on_the_margin(fitted) if model_name == "linear SVM" else (),
    )  # fmt: skip
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
    together = _fitted(type(disc)(**(disc.get_params(deep=False) | {"rank": "classes"})), X, y)
    for quantile in QUANTILES[1:]:
        cuts = [(one.feature, one.at) for one in together.set_quantile(quantile).thresholds_]
        yield from _trees("FCCA, by classes", cuts, part, of, quantile=quantile)
    if found.rows <= PROGRAM_ROWS:
        yield from _own_program(disc, part, of)
    begin = time.perf_counter()
    reference = rivals.gtre(X, y, 10 if smoke else 100)
    seconds = time.perf_counter() - begin
    yield {"kind": "heat", "method": "GTRE", "heat": _places(reference, disc.space_)}
    yield from _trees("GTRE", reference, part, of, seconds=seconds)
    yield from _trees("equal bins", rivals.bins(X, y, budget), part, of)
    yield from _trees("cuts of a CART", rivals.cart_cuts(X, y, budget), part, of)


def _own_program(disc: Any, part: tuple[Any, ...], of: DataSet) -> Iterator[Line]:
    """The paper's program with the distance of its answers, and its formula: how it agrees, and the trees."""
    X, y, *_ = part
    begin = time.perf_counter()
    own = program.crossed(disc.model_, X, y, of.p1)
    seconds = time.perf_counter() - begin

    def parted(cuts: rivals.Cuts) -> set[tuple[int, int]]:
        return {(j, int((X.iloc[:, j] <= at).sum())) for j, at in cuts}

    ours = parted([(one.feature, one.at) for one in disc.crossings_.columns])
    theirs = parted(list(own.count))
    yield {
        "kind": "program", "seconds": seconds, "rows": own.rows, "answered": own.answered, "off": own.off,
        "thresholds": len(theirs), "shared": len(ours & theirs), "ours": len(ours),
    }  # fmt: skip
    for quantile in (0.0, 0.7):
        yield from _trees("paper's program", own.kept(quantile), part, of, quantile=quantile)


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
        "compression": bf.compress.compression_rate(inside),
        "inconsistency": bf.compress.inconsistency_rate(inside, y),
        "held_out_compression": bf.compress.compression_rate(test),
        "held_out_inconsistency": bf.compress.inconsistency_rate(test, y_test),
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


def _places(cuts: rivals.Cuts, space: Any) -> dict[str, list[tuple[float, float]]]:
    """The same for thresholds without a quantile: each is there, or not."""
    found: dict[str, list[tuple[float, float]]] = {}
    for j, at in cuts:
        feature = space.features[j]
        found.setdefault(feature.name, []).append((round((at - feature.low) / feature.range, 3), 1.0))
    return found
