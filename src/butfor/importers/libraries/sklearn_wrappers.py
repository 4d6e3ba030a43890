"""scikit-learn estimators that hold another one: pipelines, thresholds, searches."""

from __future__ import annotations

from typing import Any

import numpy as np

from butfor.errors import UnsupportedModelError
from butfor.estimator.source import wrapped
from butfor.importers.fold.column import Column
from butfor.importers.registry import Imported, read_model, register_importer, through_steps
from butfor.model.linear import Linear
from butfor.model.readout import Argmax, Sign, Threshold, Value
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
    if min(len(models), len(readouts)) < len(read) or any(not _same_cells(models[0], model) for model in models):
        raise UnsupportedModelError(
            f"OneVsRestClassifier over {type(wrapper.estimators_[0]).__name__} cannot be read.",
            "Its estimators must be linear classifiers over the same columns.",
            "Put the preparing steps before it, in a pipeline.",
        )
    classes, link = tuple(wrapper.classes_.tolist()), readouts[0].link
    if len(models) == 1:
        return models[0], Sign(classes, link)
    side_by_side = Linear(
        np.concatenate([model.intercept for model in models]),
        np.concatenate([model.slope for model in models]),
        models[0].cells,
        tuple(np.concatenate(steps) for steps in zip(*(model.steps for model in models), strict=True)),
        models[0].centre,
        models[0].blur,
        models[0].folded,
    )
    return side_by_side, Argmax(classes, "ovr" if link == "logistic" else "none")


def read_voting(voting: Any, columns: list[Column]) -> Imported:
    """The weighted mean of what the members predict.

    Each member must predict values or probabilities that are sums of leaves.
    """
    kind = type(voting).__name__
    if getattr(voting, "voting", "soft") != "soft":
        raise UnsupportedModelError(
            f"{kind}(voting='hard') counts labels.", "Probabilities are needed.", "Use voting='soft'."
        )
    models, totals = [], []
    for member in voting.estimators_:
        model, readout = read_model(member, columns)
        if not isinstance(model, Trees) or not isinstance(readout, Argmax | Value) or readout.link != "identity":
            raise UnsupportedModelError(
                f"{kind} over {type(member).__name__} cannot be read.",
                "The predictions of its members must be sums of leaves: trees, forests, or boosting of a regressor.",
                "Explain one member, or search given rows with bf.candidates(rows).",
            )
        models.append(model)
        totals.append(readout.total if isinstance(readout, Argmax) else 1.0)
    given = voting._weights_not_none
    weights = np.ones(len(models)) if given is None else np.asarray(given, dtype=np.float64)
    model = combined(models, (weights / weights.sum() / totals).tolist())
    return model, Argmax(tuple(voting.classes_.tolist())) if hasattr(voting, "classes_") else Value()


def _same_cells(a: Linear, b: Linear) -> bool:
    return all(np.array_equal(x.edges, y.edges) and x.levels == y.levels for x, y in zip(a.cells, b.cells, strict=True))


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
