"""scikit-learn estimators that hold another one: pipelines, thresholds, searches."""

from __future__ import annotations

import warnings
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np

from butfor.errors import UnsupportedModelError
from butfor.estimator.inside import wrapped
from butfor.importers.fold.blend import together
from butfor.importers.fold.column import Column
from butfor.importers.libraries.sklearn_ensembles import score_scale
from butfor.importers.registry import Imported, read_model, register_importer, through_steps
from butfor.model.linked import Calibrated
from butfor.model.monotone import Complement, MonotoneFunction, Scaled
from butfor.model.one_vs_rest import OwnShares
from butfor.model.questions import Model
from butfor.model.readout import Argmax, Link, Sign, Threshold
from butfor.model.side_by_side import TreeSum, summed_scores


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
    if of == "probability":
        return model, Threshold(inner, positive, float(threshold), "probability")
    return model, Threshold(inner, positive, score_scale(wrapper.estimator_) * float(threshold), "score")


register_importer("Pipeline", read_pipeline)
register_importer("OneVsRestClassifier", read_one_vs_rest)
register_importer("FixedThresholdClassifier", read_threshold)
register_importer("TunedThresholdClassifierCV", read_threshold)
for name in ("GridSearchCV", "RandomizedSearchCV", "HalvingGridSearchCV", "HalvingRandomSearchCV", "FrozenEstimator"):
    register_importer(name, read_wrapped)
