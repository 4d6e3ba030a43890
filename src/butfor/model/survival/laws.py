"""Accelerated failure time: laws of times that a score stretches."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import gamma, gammainc, hyp2f1, ndtr, ndtri

from butfor.arrays import FloatArray, IntArray
from butfor.model.survival.curves import Curves, QuantileTime, Quantity
from butfor.model.survival.readout import Monotone


class AbstractLaw(ABC):
    """The law of a time for the score u = 0. The score shifts the logarithm of the time."""

    @property
    @abstractmethod
    def mean(self) -> float:
        """The mean time."""

    @abstractmethod
    def survival(self, t: FloatArray) -> FloatArray:
        """S_0(t)."""

    @abstractmethod
    def integral(self, t: FloatArray) -> FloatArray:
        """The integral of S_0 from 0 to t."""

    @abstractmethod
    def quantile(self, share: float) -> float:
        """The time by which this share has had the event."""


@dataclass(frozen=True)
class Weibull(AbstractLaw):
    """S(t) = exp(-t^shape)."""

    shape: float

    @property
    def mean(self) -> float:
        return float(gamma(1 + 1 / self.shape))

    def survival(self, t: FloatArray) -> FloatArray:
        return np.exp(-(t**self.shape))

    def integral(self, t: FloatArray) -> FloatArray:
        return np.asarray(self.mean * gammainc(1 / self.shape, t**self.shape), dtype=np.float64)

    def quantile(self, share: float) -> float:
        return float((-np.log1p(-share)) ** (1 / self.shape))


@dataclass(frozen=True)
class LogNormal(AbstractLaw):
    """log t is normal with mean 0 and this standard deviation."""

    sigma: float

    @property
    def mean(self) -> float:
        return float(np.exp(self.sigma**2 / 2))

    def survival(self, t: FloatArray) -> FloatArray:
        with np.errstate(divide="ignore"):
            return np.asarray(ndtr(-np.log(t) / self.sigma))

    def integral(self, t: FloatArray) -> FloatArray:
        finite = np.minimum(t, 1e300)
        with np.errstate(divide="ignore"):
            late = self.mean * ndtr(np.log(finite) / self.sigma - self.sigma)
        return np.asarray(finite * self.survival(finite) + late)

    def quantile(self, share: float) -> float:
        return float(np.exp(self.sigma * ndtri(share)))


@dataclass(frozen=True)
class LogLogistic(AbstractLaw):
    """S(t) = 1 / (1 + t^shape). With a shape of at most 1, the mean is infinite."""

    shape: float

    @property
    def mean(self) -> float:
        angle = np.pi / self.shape
        return float(angle / np.sin(angle)) if self.shape > 1 else np.inf

    def survival(self, t: FloatArray) -> FloatArray:
        return np.asarray(1 / (1 + t**self.shape))

    def integral(self, t: FloatArray) -> FloatArray:
        if self.shape == 1:
            return np.log1p(t)
        return np.asarray(t * hyp2f1(1.0, 1 / self.shape, 1 + 1 / self.shape, -(t**self.shape)), dtype=np.float64)

    def quantile(self, share: float) -> float:
        return float((share / (1 - share)) ** (1 / self.shape))


@dataclass(frozen=True, eq=False, kw_only=True)
class Accelerated(Monotone):
    """Accelerated failure time: S(t | u) = S_0(t e^-u), where S_0 follows a law. All times grow with u."""

    law: AbstractLaw
    rises: ClassVar[bool] = True
    score_words: ClassVar[str] = "logarithm of the scale of times"
    span: ClassVar[tuple[float, float]] = (-60.0, 60.0)
    witness: ClassVar[Quantity | None] = QuantileTime(0.9)

    def curves(self, u: FloatArray) -> Stretched:
        return Stretched(self.law, np.exp(u))

    def score_of(self, predicted: FloatArray) -> FloatArray:
        """The score behind each median."""
        return np.log(predicted / self.law.quantile(0.5))


@dataclass(frozen=True, eq=False)
class Stretched(Curves):
    """S_0(t / scale), one scale per row."""

    law: AbstractLaw
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


def restricted(law: AbstractLaw, scale: FloatArray, horizon: float) -> FloatArray:
    """The integral of S_0(t / scale) over [0, horizon].

    It is scale times the integral of S_0 over [0, horizon / scale].
    """
    with np.errstate(over="ignore"):
        return np.minimum(scale * law.integral(horizon / scale), horizon)
