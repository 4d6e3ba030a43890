"""scikit-learn estimators that hold another one: pipelines, thresholds, searches."""

from __future__ import annotations

import warnings
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np

from butfor.arrays import FloatArray
from butfor.errors import UnsupportedModelError
from butfor.estimator.inside import wrapped
from butfor.importers.fold.blend import Member, blend, together
from butfor.importers.fold.column import Column
from butfor.importers.fold.leaves import only_tree
from butfor.importers.libraries.sklearn_calibration import chances_of, check_classes, votes_of
from butfor.importers.registry import Imported, read_model, register_importer, through_steps
from butfor.model.linear import Linear
from butfor.model.linked import Calibrated
from butfor.model.mixed import Mixed
from butfor.model.monotone import Complement, MonotoneFunction, Scaled
from butfor.model.one_vs_rest import OwnShares
from butfor.model.questions import Model
from butfor.model.readout import AbstractReadout, Argmax, Link, MeanValue, Sign, Threshold, Value
from butfor.model.side_by_side import Part, TreeSum, added, side_by_side, summed_scores, weighted_trees
from butfor.model.tilted import leaf
from butfor.model.trees import Trees


def read_pipeline(pipeline: Any, columns: list[Column]) -> Imported:
    """A pipeline: all steps are folded, then the last estimator is read."""
    return read_model(pipeline.steps[-1][1], through_steps(pipeline, columns))


def read_wrapped(estimator: Any, columns: list[Column]) -> Imported:
    """The model of the estimator inside a wrapper."""
    return read_model(wrapped(estimator), columns)


def read_one_vs_rest(wrapper: Any, columns: list[Column]) -> Imported:
    """One classifier per class, each against the rest. What they say of their own class is put side by side."""
    classes = tuple(wrapper.classes_.tolist())
    read = [_against_the_rest(estimator, columns) for estimator in wrapper.estimators_]
    unit = max(readout.unit for _, readout in read)
    if len(read) == 1:
        ((model, readout),) = read
        if isinstance(readout, Sign):
            return model, replace(readout, classes=classes)
        share = MonotoneFunction((Scaled(1.0 / readout.total),))
        return model, Calibrated(classes, np.array([0.0, 1.0]), (share.then(Complement()), share)).rounded(unit)
    signs = [readout for _, readout in read if isinstance(readout, Sign)]
    totals = {readout.total for _, readout in read if isinstance(readout, Argmax)}
    if (signs and totals) or len(totals) > 1 or not _first_wins(wrapper, len(columns)):
        raise UnsupportedModelError(
            "an OneVsRestClassifier compares unlike scores of its estimators, or gives ties to the last class.",
            "Its estimators must have as many members each, and of equal scores the first must win (scikit-learn 1.9).",
            "Let the swarm search: it needs only predictions.",
        )
    if signs:
        link: Link = "ovr" if signs[0].link == "logistic" else "none"
        return together("OneVsRestClassifier", [model for model, _ in read]), Argmax(classes, link, unit=unit)
    second = np.array([[0.0, 1.0]])
    own = [summed_scores(model, second) for model, _ in read if isinstance(model, TreeSum)]
    return together("OneVsRestClassifier", own), OwnShares(classes, "none", unit=unit)


def _against_the_rest(estimator: Any, columns: list[Column]) -> tuple[Model, Sign | Argmax]:
    """The model of one class against the rest: a score that is compared with 0, or shares of a sum of trees."""
    model, readout = read_model(estimator, columns)
    scores = hasattr(estimator, "decision_function")
    if isinstance(readout, Threshold) and readout.of == "score" and readout.threshold == 0:
        readout = readout.inner  # of the score 0 it says yes, and what holds it says no
    if scores and isinstance(readout, Sign):
        return model, readout
    if not scores and type(readout) is Argmax and readout.link == "identity":
        return model, readout
    raise UnsupportedModelError(
        f"OneVsRestClassifier over {type(estimator).__name__} cannot be read.",
        "Its estimators must be linear classifiers, boosting, trees or sums of trees.",
        "Put the preparing steps before it, in a pipeline.",
    )


def _first_wins(wrapper: Any, width: int) -> bool:
    """Whether the first of equal classes is predicted, as it has been since scikit-learn 1.9: asked of equal estimators."""
    alike = copy(wrapper)
    alike.estimators_ = [wrapper.estimators_[0]] * len(wrapper.estimators_)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the row has no names
        return bool(alike.predict(np.zeros((1, width)))[0] == wrapper.classes_[0])


def read_voting(voting: Any, columns: list[Column]) -> Imported:
    """The weighted mean of what the members predict, or of their votes.

    It is a sum of leaves, or a mean of functions of sums.
    """
    kind = type(voting).__name__
    given = voting._weights_not_none
    weights = np.ones(len(voting.estimators_)) if given is None else np.asarray(given, dtype=np.float64)
    if getattr(voting, "voting", "soft") != "soft":
        return (
            _votes(voting, weights, columns)
            if len(voting.classes_) > 2
            else _means(voting, weights, columns, votes=True)
        )
    read = [read_model(member, columns) for member in voting.estimators_]
    if not hasattr(voting, "classes_"):
        return _mean_value(kind, read, weights)
    leaves = [model for model, readout in read if isinstance(model, TreeSum) and _adds_leaves(readout)]
    if len(leaves) < len(read):
        return _means(voting, weights, columns, votes=False)
    _check_weights(kind, weights)
    totals = [readout.total if isinstance(readout, Argmax) else 1.0 for _, readout in read]
    model = weighted_trees(leaves, (weights / weights.sum() / totals).tolist())
    return model, Argmax(tuple(voting.classes_.tolist()), unit=max(readout.unit for _, readout in read))


def _votes(voting: Any, weights: FloatArray, columns: list[Column]) -> Imported:
    """The votes of single trees for one of several classes: each leaf holds a vote."""
    classes = tuple(voting.classes_.tolist())
    _check_weights(type(voting).__name__, weights)
    voters = []
    for estimator in voting.estimators_:
        check_classes(estimator, tuple(range(len(classes))))  # a vote for a label is counted at its position
        model, readout = read_model(estimator, columns)
        tree = only_tree(model)
        if tree is None:
            raise _unread(voting)
        voters.append(replace(tree, value=np.eye(len(classes))[readout.decide(tree.value)]))
    return weighted_trees(voters, weights.tolist()), Argmax(classes, "none")


def _mean_value(kind: str, read: list[Imported], weights: FloatArray) -> Imported:
    """The weighted mean of what regressors predict."""
    _check_weights(kind, weights)
    return summed(kind, read, weights / weights.sum())


def summed(kind: str, read: list[Imported], shares: FloatArray, constant: float = 0.0) -> Imported:
    """Shares of what regressors predict, added up: one sum of leaves, or a sum of scores side by side."""
    unit = max(readout.unit for _, readout in read)
    leaves = [model for model, readout in read if isinstance(model, TreeSum) and type(readout) is Value]
    if len(leaves) == len(read):
        return _raised(weighted_trees(leaves, shares.tolist()), 0, constant), Value(unit=unit)
    parts = [
        (model, share * readout.row)
        for (model, readout), share in zip(read, shares, strict=True)
        if isinstance(model, Part) and type(readout) in (Value, MeanValue) and isinstance(readout, Value)
    ]
    if len(parts) < len(read):
        raise UnsupportedModelError(
            f"{kind} over {', '.join(sorted({type(model).__name__ for model, _ in read}))} cannot be read.",
            "Its members must be trees, sums of trees, or linear models, and predict their scores.",
            "Explain one member, or let the swarm search: it needs only predictions.",
        )
    models = [model for model, _ in parts]
    row = np.concatenate([row for _, row in parts])
    at = int(np.argmax(np.abs(row)))
    if not row[at]:
        raise UnsupportedModelError(
            f"a {kind} predicts {constant}, whatever its members do.",
            "It must depend on them.",
            "Fit it with other weights.",
        )
    return _raised(side_by_side(models[0], models[1:]), at, constant / row[at]), MeanValue(unit=unit, weights=row)


def _raised(model: Part, score: int, by: float) -> Part:
    """The model with a constant added to one score."""
    if isinstance(model, Mixed):
        linear = _raised(model.linear, score, by)
        assert isinstance(linear, Linear)
        return replace(model, linear=linear)
    constant = np.zeros(model.scores)
    constant[score] = by
    if isinstance(model, Trees):
        return replace(model, base=model.base + constant)
    if isinstance(model, Linear):
        return replace(model, intercept=model.intercept + constant)
    return added([model, leaf(model.gates, constant)]) if by else model


def _adds_leaves(readout: AbstractReadout) -> bool:
    """Whether the prediction is a sum of leaves: shares of classes."""
    return type(readout) is Argmax and readout.link == "identity"


def _check_weights(kind: str, weights: FloatArray) -> None:
    if (weights < 0).any() or not weights.sum() > 0:
        raise UnsupportedModelError(
            f"{kind} has the weights {weights.tolist()}.",
            "They must be at least 0, and not all 0.",
            "Fit it with positive weights.",
        )


def _unread(voting: Any) -> UnsupportedModelError:
    names = ", ".join(sorted({type(member).__name__ for member in voting.estimators_}))
    return UnsupportedModelError(
        f"{type(voting).__name__} over {names} cannot be read.",
        "Its members must be trees or forests (single trees, if votes are counted), or classifiers of two classes.",
        "Explain one member, or let the swarm search: it needs only predictions.",
    )


def _means(voting: Any, weights: FloatArray, columns: list[Column], *, votes: bool) -> Imported:
    """The weighted mean of the probabilities of two classes, or of the votes for them."""
    kind = type(voting).__name__
    if len(voting.classes_) != 2:
        raise _unread(voting)
    classes = tuple(voting.classes_.tolist())
    members, units = [], []
    for estimator, weight in zip(voting.estimators_, weights.tolist(), strict=True):
        model, row, chances, unit = votes_of(estimator, columns) if votes else chances_of(estimator, columns)
        members.append(Member(model, row, chances, weight))
        units.append(unit)
    return blend(kind, classes, members, max(units), votes=votes)


def read_threshold(wrapper: Any, columns: list[Column]) -> Imported:
    """A classifier that decides by a threshold other than the usual one."""
    model, inner = read_model(wrapper.estimator_, columns)
    classes = list(inner.classes)
    tuned = getattr(wrapper, "_curve_scorer", None)  # a tuned threshold is about the positive class of its scorer
    label = wrapper.pos_label if tuned is None else tuned._get_pos_label()
    positive = classes.index(label) if label is not None else 1
    method = wrapper.response_method
    if method == "auto":
        method = "predict_proba" if hasattr(wrapper.estimator_, "predict_proba") else "decision_function"
    of = "probability" if method == "predict_proba" else "score"
    threshold = getattr(wrapper, "best_threshold_", None)
    if threshold is None:
        threshold = wrapper.threshold
    if threshold == "auto":
        threshold = 0.5 if of == "probability" else 0.0
    return model, Threshold(inner, positive, float(threshold), "probability" if of == "probability" else "score")


register_importer("Pipeline", read_pipeline)
register_importer("OneVsRestClassifier", read_one_vs_rest)
register_importer("VotingClassifier", read_voting)
register_importer("VotingRegressor", read_voting)
register_importer("FixedThresholdClassifier", read_threshold)
register_importer("TunedThresholdClassifierCV", read_threshold)
for name in ("GridSearchCV", "RandomizedSearchCV", "HalvingGridSearchCV", "HalvingRandomSearchCV", "FrozenEstimator"):
    register_importer(name, read_wrapped)
