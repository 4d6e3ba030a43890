"""Oblique trees that were learnt elsewhere and are given as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator

from butfor.errors import InputError
from butfor.trees.fitted import FittedTree, TreeClassifier, TreeRegressor
from butfor.trees.tree import Tree


class _HandedTree(FittedTree):
    """A tree whose arrays are its parameters, so it is fitted from the beginning."""

    def fit(self, X: Any, y: Any = None) -> Self:
        """Does nothing: the tree is already there."""
        return self

    def set_params(self, **params: Any) -> Self:
        """Give other arrays, of which the tree is made anew. Nothing changes if they do not make one."""
        given = BaseEstimator.set_params(copy(self), **params).get_params(deep=False)
        self.__dict__ = type(self)(**given).__dict__
        return self


class ObliqueTreeClassifier(_HandedTree, TreeClassifier):
    """An oblique tree given as arrays. It can predict and be explained.

    Choose it for trees that another program learnt. A row goes right at node i iff `weights[i] @ x + bias[i] >= 0`,
    where the terms are added in the order of the features and the bias last. (If your tree goes right on `> 0`, or
    left on `<= t`, negate the weights and swap the children.)

    Args:
        weights: an array (nodes, features); the rows of leaves are not read.
        bias: the bias of each node.
        left, right: the children of each node, -1 at leaves. The root is node 0, and a parent comes before its
            children.
        value: an array (nodes, classes): the share of each class in a leaf. The leaf predicts the class with the
            largest.
        classes: the labels, in the order of the columns of `value`.
        feature_names: the column names, if the tree is to be used with data frames.

    >>> tree = ObliqueTreeClassifier(
    ...     weights=[[1.0, -2.0], [0, 0], [0, 0]], bias=[0.5, 0, 0], left=[1, -1, -1], right=[2, -1, -1],
    ...     value=[[0.5, 0.5], [1, 0], [0, 1]], classes=["no", "yes"],
    ... )
    >>> tree.predict([[1.0, 1.0], [2.0, 1.0]]).tolist()
    ['no', 'yes']
    """

    def __init__(
        self,
        weights: Any,
        bias: Any,
        left: Any,
        right: Any,
        value: Any,
        classes: Any,
        feature_names: Sequence[str] | None = None,
    ) -> None:
        self.weights = weights
        self.bias = bias
        self.left = left
        self.right = right
        self.value = value
        self.classes = classes
        self.feature_names = feature_names
        self.classes_ = np.asarray(classes)
        _take(self, width=len(self.classes_))


class ObliqueTreeRegressor(_HandedTree, TreeRegressor):
    """An oblique regression tree given as arrays. It can predict and be explained.

    The arguments are those of `ObliqueTreeClassifier`, without `classes` and with `value` of shape (nodes,) or
    (nodes, 1).

    >>> tree = ObliqueTreeRegressor([[1.0], [0], [0]], [0.0, 0, 0], [1, -1, -1], [2, -1, -1], [0.0, 10.0, 20.0])
    >>> tree.predict([[-1.0], [0.0]]).tolist()
    [10.0, 20.0]
    """

    def __init__(
        self, weights: Any, bias: Any, left: Any, right: Any, value: Any, feature_names: Sequence[str] | None = None
    ) -> None:
        self.weights = weights
        self.bias = bias
        self.left = left
        self.right = right
        self.value = value
        self.feature_names = feature_names
        _take(self, width=1)


def _take(estimator: FittedTree, width: int) -> None:
    """Check the arrays and make the tree from them."""
    weights, bias, value = (_numbers(name, getattr(estimator, name)) for name in ("weights", "bias", "value"))
    left, right = (_nodes(name, getattr(estimator, name)) for name in ("left", "right"))
    nodes = len(weights)
    value = value.reshape(nodes, -1) if value.ndim == 1 and len(value) == nodes else value
    shapes = {
        "weights": weights.ndim == 2 and nodes > 0,
        "bias": bias.shape == (nodes,),
        "left": left.shape == (nodes,),
        "right": right.shape == (nodes,),
        "value": value.shape == (nodes, width),
    }
    for name, fine in shapes.items():
        if not fine:
            raise InputError(
                f"{name} of shape {np.shape(getattr(estimator, name))} was given.",
                f"weights must be (nodes, features), bias, left and right (nodes,), and value (nodes, {width}).",
            )
    inner = np.flatnonzero(left >= 0)
    children = np.concatenate([left[inner], right[inner]])
    parents = np.concatenate([inner, inner])
    once = np.array_equal(np.sort(children), np.arange(1, nodes))
    if not (np.array_equal(left >= 0, right >= 0) and once and (children > parents).all()):
        raise InputError(
            "left and right do not make a tree.",
            "Every node except the root, node 0, must be the child of exactly one node before it. "
            "A leaf has -1 in both.",
        )
    names = estimator.feature_names
    if names is not None:
        if len(names) != weights.shape[1]:
            raise InputError(f"{len(names)} feature names were given.", f"There are {weights.shape[1]} features.")
        estimator.feature_names_in_ = np.asarray(names, dtype=object)
    estimator.n_features_in_ = weights.shape[1]
    estimator._set(Tree(np.where((left >= 0)[:, None], weights, 0.0), bias, left, right, value))


def _numbers(name: str, given: Any) -> Any:
    try:
        numbers = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        numbers = np.array(np.nan)
    if not np.isfinite(numbers).all():
        raise InputError(f"{name} contains something else than finite numbers.", "An array of numbers is needed.")
    return numbers


def _nodes(name: str, given: Any) -> Any:
    numbers = _numbers(name, given)
    if (numbers != np.round(numbers)).any():
        raise InputError(
            f"{name} contains {numbers[numbers != np.round(numbers)][0]}.", "It must contain the numbers of nodes."
        )
    return numbers.astype(np.intp)
