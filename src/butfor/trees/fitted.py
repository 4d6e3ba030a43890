"""The methods of every fitted oblique tree, learnt or given as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from butfor.arrays import FloatArray, IntArray
from butfor.errors import InputError
from butfor.trees.text import text
from butfor.trees.tree import Tree


class FittedTree(BaseEstimator):  # type: ignore[misc]
    """The methods of a fitted tree. It has `tree_`, and the tree's arrays as attributes."""

    def _set(self, tree: Tree) -> None:
        self.tree_ = tree
        self.weights_, self.bias_, self.value_ = tree.weights, tree.bias, tree.value
        self.left_, self.right_ = tree.left, tree.right

    def _rows(self, X: Any) -> FloatArray:
        check_is_fitted(self)
        return np.asarray(validate_data(self, X, dtype=np.float64, order="C", force_writeable=True, reset=False))

    def apply(self, X: Any) -> IntArray:
        """The number of the leaf that each row reaches."""
        return self._leaves(self._rows(X))

    def _leaves(self, X: FloatArray) -> IntArray:
        return self.tree_.leaves(X)

    def decision_path(self, X: Any) -> csr_matrix:
        """A sparse table (rows, nodes) that is 1 if a row visits a node."""
        visited = self.tree_.paths(self._rows(X))
        count = np.concatenate([[0], np.cumsum((visited >= 0).sum(axis=1))])
        nodes = visited[visited >= 0]
        return csr_matrix((np.ones(len(nodes), dtype=np.int64), nodes, count), (len(visited), len(self.left_)))

    def get_depth(self) -> int:
        """The number of decisions on the longest path."""
        check_is_fitted(self)
        return int(self.tree_.depth.max())

    def get_n_leaves(self) -> int:
        """The number of leaves."""
        check_is_fitted(self)
        return int((self.left_ < 0).sum())

    def export_text(self, feature_names: Sequence[str] | None = None, decimals: int = 3) -> str:
        """The tree as text. After each decision come its subtree if it holds, and its subtree if not."""
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None) if feature_names is None else feature_names
        names = [f"x{j}" for j in range(self.n_features_in_)] if names is None else [str(name) for name in names]
        if len(names) != self.n_features_in_:
            raise InputError(f"{len(names)} feature names were given.", f"The tree has {self.n_features_in_} features.")
        return text(self.tree_, names, self._leaf_text, decimals)


class TreeClassifier(ClassifierMixin, FittedTree):  # type: ignore[misc]
    """A tree whose leaves hold the share of each class."""

    def predict(self, X: Any) -> Any:
        """The label of each row."""
        X = self._rows(X)
        return self.classes_[self.value_.argmax(axis=1)[self._leaves(X)]]

    def predict_proba(self, X: Any) -> FloatArray:
        """The share of each class among the training rows of a row's leaf."""
        X = self._rows(X)
        return np.asarray(self.value_[self._leaves(X)])

    def _leaf_text(self, node: int, decimals: int) -> str:
        best = int(self.value_[node].argmax())
        return f"{self.classes_[best]} ({self.value_[node, best]:.0%})"


class TreeRegressor(RegressorMixin, FittedTree):  # type: ignore[misc]
    """A tree whose leaves hold a value."""

    def predict(self, X: Any) -> FloatArray:
        """The value of each row."""
        X = self._rows(X)
        return np.asarray(self.value_[self._leaves(X), 0])

    def _leaf_text(self, node: int, decimals: int) -> str:
        return f"{self.value_[node, 0]:.{decimals}f}"
