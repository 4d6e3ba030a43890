"""scikit-learn's linear classifiers and regressors."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy.special import expit, softmax

from butfor.arrays import FloatArray
from butfor.importers.fold.column import Column
from butfor.importers.fold.linear import linear_over
from butfor.importers.registry import Imported, register_importer
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


def read_classifier(estimator: Any, columns: list[Column]) -> Imported:
    """A linear classifier. A single score decides by its sign; of several scores, the largest wins."""
    coef = _dense(estimator.coef_)
    model = linear_over(columns, coef, estimator.intercept_)
    classes = tuple(estimator.classes_.tolist())
    link = _link(estimator, coef)
    return model, (Sign(classes, link) if model.scores == 1 else Argmax(classes, link))


def _dense(coef: Any) -> FloatArray:
    """Coefficients (scores, columns) as a dense array.

    Some estimators drop the first axis if there is a single score, and `sparsify` makes coefficients sparse.
    """
    return np.atleast_2d(np.asarray(coef.toarray() if hasattr(coef, "toarray") else coef, dtype=np.float64))


def _link(estimator: Any, coef: FloatArray) -> Link:
    """How probabilities follow from the scores. One call of the estimator, at moderate scores, shows it."""
    if not hasattr(estimator, "predict_proba"):
        return "none"
    wanted = np.linspace(-1.0, 1.0, len(coef) + 2)[1:-1] + 0.5
    probe = np.linalg.lstsq(coef, wanted - estimator.intercept_, rcond=None)[0].reshape(1, -1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the probe has no column names
        scores = np.atleast_1d(np.asarray(estimator.decision_function(probe))[0])
        probabilities = np.asarray(estimator.predict_proba(probe))[0]
    if len(scores) == 1:
        return "logistic" if np.isclose(probabilities[1], expit(scores[0])) else "none"
    return "softmax" if np.allclose(probabilities, softmax(scores)) else "ovr"


def read_regressor(estimator: Any, columns: list[Column]) -> Imported:
    """A linear regressor: its one score is the prediction."""
    return linear_over(columns, _dense(estimator.coef_), estimator.intercept_), Value()


for name in CLASSIFIERS:
    register_importer(name, read_classifier)
for name in REGRESSORS:
    register_importer(name, read_regressor)
