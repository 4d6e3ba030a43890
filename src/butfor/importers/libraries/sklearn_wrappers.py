"""scikit-learn estimators that hold another one: pipelines, thresholds, searches."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from butfor.arrays import FloatArray
from butfor.errors import UnsupportedModelError
from butfor.estimator.source import wrapped
from butfor.importers.fold.blend import Member, blend
from butfor.importers.fold.column import Column
from butfor.importers.libraries.sklearn_calibration import chances_of, votes_of
from butfor.importers.registry import Imported, read_model, register_importer, through_steps
from butfor.model.linear import Linear
from butfor.model.mixed import Mixed
from butfor.model.readout import AbstractReadout, Argmax, MeanValue, Sign, Threshold, Value
from butfor.model.side_by_side import side_by_side
from butfor.model.trees import Trees, combined


def read_pipeline(pipeline: Any, columns: list[Column]) -> Imported:
    """A pipeline: all steps are folded, then the last estimator is read."""
    return read_model(pipeline.steps[-1][1], through_steps(pipeline, columns))


def read_wrapped(estimator: Any, columns: list[Column]) -> Imported:
    """The model of the estimator inside a wrapper."""
    return read_model(wrapped(estimator), columns)


def read_one_vs_rest(wrapper: Any, columns: list[Column]) -> Imported:
    """One linear classifier per class, each against the rest. Their scores are put side by side."""
    read = [read_model(estimator, columns) for estimator in wrapper.estimators_]
    models = [model for model, _ in read if isinstance(model, Linear)]
    readouts = [readout for _, readout in read if isinstance(readout, Sign)]
    if min(len(models), len(readouts)) < len(read):
        raise UnsupportedModelError(
            f"OneVsRestClassifier over {type(wrapper.estimators_[0]).__name__} cannot be read.",
            "Its estimators must be linear classifiers.",
            "Put the preparing steps before it, in a pipeline.",
        )
    classes, link = tuple(wrapper.classes_.tolist()), readouts[0].link
    unit = max(readout.unit for readout in readouts)
    if len(models) == 1:
        return models[0], Sign(classes, link, unit)
    return side_by_side(models[0], models[1:]), Argmax(classes, "ovr" if link == "logistic" else "none", unit=unit)


def read_voting(voting: Any, columns: list[Column]) -> Imported:
    """The weighted mean of what the members predict, or of their votes.

    It is a sum of leaves, or a mean of functions of sums.
    """
    kind = type(voting).__name__
    given = voting._weights_not_none
    weights = np.ones(len(voting.estimators_)) if given is None else np.asarray(given, dtype=np.float64)
    if getattr(voting, "voting", "soft") != "soft":
        return _means(voting, weights, columns, votes=True)
    read = [read_model(member, columns) for member in voting.estimators_]
    if not hasattr(voting, "classes_"):
        return _mean_value(kind, read, weights)
    leaves = [model for model, readout in read if isinstance(model, Trees) and _adds_leaves(readout)]
    if len(leaves) < len(read):
        return _means(voting, weights, columns, votes=False)
    _check_weights(kind, weights)
    totals = [readout.total if isinstance(readout, Argmax) else 1.0 for _, readout in read]
    model = combined(leaves, (weights / weights.sum() / totals).tolist())
    return model, Argmax(tuple(voting.classes_.tolist()), unit=max(readout.unit for _, readout in read))


def _mean_value(kind: str, read: list[Imported], weights: FloatArray) -> Imported:
    """The weighted mean of what regressors predict."""
    _check_weights(kind, weights)
    return summed(kind, read, weights / weights.sum())


def summed(kind: str, read: list[Imported], shares: FloatArray, constant: float = 0.0) -> Imported:
    """Shares of what regressors predict, added up: one sum of leaves, or a sum of scores side by side."""
    unit = max(readout.unit for _, readout in read)
    leaves = [model for model, readout in read if isinstance(model, Trees) and type(readout) is Value]
    if len(leaves) == len(read):
        model = combined(leaves, shares.tolist())
        return replace(model, base=model.base + constant), Value(unit=unit)
    parts = [
        (model, share * readout.row)
        for (model, readout), share in zip(read, shares, strict=True)
        if isinstance(model, Trees | Linear | Mixed)
        and type(readout) in (Value, MeanValue)
        and isinstance(readout, Value)
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
        raise UnsupportedModelError(f"a {kind} predicts {constant}, whatever its members do.", "", "")
    return _raised(side_by_side(models[0], models[1:]), at, constant / row[at]), MeanValue(unit=unit, weights=row)


def _raised(model: Trees | Linear | Mixed, score: int, by: float) -> Trees | Linear | Mixed:
    """The model with a constant added to one score."""
    if isinstance(model, Mixed):
        linear = _raised(model.linear, score, by)
        assert isinstance(linear, Linear)
        return replace(model, linear=linear)
    constant = (model.base if isinstance(model, Trees) else model.intercept).copy()
    constant[score] += by
    return replace(model, base=constant) if isinstance(model, Trees) else replace(model, intercept=constant)


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


def _means(voting: Any, weights: FloatArray, columns: list[Column], *, votes: bool) -> Imported:
    """The weighted mean of the probabilities of two classes, or of the votes for them."""
    kind = type(voting).__name__
    if len(voting.classes_) != 2:
        names = ", ".join(sorted({type(member).__name__ for member in voting.estimators_}))
        raise UnsupportedModelError(
            f"{kind} over {names} cannot be read.",
            "Its members must be trees or forests, or classifiers of two classes.",
            "Explain one member, or let the swarm search: it needs only predictions.",
        )
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
