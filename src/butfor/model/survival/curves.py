"""Survival functions and their quantities: mean times, chances to outlast a time, quantiles."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from butfor.arrays import FloatArray, IntArray
from butfor.errors import InputError


class Curves(ABC):
    """Survival functions S(t), one per row."""

    @abstractmethod
    def mean(self, tail: float, horizon: float | None) -> FloatArray:
        """The mean time to the event.

        It is the integral of S up to its end plus `tail`, or up to the `horizon`.
        """

    @abstractmethod
    def at(self, time: float) -> FloatArray:
        """The chance to outlast a time, S(time)."""

    def along(self, times: FloatArray) -> FloatArray:
        """S at several times, one column per time."""
        return np.column_stack([self.at(float(time)) for time in times])

    @abstractmethod
    def quantile(self, share: float) -> FloatArray:
        """The time by which this share has had the event: inf {t: S(t) <= 1 - share}.

        It is infinite if S ends above 1 - share.
        """

    @abstractmethod
    def take(self, rows: IntArray) -> Curves:
        """Some of the rows."""

    @property
    @abstractmethod
    def span(self) -> tuple[float, float]:
        """The first and last time at which S may fall."""


class Quantity(ABC):
    """A number that every survival function has. It is immutable and prints in words."""

    timed = True
    """Whether it is a time, in the unit of the data."""

    @abstractmethod
    def words(self, unit: str = "") -> str:
        """Its name in words, with times in a unit."""

    def __repr__(self) -> str:
        return self.words()

    def settled(self, span: tuple[float, float]) -> Quantity:
        """The quantity, with everything filled in that depends on the model's times.

        Raises an error if it is about later times.
        """
        return self

    @abstractmethod
    def of(self, curves: Curves) -> FloatArray:
        """The value of the quantity for each row."""

    @abstractmethod
    def reach(self, span: tuple[float, float]) -> tuple[float, float]:
        """The smallest and largest values for survival functions that fall within `span`."""


@dataclass(frozen=True, repr=False)
class MeanTime(Quantity):
    """The mean time: an integral of S.

    It goes up to the `last` time that the model knows plus `tail`, or up to the `horizon`.
    """

    tail: float = 0.0
    horizon: float | None = None
    last: float | None = None

    def words(self, unit: str = "") -> str:
        if self.horizon is not None:
            return f"mean time to event within {timed(self.horizon, unit)}"
        if self.last is not None and np.isfinite(self.last):
            return f"mean time to event within {timed(self.last + self.tail, unit)}"
        return "mean time to event" + (f" with a tail of {timed(self.tail, unit)}" if self.tail else "")

    def settled(self, span: tuple[float, float]) -> MeanTime:
        end = span[1]
        if self.tail and np.isinf(end):
            raise InputError(
                f"tail={self.tail:g} was given.",
                "The model's survival functions already extend to all times.",
                "Leave it out.",
            )
        if self.horizon is not None and self.horizon > end:
            raise InputError(
                f"horizon={self.horizon:g} was given.",
                f"The model knows survival up to {end:g}, its last time.",
                f"Choose an earlier horizon, or tail={self.horizon - end:g}, which keeps survival constant after it.",
            )
        return self if self.horizon is not None else replace(self, last=end)

    def of(self, curves: Curves) -> FloatArray:
        return curves.mean(self.tail, self.horizon)

    def reach(self, span: tuple[float, float]) -> tuple[float, float]:
        end = np.inf if self.horizon is None else self.horizon
        return min(span[0], end), min(span[1] + self.tail, end)


@dataclass(frozen=True, repr=False)
class Chance(Quantity):
    """The chance to outlast a time, S(time)."""

    time: float
    timed = False

    def words(self, unit: str = "") -> str:
        return f"chance to outlast {timed(self.time, unit)}"

    def settled(self, span: tuple[float, float]) -> Chance:
        if self.time > span[1]:
            raise beyond(self.time, span[1])
        return self

    def of(self, curves: Curves) -> FloatArray:
        return curves.at(self.time)

    def reach(self, span: tuple[float, float]) -> tuple[float, float]:
        return 0.0, 1.0


@dataclass(frozen=True, repr=False)
class QuantileTime(Quantity):
    """The time by which this share has had the event."""

    share: float

    def words(self, unit: str = "") -> str:
        return (
            "median time to event"
            if self.share == 0.5
            else f"time by which {100 * self.share:.4g} % have had the event"
        )

    def of(self, curves: Curves) -> FloatArray:
        return curves.quantile(self.share)

    def reach(self, span: tuple[float, float]) -> tuple[float, float]:
        return span


def timed(value: float, unit: str) -> str:
    """A time as a short text, with its unit."""
    return f"{value:.6g} {unit}".rstrip()


def beyond(time: float, last: float) -> InputError:
    """An error for a time later than the last that the model knows."""
    return InputError(
        f"the time {time:g} was asked for.",
        f"The model knows survival up to {last:g}, its last time.",
        "Choose an earlier time.",
    )


def functional(quantity: Quantity, times: FloatArray) -> tuple[float, FloatArray]:
    """`c, w` such that a mean time or chance is `c + S(times) w`.

    S steps at `times` and is 1 before the first of them. The mean is m = t_1 + sum_k S(t_k) (t_{k+1} - t_k) with
    t_{q+1} = t_q + tail. A horizon cuts off the intervals.
    """
    weights = np.zeros(len(times))
    if isinstance(quantity, MeanTime):
        end = times[-1] + quantity.tail if quantity.horizon is None else quantity.horizon
        ends = np.minimum(np.append(times[1:], np.inf), end)
        return float(min(times[0], end)), np.maximum(ends - times, 0.0)
    if isinstance(quantity, Chance):
        step = int(np.searchsorted(times, quantity.time, side="right")) - 1
        if step < 0:
            return 1.0, weights
        weights[step] = 1.0
        return 0.0, weights
    raise TypeError(f"{quantity!r} is not linear in S")


def weighed(survival: FloatArray, weights: FloatArray) -> FloatArray:
    """`S w` for each row of S, rounded in the same way whatever the other rows are.

    A matrix product depends on their number. A leaf must have the very value that the estimator has for its rows.
    """
    return np.asarray(np.einsum("ij,j->i", np.ascontiguousarray(survival), weights))


@dataclass(frozen=True, eq=False)
class StepCurves(Curves):
    """Functions that step at common `times` and are 1 before the first of them.

    - `times` (times): t_k, in ascending order;
    - `survival` (rows, times): column k is S on [t_k, t_{k+1}).
    """

    times: FloatArray
    survival: FloatArray
    known: dict[Quantity, FloatArray] = field(default_factory=dict)

    def mean(self, tail: float, horizon: float | None) -> FloatArray:
        return self._linear(MeanTime(tail, horizon))

    def at(self, time: float) -> FloatArray:
        return self._linear(Chance(time))

    def quantile(self, share: float) -> FloatArray:
        fallen = self.survival <= 1.0 - share
        return np.where(fallen.any(axis=1), self.times[np.argmax(fallen, axis=1)], np.inf)

    def take(self, rows: IntArray) -> StepCurves:
        known = {quantity: values[rows] for quantity, values in self.known.items()}
        return StepCurves(self.times, self.survival[rows], known)

    @property
    def span(self) -> tuple[float, float]:
        return float(self.times[0]), float(self.times[-1])

    def _linear(self, quantity: Quantity) -> FloatArray:
        if quantity not in self.known:
            constant, weights = functional(quantity, self.times)
            self.known[quantity] = constant + weighed(self.survival, weights)
        return self.known[quantity]


@dataclass(frozen=True, eq=False)
class PredictedTimes(Curves):
    """The predictions of a model that gives a time and no survival function.

    The time is used as the mean.
    """

    values: FloatArray

    def mean(self, tail: float, horizon: float | None) -> FloatArray:
        if tail or horizon is not None:
            raise InputError(
                "tail= or horizon= was given, but the model predicts a time and no survival function.",
                "There is nothing to integrate.",
                "Leave them out.",
            )
        return self.values

    def at(self, time: float) -> FloatArray:
        raise self._refusal()

    def quantile(self, share: float) -> FloatArray:
        raise self._refusal()

    def take(self, rows: IntArray) -> PredictedTimes:
        return PredictedTimes(self.values[rows])

    @property
    def span(self) -> tuple[float, float]:
        return 0.0, np.inf

    def _refusal(self) -> InputError:
        return InputError(
            "the model predicts a time and no survival function.",
            "The target needs a probability or a quantile.",
            "Use bf.survival.mean_gain, mean_loss or mean_at_least.",
        )


@dataclass(frozen=True, eq=False)
class PartlyOther(Curves):
    """The curves of many rows, some of which are replaced: `others` has the only curve for each of these rows."""

    whole: Curves
    others: Mapping[int, Curves]

    def mean(self, tail: float, horizon: float | None) -> FloatArray:
        return self._each(lambda curves: curves.mean(tail, horizon))

    def at(self, time: float) -> FloatArray:
        return self._each(lambda curves: curves.at(time))

    def quantile(self, share: float) -> FloatArray:
        return self._each(lambda curves: curves.quantile(share))

    def take(self, rows: IntArray) -> PartlyOther:
        others = {at: self.others[row] for at, row in enumerate(rows.tolist()) if row in self.others}
        return PartlyOther(self.whole.take(rows), others)

    @property
    def span(self) -> tuple[float, float]:
        return self.whole.span

    def _each(self, of: Callable[[Curves], FloatArray]) -> FloatArray:
        found = of(self.whole).copy()
        for row, one in self.others.items():
            found[row] = of(one)[0]
        return found
