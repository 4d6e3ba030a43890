"""XGBoost: boosters and its scikit-learn interface, read from the saved model.

What is saved is read in `estimator/dumps/`, from a live booster as from a file.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from butfor.arrays import BoolArray
from butfor.errors import InputError, UnsupportedModelError
from butfor.estimator.boosters import (
    AbstractNative,
    AbstractNativeClassifier,
    AbstractNativeRegressor,
    known_classes,
    register_native,
)
from butfor.estimator.dumps.dump import FromDump
from butfor.estimator.dumps.xgboost_dump import (
    CLASS_OBJECTIVES_OF_XGBOOST,
    LINKED_OBJECTIVES_OF_XGBOOST,
    SEVERAL,
    XGBoostDump,
    XGBoostFile,
    xgboost_dump,
)
from butfor.importers.fold.column import Column, NeedsLevels
from butfor.importers.fold.nodes import trees_over
from butfor.importers.registry import Imported, register_importer
from butfor.model.linked import value_behind
from butfor.model.nodes import Nodes
from butfor.model.readout import Argmax, Sign
from butfor.model.scores import UNIT_SINGLE


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
            f"{type(model).__name__} has a custom objective.",
            "Only objectives of XGBoost are known.",
            "Let the swarm search.",
        )
    best = getattr(model, "best_iteration", None)
    return read_booster(model.get_booster(), columns, known_classes(model), None if best is None else best + 1)


def read_native(native: AbstractNative, columns: list[Column]) -> Imported:
    """A booster with all of its iterations. Its own `predict` uses the same trees."""
    return read_booster(native.booster, columns, known_classes(native), None)


def read_booster(booster: Any, columns: list[Column], classes: tuple[Any, ...], rounds: int | None) -> Imported:
    """The first `rounds` iterations of a booster (default: all)."""
    return read_dump(xgboost_dump(json.loads(booster.save_raw("json")), classes, rounds), columns)


def read_file(estimator: FromDump, columns: list[Column]) -> Imported:
    """What a file holds."""
    dump = estimator.booster
    assert isinstance(dump, XGBoostDump)
    return read_dump(dump, columns)


def read_dump(dump: XGBoostDump, columns: list[Column]) -> Imported:
    """The trees of a saved model."""
    nodes = replace(dump.nodes, zero_missing=_zero_missing(dump.nodes, columns))
    model = trees_over(_coded(columns, dump), nodes, dump.base.astype(np.float64))
    if not dump.classes:
        return model, value_behind(LINKED_OBJECTIVES_OF_XGBOOST.get(dump.objective), UNIT_SINGLE)
    if len(dump.base) == 1:
        return model, Sign(dump.classes, "logistic", UNIT_SINGLE)
    return model, Argmax(dump.classes, "softmax", unit=UNIT_SINGLE)


def _zero_missing(nodes: Nodes, columns: list[Column]) -> BoolArray:
    """Which nodes send a zero elsewhere because a sparse table leaves it out, and XGBoost takes it for missing."""
    sparse = np.array([column.sparse is not None for column in columns], dtype=np.bool_)
    turned = (nodes.threshold >= 0) != nodes.missing_left
    return np.asarray((nodes.feature >= 0) & sparse[nodes.feature] & turned)


def _coded(columns: list[Column], dump: XGBoostDump) -> list[Column]:
    """The columns, with categories replaced by the numbers that XGBoost gives them."""
    out = list(columns)
    for i, known in dump.categories.items():
        column = columns[i]
        if column.table is None and known:
            raise NeedsLevels({column.feature: tuple(known)}, ordered=False)
        if column.table is None:
            continue
        if not known and column.table.dtype == object:  # before version 3.1 a category's number was its position
            known = column.table[:-1].tolist()
        if known and (others := [level for level in column.table[:-1].tolist() if level not in known]):
            name = dump.names[i] if dump.names else i
            raise InputError(
                f"column {name!r} has the category {others[0]!r}, with which XGBoost was not trained.",
                "It takes such a category for another one, or refuses it.",
                f"Give the column the categories that it knows, such as {known[:8]}.",
            )
        if known:
            out[i] = column.coded(known)
    return out


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
    if config["objective"]["name"] in CLASS_OBJECTIVES_OF_XGBOOST:
        return XGBoostBoosterClassifier(
            booster, names, width, range(max(int(config["learner_model_param"]["num_class"]), 2))
        )
    return XGBoostBoosterRegressor(booster, names, width)


register_importer("xgboost.XGBClassifier", read_estimator)
register_importer("xgboost.XGBRegressor", read_estimator)
register_importer(XGBoostFile, read_file)
register_importer(_XGBoost, read_native)
register_native("xgboost.Booster", adapt)
