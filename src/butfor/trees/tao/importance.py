"""How much each feature matters to a learnt tree."""

from __future__ import annotations

import numpy as np

from butfor.arrays import FloatArray
from butfor.trees.tree import Tree


def importances(tree: Tree, X: FloatArray, target: FloatArray, weight: FloatArray, spread: FloatArray) -> FloatArray:
    """The share of each feature in what all decisions save in impurity (Breiman et al., CART, 1984, section 5.3.4).

    The impurity of a node is the sum of squares of its rows' targets (a column an output) around their mean: for
    labels that is the Gini index. An oblique decision shares what it saves among its features, by |weight| times
    spread. All are zero for a single leaf.
    """
    nodes = len(tree.left)
    total, mean, square = np.zeros(nodes), np.zeros((nodes, target.shape[1])), np.zeros(nodes)
    for at in tree.paths(X).T:
        seen = at >= 0
        heavy = weight[seen]
        np.add.at(total, at[seen], heavy)
        np.add.at(mean, at[seen], heavy[:, None] * target[seen])
        np.add.at(square, at[seen], heavy * (target[seen] ** 2).sum(axis=1))
    impurity = square - (mean**2).sum(axis=1) / total
    inner = tree.inner
    saved = impurity[inner] - impurity[tree.left[inner]] - impurity[tree.right[inner]]
    size = np.abs(tree.weights[inner]) * spread
    out = saved @ (size / size.sum(axis=1, keepdims=True))
    return np.asarray(out / out.sum() if out.sum() > 0 else np.zeros(X.shape[1]))
