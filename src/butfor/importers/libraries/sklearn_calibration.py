"""scikit-learn's calibrated classifiers: monotone functions of scores, and means or shares of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from butfor.arrays import FloatArray
from butfor.errors import UnsupportedModelError
from butfor.importers.fold.blend import Chances, Member, blend, together
from butfor.importers.fold.column import Column
from butfor.importers.fold.leaves import tree_of_shares
from butfor.importers.libraries.sklearn_ensembles import score_scale
from butfor.importers.registry import Imported, read_model, register_importer
from butfor.model.blended import Blended
from butfor.model.interpolated import Interpolated
from butfor.model.linked import Calibrated
from butfor.model.monotone import (
    AbstractStep,
    Complement,
    Jump,
    Logistic,
    LogOdds,
    Mean,
    MonotoneFunction,
    Scaled,
)
from butfor.model.one_vs_rest import OneVsRest
from butfor.model.questions import Model
from butfor.model.readout import AbstractReadout, Argmax, Sign, Threshold
from butfor.model.scores import UNIT_SINGLE
from butfor.model.side_by_side import weighted_trees

SPARE = 1e-12
"""What temperature scaling adds to a probability before it takes the logarithm."""

MOST_ROUNDED_UP = 1 + 1e-5
"""A probability up to this is taken for 1."""


def read_calibrated(calibrated: Any, columns: list[Column]) -> Imported:
    """The mean of the calibrators' probabilities.

    If they share one estimator, it is a function of one score. Otherwise each has its own.
    """
    classes = tuple(calibrated.classes_.tolist())
    members = calibrated.calibrated_classifiers_
    estimators = [_inner(member.estimator) for member in members]
    if any(estimator is not estimators[0] for estimator in estimators):
        leaves = _leaf_by_leaf(members, [read_model(estimator, columns) for estimator in estimators], classes)
        if leaves is not None:
            return leaves
    if len(classes) > 2:
        return _of_several_classes(members, estimators[0], classes, columns)
    if any(estimator is not estimators[0] for estimator in estimators):
        return _blended(members, estimators, classes, columns)
    model, row, steps, unit = scored(estimators[0], classes, columns)
    each = [_chances(member, steps) for member in members]
    chances = each[0] if len(each) == 1 else (_mean([one for one, _ in each]), _mean([two for _, two in each]))
    return model, Calibrated(classes, row, chances).rounded(unit)


def _leaf_by_leaf(members: Sequence[Any], read: Sequence[Imported], classes: tuple[Any, ...]) -> Imported | None:
    """The mean of calibrated single trees is a sum of trees: each leaf holds what its calibrators give."""
    trees = [tree_of_shares(one) for one in read]
    known = [tree for tree in trees if tree is not None]
    if len(known) < len(trees) or any(readout.classes != classes for _, readout in read):
        return None
    calibrated = [
        replace(tree, value=_calibrated_shares(member, tree.value)) for member, tree in zip(members, known, strict=True)
    ]
    unit = max(readout.unit for _, readout in read)
    return weighted_trees(calibrated, [1.0] * len(known)), Argmax(classes, total=len(known), unit=unit)


def _calibrated_shares(member: Any, given: FloatArray) -> FloatArray:
    """What the calibrators of a member make of probabilities (rows, classes), as scikit-learn computes it."""
    two = given.shape[1] == 2
    if member.method == "temperature":
        shares = np.asarray(
            member.calibrators[0].predict(np.column_stack([1 - given[:, 1], given[:, 1]]) if two else given)
        )
    else:
        each = given[:, 1:].T if two else given.T
        shares = np.column_stack([of.predict(own) for of, own in zip(member.calibrators, each, strict=True)])
        if two:
            shares = np.column_stack([1 - shares[:, 0], shares[:, 0]])
        else:
            total = shares.sum(axis=1, keepdims=True)
            shares = np.where(total == 0, 1 / given.shape[1], shares / np.where(total == 0, 1.0, total))
    return np.where((shares > 1) & (shares <= MOST_ROUNDED_UP), 1.0, shares)


def _of_several_classes(
    members: Sequence[Any], estimator: Any, classes: tuple[Any, ...], columns: list[Column]
) -> Imported:
    """One estimator, and a calibrator for each class. What they give is divided by its sum."""
    if len(members) > 1 or members[0].method == "temperature":
        raise UnsupportedModelError(
            f"CalibratedClassifierCV over {len(classes)} classes cannot be read.",
            "Of several classes, it must hold one estimator (ensemble=False, or a frozen one), and sigmoids or isotonic "
            "steps: a mean of shares is no sum of functions of one score each.",
            "Let the swarm search: it needs only predictions.",
        )
    check_classes(estimator, classes)
    model, readout = read_model(estimator, columns)
    if not isinstance(readout, Argmax):
        raise _uncalibrated(estimator, readout)
    if hasattr(estimator, "decision_function"):
        votes = type(_last(estimator)).__name__ == "AdaBoostClassifier"  # its scores are shares of its votes
        before: tuple[AbstractStep, ...] = (Scaled(len(classes) - 1.0),) if votes else ()
    elif readout.link == "identity":
        before = (Scaled(1.0 / readout.total),)
    else:
        raise _uncalibrated(estimator, readout)
    functions = tuple(
        MonotoneFunction(before).then(*_calibration(members[0].method, calibrator))
        for calibrator in members[0].calibrators
    )
    return together("CalibratedClassifierCV", [model]), OneVsRest(classes, np.eye(len(classes)), functions).rounded(
        readout.unit
    )


def _blended(
    members: Sequence[Any], estimators: Sequence[Any], classes: tuple[Any, ...], columns: list[Column]
) -> Imported:
    """Several estimators, each with its own calibrator."""
    each = []
    for member, estimator in zip(members, estimators, strict=True):
        model, row, steps, unit = scored(estimator, classes, columns)
        each.append(Member.of_one(model, row, _chances(member, steps), unit))
    return blend("CalibratedClassifierCV", classes, each, np.ones(len(each)))


def _inner(estimator: Any) -> Any:
    """The estimator itself, if it was frozen."""
    return estimator.estimator if type(estimator).__name__ == "FrozenEstimator" else estimator


def scored(
    estimator: Any, classes: tuple[Any, ...], columns: list[Column]
) -> tuple[Model, FloatArray, tuple[AbstractStep, ...], float]:
    """What a calibrator gets from an estimator of two classes: the decision function, or else the probability.

    Returns the model, the row of its scores, the steps from there to what the calibrator gets, and the unit roundoff.
    """
    check_classes(estimator, classes)
    model, readout = read_model(estimator, columns)
    if isinstance(readout, Threshold):
        readout = readout.inner
    unit = readout.unit
    if isinstance(readout, Sign):
        return model, np.ones(1), _from_score(estimator, readout), unit
    if isinstance(readout, Argmax) and readout.link == "identity" and not hasattr(estimator, "decision_function"):
        return model, np.array([0.0, 1.0]), () if readout.total == 1 else (Scaled(1.0 / readout.total),), unit
    raise _uncalibrated(estimator, readout)


def check_classes(estimator: Any, classes: tuple[Any, ...]) -> None:
    """Refuse a member that does not know the classes of what holds it."""
    given = tuple(np.asarray(estimator.classes_).tolist())
    if given not in (
        classes,
        tuple(range(len(classes))),
    ):  # temperature scaling fits it on the positions of the classes
        raise UnsupportedModelError(
            f"{type(estimator).__name__} knows the classes {list(given)}, and what holds it {list(classes)}.",
            "They must be the same, in the same order.",
        )


def _from_score(estimator: Any, readout: Sign) -> tuple[AbstractStep, ...]:
    if not hasattr(estimator, "decision_function"):
        if readout.link != "logistic":
            raise _uncalibrated(estimator, readout)
        return (Logistic(),)
    scale = score_scale(estimator)
    return () if scale == 1 else (Scaled(1 / scale),)


def _last(estimator: Any) -> Any:
    return estimator.steps[-1][1] if hasattr(estimator, "steps") else estimator


def _uncalibrated(estimator: Any, readout: AbstractReadout) -> UnsupportedModelError:
    return UnsupportedModelError(
        f"a calibrated {type(estimator).__name__} cannot be read.",
        "Its probability must be a share of a sum, or its score one sum.",
        "Let the swarm search: it needs only predictions.",
    )


def _chances(member: Any, steps: tuple[AbstractStep, ...]) -> Chances:
    """The probabilities of both classes as functions of the row of scores."""
    (calibrator,) = member.calibrators
    before = MonotoneFunction(steps)
    if member.method == "temperature":
        beta, logits = float(calibrator.beta_), hasattr(member.estimator, "decision_function")
        first, second = (
            before.then(
                *(() if logits else (LogOdds(SPARE),)), Scaled(sign * beta * (2.0 if logits else 1.0)), Logistic()
            )
            for sign in (-1.0, 1.0)
        )
        return first, second
    second = before.then(*_calibration(member.method, calibrator))
    return second.then(Complement()), second


def _calibration(method: str, calibrator: Any) -> tuple[AbstractStep, ...]:
    if method == "sigmoid":
        return Scaled(-float(calibrator.a_), -float(calibrator.b_)), Logistic()
    return isotonic(calibrator)


def isotonic(calibrator: Any) -> tuple[AbstractStep, ...]:
    """The steps of an isotonic regression."""
    x, y = (np.asarray(knots, dtype=np.float64) for knots in (calibrator.X_thresholds_, calibrator.y_thresholds_))
    if (np.diff(y) < 0).any() or calibrator.out_of_bounds != "clip":
        raise UnsupportedModelError(
            "an isotonic calibrator is not monotone, or not defined everywhere.",
            "A higher score must never have a lower probability.",
            "Fit it with increasing=True and out_of_bounds='clip', as CalibratedClassifierCV does.",
        )
    return (Interpolated(x, y),)


def _mean(functions: list[MonotoneFunction]) -> MonotoneFunction:
    if len({function.rises for function in functions}) > 1:
        raise UnsupportedModelError(
            "some calibrators of a CalibratedClassifierCV rise with the score, and others fall.",
            "Their mean is not monotone.",
            "Fit it on more data, or calibrate with ensemble=False.",
        )
    return MonotoneFunction((Mean(tuple(functions)),))


def chances_of(estimator: Any, columns: list[Column]) -> Member:
    """The probabilities of an estimator of two classes, as functions of one sum of its scores."""
    found = averaged_member(estimator, read_model(estimator, columns))
    if len(found.chances) > 1:
        raise _not_averaged(estimator, "Its probability must be a function of one sum of scores.")
    return found


def averaged_member(estimator: Any, read: Imported) -> Member:
    """The probabilities of an estimator of two classes, as a mean of functions of sums of its scores."""
    model, readout = read
    if isinstance(readout, Threshold):
        readout = readout.inner
    unit = readout.unit
    if type(readout) is Blended:
        return Member(model, readout.rows, readout.chances, readout.weights, unit)
    if isinstance(readout, Calibrated):
        return Member.of_one(model, readout.row, readout.chances, unit)
    if isinstance(readout, Sign) and readout.link == "logistic":
        second = MonotoneFunction((Logistic(),))
        return Member.of_one(model, np.ones(1), (second.then(Complement()), second), unit)
    if isinstance(readout, Argmax) and readout.link == "identity" and len(readout.classes) == 2:
        share = MonotoneFunction((Scaled(1.0 / readout.total),))
        return Member.of_one(model, np.array([0.0, 1.0]), (share.then(Complement()), share), unit)
    raise _not_averaged(estimator, "Its probability must be a function of sums of scores, or a mean of such functions.")


def _not_averaged(estimator: Any, needed: str) -> UnsupportedModelError:
    return UnsupportedModelError(
        f"{type(estimator).__name__} cannot be averaged with others.",
        needed,
        "Let the swarm search: it needs only predictions.",
    )


def votes_of(estimator: Any, columns: list[Column]) -> Member:
    """The votes of an estimator of two classes: 1 on one side of a threshold of one sum of its scores."""
    check_classes(estimator, (0, 1))  # a vote for a label is counted at its position
    model, readout = read_model(estimator, columns)
    sets = readout.rounded(UNIT_SINGLE).class_sets(1) if len(readout.classes) == 2 else ()  # its votes have no digits
    if len(sets) != 1 or len(sets[0].b) != 1 or sets[0].curve is not None:
        raise UnsupportedModelError(
            f"the votes of {type(estimator).__name__} cannot be counted.",
            "Its class must depend on one sum of scores, and be one of two.",
            "Let the swarm search: it needs only predictions.",
        )
    (edge,) = sets
    jump = Jump(float(edge.b[0]), bool(edge.strict[0]), float(np.max(edge.below)), float(np.max(edge.above)))
    second = MonotoneFunction((jump,))
    return Member.of_one(model, edge.A[0], (second.then(Complement()), second), readout.unit)


register_importer("CalibratedClassifierCV", read_calibrated)
