"""scikit-learn's ensembles of trees: forests, gradient boosting, AdaBoost, bagging."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from butfor.arrays import FloatArray, IntArray
from butfor.errors import UnsupportedModelError
from butfor.importers.fold.column import Column
from butfor.importers.fold.nodes import in_score, trees_over
from butfor.importers.libraries.sklearn_tree import AXIS_ALIGNED_TREES, grown, node_values
from butfor.importers.registry import Imported, register_importer
from butfor.model.median import Median
from butfor.model.readout import AbstractReadout, Argmax, Sign, Threshold, Value
from butfor.model.trees import exact


def read_forest(forest: Any, columns: list[Column]) -> Imported:
    """Random forests and extra trees: the mean of the trees' predictions."""
    return _mean(forest, columns, forest.estimators_, None)


def read_bagging(bagging: Any, columns: list[Column]) -> Imported:
    """Bagging: trees, each on its own sample of rows and columns. The prediction is their mean."""
    _only_trees(bagging)
    return _mean(bagging, columns, bagging.estimators_, bagging.estimators_features_)


def _mean(
    ensemble: Any, columns: list[Column], estimators: Sequence[Any], inputs: Sequence[IntArray] | None
) -> Imported:
    """The mean of trees. A regressor's score is its prediction.

    A classifier keeps the sum instead of the mean, so that equal votes stay exactly equal.
    """
    nodes, count = grown(estimators, inputs), len(estimators)
    if not hasattr(ensemble, "classes_"):
        mean = replace(nodes, value=nodes.value / count)
        return trees_over(columns, mean, np.zeros(1), folded=not exact(count)), Value()
    classes = tuple(ensemble.classes_.tolist())
    if any(len(estimator.classes_) < len(classes) for estimator in estimators):
        nodes = replace(nodes, value=_shares(estimators, len(classes)))
    return trees_over(columns, nodes, np.zeros(len(classes))), Argmax(classes, "identity", total=count)


def _shares(estimators: Sequence[Any], classes: int) -> FloatArray:
    """The shares of all classes in each node. Some trees have seen only some of the classes."""
    out = []
    for estimator in estimators:
        seen = node_values(estimator)
        shares = np.zeros((len(seen), classes))
        shares[:, np.asarray(estimator.classes_, dtype=np.intp)] = seen
        out.append(shares)
    return np.concatenate(out)


def read_gradient_boosting(boosting: Any, columns: list[Column]) -> Imported:
    """A constant plus the learning rate times a sum of trees: one per stage and score."""
    init = boosting.init_
    constant = isinstance(init, str) or (
        type(init).__name__ in ("DummyClassifier", "DummyRegressor") and init.strategy not in ("stratified", "uniform")
    )
    if not constant:
        raise UnsupportedModelError(
            f"{type(boosting).__name__} starts from {type(init).__name__}.",
            "It must start from a constant.",
            "Leave init out, or use init='zero' or a DummyClassifier/DummyRegressor.",
        )
    stages, scores = boosting.estimators_.shape
    base = boosting._raw_predict_init(np.zeros((1, boosting.n_features_in_)))[0].astype(np.float64)
    trees = boosting.estimators_.ravel()
    nodes = grown(trees)
    score = np.repeat(np.tile(np.arange(scores), stages), [tree.tree_.node_count for tree in trees])
    scale = 2.0 if boosting.loss == "exponential" else 1.0  # its probability is the sigmoid of twice the score
    value = in_score(scale * (boosting.learning_rate * nodes.value[:, 0]), score, scores)
    model = trees_over(columns, replace(nodes, value=value), scale * base)
    if not hasattr(boosting, "classes_"):
        return model, Value()
    return model, _logistic(boosting.classes_)


def _logistic(labels: Any) -> AbstractReadout:
    """The sign of one score decides between two classes (zero means the second).

    Of more classes, the one with the largest score wins.
    """
    classes = tuple(labels.tolist())
    if len(classes) > 2:
        return Argmax(classes, "softmax")
    return Threshold(Sign(classes, "logistic"), 1, 0.0, "score")


def read_ada_boost(boosting: Any, columns: list[Column]) -> Imported:
    """AdaBoost. Each tree gives its weight to one class, and the votes of the leaves are added."""
    _only_trees(boosting)
    classes = tuple(boosting.classes_.tolist())
    estimators = boosting.estimators_
    if len(classes) < 2:
        raise UnsupportedModelError("AdaBoostClassifier knows only one class.", "Two are needed.", "")
    weights = boosting.estimator_weights_[: len(estimators)] / boosting.estimator_weights_.sum()
    votes = []
    for estimator, weight in zip(estimators, weights, strict=True):
        chosen = np.searchsorted(boosting.classes_, estimator.classes_)[node_values(estimator).argmax(axis=1)]
        votes.append(weight * _vote(chosen, len(classes)))
    nodes = replace(grown(list(estimators)), value=np.concatenate(votes))
    folded = not all(exact(weight) for weight in weights)
    model = trees_over(columns, nodes, np.zeros(nodes.value.shape[1]), folded=folded)
    return model, Sign(classes, "logistic") if len(classes) == 2 else Argmax(classes, "softmax")


def _vote(chosen: IntArray, classes: int) -> FloatArray:
    """What a vote of weight 1 adds to the scores. The probability is their softmax (sigmoid)."""
    if classes == 2:
        return np.where(chosen == 1, 2.0, -2.0)[:, None]
    rest = 1.0 / (classes - 1)
    votes = np.full((len(chosen), classes), -rest * rest)
    votes[np.arange(len(chosen)), chosen] = rest
    return votes


def _only_trees(ensemble: Any) -> None:
    other = [
        type(member).__name__ for member in ensemble.estimators_ if type(member).__name__ not in AXIS_ALIGNED_TREES
    ]
    if other:
        raise UnsupportedModelError(
            f"{type(ensemble).__name__} over {other[0]} cannot be read.",
            f"Its members must be {' or '.join(AXIS_ALIGNED_TREES[::2])}.",
            "Search given rows with bf.candidates(rows).",
        )


def read_ada_boost_regressor(boosting: Any, columns: list[Column]) -> Imported:
    """AdaBoost of regressors: the weighted median of the trees' predictions, each of which is a score."""
    _only_trees(boosting)
    estimators = list(boosting.estimators_)
    nodes, counts = grown(estimators), [tree.tree_.node_count for tree in estimators]
    value = in_score(nodes.value[:, 0], np.repeat(np.arange(len(counts)), counts), len(counts))
    model = trees_over(columns, replace(nodes, value=value), np.zeros(len(counts)))
    weights = np.asarray(boosting.estimator_weights_[: len(counts)], dtype=np.float64)
    return model, Median(weights=weights if weights.any() else np.ones(1))  # the only tree may have no weight


for name in ("RandomForestClassifier", "RandomForestRegressor", "ExtraTreesClassifier", "ExtraTreesRegressor"):
    register_importer(name, read_forest)
for name in ("GradientBoostingClassifier", "GradientBoostingRegressor"):
    register_importer(name, read_gradient_boosting)
for name in ("BaggingClassifier", "BaggingRegressor"):
    register_importer(name, read_bagging)
register_importer("AdaBoostClassifier", read_ada_boost)
register_importer("AdaBoostRegressor", read_ada_boost_regressor)
