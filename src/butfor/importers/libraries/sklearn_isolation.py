"""scikit-learn's isolation forest as a sum of trees.

The sum is the number of questions that single a row out, averaged over the trees.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from butfor.arrays import FloatArray
from butfor.errors import NotFittedError
from butfor.estimator.inside import is_pipeline
from butfor.importers.fold.column import Column
from butfor.importers.fold.nodes import trees_over
from butfor.importers.libraries.sklearn_tree import grown
from butfor.importers.registry import Imported, read_step, register_importer, register_plausibility
from butfor.model.readout import Value


class PathLengths:
    """An isolation forest as a regressor that predicts the average path length.

    The forest may be alone or at the end of a pipeline.
    """

    def __init__(self, estimator: Any) -> None:
        forest = estimator.steps[-1][1] if is_pipeline(estimator) else estimator
        if not hasattr(forest, "estimators_"):
            raise NotFittedError("this IsolationForest is not fitted.", "A fitted one is needed.", "Call fit first.")
        self.estimator, self.forest = estimator, forest
        self.gets_rows = (estimator,)
        for name in ("feature_names_in_", "n_features_in_"):
            if hasattr(estimator, name):
                setattr(self, name, getattr(estimator, name))

    @property
    def stands_for(self) -> Any:
        """The forest."""
        return self.forest

    @property
    def border(self) -> float:
        """The path length at which the forest itself separates outliers from the rest."""
        return float(self._lengths(np.array([self.forest.offset_]))[0])

    def predict(self, X: Any) -> FloatArray:
        """The average path length of each row, from the forest's own scores."""
        return self._lengths(self.estimator.score_samples(X))

    def _lengths(self, scores: FloatArray) -> FloatArray:
        """The path lengths of some scores.

        A score is `-2 ** (-length / c)`, where c is the average path length for a whole sample.
        """
        whole = _unseen(np.array([self.forest.max_samples_]))[0]
        return np.asarray(-whole * np.log2(-np.asarray(scores)))


def read_path_lengths(lengths: PathLengths, columns: list[Column]) -> Imported:
    """The forest as a sum of trees.

    The value of a leaf is its depth plus what a tree grown on the leaf's rows would add, divided by the number of
    trees.
    """
    forest = lengths.forest
    if lengths.estimator is not forest:
        before = lengths.estimator[:-1]
        columns = read_step(before, columns)
    trees = forest.estimators_
    depth = np.concatenate([_depth(estimator.tree_) for estimator in trees])
    rows = np.concatenate([estimator.tree_.n_node_samples for estimator in trees])
    value = (depth + _unseen(rows))[:, None] / len(trees)
    nodes = replace(grown(trees, forest.estimators_features_), value=value)
    return trees_over(columns, nodes, np.zeros(1), folded=True), Value()


def _depth(tree: Any) -> FloatArray:
    depth = np.zeros(tree.node_count)
    for node in np.flatnonzero(tree.children_left >= 0):  # parents come before their children
        depth[[tree.children_left[node], tree.children_right[node]]] = depth[node] + 1
    return depth


def _unseen(rows: FloatArray) -> FloatArray:
    """The average path length in a tree grown on n rows: `2 H(n - 1) - 2 (n - 1) / n`."""
    n = np.maximum(np.asarray(rows, dtype=np.float64), 2.0)
    harmonic = np.where(n > 2, 2 * (np.log(np.maximum(n - 1, 1.0)) + np.euler_gamma) - 2 * (n - 1) / n, 1.0)
    return np.where(np.asarray(rows) < 2, 0.0, harmonic)


register_importer(PathLengths, read_path_lengths)
register_plausibility("IsolationForest", PathLengths)
