"""Forests of scikit-learn asked tree by tree, in this thread: for few rows, its queue of trees takes most of the time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from butfor.arrays import FloatArray

FEW_ROWS = 2_000
"""For more rows than this, a forest is asked itself: it may have threads."""

FORESTS = {
    "RandomForestClassifier": True,
    "ExtraTreesClassifier": True,
    "RandomForestRegressor": False,
    "ExtraTreesRegressor": False,
}
"""The classes of scikit-learn that add up their trees in order, and whether they are classifiers."""


def tree_by_tree(estimator: Any, method: str) -> Callable[[Any], NDArray[Any]] | None:
    """A method of a forest, tree by tree; None if the estimator is no forest, or a subclass with ways of its own.

    Its numbers are those of the forest to the last bit: the same sums in the same order.
    """
    kind = type(estimator)
    if not kind.__module__.startswith("sklearn.ensemble") or kind.__name__ not in FORESTS:
        return None
    if not hasattr(estimator, "_validate_X_predict") or estimator.n_outputs_ > 1:
        return None
    if not FORESTS[kind.__name__]:
        return (lambda X: _mean(estimator, X)[:, 0]) if method == "predict" else None
    if method == "predict_proba":
        return lambda X: _mean(estimator, X)
    return (lambda X: estimator.classes_.take(np.argmax(_mean(estimator, X), axis=1))) if method == "predict" else None


def _mean(forest: Any, X: Any) -> FloatArray:
    """The mean of what the trees hold in the leaves of rows."""
    rows = forest._validate_X_predict(X)
    total = np.zeros((rows.shape[0], forest.estimators_[0].tree_.value.shape[2]))
    for tree in forest.estimators_:
        total += tree.tree_.predict(rows)
    total /= len(forest.estimators_)
    return total
