"""CART: greedy, and without a proof."""

from __future__ import annotations

from sklearn.tree import DecisionTreeClassifier

from butfor.compress.engines.grown import GrownTree, TreeTask
from butfor.compress.tree import shape_of


def grow(task: TreeTask) -> GrownTree:
    """The tree that scikit-learn grows. It does not count leaves."""
    tree = DecisionTreeClassifier(max_depth=task.depth, random_state=0).fit(task.answers, task.codes)
    return GrownTree(shape_of(tree), False, 0.0, "CART takes the best split of each node, one after the other")
