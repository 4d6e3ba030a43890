"""scikit-learn's linear classifiers and regressors, and its generalized linear models."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import expit, softmax

from butfor.arrays import FloatArray
from butfor.errors import UnsupportedProblemError
from butfor.importers.coefficients import Coefficients, register_coefficients
from butfor.importers.fold.additive import additive_over
from butfor.importers.fold.column import Column, constant
from butfor.importers.registry import Imported, register_importer
from butfor.model.linked import value_behind
from butfor.model.monotone import Exponential
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
GENERALIZED = ("PoissonRegressor", "GammaRegressor", "TweedieRegressor")


def read_classifier(estimator: Any, columns: list[Column]) -> Imported:
    """A linear classifier. A single score decides by its sign; of several scores, the largest wins."""
    coef = _dense(estimator.coef_)
    model = additive_over(columns, coef, estimator.intercept_)
    classes = tuple(estimator.classes_.tolist())
    link = _link(estimator, coef)
    return model, (Sign(classes, link) if model.scores == 1 else Argmax(classes, link))


def _dense(coef: Any) -> FloatArray:
    """Coefficients (scores, columns) as a dense array.

    Some estimators drop the first axis if there is a single score, and `sparsify` makes coefficients sparse.
    """
    return np.atleast_2d(np.asarray(coef.toarray() if hasattr(coef, "toarray") else coef, dtype=np.float64))


def _link(estimator: Any, coef: FloatArray) -> Link:
    """How probabilities follow from the scores. The class of the estimator tells, or else its answers do."""
    if not hasattr(estimator, "predict_proba"):
        return "none"
    told = LINKS.get((type(estimator).__module__.split(".")[0], type(estimator).__name__))
    link = None if told is None else told(estimator, len(coef) == 1)
    return _seen_link(estimator, coef) if link is None else link


def _logistic_link(estimator: Any, alone: bool) -> Link | None:
    """Logistic regression: softmax over several classes, unless each was fitted against the rest."""
    way = getattr(estimator, "multi_class", "deprecated")  # scikit-learn 1.8 removed it
    if alone:
        return "none" if way == "multinomial" else "logistic"
    return "ovr" if way == "ovr" or (way != "multinomial" and estimator.solver == "liblinear") else "softmax"


def _sgd_link(estimator: Any, alone: bool) -> Link | None:
    """Stochastic gradient descent: each class against the rest. Only one loss is that of logistic regression."""
    if estimator.loss == "log_loss":
        return "logistic" if alone else "ovr"
    return "none" if alone else "ovr"


LINKS: dict[tuple[str, str], Callable[[Any, bool], Link | None]] = {
    ("sklearn", "LogisticRegression"): _logistic_link,
    ("sklearn", "LogisticRegressionCV"): _logistic_link,
    ("sklearn", "SGDClassifier"): _sgd_link,
    ("sklearn", "LinearDiscriminantAnalysis"): lambda estimator, alone: "logistic" if alone else "softmax",
}
"""For each known class, its link. It depends on the settings, and on whether there is a single score."""


def _seen_link(estimator: Any, coef: FloatArray) -> Link:
    """The link that the answers of an unknown estimator show, at the probe where the links differ most."""
    probes = _probes(coef, np.asarray(estimator.intercept_, dtype=np.float64))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the probes have no column names
        scores = np.asarray(estimator.decision_function(probes), dtype=np.float64).reshape(len(probes), -1)
        probabilities = np.asarray(estimator.predict_proba(probes))
    if scores.shape[1] == 1:
        return "logistic" if np.allclose(probabilities[:, 1], expit(scores[:, 0]), atol=1e-6) else "none"
    by_softmax, each = softmax(scores, axis=1), expit(scores)
    by_rest = each / np.maximum(each.sum(axis=1, keepdims=True), np.finfo(np.float64).tiny)
    best = np.argmax(np.abs(by_softmax - by_rest).max(axis=1))
    differ = np.abs(by_softmax[best] - by_rest[best]).max() > 1e-4 or not coef.any()
    return "softmax" if differ and np.allclose(probabilities[best], by_softmax[best], atol=1e-6) else "ovr"


def _probes(coef: FloatArray, intercept: FloatArray) -> FloatArray:
    """Points from where all scores are their intercepts to where they are far apart, in several directions.

    One more point comes close to moderate scores, if the intercepts are not moderate.
    """
    wanted = np.linspace(-1.0, 1.0, len(coef) + 2)[1:-1] + 0.5
    middle = np.linalg.lstsq(coef, wanted - intercept, rcond=None)[0]
    ways = np.random.default_rng(0).normal(size=(8, coef.shape[1]))
    ways /= np.maximum(np.abs(ways @ coef.T).max(axis=1, keepdims=True), np.finfo(np.float64).tiny)
    steps = np.multiply.outer([0.0, 0.1, 0.3, 1.0, 3.0], ways).reshape(-1, coef.shape[1])
    return np.concatenate([steps, middle + steps])


def read_regressor(estimator: Any, columns: list[Column]) -> Imported:
    """A linear regressor: its one score is the prediction."""
    return additive_over(columns, _dense(estimator.coef_), estimator.intercept_), Value()


def read_generalized(estimator: Any, columns: list[Column]) -> Imported:
    """A generalized linear model: its prediction is the exponential of its score, or the score itself."""
    model = additive_over(columns, _dense(estimator.coef_), estimator.intercept_)
    link = getattr(estimator, "link", "log")
    if link == "identity" or (link == "auto" and estimator.power <= 0):
        return model, Value()
    return model, value_behind(Exponential())


def read_latent(estimator: Any, columns: list[Column]) -> Imported:
    """Partial least squares: its columns are measured from their means."""
    coef = _dense(estimator.coef_)
    return additive_over(columns, coef, estimator.intercept_ - coef @ estimator._x_mean), Value()


def read_coefficients(estimator: Any, columns: list[Column]) -> Coefficients:
    """The intercept, and then one weight per column."""
    coef = _dense(estimator.coef_)
    if len(coef) != 1:
        raise UnsupportedProblemError(
            f"this {type(estimator).__name__} has {len(coef)} scores.",
            "A single linear score is needed.",
            "Fit it on two classes.",
        )
    return Coefficients(
        np.concatenate([np.ravel(estimator.intercept_), coef[0]]), [constant(columns[0]), *columns], _design
    )


def _design(rows: Any) -> FloatArray:
    """Rows with a 1 before the columns."""
    table = np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows, dtype=np.float64)
    return np.column_stack([np.ones(len(table)), table])


for name in (*GENERALIZED, *CLASSIFIERS, *REGRESSORS):
    register_coefficients(name, read_coefficients)
register_importer("PLSRegression", read_latent)
for name in GENERALIZED:
    register_importer(name, read_generalized)
for name in CLASSIFIERS:
    register_importer(name, read_classifier)
for name in REGRESSORS:
    register_importer(name, read_regressor)
