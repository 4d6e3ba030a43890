"""Trees to start the optimisation from: CART, or random decisions at the median."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from butfor.arrays import FloatArray
from butfor.trees.tao.split import Split
from butfor.trees.tree import Tree, sides


def cart(
    X: FloatArray,
    y: Any,
    weight: FloatArray,
    learner: DecisionTreeClassifier | DecisionTreeRegressor,
    split: Split,
    width: int,
) -> Tree:
    """The tree that CART learns.

    It learns from ranks. Of values, it keeps single precision and takes close ones for the same, so a column with a number
    far from all others, such as a code for "not known", would lose its cuts.
    Each cut lies in the middle between rows of its node. A row in the middle goes left, as in scikit-learn.
    """
    ranks = np.column_stack([np.unique(column, return_inverse=True)[1] for column in X.T])
    visits = learner.fit(ranks, y, sample_weight=weight).decision_path(ranks).tocsc()
    rows, nodes = np.split(visits.indices, visits.indptr[1:-1]), learner.tree_
    left, right = nodes.children_left.astype(np.intp), nodes.children_right.astype(np.intp)
    weights, bias = np.zeros((nodes.node_count, nodes.n_features)), np.zeros(nodes.node_count)
    inner = np.flatnonzero(left >= 0)
    feature = nodes.feature[inner]
    low = np.array([X[rows[left[i]], j].max() for i, j in zip(inner, feature, strict=True)])
    high = np.array([X[rows[right[i]], j].min() for i, j in zip(inner, feature, strict=True)])
    middle = low + (high - low) / 2
    weights[inner, feature] = split.cut(feature)
    bias[inner] = -np.nextafter(np.where(middle < high, middle, low), np.inf) * split.cut(feature)
    return Tree(weights, bias, left, right, np.zeros((nodes.node_count, width)))


def random(X: FloatArray, weight: FloatArray, depth: int, split: Split, width: int, rng: np.random.RandomState) -> Tree:
    """A tree of random decisions. Each one halves the weight of its rows; equal rows make a leaf."""
    weights, bias = [], []
    left: list[int] = []
    right: list[int] = []
    pending = [(np.arange(len(X)), 0, -1, right)]
    while pending:
        rows, level, parent, side = pending.pop()
        node = len(left)
        if parent >= 0:
            side[parent] = node
        left.append(-1)
        right.append(-1)
        decision = np.zeros(X.shape[1]), 0.0
        if level < depth and (X[rows] != X[rows[0]]).any():
            direction = split.direction(rng, X.shape[1])
            along = (X[rows] * direction).sum(axis=1)  # equal rows give equal sums, which `@` does not guarantee
            decision = direction, -_middle(along, weight[rows])
            ahead = sides(X[rows], *decision)
            if ahead.any() and not ahead.all():
                pending += [(rows[ahead], level + 1, node, right), (rows[~ahead], level + 1, node, left)]
        weights.append(decision[0])
        bias.append(decision[1])
    links = (np.array(left, dtype=np.intp), np.array(right, dtype=np.intp))
    return Tree(np.array(weights), np.array(bias), *links, np.zeros((len(left), width)))


def _middle(x: FloatArray, weight: FloatArray) -> float:
    """A number between values of `x`, with about half of the weight below it."""
    values, group = np.unique(x, return_inverse=True)
    if len(values) == 1:
        return float(values[0])
    below = np.cumsum(np.bincount(group, weight))
    k = int(np.clip(np.searchsorted(below, below[-1] / 2), 1, len(values) - 1))
    return float(values[k - 1] + (values[k] - values[k - 1]) / 2)
