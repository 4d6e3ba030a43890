"""Trees to start the optimisation from: CART, or random decisions at the median."""

from __future__ import annotations

import numpy as np
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from butfor.arrays import FloatArray
from butfor.trees.tao.split import Split
from butfor.trees.tree import Tree, sides


def cart(
    model: DecisionTreeClassifier | DecisionTreeRegressor,
    centre: FloatArray,
    spread: FloatArray,
    split: Split,
    width: int,
) -> Tree:
    """A CART that was fitted to (X - centre) / spread, as a tree for X.

    scikit-learn sends x <= threshold left, so rows from the next larger number on go right.
    """
    nodes = model.tree_
    inner = np.flatnonzero(nodes.children_left >= 0)
    weights, bias = np.zeros((nodes.node_count, nodes.n_features)), np.zeros(nodes.node_count)
    feature = nodes.feature[inner]
    threshold = centre[feature] + nodes.threshold[inner] * spread[feature]
    weights[inner, feature] = split.cut(feature)
    bias[inner] = -np.nextafter(threshold, np.inf) * split.cut(feature)
    left, right = nodes.children_left.astype(np.intp), nodes.children_right.astype(np.intp)
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
