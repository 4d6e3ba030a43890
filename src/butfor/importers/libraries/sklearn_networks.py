"""scikit-learn's multi-layer perceptrons whose units are piecewise linear."""

from __future__ import annotations

from typing import Any

import numpy as np

from butfor.errors import UnsupportedModelError
from butfor.estimator.boosters import known_classes
from butfor.estimator.networks import End
from butfor.importers.fold.column import Column
from butfor.importers.fold.operators import Ended, Operators, imported
from butfor.importers.registry import Imported, register_importer

PIECEWISE = ("relu", "identity")
"""The activations that are read."""

PERCEPTRON_ENDS = {"identity": End.SCORES, "logistic": End.SIGMOID, "softmax": End.SOFTMAX}
"""For each activation of the last layer that is read, what its numbers are."""


def read_network(estimator: Any, columns: list[Column]) -> Imported:
    """A perceptron with ReLU units, or with none that bend."""
    _check(estimator)
    to = Operators(len(columns), single=estimator.coefs_[0].dtype == np.float32)
    x = to.tape.inputs
    for weight, intercept in zip(estimator.coefs_[:-1], estimator.intercepts_[:-1], strict=True):
        x = to.linear(x, weight.T, intercept)
        x = to.bent(x, 0.0) if estimator.activation == "relu" else x
    scores = to.linear(x, estimator.coefs_[-1].T, estimator.intercepts_[-1])
    return imported(Ended(scores, PERCEPTRON_ENDS[estimator.out_activation_]), to, columns, known_classes(estimator))


def _check(estimator: Any) -> None:
    """Refuse a perceptron that is no sum of bent sums, or predicts several things at once."""
    name = type(estimator).__name__
    if estimator.activation not in PIECEWISE:
        raise UnsupportedModelError(
            f"{name}(activation={estimator.activation!r}) is not piecewise linear.",
            f"The activation must be one of {', '.join(map(repr, PIECEWISE))}.",
            "Fit it with activation='relu', or let the swarm search: it needs only predictions.",
        )
    if estimator.out_activation_ not in PERCEPTRON_ENDS:
        raise UnsupportedModelError(
            f"{name} predicts the {estimator.out_activation_} of its last sum (loss={estimator.loss!r}).",
            "It must predict the sum itself.",
            "Fit it with loss='squared_error', or let the swarm search: it needs only predictions.",
        )
    if estimator.n_outputs_ > 1 and estimator.out_activation_ != "softmax":
        labels = "labels" if hasattr(estimator, "classes_") else "values"
        raise UnsupportedModelError(
            f"{name} predicts {estimator.n_outputs_} {labels} at once.", "One is needed.", "Fit one model for each."
        )


for name in ("MLPClassifier", "MLPRegressor"):
    register_importer(name, read_network)
