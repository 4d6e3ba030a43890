"""scikit-learn's linear classifiers and regressors."""

from __future__ import annotations

from typing import Any

import numpy as np

from butfor.errors import UnsupportedModelError
from butfor.importers.column import Column
from butfor.importers.registry import Imported, register_importer
from butfor.model.cells import Cells, level_cells, number_cells
from butfor.model.linear import Linear
from butfor.model.readout import Argmax, Link, Sign, Value
from butfor.space.frames import FloatArray

CLASSIFIERS = (
    "LogisticRegression",
    "LogisticRegressionCV",
    "RidgeClassifier",
    "RidgeClassifierCV",
    "LinearSVC",
    "SGDClassifier",
    "Perceptron",
    "PassiveAggressiveClassifier",
    "LinearDiscriminantAnalysis",
)
REGRESSORS = (
    "LinearRegression",
    "Ridge",
    "RidgeCV",
    "Lasso",
    "LassoCV",
    "ElasticNet",
    "ElasticNetCV",
    "SGDRegressor",
    "LinearSVR",
    "HuberRegressor",
    "BayesianRidge",
)


def linear_over(columns: list[Column], coef: FloatArray, intercept: FloatArray) -> Linear:
    """The linear model `coef @ columns + intercept`, folded onto raw features."""
    coef, intercept = np.atleast_2d(np.asarray(coef, dtype=np.float64)), np.atleast_1d(np.asarray(intercept, dtype=np.float64))
    count = 1 + max(column.feature for column in columns)
    cells = tuple(_cells([column for column in columns if column.feature == j]) for j in range(count))
    slope = np.zeros((len(coef), count))
    steps = [np.zeros((len(coef), cell.count + 1)) for cell in cells]
    constant = np.broadcast_to(intercept, (len(coef),)).astype(np.float64)
    for weight, column in zip(coef.T, columns, strict=True):
        j = column.feature
        missing = np.nan_to_num(column.missing_value())
        if column.table is not None:
            steps[j][:, :-1] += np.outer(weight, np.nan_to_num(column.table[:-1].astype(np.float64)))
            steps[j][:, -1] += weight * missing
        elif column.edges is not None:
            steps[j][:, :-1] += np.outer(weight, column.at(representatives(cells[j])))
            steps[j][:, -1] += weight * missing
        elif column.affine:
            zero = float(column.at(np.zeros(1))[0])
            slope[:, j] += weight * column.slope
            constant = constant + weight * zero
            steps[j][:, -1] += weight * (missing - zero)
        else:
            raise UnsupportedModelError(
                "a linear model follows a step that is not affine (MinMaxScaler with clip=True).",
                "Scores must be linear in each number.",
                "Use clip=False.",
            )
    return Linear(constant, slope, cells, tuple(steps))


def representatives(cells: Cells) -> FloatArray:
    """One number inside each cell of a number."""
    if not len(cells.edges):
        return np.zeros(1)
    return np.append(cells.edges, np.nextafter(cells.edges[-1], np.inf))


def _cells(columns: list[Column]) -> Cells:
    tables = [column.table for column in columns if column.table is not None]
    if tables:
        return level_cells(len(tables[0]) - 1)
    edges = [column.edges for column in columns if column.edges is not None]
    return number_cells(np.concatenate([np.empty(0), *edges]))


def read_classifier(estimator: Any, columns: list[Column]) -> Imported:
    """A linear classifier: one score decides by its sign, several by the largest."""
    if np.ndim(estimator.coef_) != 2 or isinstance(estimator.classes_, list):
        raise UnsupportedModelError(f"{type(estimator).__name__} has several outputs.", "One output is needed.")
    coef = np.asarray(estimator.coef_.toarray() if hasattr(estimator.coef_, "toarray") else estimator.coef_)
    model = linear_over(columns, coef, estimator.intercept_)
    classes = tuple(estimator.classes_.tolist())
    link = _link(estimator)
    return model, (Sign(classes, link) if model.scores == 1 else Argmax(classes, link))


def _link(estimator: Any) -> Link:
    """How probabilities are made of the scores, found by asking the estimator once."""
    if not hasattr(estimator, "predict_proba"):
        return "none"
    probe = np.linspace(-1.0, 1.0, estimator.n_features_in_).reshape(1, -1)
    scores = np.atleast_2d(estimator.decision_function(_as_fitted(estimator, probe)))
    said = estimator.predict_proba(_as_fitted(estimator, probe))[0]
    if len(said) == 2:
        return "logistic" if np.isclose(said[1], 1 / (1 + np.exp(-scores.ravel()[0]))) else "none"
    soft = np.exp(scores[0] - scores[0].max())
    return "softmax" if np.allclose(said, soft / soft.sum()) else "ovr"


def _as_fitted(estimator: Any, array: FloatArray) -> Any:
    """An array, or a frame with the names the estimator was fitted on."""
    if not hasattr(estimator, "feature_names_in_"):
        return array
    import pandas as pd

    return pd.DataFrame(array, columns=estimator.feature_names_in_)


def read_regressor(estimator: Any, columns: list[Column]) -> Imported:
    """A linear regressor: its one score is the prediction."""
    coef = np.asarray(estimator.coef_.toarray() if hasattr(estimator.coef_, "toarray") else estimator.coef_)
    if coef.ndim == 2 and len(coef) > 1:
        raise UnsupportedModelError(f"{type(estimator).__name__} has several outputs.", "One output is needed.")
    return linear_over(columns, coef, estimator.intercept_), Value()


for name in CLASSIFIERS:
    register_importer(name, read_classifier)
for name in REGRESSORS:
    register_importer(name, read_regressor)
