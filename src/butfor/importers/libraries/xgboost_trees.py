"""XGBoost: boosters and its scikit-learn interface, read from the saved model.

XGBoost compares in float32: a row goes left iff its value is strictly below the threshold. It also adds up in float32.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from butfor.arrays import BoolArray, FloatArray, IntArray
from butfor.errors import UnsupportedModelError
from butfor.estimator.boosters import (
    AbstractNative,
    AbstractNativeClassifier,
    AbstractNativeRegressor,
    known_classes,
    register_native,
)
from butfor.importers.fold.column import Column
from butfor.importers.fold.nodes import Nodes, in_score, numbered, trees_over
from butfor.importers.registry import Imported, register_importer
from butfor.model.linked import Linked
from butfor.model.monotone import AbstractStep, Exponential, Logistic, MonotoneFunction
from butfor.model.readout import Argmax, Sign, Value
from butfor.model.scores import UNIT_SINGLE

SEVERAL = ("multi:softprob", "multi:softmax")
VALUE_OBJECTIVES_OF_XGBOOST = (
    "reg:squarederror",
    "reg:linear",
    "reg:absoluteerror",
    "reg:pseudohubererror",
    "reg:quantileerror",
    "reg:squaredlogerror",
)
LINKED_OBJECTIVES_OF_XGBOOST: dict[str, AbstractStep] = {
    "count:poisson": Exponential(),
    "reg:gamma": Exponential(),
    "reg:tweedie": Exponential(),
    "reg:logistic": Logistic(),
}
"""Objectives whose prediction is a function of the sum."""


def read_estimator(model: Any, columns: list[Column]) -> Imported:
    """XGBClassifier, XGBRegressor and their random forests. If training stopped early, up to the best iteration."""
    if not np.isnan(model.missing):
        raise UnsupportedModelError(
            f"{type(model).__name__}(missing={model.missing!r}) treats a value as missing.",
            "butfor takes missing values as NaN or None.",
            "Replace that value by NaN in the data.",
        )
    if callable(model.objective):
        raise UnsupportedModelError(
            f"{type(model).__name__} has a custom objective.", "Only objectives of XGBoost are known.", ""
        )
    best = getattr(model, "best_iteration", None)
    return read_booster(model.get_booster(), columns, known_classes(model), None if best is None else best + 1)


def read_native(native: AbstractNative, columns: list[Column]) -> Imported:
    """A booster with all of its iterations. Its own `predict` uses the same trees."""
    return read_booster(native.booster, columns, known_classes(native), None)


def read_booster(booster: Any, columns: list[Column], classes: tuple[Any, ...], rounds: int | None) -> Imported:
    """The first `rounds` iterations of a booster (default: all)."""
    learner = _learner(booster)
    forest = learner["gradient_booster"]["model"]
    count = forest["iteration_indptr"][-1 if rounds is None else rounds]
    scores = max(int(learner["learner_model_param"]["num_class"]), 1)
    nodes = _nodes(forest["trees"][:count], np.array(forest["tree_info"][:count], dtype=np.intp), scores)
    nodes = replace(nodes, zero_missing=_zero_missing(nodes, columns))
    model = trees_over(_coded(columns, learner), nodes, _base(learner, scores))
    if not classes:
        link = LINKED_OBJECTIVES_OF_XGBOOST.get(learner["objective"]["name"])
        return model, Linked(function=MonotoneFunction((link,)), unit=UNIT_SINGLE) if link else Value(unit=UNIT_SINGLE)
    if scores == 1:
        return model, Sign(classes, "logistic", UNIT_SINGLE)
    return model, Argmax(classes, "softmax", unit=UNIT_SINGLE)


def _learner(booster: Any) -> dict[str, Any]:
    """The saved model, checked."""
    learner: dict[str, Any] = json.loads(booster.save_raw("json"))["learner"]
    kind, objective = learner["gradient_booster"]["name"], learner["objective"]["name"]
    if kind != "gbtree":
        raise UnsupportedModelError(
            f"the booster {kind!r} of XGBoost cannot be read.",
            "Only 'gbtree' can be read.",
            "Train with booster='gbtree'.",
        )
    known = ("binary:logistic", *SEVERAL, *VALUE_OBJECTIVES_OF_XGBOOST, *LINKED_OBJECTIVES_OF_XGBOOST)
    if objective not in known:
        raise UnsupportedModelError(
            f"the objective {objective!r} of XGBoost cannot be read.",
            f"The known objectives are {', '.join(known)}.",
            "Search given rows with bf.candidates(rows).",
        )
    trees = learner["gradient_booster"]["model"]["trees"]
    if int(learner["learner_model_param"].get("num_target", 1)) > 1 or any(
        int(tree["tree_param"]["size_leaf_vector"]) > 1 for tree in trees
    ):
        raise UnsupportedModelError(
            "XGBoost predicts several values.", "One output is needed.", "Fit one model per output."
        )
    return learner


def _base(learner: Mapping[str, Any], scores: int) -> FloatArray:
    """The start of each sum: the base score. It is given as a prediction, and turned into a score (in float32)."""
    base = np.atleast_1d(np.asarray(json.loads(learner["learner_model_param"]["base_score"]), dtype=np.float32))
    objective = learner["objective"]["name"]
    if objective in ("binary:logistic", "reg:logistic"):
        base = -np.log(np.float32(1) / base - np.float32(1))
    elif objective in LINKED_OBJECTIVES_OF_XGBOOST:
        base = np.log(base)
    return np.broadcast_to(base.astype(np.float64), scores).copy()


def _nodes(trees: list[dict[str, Any]], score: IntArray, scores: int) -> Nodes:
    counts = [len(tree["left_children"]) for tree in trees]
    first = numbered(counts)
    shift = np.repeat(first, counts)
    left = _all(trees, "left_children", np.intp)
    leaf = left < 0
    number = _all(trees, "split_conditions", np.float32)
    category = _all(trees, "split_type", np.intp) == 1
    group, groups = _groups(trees, first, len(left))
    below = np.nextafter(number, np.float32(-np.inf)).astype(np.float64)
    return Nodes(
        roots=first,
        feature=np.where(leaf, -1, _all(trees, "split_indices", np.intp)),
        threshold=np.where(category | leaf, 0.0, below),
        missing_left=_all(trees, "default_left", np.bool_),
        left=left + shift,
        right=_all(trees, "right_children", np.intp) + shift,
        value=in_score(np.where(leaf, number, 0).astype(np.float64), np.repeat(score, counts), scores),
        single=True,
        group=group,
        groups=groups,
    )


def _zero_missing(nodes: Nodes, columns: list[Column]) -> BoolArray:
    """Which nodes send a zero elsewhere because a sparse table leaves it out, and XGBoost takes it for missing."""
    sparse = np.array([column.sparse is not None for column in columns], dtype=np.bool_)
    turned = (nodes.threshold >= 0) != nodes.missing_left
    return np.asarray((nodes.feature >= 0) & sparse[nodes.feature] & turned)


def _all(trees: list[dict[str, Any]], name: str, kind: Any) -> NDArray[Any]:
    return np.concatenate([np.asarray(tree[name], dtype=kind) for tree in trees])


def _groups(trees: list[dict[str, Any]], first: IntArray, count: int) -> tuple[IntArray, BoolArray]:
    """For each node, the row of categories that go left. They are those not in its list."""
    group = np.full(count, -1, dtype=np.intp)
    lists: list[list[int]] = []
    for at, tree in zip(first, trees, strict=True):
        for node, start, size in zip(
            tree["categories_nodes"], tree["categories_segments"], tree["categories_sizes"], strict=True
        ):
            group[at + node] = len(lists)
            lists.append(tree["categories"][start : start + size])
    groups = np.ones((len(lists), 2 + max((max(listed) for listed in lists), default=0)), dtype=np.bool_)
    for row, listed in zip(groups, lists, strict=True):
        row[listed] = False
    return group, groups


def _coded(columns: list[Column], learner: Mapping[str, Any]) -> list[Column]:
    """The columns, with categories replaced by the numbers that XGBoost gives them."""
    kinds = learner["feature_types"] or []
    known = learner["gradient_booster"]["model"].get("cats", {}).get("enc", [])
    out = list(columns)
    for i, kind in enumerate(kinds):
        column = columns[i]
        if kind != "c" or column.table is None:
            continue
        names = _category_names(known[i]) if i < len(known) else []
        if not names and column.table.dtype == object:  # before version 3.1 a category's number was its position
            names = column.table[:-1].tolist()
        if names:
            out[i] = column.coded(names)
    return out


def _category_names(saved: Mapping[str, Any]) -> list[Any]:
    values = saved["values"]
    if "offsets" not in saved:
        return list(values)
    text, ends = bytes(value % 256 for value in values), saved["offsets"]
    return [text[start:end].decode() for start, end in pairwise(ends)]


class _XGBoost:
    """Calls a booster of XGBoost."""

    booster: Any

    def answers(self, X: Any) -> NDArray[Any]:
        import xgboost

        kinds = self.booster.feature_types if isinstance(X, np.ndarray) else None
        rows = xgboost.DMatrix(X, feature_types=kinds, enable_categorical=True)
        if json.loads(self.booster.save_config())["learner"]["objective"]["name"] in SEVERAL:
            return np.asarray(softmax(self.booster.predict(rows, output_margin=True), axis=1))
        return np.asarray(self.booster.predict(rows))


class XGBoostBoosterClassifier(_XGBoost, AbstractNativeClassifier):
    """An XGBoost booster with a logistic or softmax objective."""


class XGBoostBoosterRegressor(_XGBoost, AbstractNativeRegressor):
    """An XGBoost booster with any other objective."""


def adapt(booster: Any) -> AbstractNative:
    """A booster as an estimator."""
    config = json.loads(booster.save_config())["learner"]
    names, width = booster.feature_names, booster.num_features()
    if config["objective"]["name"] in ("binary:logistic", *SEVERAL):
        return XGBoostBoosterClassifier(booster, names, width, max(int(config["learner_model_param"]["num_class"]), 2))
    return XGBoostBoosterRegressor(booster, names, width)


register_importer("xgboost.XGBClassifier", read_estimator)
register_importer("xgboost.XGBRegressor", read_estimator)
register_importer(_XGBoost, read_native)
register_native("xgboost.Booster", adapt)
