"""lifelines: the Cox model and accelerated failure times, with the interface of an estimator.

A fitter of lifelines predicts survival functions for data frames. The classes here call it. The library is not
imported.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from butfor.arrays import FloatArray, IntArray
from butfor.errors import UnsupportedModelError
from butfor.estimator.boosters import register_native
from butfor.importers.fold.column import Column
from butfor.importers.fold.linear import linear_over
from butfor.importers.registry import Imported, register_importer
from butfor.model.survival.curves import Curves, StepCurves
from butfor.model.survival.laws import AbstractLaw, Accelerated, LogLogistic, LogNormal, Weibull, restricted
from butfor.model.survival.readout import Hazards


class _Fitter(ABC):
    """A fitter with the interface of an estimator."""

    def __init__(self, fitter: Any) -> None:
        self.fitter = fitter
        names = dict.fromkeys(name for mapping in fitter.regressors.mappings.values() for name in _variables(mapping))
        names.update(dict.fromkeys(np.atleast_1d(fitter.strata or []) if hasattr(fitter, "strata") else []))
        self.feature_names_in_ = np.array(list(names), dtype=object)
        self.n_features_in_ = len(names)

    def frame(self, X: Any) -> Any:
        """Rows as the fitter takes them: a pandas frame with a fresh index."""
        return (X.to_pandas() if hasattr(X, "to_pandas") else X).reset_index(drop=True)

    @abstractmethod
    def predict(self, X: Any) -> FloatArray:
        """One number per row that summarises its survival."""

    @abstractmethod
    def survival_curves(self, X: Any) -> Curves:
        """The survival functions."""


class _Cox(_Fitter):
    """Predicts the logarithm of the hazard relative to the baseline."""

    def predict(self, X: Any) -> FloatArray:
        return np.asarray(self.fitter.predict_log_partial_hazard(self.frame(X)), dtype=np.float64).ravel()

    def survival_curves(self, X: Any) -> StepCurves:
        table = self.fitter.predict_survival_function(self.frame(X))
        return StepCurves(np.asarray(table.index, dtype=np.float64), np.ascontiguousarray(table.to_numpy().T))


class _Accelerated(_Fitter):
    """Predicts the median time."""

    _predict_risk_score = False

    def __init__(self, fitter: Any, law: Callable[[float], AbstractLaw]) -> None:
        super().__init__(fitter)
        shapes = fitter.params_[fitter._ancillary_parameter_name]
        self.law = law(float(np.exp(shapes["Intercept"]))) if list(shapes.index) == ["Intercept"] else None

    def predict(self, X: Any) -> FloatArray:
        return np.asarray(self.fitter.predict_median(self.frame(X)), dtype=np.float64).ravel()

    def survival_curves(self, X: Any) -> Curves:
        return _FitterCurves(self.fitter, self.frame(X), self.law)


@dataclass(frozen=True, eq=False)
class _FitterCurves(Curves):
    """The survival functions of some rows. The fitter is called for each quantity."""

    fitter: Any
    X: Any
    law: AbstractLaw | None

    def mean(self, tail: float, horizon: float | None) -> FloatArray:
        if horizon is None:
            table = _numbers(self.fitter.predict_expectation(self.X))
            return np.where(np.isnan(table), np.inf, table)
        if self.law is None:
            raise UnsupportedModelError(_SHAPE, "The mean up to a horizon needs one shape.", "Leave horizon= out.")
        return restricted(self.law, self.quantile(0.5) / self.law.quantile(0.5), horizon)

    def at(self, time: float) -> FloatArray:
        return self.along(np.array([time]))[:, 0]

    def along(self, times: FloatArray) -> FloatArray:
        table = self.fitter.predict_survival_function(self.X, times=times)
        return np.asarray(table, dtype=np.float64).T

    def quantile(self, share: float) -> FloatArray:
        return _numbers(self.fitter.predict_percentile(self.X, p=1.0 - share))

    def take(self, rows: IntArray) -> _FitterCurves:
        return _FitterCurves(self.fitter, self.X.iloc[rows].reset_index(drop=True), self.law)

    @property
    def span(self) -> tuple[float, float]:
        return 0.0, np.inf


_SHAPE = "the shape of the law depends on columns."


def _numbers(table: Any) -> FloatArray:
    return np.asarray(table, dtype=np.float64).ravel()


def _variables(mapping: Any) -> list[str]:
    """The columns that a parameter depends on, given by name or by a formula."""
    if isinstance(mapping, list):
        return [name for name in mapping if name != "Intercept"]
    return sorted(map(str, mapping.required_variables))


def read_cox(model: _Cox, columns: list[Column]) -> Imported:
    """The Cox model. Its score is linear and centred, its baseline a step function."""
    fitter = model.fitter
    if fitter.strata:
        raise UnsupportedModelError(
            f"CoxPHFitter was fitted with strata={fitter.strata!r}.",
            "One baseline is needed: with several, a threshold on the score does not mean the same for all rows.",
            "Fit one model per stratum.",
        )
    if fitter.baseline_estimation_method != "breslow":
        raise UnsupportedModelError(
            f"CoxPHFitter was fitted with baseline_estimation_method={fitter.baseline_estimation_method!r}.",
            "The baseline must be a step function.",
            "Use the default, 'breslow'.",
        )
    coef, mean = _of_columns(model, fitter.params_), _of_columns(model, fitter._norm_mean)
    baseline = fitter.baseline_cumulative_hazard_
    times = np.asarray(baseline.index, dtype=np.float64)
    hazards = Hazards(times=times, hazard=np.maximum(_numbers(baseline), 0.0))
    return linear_over(columns, coef, -np.atleast_1d(coef @ mean)), hazards


def read_accelerated(model: _Accelerated, columns: list[Column]) -> Imported:
    """Accelerated failure time. The logarithm of the scale is linear, the shape is one number."""
    if model.law is None:
        raise UnsupportedModelError(
            f"{type(model.fitter).__name__}: {_SHAPE}", "One shape is needed.", "Fit it without ancillary=."
        )
    params = model.fitter.params_[model.fitter._primary_parameter_name]
    coef = _of_columns(model, params.drop("Intercept", errors="ignore"))
    return linear_over(columns, coef, np.atleast_1d(params.get("Intercept", 0.0))), Accelerated(law=model.law)


def _of_columns(model: _Fitter, params: Any) -> FloatArray:
    """The coefficients or the means of the columns, in the columns' order. A formula may name them in another one."""
    names = [str(name) for name in model.feature_names_in_]
    if sorted(map(str, params.index)) != sorted(names):
        raise UnsupportedModelError(
            f"{type(model.fitter).__name__} was fitted with a formula ({', '.join(map(str, params.index))}).",
            "Its terms must be columns.",
            "Fit it on encoded columns, without formula=.",
        )
    return np.array([float(params[name]) for name in names])


register_importer(_Cox, read_cox)
register_importer(_Accelerated, read_accelerated)
register_native("lifelines.CoxPHFitter", _Cox)
register_native("lifelines.WeibullAFTFitter", lambda fitter: _Accelerated(fitter, Weibull))
register_native("lifelines.LogNormalAFTFitter", lambda fitter: _Accelerated(fitter, LogNormal))
register_native("lifelines.LogLogisticAFTFitter", lambda fitter: _Accelerated(fitter, LogLogistic))
