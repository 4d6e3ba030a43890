"""statsmodels: linear and generalized linear models, binary and multinomial choices. The library is not imported.

What a fit returns predicts a number, also where that is a probability. So it is read as a regressor, and asked with
`bf.value`. Only models of several choices have classes.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from butfor.arrays import FloatArray
from butfor.errors import UnsupportedModelError
from butfor.estimator.boosters import register_native
from butfor.importers.coefficients import Coefficients, register_coefficients
from butfor.importers.fold.additive import additive_over
from butfor.importers.fold.column import Column
from butfor.importers.libraries.statsmodels_formulas import design_columns, variables
from butfor.importers.registry import Imported, register_importer
from butfor.model.linked import value_behind
from butfor.model.monotone import AbstractStep, ComplementaryLogLog, Exponential, Logistic, Normal
from butfor.model.ordered import OrderedClasses
from butfor.model.readout import Argmax

LINEAR = ("OLS", "WLS", "GLS", "GLSAR", "QuantReg", "RLM")
"""Models whose prediction is the linear score."""

RESPONSES: dict[str, AbstractStep] = {"Logit": Logistic(), "Probit": Normal(), "Poisson": Exponential()}
"""What models make of their linear score."""

INVERSES: dict[str, AbstractStep | None] = {
    "Identity": None,
    "Log": Exponential(),
    "Logit": Logistic(),
    "Probit": Normal(),
    "CLogLog": ComplementaryLogLog(),
}
"""The inverse of each link of a generalized linear model. Older names of them are written small."""


DISTRIBUTIONS: dict[str, AbstractStep] = {"logistic": Logistic(), "norm": Normal()}
"""Between which thresholds of them ordered classes lie, by the names of scipy."""


class _Adapted:
    """What a fit of statsmodels returned, with the interface of an estimator."""

    def __init__(self, results: Any) -> None:
        self.results = results
        named = variables(results)
        if named is None:
            self.n_features_in_ = int(np.shape(results.model.exog)[1])
        else:
            self.feature_names_in_ = np.array(named, dtype=object)

    def answers(self, X: Any) -> NDArray[Any]:
        """What the results themselves predict."""
        return np.asarray(self.results.predict(_in_pandas(X)))

    def design(self, columns: list[Column]) -> list[Column]:
        """The columns of the design matrix, made of those that reach the model."""
        if not hasattr(self.results.model, "formula"):
            return columns
        return design_columns(self.results, dict(zip(self.feature_names_in_.tolist(), columns, strict=True)))


def _in_pandas(X: Any) -> Any:
    """The only frames that statsmodels takes."""
    return X.to_pandas() if hasattr(X, "to_pandas") else X


class _StatsmodelsResults(_Adapted):
    """Results that predict one number for each row: a mean, or a probability."""

    _estimator_type = "regressor"

    def rows(self, X: Any) -> FloatArray:
        """The rows of the design matrix."""
        return np.asarray(self.results._transform_predict_exog(_in_pandas(X))[0], dtype=np.float64)

    def predict(self, X: Any) -> FloatArray:
        """The numbers."""
        return np.asarray(self.answers(X), dtype=np.float64).ravel()


class _StatsmodelsChoices(_Adapted):
    """Results that predict the probability of each of several classes."""

    @cached_property
    def classes_(self) -> NDArray[Any]:
        """The classes, as they were given. statsmodels itself keeps them as text."""
        model = self.results.model
        if hasattr(model, "labels"):
            return np.asarray(model.labels)
        told, given = list(model._ynames_map.values()), np.asarray(model.data.orig_endog)
        seen = np.unique(given) if given.ndim == 1 else given
        return seen if list(map(str, seen.tolist())) == told else np.array(told, dtype=object)

    def predict_proba(self, X: Any) -> FloatArray:
        """The probability of each class."""
        return np.asarray(self.answers(X), dtype=np.float64)

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class; the first one if several are equally probable."""
        return np.asarray(self.classes_[np.argmax(self.predict_proba(X), axis=1)])


def read_values(estimator: _StatsmodelsResults, columns: list[Column]) -> Imported:
    """A linear score, and what the model makes of it."""
    results = estimator.results
    coef = np.asarray(results.params, dtype=np.float64)
    score = additive_over(estimator.design(columns), coef[None, :], np.zeros(1))
    return score, value_behind(_response(results.model))


def _response(model: Any) -> AbstractStep | None:
    """What the model makes of its linear score; None if that is the prediction."""
    kind = type(model).__name__
    if kind in LINEAR:
        return None
    if kind in RESPONSES:
        return RESPONSES[kind]
    link = next((kind.__name__ for kind in type(model.family.link).__mro__ if kind.__name__ in INVERSES), "")
    if link == "" or type(model.family.link).__mro__[0].__name__.lower() != link.lower():
        raise UnsupportedModelError(
            f"a GLM of statsmodels has the link {type(model.family.link).__name__}.",
            f"It must be one of {', '.join(INVERSES)}.",
            "Fit it with one of these, or let the swarm search: it needs only predictions.",
        )
    return INVERSES[link]


def read_choices(estimator: _StatsmodelsChoices, columns: list[Column]) -> Imported:
    """Several choices: the first has the score 0, each other one a linear score. Ordered ones share one score."""
    results = estimator.results
    if type(results.model).__name__ != "MNLogit":
        return _read_order(estimator, columns)
    coef = np.asarray(results.params, dtype=np.float64).T
    coef = np.concatenate([np.zeros((1, coef.shape[1])), coef])
    score = additive_over(estimator.design(columns), coef, np.zeros(len(coef)))
    return score, Argmax(tuple(estimator.classes_.tolist()), "softmax")


def _read_order(estimator: _StatsmodelsChoices, columns: list[Column]) -> Imported:
    """One linear score, and the thresholds between the classes."""
    model, params = estimator.results.model, np.asarray(estimator.results.params, dtype=np.float64)
    name = str(getattr(model.distr, "name", type(model.distr).__name__))
    if name not in DISTRIBUTIONS:
        raise UnsupportedModelError(
            f"an OrderedModel of statsmodels has the distribution {name}.",
            f"It must be one of {', '.join(DISTRIBUTIONS)}.",
            "Fit it with distr='logit' or 'probit', or let the swarm search: it needs only predictions.",
        )
    thresholds = np.asarray(model.transform_threshold_params(params)[1:-1], dtype=np.float64)
    score = additive_over(estimator.design(columns), params[None, : -len(thresholds)], np.zeros(1))
    return score, OrderedClasses(tuple(estimator.classes_.tolist()), thresholds, DISTRIBUTIONS[name])


def _as_values(results: Any) -> Any:
    """Results of a model that is known, as an estimator. Others stay what they are: black boxes with `predict`."""
    kind = type(results.model).__name__
    return _StatsmodelsResults(results) if kind in (*LINEAR, *RESPONSES, "GLM") else results


def read_coefficients(estimator: _StatsmodelsResults, columns: list[Column]) -> Coefficients:
    """The parameters of the fit, the rows of its design matrix, and the covariance that it estimated."""
    results = estimator.results
    covariance = np.asarray(results.cov_params(), dtype=np.float64)
    weights = np.asarray(results.params, dtype=np.float64)
    return Coefficients(weights, estimator.design(columns), estimator.rows, covariance)


register_importer(_StatsmodelsResults, read_values)
register_coefficients(_StatsmodelsResults, read_coefficients)
register_importer(_StatsmodelsChoices, read_choices)
for kind in ("Regression", "RLM", "GLM", "Binary", "Poisson"):
    register_native(f"statsmodels.{kind}ResultsWrapper", _as_values)
for kind in ("Multinomial", "Ordered"):
    register_native(f"statsmodels.{kind}ResultsWrapper", _StatsmodelsChoices)
