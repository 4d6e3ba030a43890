"""scikit-learn's decision trees: thresholds become cuts of raw numbers and sets of raw levels."""

from __future__ import annotations

from typing import Any

import numpy as np

from butfor.errors import UnsupportedModelError
from butfor.importers.column import Column, last_where
from butfor.importers.registry import Imported, register_importer
from butfor.importers.sklearn_linear import representatives
from butfor.model.cells import BoolArray, Cells, IntArray, level_cells, number_cells
from butfor.model.readout import Argmax, Value
from butfor.model.trees import Trees, with_cells
from butfor.space.frames import FloatArray


def trees_over(
    columns: list[Column],
    roots: IntArray,
    feature: IntArray,
    threshold: FloatArray,
    missing_left: BoolArray,
    left: IntArray,
    right: IntArray,
    value: FloatArray,
    base: FloatArray,
) -> Trees:
    """Trees whose node i sends a row left iff float32 of column `feature[i]` is at most `threshold[i]`, on raw features.

    `feature[i]` is -1 in a leaf.
    """
    count = 1 + max(column.feature for column in columns)
    raw = np.full(len(feature), -1, dtype=np.intp)
    cut = np.zeros(len(feature))
    member = np.full(len(feature), -1, dtype=np.intp)
    goes_missing = np.zeros(len(feature), dtype=np.bool_)
    for c in np.unique(feature[feature >= 0]):
        column, nodes = columns[c], np.flatnonzero(feature == c)
        raw[nodes] = column.feature
        lost = column.missing_value()
        goes_missing[nodes] = missing_left[nodes] if lost != lost else np.float32(lost) <= threshold[nodes]
        if column.table is None and column.edges is None:
            cut[nodes] = last_where(column, _below(threshold[nodes]), len(nodes))
    fixed = _fixed_cells(columns, count, raw, cut, feature)
    sets: list[BoolArray] = []
    for node in np.flatnonzero(feature >= 0):
        column = columns[feature[node]]
        if column.table is None and column.edges is None:
            continue
        cells = fixed[column.feature]
        assert cells is not None
        inputs = column.table[:-1] if column.table is not None else column.at(representatives(cells))
        mask = np.append(np.asarray(inputs, dtype=np.float32) <= threshold[node], goes_missing[node])
        member[node] = len(sets)
        sets.append(mask)
    trees = Trees(roots, raw, cut, member, goes_missing, left, right, value, tuple(sets), base, ())
    return with_cells(trees, fixed)


def _below(threshold: FloatArray) -> Any:
    return lambda x: x.astype(np.float32) <= threshold


def _fixed_cells(
    columns: list[Column], count: int, raw: IntArray, cut: FloatArray, feature: IntArray
) -> tuple[Cells | None, ...]:
    """Cells of the features that are asked for sets: levels, and numbers that some step has binned."""
    out: list[Cells | None] = [None] * count
    for c, column in enumerate(columns):
        j = column.feature
        if column.table is not None:
            out[j] = level_cells(len(column.table) - 1)
        elif column.edges is not None and (feature == c).any():
            plain = [k for k, other in enumerate(columns) if other.feature == j and other.edges is None]
            cuts = cut[np.isin(feature, plain)]
            known = out[j]
            edges = known.edges if known is not None else np.empty(0)
            out[j] = number_cells(np.concatenate([edges, column.edges, cuts]))
    return tuple(out)


def read_tree(estimator: Any, columns: list[Column]) -> Imported:
    """One scikit-learn tree, classifier or regressor."""
    if estimator.n_outputs_ != 1:
        raise UnsupportedModelError(
            f"{type(estimator).__name__} has {estimator.n_outputs_} outputs.",
            "One output is needed.",
            "Fit a tree each.",
        )
    tree = estimator.tree_
    leaf = tree.children_left < 0
    missing_left = getattr(tree, "missing_go_to_left", np.zeros(tree.node_count))
    model = trees_over(
        columns,
        roots=np.zeros(1, dtype=np.intp),
        feature=np.where(leaf, -1, tree.feature).astype(np.intp),
        threshold=tree.threshold,
        missing_left=np.asarray(missing_left, dtype=np.bool_),
        left=tree.children_left.astype(np.intp),
        right=tree.children_right.astype(np.intp),
        value=np.ascontiguousarray(tree.value[:, 0, :]),
        base=np.zeros(tree.value.shape[2]),
    )
    if not hasattr(estimator, "classes_"):
        return model, Value()
    return model, Argmax(tuple(estimator.classes_.tolist()), "identity")


for name in ("DecisionTreeClassifier", "DecisionTreeRegressor", "ExtraTreeClassifier", "ExtraTreeRegressor"):
    register_importer(name, read_tree)
