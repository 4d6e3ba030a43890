"""Laws of times that a score stretches: accelerated failure time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import gamma, gammainc, hyp2f1, ndtr, ndtri

from butfor.arrays import FloatArray, IntArray
from butfor.model.survival.curves import Curves, QuantileTime, Quantity
from butfor.model.survival.readout import Monotone


@dataclass(frozen=True)
class Law:
    """The law of a time whose logarithm is shifted by the score: what S is at u = 0, and its integral, mean and quantiles."""

    survival: Callable[[FloatArray], FloatArray]
    integral: Callable[[FloatArray], FloatArray]
    quantile: Callable[[float], float]
    mean: float


@dataclass(frozen=True, eq=False, kw_only=True)
class Accelerated(Monotone):
    """Accelerated failure time: S(t | u) = S_0(t e^-u), S_0 of a parametric law. Everything grows with u."""

    law: Law
    rises: ClassVar[bool] = True
    span: ClassVar[tuple[float, float]] = (-60.0, 60.0)
    witness: ClassVar[Quantity | None] = QuantileTime(0.9)

    def curves(self, u: FloatArray) -> Stretched:
        return Stretched(self.law, np.exp(u))

    def score_of(self, predicted: FloatArray) -> FloatArray:
        """The score behind each median."""
        return np.log(predicted / self.law.quantile(0.5))


@dataclass(frozen=True, eq=False)
class Stretched(Curves):
    """S_0(t / scale), a scale a row."""

    law: Law
    scale: FloatArray

    def mean(self, tail: float, horizon: float | None) -> FloatArray:
        return restricted(self.law, self.scale, horizon) if horizon is not None else self.scale * self.law.mean

    def at(self, time: float) -> FloatArray:
        with np.errstate(over="ignore"):
            return self.law.survival(time / self.scale)

    def quantile(self, share: float) -> FloatArray:
        return self.scale * self.law.quantile(share)

    def take(self, rows: IntArray) -> Stretched:
        return Stretched(self.law, self.scale[rows])

    @property
    def span(self) -> tuple[float, float]:
        return 0.0, np.inf


def restricted(law: Law, scale: FloatArray, horizon: float) -> FloatArray:
    """The integral of S_0(t / scale) over [0, horizon]: scale times that of S_0 over [0, horizon / scale]."""
    with np.errstate(over="ignore"):
        return np.minimum(scale * law.integral(horizon / scale), horizon)


def weibull(shape: float) -> Law:
    """S(t) = exp(-t^shape)."""
    mean = float(gamma(1 + 1 / shape))
    return Law(
        survival=lambda t: np.exp(-(t**shape)),
        integral=lambda t: np.asarray(mean * gammainc(1 / shape, t**shape), dtype=np.float64),
        quantile=lambda share: float((-np.log1p(-share)) ** (1 / shape)),
        mean=mean,
    )


def log_normal(sigma: float) -> Law:
    """log t is normal with mean 0 and this standard deviation."""
    mean = float(np.exp(sigma**2 / 2))

    def survival(t: FloatArray) -> FloatArray:
        with np.errstate(divide="ignore"):
            return np.asarray(ndtr(-np.log(t) / sigma))

    def integral(t: FloatArray) -> FloatArray:
        finite = np.minimum(t, 1e300)
        with np.errstate(divide="ignore"):
            return np.asarray(finite * survival(finite) + mean * ndtr(np.log(finite) / sigma - sigma))

    return Law(survival, integral, lambda share: float(np.exp(sigma * ndtri(share))), mean)


def log_logistic(shape: float) -> Law:
    """S(t) = 1 / (1 + t^shape); with a shape of at most 1, the mean is infinite."""
    angle = np.pi / shape

    def integral(t: FloatArray) -> FloatArray:
        if shape == 1:
            return np.log1p(t)
        return np.asarray(t * hyp2f1(1.0, 1 / shape, 1 + 1 / shape, -(t**shape)), dtype=np.float64)

    return Law(
        survival=lambda t: 1 / (1 + t**shape),
        integral=integral,
        quantile=lambda share: float((share / (1 - share)) ** (1 / shape)),
        mean=float(angle / np.sin(angle)) if shape > 1 else np.inf,
    )
