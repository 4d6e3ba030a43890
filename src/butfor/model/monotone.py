"""Monotone functions of one score: links of regressors, and calibrators. A threshold moves through them exactly.

Each step says between which numbers the estimator's result lies if its argument lies between two others. So the
rounding of the whole function is derived, and not chosen (see docs/decisions/017-links-and-calibration.md).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import expit, ndtr

from butfor.arrays import BoolArray, FloatArray
from butfor.model.float_order import last_number
from butfor.model.scores import UNIT_DOUBLE, UNIT_SINGLE, ScoreSet, at_least, everything, nothing

Ends = tuple[FloatArray, FloatArray]

STEP_ROUNDINGS = 4
"""The roundings of one step: an exponential, a sum, a quotient, and a difference."""

SURELY_ONE = STEP_ROUNDINGS - float(np.log(UNIT_DOUBLE))
"""From this score on, the logistic function is 1, in float32 as in float64."""

LARGEST_SCORE = 1e100
"""No score is larger. Beyond it, numbers overflow in a step."""

OUT_OF_REACH = 1e19
"""Scores this far from a threshold are not reached. It is less than what HiGHS takes for infinity."""


class AbstractStep(ABC):
    """A function of one number that never falls, or never rises."""

    @property
    def rises(self) -> bool:
        """Whether it never falls."""
        return True

    @abstractmethod
    def at(self, x: FloatArray) -> FloatArray:
        """Its value, without regard to rounding."""

    def off(self, x: FloatArray, value: FloatArray, unit: float) -> FloatArray:
        """By how much the estimator's value at `x` may differ from `value`, which is ours."""
        return STEP_ROUNDINGS * unit * np.abs(value) + _tiniest(unit)

    def between(self, low: FloatArray, high: FloatArray, unit: float) -> Ends:
        """Between which numbers the estimator's value lies if its argument lies between `low` and `high`."""
        first, last = (low, high) if self.rises else (high, low)
        least, most = self.at(first), self.at(last)
        return _lowered(least, self.off(first, least, unit)), most + self.off(last, most, unit)


def _lowered(value: FloatArray, off: FloatArray) -> FloatArray:
    return np.where(np.isinf(value), value, value - off)


def _tiniest(unit: float) -> float:
    """The size below which numbers have fewer digits."""
    return float(np.finfo(np.float32 if unit == UNIT_SINGLE else np.float64).tiny)


@dataclass(frozen=True)
class Scaled(AbstractStep):
    """`factor * x + shift`."""

    factor: float
    shift: float = 0.0

    @property
    def rises(self) -> bool:
        return self.factor >= 0

    def at(self, x: FloatArray) -> FloatArray:
        return np.asarray(self.factor * x + self.shift)

    def off(self, x: FloatArray, value: FloatArray, unit: float) -> FloatArray:
        """Two large numbers may nearly cancel."""
        return STEP_ROUNDINGS * unit * (np.abs(self.factor * x) + abs(self.shift))


@dataclass(frozen=True)
class Exponential(AbstractStep):
    """The exponential function, the inverse of a log link."""

    def at(self, x: FloatArray) -> FloatArray:
        with np.errstate(over="ignore"):
            return np.exp(x)

    def between(self, low: FloatArray, high: FloatArray, unit: float) -> Ends:
        least, most = super().between(low, high, unit)
        largest = float(np.finfo(np.float32 if unit == UNIT_SINGLE else np.float64).max)
        return np.maximum(least, 0.0), np.where(most > largest * (1 - STEP_ROUNDINGS * unit), np.inf, most)


@dataclass(frozen=True)
class Logistic(AbstractStep):
    """The logistic function."""

    def at(self, x: FloatArray) -> FloatArray:
        return np.asarray(expit(x))

    def between(self, low: FloatArray, high: FloatArray, unit: float) -> Ends:
        least, most = super().between(low, high, unit)
        return np.where(low >= SURELY_ONE, 1.0, np.maximum(least, 0.0)), np.minimum(most, 1.0)


NORMAL_SHARE = 2.0**-43
"""By which share of it two computations of a normal probability may differ.

Cephes' function is off by at most 3.4e-14 (its own documentation, `ndtr`). Two of them differ by at most twice as much.
"""


@dataclass(frozen=True)
class Normal(AbstractStep):
    """The distribution function of the normal distribution, the inverse of a probit link."""

    def at(self, x: FloatArray) -> FloatArray:
        return np.asarray(ndtr(x))

    def off(self, x: FloatArray, value: FloatArray, unit: float) -> FloatArray:
        return np.asarray(max(NORMAL_SHARE, STEP_ROUNDINGS * unit) * np.abs(value) + _tiniest(unit))

    def between(self, low: FloatArray, high: FloatArray, unit: float) -> Ends:
        least, most = super().between(low, high, unit)
        return np.maximum(least, 0.0), np.minimum(most, 1.0)


@dataclass(frozen=True)
class ComplementaryLogLog(AbstractStep):
    """`1 - exp(-exp(x))`, the inverse of a complementary log-log link."""

    def at(self, x: FloatArray) -> FloatArray:
        with np.errstate(over="ignore"):
            return np.asarray(-np.expm1(-np.exp(x)))

    def off(self, x: FloatArray, value: FloatArray, unit: float) -> FloatArray:
        """The difference from 1 is rounded, and the exponent before it: of `t exp(-t)`, which is below 1/2."""
        return np.full(np.shape(value), 2 * STEP_ROUNDINGS * unit)

    def between(self, low: FloatArray, high: FloatArray, unit: float) -> Ends:
        least, most = super().between(low, high, unit)
        return np.maximum(least, 0.0), np.minimum(most, 1.0)


@dataclass(frozen=True)
class LogOdds(AbstractStep):
    """`log(x + spare) - log(1 - x + spare)` of a probability x."""

    spare: float

    def at(self, x: FloatArray) -> FloatArray:
        x = np.clip(x, 0.0, 1.0)
        return np.asarray(np.log(x + self.spare) - np.log(1.0 - x + self.spare))

    def off(self, x: FloatArray, value: FloatArray, unit: float) -> FloatArray:
        """The difference from 1 is rounded before its logarithm is taken."""
        rest = np.maximum(1.0 - np.clip(x, 0.0, 1.0), 0.0) + self.spare
        lost = np.minimum(STEP_ROUNDINGS * unit / rest, -np.log(self.spare))
        return np.asarray(lost + STEP_ROUNDINGS * unit * (np.abs(np.log(rest)) + np.abs(value) + 1.0))


@dataclass(frozen=True)
class Complement(AbstractStep):
    """`1 - x`: the probability of the other class."""

    @property
    def rises(self) -> bool:
        return False

    def at(self, x: FloatArray) -> FloatArray:
        return np.asarray(1.0 - x)

    def off(self, x: FloatArray, value: FloatArray, unit: float) -> FloatArray:
        """In float64, the one rounding is ours, too."""
        return np.zeros(np.shape(x)) if unit == UNIT_DOUBLE else super().off(x, value, unit)


@dataclass(frozen=True)
class SignedSquare(AbstractStep):
    """`x |x|`, the inverse of a signed square root."""

    def at(self, x: FloatArray) -> FloatArray:
        return np.asarray(x * np.abs(x))


@dataclass(frozen=True)
class Capped(AbstractStep):
    """`min(x, most)`, which is not rounded."""

    most: float

    def at(self, x: FloatArray) -> FloatArray:
        return np.minimum(x, self.most)

    def off(self, x: FloatArray, value: FloatArray, unit: float) -> FloatArray:
        return np.zeros(np.shape(value))


@dataclass(frozen=True)
class Jump(AbstractStep):
    """1 where a number is at least `at_least` (`strict`: above it), else 0: a vote.

    The estimator surely votes 0 below `at_least - below`, and 1 above `at_least + above`.
    """

    at_least: float
    strict: bool = False
    below: float = 0.0
    above: float = 0.0

    def at(self, x: FloatArray) -> FloatArray:
        return np.asarray(x > self.at_least if self.strict else x >= self.at_least, dtype=np.float64)

    def between(self, low: FloatArray, high: FloatArray, unit: float) -> Ends:
        never, always = (Jump(self.at_least + off, self.strict and not off) for off in (self.above, -self.below))
        return never.at(low), always.at(high)


@dataclass(frozen=True, eq=False)
class Mean(AbstractStep):
    """The mean of several functions of one number. All of them rise, or all fall."""

    functions: tuple[MonotoneFunction, ...]

    @property
    def rises(self) -> bool:
        return self.functions[0].rises

    def at(self, x: FloatArray) -> FloatArray:
        return np.asarray(np.mean([function.at(x) for function in self.functions], axis=0))

    def between(self, low: FloatArray, high: FloatArray, unit: float) -> Ends:
        """Twice the rounding of the mean: that of the other class is rounded, too, and the two are compared."""
        ends = [function.between(low, high) for function in self.functions]
        least, most = (np.mean([end[k] for end in ends], axis=0) for k in (0, 1))
        share = 2 * (len(ends) + STEP_ROUNDINGS) * unit
        return least - share * np.abs(least), most + share * np.abs(most)


@dataclass(frozen=True, eq=False)
class MonotoneFunction:
    """Steps one after the other, from a score to a prediction. `unit` is the unit roundoff of the estimator."""

    steps: tuple[AbstractStep, ...]
    unit: float = UNIT_DOUBLE

    @property
    def rises(self) -> bool:
        """Whether it never falls. Otherwise it never rises."""
        return sum(not step.rises for step in self.steps) % 2 == 0

    def rounded(self, unit: float) -> MonotoneFunction:
        """The same function in an estimator with at least this unit roundoff."""
        unit = max(unit, self.unit)
        steps = (
            replace(step, functions=tuple(each.rounded(unit) for each in step.functions))
            if isinstance(step, Mean)
            else step
            for step in self.steps
        )
        return replace(self, steps=tuple(steps), unit=unit)

    def then(self, *steps: AbstractStep) -> MonotoneFunction:
        """This function, and further steps."""
        return replace(self, steps=(*self.steps, *steps))

    def at(self, x: FloatArray) -> FloatArray:
        """Its value, without regard to rounding."""
        for step in self.steps:
            x = step.at(x)
        return x

    def between(self, low: FloatArray, high: FloatArray) -> Ends:
        """Between which numbers the estimator's prediction lies if the score lies between `low` and `high`."""
        for step in self.steps:
            low, high = step.between(low, high, self.unit)
        return low, high

    def score_set(self, row: FloatArray, value: float, *, below: bool = False, strict: bool = False) -> ScoreSet:
        """The scores s whose prediction, from `row @ s`, is at least (`below`: at most) `value`.

        Attained values are closed ends. A strict threshold is the next number, as the prediction is a float64.
        """
        if strict:
            value = float(np.nextafter(value, -np.inf if below else np.inf))
        perhaps, nominal, sure = (self._edge(value, below, certain) for certain in (False, None, True))
        sign = 1.0 if self.rises != below else -1.0
        return half_space(sign * np.asarray(row), perhaps, nominal, sure)

    def _edge(self, value: float, below: bool, certain: bool | None) -> float:
        """The first score that fulfils a wish, on the way in which it is fulfilled ever more.

        Scores are negated if that way is down. A score fulfils it for certain, perhaps, or (None) without rounding.
        """
        up = self.rises != below

        def missed(t: FloatArray) -> BoolArray:
            s = t if up else -t
            least, most = (self.at(s),) * 2 if certain is None else self.between(s, s)
            if below:
                return np.asarray((least if certain is False else most) > value)
            return np.asarray((most if certain is False else least) < value)

        last = last_number(missed, -LARGEST_SCORE, LARGEST_SCORE)
        if last >= LARGEST_SCORE:
            return np.inf
        return -np.inf if last == -np.inf else float(np.nextafter(last, np.inf))


def half_space(row: FloatArray, perhaps: float, nominal: float, sure: float) -> ScoreSet:
    """The scores s with `row @ s` from a number on: where they are in it perhaps, by our own numbers, and surely.

    An infinite number says that none is, or that all are.
    """
    if perhaps == np.inf:
        return nothing(len(row))
    if sure == -np.inf:
        return everything(len(row))
    if perhaps == -np.inf and abs(nominal) == sure:  # perhaps any score will do: by our own numbers, all or none
        return replace(at_least(np.zeros(len(row)), math.copysign(0.5, nominal)), below=1.0, above=1.0)
    b = perhaps if nominal == np.inf else sure if nominal == -np.inf else min(max(nominal, perhaps), sure)
    return replace(at_least(row, b), below=_apart(perhaps, b), above=_apart(b, sure))


def _apart(low: float, high: float) -> float:
    """How far two scores are apart, rounded up. Of infinitely far ones, a number that says so."""
    if low >= high:
        return 0.0
    if not np.isfinite(high - low):
        return OUT_OF_REACH
    return high - low + abs(float(np.spacing(high))) + abs(float(np.spacing(low)))
