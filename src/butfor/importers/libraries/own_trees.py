"""Oblique trees of `butfor.trees`: those that TAO learns, and those given as arrays; alone, and added up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from butfor.arrays import FloatArray, IntArray
from butfor.errors import UnsupportedModelError
from butfor.importers.fold.additive import additive_over
from butfor.importers.fold.column import Column
from butfor.importers.registry import Imported, register_importer
from butfor.model.additive import Additive
from butfor.model.bent_tree import BentTree
from butfor.model.linear import Linear
from butfor.model.nodes import numbered
from butfor.model.oblique import ObliqueTree
from butfor.model.oblique_forest import ObliqueForest
from butfor.model.readout import Argmax, Value

OBLIQUE_TREES = ("TAOClassifier", "TAORegressor", "ObliqueTreeClassifier", "ObliqueTreeRegressor")


def read_oblique_tree(estimator: Any, columns: list[Column]) -> Imported:
    """A tree whose decisions are hyperplanes over its columns, folded onto raw features."""
    gates = _gates([estimator], [estimator.weights_], columns)
    line = gates.line if isinstance(gates, Additive) else gates
    tree = _tree(estimator, line, 0, estimator.value_)
    model = BentTree(tree, gates.shapes) if isinstance(gates, Additive) else tree
    if not hasattr(estimator, "classes_"):
        return model, Value()
    return model, Argmax(tuple(estimator.classes_.tolist()), "identity")


def oblique_forest(
    columns: list[Column],
    estimators: Sequence[Any],
    values: Sequence[FloatArray],
    inputs: Sequence[IntArray] | None,
    folded: bool,
) -> ObliqueForest:
    """The sum of oblique trees whose nodes hold `values`. Tree t reads the columns `inputs[t]` (default: all)."""
    weights = [estimator.weights_ for estimator in estimators]
    if inputs is not None:
        weights = [_spread(weight, reads, len(columns)) for weight, reads in zip(weights, inputs, strict=True)]
    gates = _gates(estimators, weights, columns)
    if isinstance(gates, Additive):
        raise UnsupportedModelError(
            f"several oblique trees follow a step that bends a column: {bent_by(columns)}.",
            "Their decisions must be linear in each number, or in bins.",
            "Bend the table beforehand (answers are then in the bent units), or bin the column. Until then, the swarm searches.",
        )
    first = numbered([int((estimator.left_ >= 0).sum()) for estimator in estimators])
    trees = (_tree(*given) for given in zip(estimators, [gates] * len(estimators), first, values, strict=True))
    return ObliqueForest(tuple(trees), folded)


def _spread(weights: FloatArray, reads: IntArray, columns: int) -> FloatArray:
    """Weights of some of the columns as weights of all."""
    out = np.zeros((len(weights), columns))
    np.add.at(out.T, reads, weights.T)  # a column may be drawn more than once
    return out


def bent_by(columns: Sequence[Column]) -> str:
    """The first step that bends a column."""
    bent = (one for one in columns if not one.affine and one.table is None and one.edges is None)
    return next((one.bent_by for one in bent if one.bent_by), "one of your own")


def _gates(estimators: Sequence[Any], weights: Sequence[FloatArray], columns: list[Column]) -> Linear | Additive:
    """The decisions of some trees, one after the other."""
    inner = [estimator.left_ >= 0 for estimator in estimators]
    if not any(some.any() for some in inner):  # single leaves need no gate, but a linear model has at least one score
        return additive_over(columns, np.zeros((1, len(columns))), np.zeros(1))
    rows = np.concatenate([weight[some] for weight, some in zip(weights, inner, strict=True)])
    bias = np.concatenate([estimator.bias_[some] for estimator, some in zip(estimators, inner, strict=True)])
    return additive_over(columns, rows, bias)


def _tree(estimator: Any, gates: Linear, first: int, value: FloatArray) -> ObliqueTree:
    """A tree whose own gates begin at number `first`."""
    inner = np.flatnonzero(estimator.left_ >= 0)
    gate = np.full(len(estimator.left_), -1, dtype=np.intp)
    gate[inner] = first + np.arange(len(inner))
    return ObliqueTree(gates, gate, estimator.left_, estimator.right_, np.ascontiguousarray(value))


for name in OBLIQUE_TREES:
    register_importer(f"butfor.{name}", read_oblique_tree)
