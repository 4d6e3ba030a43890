"""scikit-learn's ensembles of trees: forests, gradient boosting, AdaBoost, bagging."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from butfor.arrays import FloatArray, IntArray
from butfor.errors import UnsupportedModelError
from butfor.estimator.inside import is_pipeline, wrapped
from butfor.importers.fold.column import Column
from butfor.importers.fold.nodes import trees_over
from butfor.importers.libraries.own_trees import OBLIQUE_TREES, oblique_forest
from butfor.importers.libraries.sklearn_tree import AXIS_ALIGNED_TREES, grown, node_values
from butfor.importers.registry import Imported, register_importer
from butfor.model.median import Median
from butfor.model.nodes import in_score
from butfor.model.oblique_forest import ObliqueForest
from butfor.model.readout import AbstractReadout, Argmax, Sign, Threshold, Value
from butfor.model.trees import Trees, exact


def read_forest(forest: Any, columns: list[Column]) -> Imported:
    """Random forests and extra trees: the mean of the trees' predictions."""
    return _mean(forest, columns, forest.estimators_, None)


def read_bagged_trees(bagging: Any, columns: list[Column]) -> Imported:
    """Bagging: trees, axis-aligned or oblique, each on its own sample of rows and columns. The prediction is their mean."""
    return _mean(bagging, columns, bagging.estimators_, bagging.estimators_features_)


def _mean(
    ensemble: Any, columns: list[Column], estimators: Sequence[Any], inputs: Sequence[IntArray] | None
) -> Imported:
    """The mean of trees. A regressor's score is its prediction.

    A classifier keeps the sum instead of the mean, so that equal votes stay exactly equal.
    """
    count = len(estimators)
    if not hasattr(ensemble, "classes_"):
        shares = [_held(estimator) / count for estimator in estimators]
        return _added(columns, estimators, shares, inputs, folded=not exact(count)), Value()
    classes = tuple(ensemble.classes_.tolist())
    values = [_shares(estimator, len(classes)) for estimator in estimators]
    return _added(columns, estimators, values, inputs), Argmax(classes, "identity", total=count)


def _added(
    columns: list[Column],
    estimators: Sequence[Any],
    values: Sequence[FloatArray],
    inputs: Sequence[IntArray] | None = None,
    *,
    folded: bool = False,
) -> Trees | ObliqueForest:
    """The sum of trees whose nodes hold `values`."""
    if all(_is_oblique(estimator) for estimator in estimators):
        return oblique_forest(columns, estimators, values, inputs, folded)
    nodes = replace(grown(estimators, inputs), value=np.concatenate(values))
    return trees_over(columns, nodes, np.zeros(nodes.value.shape[1]), folded=folded)


def _held(estimator: Any) -> FloatArray:
    """What each node of a tree holds."""
    return np.asarray(estimator.value_ if _is_oblique(estimator) else node_values(estimator))


def _shares(estimator: Any, classes: int) -> FloatArray:
    """The shares of all classes in each node. A tree may have seen only some of the classes."""
    seen = _held(estimator)
    if seen.shape[1] == classes:
        return seen
    shares = np.zeros((len(seen), classes))
    shares[:, np.asarray(estimator.classes_, dtype=np.intp)] = seen
    return shares


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
    scale = score_scale(boosting)
    value = in_score(scale * (boosting.learning_rate * nodes.value[:, 0]), score, scores)
    model = trees_over(columns, replace(nodes, value=value), scale * base)
    if not hasattr(boosting, "classes_"):
        return model, Value()
    return model, _logistic(boosting.classes_)


def score_scale(estimator: Any) -> float:
    """By what the decision function of an estimator is multiplied when it is read, also inside wrappers and pipelines.

    The probability of exponential boosting is the sigmoid of twice its score.
    """
    inner = estimator.steps[-1][1] if is_pipeline(estimator) else wrapped(estimator)
    if inner is not None:
        return score_scale(inner)
    return 2.0 if getattr(estimator, "loss", "") == "exponential" else 1.0


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
        raise UnsupportedModelError(
            "AdaBoostClassifier knows only one class.", "Two are needed.", "Fit it on rows of both."
        )
    weights = boosting.estimator_weights_[: len(estimators)] / boosting.estimator_weights_.sum()
    votes = []
    for estimator, weight in zip(estimators, weights, strict=True):
        chosen = np.searchsorted(boosting.classes_, estimator.classes_)[_held(estimator).argmax(axis=1)]
        votes.append(weight * _vote(chosen, len(classes)))
    model = _added(columns, list(estimators), votes, folded=not all(exact(weight) for weight in weights))
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
    other = [type(one).__name__ for one in ensemble.estimators_ if not is_tree(one)]
    if other:
        raise UnsupportedModelError(
            f"{type(ensemble).__name__} over {other[0]} cannot be read.",
            f"Its members must be {' or '.join(AXIS_ALIGNED_TREES[::2])}, or butfor's oblique trees.",
            "Search given rows with bf.candidates(rows).",
        )


def is_tree(estimator: Any) -> bool:
    """Whether an estimator is one tree, axis-aligned or oblique."""
    return _is_oblique(estimator) or type(estimator).__name__ in AXIS_ALIGNED_TREES


def _is_oblique(estimator: Any) -> bool:
    kind = type(estimator)
    return kind.__name__ in OBLIQUE_TREES and kind.__module__.startswith("butfor.")


def read_ada_boost_regressor(boosting: Any, columns: list[Column]) -> Imported:
    """AdaBoost of regressors: the weighted median of the trees' predictions, each of which is a score."""
    _only_trees(boosting)
    estimators = list(boosting.estimators_)
    held, own = [_held(estimator) for estimator in estimators], np.eye(len(estimators))
    model = _added(columns, estimators, [value * score for value, score in zip(held, own, strict=True)])
    weights = np.asarray(boosting.estimator_weights_[: len(estimators)], dtype=np.float64)
    return model, Median(weights=weights if weights.any() else np.ones(1))  # the only tree may have no weight


for name in ("RandomForestClassifier", "RandomForestRegressor", "ExtraTreesClassifier", "ExtraTreesRegressor"):
    register_importer(name, read_forest)
for name in ("GradientBoostingClassifier", "GradientBoostingRegressor"):
    register_importer(name, read_gradient_boosting)
register_importer("AdaBoostClassifier", read_ada_boost)
register_importer("AdaBoostRegressor", read_ada_boost_regressor)
