"""scikit-learn's multi-layer perceptrons whose units are piecewise linear."""

from __future__ import annotations

from typing import Any

import numpy as np

from butfor.errors import UnsupportedModelError
from butfor.importers.fold.column import Column
from butfor.importers.fold.linear import linear_over
from butfor.importers.registry import Imported, register_importer
from butfor.model.linear import Linear
from butfor.model.network import Layer, Network
from butfor.model.readout import Argmax, Sign, Value

LEAK = {"relu": 0.0, "identity": 1.0}
"""For each activation that is read, its slope below 0."""


def read_network(estimator: Any, columns: list[Column]) -> Imported:
    """A perceptron with ReLU units, or with none that bend."""
    if estimator.activation not in LEAK:
        raise UnsupportedModelError(
            f"{type(estimator).__name__}(activation={estimator.activation!r}) is not piecewise linear.",
            f"The activation must be one of {', '.join(map(repr, LEAK))}.",
            "Fit it with activation='relu', or let the swarm search: it needs only predictions.",
        )
    first = linear_over(columns, estimator.coefs_[0].T, estimator.intercepts_[0])
    leak = LEAK[estimator.activation]
    layers = tuple(
        Layer(np.full(len(weight), leak), weight.T.astype(np.float64), intercept.astype(np.float64))
        for weight, intercept in zip(estimator.coefs_[1:], estimator.intercepts_[1:], strict=True)
    )
    model: Linear | Network = Network(first, layers) if layers else first
    if not hasattr(estimator, "classes_"):
        return model, Value()
    classes = tuple(estimator.classes_.tolist())
    if estimator.out_activation_ == "softmax":
        return model, Argmax(classes, "softmax")
    return model, Sign(classes, "logistic")


for name in ("MLPClassifier", "MLPRegressor"):
    register_importer(name, read_network)
