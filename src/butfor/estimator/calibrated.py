"""A model of two classes together with a calibrator that was fitted apart from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from butfor.arrays import FloatArray
from butfor.errors import InputError, InputTypeError, choice
from butfor.model.own_function import OwnFunction, looked_at

SAID_BY = {"probability": "predict_proba", "score": "decision_function"}
"""What a calibrator gets, and the method that says it."""


@dataclass(frozen=True, eq=False)
class Calibrator:
    """A fitted calibrator as a function of numbers, each by itself. `calibrator` is called as its own library does."""

    calibrator: Any

    def __call__(self, x: FloatArray) -> FloatArray:
        given, x = self.calibrator, np.ravel(x)
        if type(given).__name__ == "VennAbers":  # it wants both probabilities, and returns two things
            return np.asarray(given.predict_proba(np.column_stack([1 - x, x]))[0])[:, 1]
        if hasattr(given, "predict_proba"):
            return np.asarray(given.predict_proba(x[:, None]))[:, 1]
        return np.ravel(given.predict(x) if hasattr(given, "predict") else given(x))


class CalibratedModel:
    """See `calibrated`."""

    _estimator_type = "classifier"

    def __init__(self, model: Any, calibrator: Any, of: str) -> None:
        self.estimator_, self.calibrator_, self.of = model, calibrator, of
        self.classes_ = np.asarray(model.classes_)
        self.function_ = _function(calibrator, of)
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(model, name):
                setattr(self, name, getattr(model, name))

    def __repr__(self) -> str:
        return f"<{type(self.estimator_).__name__}, calibrated by {type(self.calibrator_).__name__}>"

    def predict_proba(self, X: Any) -> FloatArray:
        """The calibrated probabilities of both classes."""
        said = np.asarray(getattr(self.estimator_, SAID_BY[self.of])(X))
        second = self.function_.call(np.asarray(said[:, 1] if said.ndim == 2 else said, dtype=np.float64))
        return np.column_stack([1.0 - second, second])

    def predict(self, X: Any) -> NDArray[Any]:
        """The class with the larger probability, or the first of equal ones."""
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])


def calibrated(model: Any, calibrator: Any, of: Literal["probability", "score"] = "probability") -> CalibratedModel:
    """A fitted classifier of two classes whose probability passes through a calibrator that was fitted apart.

    Choose it for an isotonic regression, Platt's logistic regression, beta calibration or Venn-ABERS that is used after the
    model. Answers are exact: `P(second class) = c(m(x))`, and thresholds move through c. What scikit-learn's
    `CalibratedClassifierCV(FrozenEstimator(model))` holds needs no such function, and is read as it is.

    - `model`: a fitted classifier with `predict_proba` or `decision_function`;
    - `calibrator`: a fitted one with `predict_proba` or `predict` for a single number, or a function of an array of numbers.
      It must only rise, or only fall;
    - `of`: what it gets: the probability of the second class, or the score of `decision_function`.

    >>> import numpy as np
    >>> from sklearn.isotonic import IsotonicRegression
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = np.arange(8.0)[:, None], np.array([0, 0, 1, 0, 1, 1, 0, 1])
    >>> tree = DecisionTreeClassifier(max_depth=1).fit(X, y)
    >>> isotonic = IsotonicRegression(out_of_bounds="clip").fit(tree.predict_proba(X)[:, 1], y)
    >>> calibrated(tree, isotonic).predict_proba(X[:1]).round(2).tolist()
    [[1.0, 0.0]]
    """
    if of not in SAID_BY:
        raise InputError(f"of={of!r} was given.", *choice("A calibrator gets the", of, tuple(SAID_BY)))
    if not hasattr(model, SAID_BY[of]) or not hasattr(model, "classes_"):
        raise InputTypeError(
            f"{type(model).__name__} has no {SAID_BY[of]!r}, or no 'classes_'.",
            f"To calibrate its {of}, a fitted classifier is needed that has both.",
            "Give the fitted classifier itself, or say of='score' if it has a decision_function.",
        )
    classes = np.asarray(model.classes_).tolist()
    if len(classes) != 2:
        raise InputError(
            f"the model has {len(classes)} classes: {classes}.",
            "One calibrator tells two classes apart.",
            "Use CalibratedClassifierCV(FrozenEstimator(model)), which has one for each class.",
        )
    known = getattr(calibrator, "classes_", None)
    if known is not None and np.asarray(known).tolist() not in (classes, [0, 1], [False, True]):
        raise InputError(
            f"the calibrator knows the classes {np.asarray(known).tolist()}, and the model {classes}.",
            "They must be the same, in the same order.",
            "Fit the calibrator on the labels of the model.",
        )
    return CalibratedModel(model, calibrator, of)


def _function(calibrator: Any, of: str) -> OwnFunction:
    """The calibrator as a function that never turns around, on all that the model may say."""
    name = getattr(calibrator, "__name__", type(calibrator).__name__)
    if not callable(calibrator) and not any(hasattr(calibrator, method) for method in ("predict", "predict_proba")):
        raise InputTypeError(
            f"{name} was given as the calibrator.",
            "It needs 'predict_proba' or 'predict', or to be a function of an array of numbers.",
        )
    low, high = (0.0, 1.0) if of == "probability" else (-np.inf, np.inf)
    call = Calibrator(calibrator)
    where = "from 0 to 1" if of == "probability" else "everywhere"
    try:
        found = looked_at(call, low, high)
        ends = np.zeros(1) if found is None else found.at(np.array([found.low, found.high]))
    except Exception as error:  # each library has errors of its own
        raise InputTypeError(
            f"{name} cannot be called with an array of numbers {where}: {type(error).__name__}: {error}.",
            f"A calibrator must be fitted on one column, the model's {of}, and be defined {where}.",
            "Of another calibrator, give a function of an array of numbers.",
        ) from error
    if found is not None and ((of == "probability" and (found.low, found.high) != (low, high)) or np.isnan(ends).any()):
        raise InputError(
            f"{name} is only defined from {found.low:.6g} to {found.high:.6g}.",
            f"The model's {of} may be any number {where}.",
            "Fit an isotonic regression with out_of_bounds='clip'.",
        )
    if found is None:
        raise InputError(
            f"{name} turns around, is not defined everywhere, or is not a function of single numbers.",
            "A higher number of the model must never lead to a lower probability (or never to a higher one).",
            "Fit an isotonic regression, or explain bf.black_box(...), which is searched.",
        )
    if ends.min() < 0 or ends.max() > 1:
        raise InputError(
            f"{name} gives numbers from {ends.min():.6g} to {ends.max():.6g}.", "A probability is from 0 to 1."
        )
    return found
