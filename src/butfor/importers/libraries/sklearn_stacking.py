"""scikit-learn's stacking: a model of what other models predict."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import block_diag

from butfor.arrays import FloatArray
from butfor.errors import UnsupportedModelError
from butfor.importers.fold.blend import together
from butfor.importers.fold.column import Column
from butfor.importers.libraries.sklearn_averages import summed
from butfor.importers.libraries.sklearn_calibration import chances_of, scored
from butfor.importers.registry import Imported, read_model, register_importer
from butfor.model.linear import Linear
from butfor.model.monotone import MonotoneFunction, Scaled
from butfor.model.questions import Model, kind_of
from butfor.model.readout import AbstractReadout, Argmax, Value
from butfor.model.stacked import Stacked
from butfor.model.trees import Trees


class Predicted(NamedTuple):
    """What a member hands to the end: functions of sums of its scores."""

    model: Model
    rows: FloatArray
    functions: tuple[MonotoneFunction, ...]
    unit: float


def read_stacking_classifier(stacking: Any, columns: list[Column]) -> Imported:
    """A linear end adds up functions of sums. A tree compares each with thresholds."""
    _check(stacking)
    classes = tuple(stacking.classes_.tolist())
    members = [
        _predicted(estimator, method, len(classes), columns)
        for estimator, method in zip(stacking.estimators_, stacking.stack_method_, strict=True)
    ]
    functions = tuple(function for member in members for function in member.functions)
    end, inner = _end(stacking, len(functions))
    if isinstance(end, Trees) and (len(end.roots) > 1 or end.asked_for_sets()):
        raise _unread(stacking, f"its end is a sum of {len(end.roots)} trees.", "The end must be linear, or one tree.")
    if isinstance(end, Trees) and (end.base.any() or inner.link != "identity"):
        kind = type(stacking.final_estimator_).__name__
        raise _unread(
            stacking, f"its end is a {kind}, which rounds.", "The leaves of its tree must be its predictions."
        )
    rows = block_diag(*(member.rows for member in members))
    unit = max(inner.unit, *(member.unit for member in members))
    model = together(type(stacking).__name__, [member.model for member in members])
    return model, Stacked(classes, rows, functions, end, inner).rounded(unit)


def _predicted(estimator: Any, method: str, classes: int, columns: list[Column]) -> Predicted:
    """Of two classes, the second probability is handed on, and of more classes all."""
    if method == "decision_function" and classes == 2:
        given = tuple(np.asarray(estimator.classes_).tolist())
        model, row, steps, unit = scored(estimator, given, columns)
        return Predicted(model, row[None], (MonotoneFunction(steps),), unit)
    if method == "predict_proba" and classes == 2:
        member = chances_of(estimator, columns)
        ((_, second),) = member.chances
        return Predicted(member.model, member.rows, (second,), member.unit)
    if method == "predict_proba":
        model, readout = read_model(estimator, columns)
        if isinstance(readout, Argmax) and readout.link == "identity":
            shares = (MonotoneFunction((Scaled(1.0 / readout.total),)),) * classes
            return Predicted(model, np.eye(classes), shares, readout.unit)
    raise UnsupportedModelError(
        f"what a {type(estimator).__name__} hands to the end of a stack, its {method}, cannot be read.",
        "Each number must be a function of one sum of scores.",
        "Let the swarm search: it needs only predictions.",
    )


def read_stacking_regressor(stacking: Any, columns: list[Column]) -> Imported:
    """A linear end of members that predict their scores adds them up."""
    _check(stacking)
    end, inner = _end(stacking, len(stacking.estimators_))
    if not isinstance(end, Linear) or type(inner) is not Value:
        raise _unread(stacking, f"its end is a {type(stacking.final_estimator_).__name__}.", "The end must be linear.")
    constant = float((end.intercept - end.slope @ end.centre)[0])
    read = [read_model(member, columns) for member in stacking.estimators_]
    model, readout = summed(type(stacking).__name__, read, end.slope[0], constant)
    return model, readout.rounded(inner.unit)


def _check(stacking: Any) -> None:
    if stacking.passthrough:
        raise _unread(stacking, "it hands on the columns, too.", "Fit it with passthrough=False.")


def _end(stacking: Any, predictions: int) -> tuple[Linear | Trees, AbstractReadout]:
    """The end, as a model whose columns are predictions."""
    final = stacking.final_estimator_
    end, inner = read_model(final, [Column(j) for j in range(predictions)])
    plain = isinstance(end, Trees) or (isinstance(end, Linear) and not end.stepped_when_known)
    if not plain or not isinstance(end, Linear | Trees):
        raise _unread(stacking, f"its end is a {kind_of(end)}.", "The end must be linear, or one tree.")
    return end, inner


def _unread(stacking: Any, what: str, needed: str) -> UnsupportedModelError:
    return UnsupportedModelError(
        f"a {type(stacking).__name__} cannot be read: {what}",
        needed,
        "Let the swarm search: it needs only predictions.",
    )


register_importer("StackingClassifier", read_stacking_classifier)
register_importer("StackingRegressor", read_stacking_regressor)
