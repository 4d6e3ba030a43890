"""The score of an answer that is a class: its probability, or the decision function, and what decides for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from butfor.arrays import BoolArray, FloatArray, IntArray
from butfor.errors import ButforError
from butfor.estimator.deciding import deciding_score
from butfor.estimator.prediction import Prediction
from butfor.estimator.source import Source
from butfor.log import LOG
from butfor.problem.targets.score import Score, scores_of

Wanted = Callable[[Any, Any], bool]
"""Whether a class (first) is wanted of a row that has another one (second) now."""

SCORE_NAMES = {"predict_proba": "probability of", "decision_function": "decision function for"}


def of_class(label: Any, source: Source) -> str:
    """The name of the score of a class."""
    return f"{SCORE_NAMES.get(source.judges_by, '')} {label}"


def class_scores(before: Prediction, after: Prediction | None, wanted: Wanted) -> list[Score | None]:
    """The score of the only class that is wanted or, of several, that each row gets.

    With two classes, the threshold is the estimator's own. With more, it is the score of the best class that is not
    wanted. It is left out where the estimator's labels do not follow from its scores.
    """
    classes, count = list(before.source.classes), before.height
    wants = {now: [wanted(label, now) for label in classes] for now in set(before.labels)}
    table = np.array([wants[now] for now in before.labels], dtype=np.bool_)
    was, now = _numbers(before), None if after is None else _numbers(after)
    if was is None or (after is not None and now is None):
        return [None] * count
    one = table.sum(axis=1) == 1
    wish = np.argmax(table, axis=1)
    chosen = wish if after is None else np.where(one, wish, _positions(after.labels, classes))
    at = np.arange(count)
    threshold = _thresholds(before.source, chosen, now, table)
    names = [of_class(label, before.source) for label in classes]
    follows = _agrees(before, was, chosen, threshold) & _agrees(after, now, chosen, threshold)
    return [
        score if known else None
        for known, score in zip(
            one | np.full(count, after is not None),
            scores_of(
                [names[k] for k in chosen.tolist()],
                was[at, chosen],
                None if now is None else now[at, chosen],
                np.where(follows, threshold, np.nan),
                np.ones(count, dtype=np.bool_),
            ),
            strict=True,
        )
    ]


def number_of_class(prediction: Prediction, label: Any) -> FloatArray | None:
    """The score of one class for each row; None if the estimator has none."""
    numbers = _numbers(prediction)
    return None if numbers is None else numbers[:, list(prediction.source.classes).index(label)]


def _numbers(prediction: Prediction) -> FloatArray | None:
    """The score of each class (rows, classes); None if the estimator has none."""
    source = prediction.source
    if not source.judges_by:
        return None
    try:
        found = prediction.probabilities if source.judges_by == "predict_proba" else prediction.scores
    except ButforError as refusal:
        LOG.info("no scores are said: %s", refusal)
        return None
    if found is None or found.shape != (prediction.height, len(source.classes)):
        return None
    if source.judges_by == "decision_function" and found.shape[1] == 2:  # it is one number: the second class's
        return np.column_stack([-found[:, 1], found[:, 1]])
    return found


def _positions(labels: list[Any], classes: list[Any]) -> IntArray:
    place = {label: k for k, label in enumerate(classes)}
    return np.array([place[label] for label in labels], dtype=np.intp)


def _thresholds(source: Source, chosen: IntArray, now: FloatArray | None, wanted: BoolArray) -> FloatArray:
    """The score that each chosen class needs; NaN where there is no fixed one."""
    if len(source.classes) == 2:
        second = deciding_score(source)
        if second is None or wanted.all():
            return np.full(len(chosen), np.nan)
        first = 1.0 - second if source.judges_by == "predict_proba" else -second
        return np.where(chosen == 1, second, first)
    if now is None:
        return np.full(len(chosen), np.nan)
    best = np.where(wanted, -np.inf, now).max(axis=1)
    return np.where(np.isfinite(best), best, np.nan)


def _agrees(
    prediction: Prediction | None, numbers: FloatArray | None, chosen: IntArray, threshold: FloatArray
) -> BoolArray:
    """Where the label is the one that the scores and the threshold amount to. At a tie, either label is."""
    if prediction is None or numbers is None:
        return np.ones(len(chosen), dtype=np.bool_)
    got = _positions(prediction.labels, list(prediction.source.classes)) == chosen
    score = numbers[np.arange(len(chosen)), chosen]
    if numbers.shape[1] > 2:
        return np.asarray(~got | (score >= threshold))
    return np.asarray((score == threshold) | (got == (score > threshold)))
