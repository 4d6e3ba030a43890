"""Laws of times that a score stretches: accelerated failure time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from butfor.model.cells import IntArray
from butfor.model.survival import Monotone
from butfor.model.survival_curves import Curves, QuantileTime, Quantity
from butfor.space.frames import FloatArray


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
    witness: ClassVar[Quantity | None] = QuantileTime(0.5)

    def curves(self, u: FloatArray) -> Stretched:
        return Stretched(self.law, np.exp(u))


@dataclass(frozen=True, eq=False)
class Stretched(Curves):
    """S_0(t / scale), a scale a row."""

    law: Law
    scale: FloatArray

    def mean(self, tail: float, horizon: float | None) -> FloatArray:
        return restricted(self.law, self.scale, horizon) if horizon is not None else self.scale * self.law.mean

    def at(self, time: float) -> FloatArray:
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
    return scale * law.integral(horizon / scale)
