"""Oblique trees of `butfor.trees`: those that TAO learns, and those given as arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from butfor.importers.fold.column import Column
from butfor.importers.fold.linear import linear_over
from butfor.importers.registry import Imported, register_importer
from butfor.model.oblique import ObliqueTree
from butfor.model.readout import Argmax, Value

OBLIQUE_TREES = ("TAOClassifier", "TAORegressor", "ObliqueTreeClassifier", "ObliqueTreeRegressor")


def read_oblique_tree(estimator: Any, columns: list[Column]) -> Imported:
    """A tree whose decisions are hyperplanes over its columns, folded onto raw features."""
    inner = np.flatnonzero(estimator.left_ >= 0)
    gate = np.full(len(estimator.left_), -1, dtype=np.intp)
    gate[inner] = np.arange(len(inner))
    if not len(inner):  # a single leaf needs no gate, but a linear model has at least one score
        inner = np.zeros(1, dtype=np.intp)
    gates = linear_over(columns, estimator.weights_[inner], estimator.bias_[inner])
    model = ObliqueTree(gates, gate, estimator.left_, estimator.right_, np.ascontiguousarray(estimator.value_))
    if not hasattr(estimator, "classes_"):
        return model, Value()
    return model, Argmax(tuple(estimator.classes_.tolist()), "identity")


for name in OBLIQUE_TREES:
    register_importer(f"butfor.{name}", read_oblique_tree)
