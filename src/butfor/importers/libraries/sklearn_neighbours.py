"""scikit-learn's votes of neighbours and Gaussian kernels. They are searched, and a bound on the cost is known."""

from __future__ import annotations

from typing import Any

import numpy as np

from butfor.errors import UnsupportedModelError
from butfor.importers.fold.column import Column
from butfor.importers.fold.linear import linear_over
from butfor.importers.registry import Imported, OnlyBoundedError, register_importer
from butfor.model.barrier import MOST_WAYS, AbstractBarrier, GaussianKernel, Neighbours, ways
from butfor.model.linear import Linear
from butfor.model.scores import UNIT_DOUBLE, UNIT_SINGLE

ROUNDINGS = 64.0
"""How many roundings of a sum's largest part an estimator is granted, for each input."""


def neighbours(model: Any, columns: list[Column]) -> Imported:
    """A vote of neighbours in the Euclidean distance, with a bound. Others are searched only."""
    classes = tuple(np.asarray(model.classes_).tolist())
    usual = (
        model.effective_metric_ == "euclidean" and model.weights == "uniform" and isinstance(model._fit_X, np.ndarray)
    )
    if not usual or model.outputs_2d_ or ways(len(classes), model.n_neighbors) > MOST_WAYS:
        raise _searched(model)
    rows = model._fit_X.astype(np.float64)
    doubt = 4 * np.sqrt(_rounding(columns))  # distances are roots of differences that cancel
    raise _bounded(model, Neighbours(_inputs(model, columns), rows, model._y, classes, int(model.n_neighbors), doubt))


def kernel_machine(model: Any, columns: list[Column]) -> Imported:
    """A kernel of two classes that is Gaussian, with a bound. Others are searched only."""
    if model.kernel != "rbf" or len(model.classes_) != 2 or not isinstance(model.support_vectors_, np.ndarray):
        raise _searched(model)
    classes = tuple(np.asarray(model.classes_).tolist())
    weight, intercept = np.ravel(model.dual_coef_), float(np.ravel(model.intercept_)[0])
    gamma, rows = float(model._gamma), model.support_vectors_
    largest = 2 * float(np.linalg.norm(rows, axis=1).max())
    doubt = _rounding(columns) * (1 + gamma * largest**2)  # squares of distances are differences that cancel
    barrier = GaussianKernel(_inputs(model, columns), rows, weight, intercept, gamma, classes, doubt)
    raise _bounded(model, barrier)


def _inputs(model: Any, columns: list[Column]) -> Linear:
    """What reaches the model, as functions of the raw columns."""
    try:
        return linear_over(columns, np.eye(len(columns)), np.zeros(len(columns)))
    except UnsupportedModelError:
        raise _searched(model) from None


def _rounding(columns: list[Column]) -> float:
    single = any(column.single for column in columns)
    return ROUNDINGS * (len(columns) + 4) * (UNIT_SINGLE if single else UNIT_DOUBLE)


def _searched(model: Any) -> UnsupportedModelError:
    return UnsupportedModelError(
        f"{type(model).__name__} is no sum of parts.", "Exact solvers need one.", "Let the swarm search."
    )


def _bounded(model: Any, barrier: AbstractBarrier) -> OnlyBoundedError:
    name = type(model).__name__
    return OnlyBoundedError(
        model,
        barrier,
        f"{name} is no sum of parts.",
        "Exact solvers need one.",
        "The swarm searches.",
    )


register_importer("KNeighborsClassifier", neighbours)
register_importer("SVC", kernel_machine)
register_importer("NuSVC", kernel_machine)
