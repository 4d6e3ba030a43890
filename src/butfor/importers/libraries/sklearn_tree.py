"""scikit-learn's decision trees: thresholds become cuts of raw numbers and sets of raw levels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from butfor.arrays import FloatArray, IntArray
from butfor.errors import UnsupportedModelError
from butfor.importers.fold.column import Column
from butfor.importers.fold.nodes import trees_over
from butfor.importers.registry import Imported, register_importer
from butfor.model.nodes import Nodes, numbered
from butfor.model.readout import Argmax, Value

AXIS_ALIGNED_TREES = ("DecisionTreeClassifier", "DecisionTreeRegressor", "ExtraTreeClassifier", "ExtraTreeRegressor")


def grown(
    estimators: Sequence[Any],
    inputs: Sequence[IntArray] | None = None,
    values: Callable[[Any], FloatArray] | None = None,
) -> Nodes:
    """The nodes of fitted trees, one tree after the other.

    - `inputs`: tree t reads the columns `inputs[t]` (default: all);
    - `values`: `values(tree)` returns what its nodes hold (default: what the tree predicts there).
    """
    trees = [estimator.tree_ for estimator in estimators]
    first = numbered([tree.node_count for tree in trees])
    leaf = np.concatenate([tree.children_left < 0 for tree in trees])
    columns = [tree.feature for tree in trees]
    if inputs is not None:
        columns = [reads[np.maximum(feature, 0)] for feature, reads in zip(columns, inputs, strict=True)]
    return Nodes(
        roots=first,
        feature=np.where(leaf, -1, np.concatenate(columns)).astype(np.intp),
        threshold=np.concatenate([tree.threshold for tree in trees]),
        missing_left=np.concatenate([tree.missing_go_to_left for tree in trees]).astype(np.bool_),
        left=np.concatenate([tree.children_left + at for tree, at in zip(trees, first, strict=True)]).astype(np.intp),
        right=np.concatenate([tree.children_right + at for tree, at in zip(trees, first, strict=True)]).astype(np.intp),
        value=np.concatenate([(values or node_values)(estimator) for estimator in estimators]),
        single=True,
    )


def node_values(estimator: Any) -> FloatArray:
    """What a tree predicts in each node: a value, or shares of classes."""
    if estimator.n_outputs_ != 1:
        raise UnsupportedModelError(
            f"{type(estimator).__name__} has {estimator.n_outputs_} outputs.",
            "One output is needed.",
            "Fit one tree per output.",
        )
    return np.ascontiguousarray(estimator.tree_.value[:, 0, :])


def read_tree(estimator: Any, columns: list[Column]) -> Imported:
    """One scikit-learn tree, classifier or regressor."""
    nodes = grown([estimator])
    model = trees_over(columns, nodes, np.zeros(nodes.value.shape[1]))
    if not hasattr(estimator, "classes_"):
        return model, Value()
    return model, Argmax(tuple(estimator.classes_.tolist()), "identity")


for name in AXIS_ALIGNED_TREES:
    register_importer(name, read_tree)
