"""scikit-learn's linear classifiers and regressors."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy.special import expit, softmax

from butfor.arrays import FloatArray
from butfor.errors import UnsupportedModelError
from butfor.importers.column import Column
from butfor.importers.registry import Imported, register_importer
from butfor.model.cells import Cells, level_cells, number_cells, representatives
from butfor.model.linear import Linear
from butfor.model.readout import Argmax, Link, Sign, Value

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
    coef, intercept = np.atleast_2d(coef), np.atleast_1d(np.asarray(intercept, dtype=np.float64))
    count = 1 + max(column.feature for column in columns)
    cells = tuple(_cells([column for column in columns if column.feature == j]) for j in range(count))
    slope = np.zeros((len(coef), count))
    steps = [np.zeros((len(coef), cell.count + 1)) for cell in cells]
    constant = np.broadcast_to(intercept, (len(coef),)).astype(np.float64)
    for weight, column in zip(coef.T, columns, strict=True):
        j = column.feature
        missing = np.nan_to_num(column.missing_value())
        if column.table is not None:
            steps[j][:, :-1] += np.outer(weight, np.nan_to_num(column.level_values()))
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


def _cells(columns: list[Column]) -> Cells:
    tables = [column.table for column in columns if column.table is not None]
    if tables:
        return level_cells(len(tables[0]) - 1)
    edges = [column.edges for column in columns if column.edges is not None]
    return number_cells(np.concatenate([np.empty(0), *edges]))


def read_classifier(estimator: Any, columns: list[Column]) -> Imported:
    """A linear classifier: one score decides by its sign, several by the largest."""
    coef = _dense(estimator.coef_)
    model = linear_over(columns, coef, estimator.intercept_)
    classes = tuple(estimator.classes_.tolist())
    link = _link(estimator, coef)
    return model, (Sign(classes, link) if model.scores == 1 else Argmax(classes, link))


def _dense(coef: Any) -> FloatArray:
    """Coefficients, a row a score (some estimators leave out the row of a single one; `sparsify` makes them sparse)."""
    return np.atleast_2d(np.asarray(coef.toarray() if hasattr(coef, "toarray") else coef, dtype=np.float64))


def _link(estimator: Any, coef: FloatArray) -> Link:
    """How probabilities are made of the scores, found by asking the estimator once, where its scores are moderate."""
    if not hasattr(estimator, "predict_proba"):
        return "none"
    wanted = np.linspace(-1.0, 1.0, len(coef) + 2)[1:-1] + 0.5
    probe = np.linalg.lstsq(coef, wanted - estimator.intercept_, rcond=None)[0].reshape(1, -1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the probe has no column names
        scores = np.atleast_1d(np.asarray(estimator.decision_function(probe))[0])
        said = np.asarray(estimator.predict_proba(probe))[0]
    if len(scores) == 1:
        return "logistic" if np.isclose(said[1], expit(scores[0])) else "none"
    return "softmax" if np.allclose(said, softmax(scores)) else "ovr"


def read_regressor(estimator: Any, columns: list[Column]) -> Imported:
    """A linear regressor: its one score is the prediction."""
    return linear_over(columns, _dense(estimator.coef_), estimator.intercept_), Value()


for name in CLASSIFIERS:
    register_importer(name, read_classifier)
for name in REGRESSORS:
    register_importer(name, read_regressor)
