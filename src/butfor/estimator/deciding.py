"""From which score on an estimator predicts the second of two classes."""

from __future__ import annotations

from numbers import Real
from typing import Any

from butfor.estimator.inside import is_pipeline, wrapped
from butfor.estimator.source import Source

ITS_OWN_WAY = ("SVC", "NuSVC")
"""Classes of estimators whose labels do not follow from their probabilities: Platt scaling is fitted apart."""


def deciding_score(source: Source) -> float | None:
    """The probability, or the decision function, from which on the second of two classes is predicted.

    None if it is not known, or if there are not two classes.
    """
    if len(source.classes) != 2 or not source.judges_by:
        return None
    estimator = _decider(source.estimator)
    middle = 0.5 if source.judges_by == "predict_proba" else 0.0
    if type(estimator).__name__ in ITS_OWN_WAY and source.judges_by == "predict_proba":
        return None
    if hasattr(estimator, "get_probability_threshold"):
        return float(estimator.get_probability_threshold())
    own = getattr(estimator, "best_threshold_", getattr(estimator, "threshold", "auto"))
    if isinstance(own, bool) or not isinstance(own, Real):
        return middle
    if getattr(estimator, "response_method", "auto") not in ("auto", source.judges_by):
        return None
    tuned = getattr(estimator, "_curve_scorer", None)  # a tuned threshold is about the positive class of its scorer
    positive = tuned._get_pos_label() if tuned is not None else getattr(estimator, "pos_label", None)
    return 2 * middle - float(own) if positive == source.classes[0] else float(own)


def _decider(estimator: Any) -> Any:
    """The part of an estimator that chooses the label: inside pipelines, searches and frozen estimators."""
    if is_pipeline(estimator):
        return _decider(estimator.steps[-1][1])
    if hasattr(estimator, "best_threshold_") or hasattr(estimator, "threshold"):
        return estimator
    inner = wrapped(estimator)
    return estimator if inner is None else _decider(inner)
