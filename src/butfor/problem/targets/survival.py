"""Targets on survival functions. A mean time, a quantile or a chance is to rise or fall.

Each target is one inequality on one raw score. The readout knows which. After Kovalev, Utkin, Coolen and Konstantinov,
"Counterfactual explanation of machine learning survival models", Informatica 32 (2021), where a mean time is to rise or
fall.
"""

from __future__ import annotations

import warnings
from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from butfor.arrays import BoolArray, FloatArray
from butfor.errors import InputError, UnsupportedProblemError
from butfor.estimator.prediction import Prediction
from butfor.estimator.source import Source
from butfor.importers.read import Reading
from butfor.model.readout import AbstractReadout
from butfor.model.scores import each_at_least, everything, nothing
from butfor.model.survival.curves import MeanTime, QuantileTime, Quantity, beyond, timed
from butfor.model.survival.readout import RiskOnly, Survival, Wish
from butfor.problem.targets.prototype import Prototype, predicted
from butfor.problem.targets.score import Score, scores_of
from butfor.problem.targets.target import AbstractTarget, Group

T = TypeVar("T", bound="OnCurves")


Needs = tuple[FloatArray, FloatArray, bool]
"""Which scores meet a target: those with `A[i] s >= b[i]` for row i (`>` if the last is True)."""


class OnOneScore(AbstractTarget):
    """A target that is one inequality on one raw score."""

    @abstractmethod
    def needs(self, readout: AbstractReadout, before: Prediction) -> Needs:
        """The inequality of each row. If `b[i]` is infinite, none or all scores meet the target."""

    def groups(self, readout: AbstractReadout, before: Prediction) -> list[Group]:
        A, b, strict = self.needs(readout, before)
        return grouped(A, b, strict=strict)


class OnCurves(OnOneScore):
    """The target that a quantity of survival is at least (`up`) or at most a value."""

    quantity: Quantity
    unit: str

    @property
    @abstractmethod
    def up(self) -> bool:
        """Whether more is wanted."""

    @property
    def name(self) -> str:
        """The name of the quantity, in words."""
        return self.quantity.words(self.unit)

    def scores(self, before: Prediction, after: Prediction | None) -> list[Score | None]:
        now = self.quantity.of(before.curves)
        then = None if after is None else self.quantity.of(after.curves)
        return scores_of([self.name] * len(now), now, then, self.goal_of(before), np.full(len(now), self.up))

    def measured(self, prediction: Prediction, output: Any) -> FloatArray | None:
        return self.quantity.of(prediction.curves)

    @abstractmethod
    def goal(self, now: FloatArray) -> FloatArray:
        """The values wanted for rows whose quantity is `now`."""

    def goal_of(self, before: Prediction) -> FloatArray:
        """The values wanted for rows, as the estimator has it."""
        return self.goal(self.quantity.of(before.curves))

    def validate(self, source: Source) -> None:
        if not source.survives:
            raise InputError(
                f"the target is {self!r}, but {type(source.estimator).__name__} predicts no survival.",
                "A model of scikit-survival or lifelines is needed, or a function in bf.survival.black_box.",
            )

    def settled(self: T, readout: AbstractReadout, before: Prediction) -> T:
        if isinstance(readout, RiskOnly):
            raise readout.refusal(self.quantity)
        span = before.curves.span
        if not span[1] > 0:
            raise InputError(
                f"the model's last time is {span[1]:g}.",
                "Times to the event must be positive.",
                "Fit it on such times.",
            )
        known = _with(self, self.quantity.settled(span)).beside(before)
        now = known.quantity.of(before.curves)
        known._check_reach(now, span)
        if isinstance(readout, Survival):
            doubt = readout.doubt(before.values)
            if doubt:
                warnings.warn(doubt, RuntimeWarning, stacklevel=2)
        return known

    def beside(self: T, before: Prediction) -> T:
        """The target with what the estimator says of its prototype; the target itself if it has none."""
        return self

    def _check_reach(self, now: FloatArray, span: tuple[float, float]) -> None:
        """Raise an error if no row could meet the target, whatever its values are."""
        if np.isinf(now).all():
            raise self._endless()
        low, high = self.quantity.reach(span)
        wanted = self.goal(now)[np.isfinite(now)]
        if not ((wanted <= high) if self.up else (wanted >= low)).any():
            raise self._unreachable(now[np.isfinite(now)], low, high)

    def _endless(self) -> InputError:
        remedy = "Give horizon=." if isinstance(self.quantity, MeanTime) else "Use bf.survival.mean_gain with horizon=."
        return InputError(f"the {self.quantity.words(self.unit)} is infinite.", "A finite one is needed.", remedy)

    def _unreachable(self, now: FloatArray, low: float, high: float) -> InputError:
        """An error for a wanted value that no survival function has."""
        return InputError(
            f"{self!r} was asked for.",
            f"It lies between {low:.6g} and {high:.6g} for every survival function over these times.",
            "Ask for a value in between.",
        )

    def _amount(self, value: float) -> str:
        """A value of the quantity, or a difference of two, in words."""
        return timed(value, self.unit) if self.quantity.timed else f"{value:g}"

    def wish(self, before: Prediction) -> Wish:
        """What is wanted of each row. It is infinite for rows whose goal no survival function reaches."""
        low, high = self.quantity.reach(before.curves.span)
        goal = self.goal_of(before)
        reached = np.isfinite(goal) & ((goal <= high) if self.up else (goal >= low))
        return Wish(self.quantity, np.where(reached, goal, np.inf if self.up else -np.inf), self.up)

    def focus(self, reading: Reading, before: Prediction) -> Reading:
        if not isinstance(reading.readout, Survival):
            return reading
        model = reading.readout.focus(reading.model, self.wish(before))
        return reading if model is reading.model else replace(reading, model=model)

    def needs(self, readout: AbstractReadout, before: Prediction) -> Needs:
        if not isinstance(readout, Survival):
            raise UnsupportedProblemError("the model was read without survival functions.", "The target is about them.")
        wish = self.wish(before)
        A, b, strict = readout.needs(wish)
        return A, np.where(np.isfinite(wish.values), b, np.inf), strict

    def met(self, before: Prediction, after: Prediction) -> BoolArray:
        return np.asarray(self.distance(before, after) == 0)

    def distance(self, before: Prediction, after: Prediction) -> FloatArray:
        wanted, found = self.wish(before).values, self.quantity.of(after.curves)
        enough = np.isfinite(wanted) & (found >= wanted if self.up else found <= wanted)
        short = np.abs(np.where(enough | np.isinf(wanted) | np.isinf(found), np.inf, wanted - found))
        return np.where(enough, 0.0, short)

    def outputs(self, prediction: Prediction) -> list[Any]:
        return list(self.quantity.of(prediction.curves).tolist())


_LONGER = {False: "lengthen the time with tail=", True: "give a later horizon="}


def _with(target: T, quantity: Quantity) -> T:
    return replace(target, quantity=quantity)  # type: ignore[type-var]


@dataclass(frozen=True, repr=False)
class SurvivalChange(OnCurves):
    """A quantity changes by at least this much. See `mean_gain`, `mean_loss`, `median_gain`."""

    quantity: Quantity
    by: float
    unit: str = ""

    def __repr__(self) -> str:
        way = "up" if self.up else "down"
        return f"{self.name} {way} by at least {self._amount(abs(self.by))}"

    @property
    def up(self) -> bool:
        return self.by > 0

    def goal(self, now: FloatArray) -> FloatArray:
        return now + self.by

    def _unreachable(self, now: FloatArray, low: float, high: float) -> InputError:
        most = high - now.min() if self.up else now.max() - low
        horizon = isinstance(self.quantity, MeanTime) and self.quantity.horizon is not None
        whose = f"it is {now[0]:.6g}" if len(now) == 1 else f"it is {now.min():.6g} to {now.max():.6g}"
        return InputError(
            f"a change of {self._amount(abs(self.by))} {'up' if self.up else 'down'} was asked for.",
            f"The {self.quantity.words(self.unit)} of every survival function lies between {low:.6g} and {high:.6g}, "
            f"and {whose} now: the change must lie in (0, {most:.6g}].",
            "Ask for less" + (f", or {_LONGER[horizon]}." if isinstance(self.quantity, MeanTime) else "."),
        )


@dataclass(frozen=True, repr=False)
class SurvivalReach(OnCurves):
    """A quantity is at least or at most a value. See `mean_at_least`, `survival_at`, `quantile_at_least`."""

    quantity: Quantity
    value: float
    up: bool = True
    unit: str = ""

    def __repr__(self) -> str:
        return f"{self.name} at {'least' if self.up else 'most'} {self._amount(self.value)}"

    def goal(self, now: FloatArray) -> FloatArray:
        return np.full(len(now), self.value)

    def _check_reach(self, now: FloatArray, span: tuple[float, float]) -> None:
        if isinstance(self.quantity, QuantileTime) and self.value > span[1]:
            raise beyond(self.value, span[1])
        if isinstance(self.quantity, MeanTime):
            super()._check_reach(now, span)


@dataclass(frozen=True, repr=False)
class SurvivalBeside(OnCurves):
    """A quantity is at least (`up`) or at most that of a prototype, and by so much. See `mean_gain(prototype=)`.

    `base`: the quantity of the prototype, which the model says once for a question.
    """

    quantity: Quantity
    by: float
    prototype: Prototype
    up: bool = True
    unit: str = ""
    base: float | None = None

    def __repr__(self) -> str:
        far = f"{self._amount(self.by)} {'above' if self.up else 'below'} " if self.by else ""
        return f"{self.name} at {'least' if self.up else 'most'} {far}that of the prototype"

    def beside(self, before: Prediction) -> SurvivalBeside:
        return replace(self, base=float(self.quantity.of(predicted(self.prototype, before).curves)[0]))

    def goal(self, now: FloatArray) -> FloatArray:
        assert self.base is not None, "it is asked for before anything is wanted"
        return np.full(len(now), self.base + self.by if self.up else self.base - self.by)

    def goal_of(self, before: Prediction) -> FloatArray:
        known = self.beside(before) if self.base is None else self
        return known.goal(self.quantity.of(before.curves))

    def unsettled(self) -> SurvivalBeside:
        return replace(self, base=None)


def grouped(A: FloatArray, b: FloatArray, *, strict: bool = False) -> list[Group]:
    """Group rows by the left side of their inequality on the scores s, `A[i] s >= b[i]`.

    Rows with b = -inf (every score will do) and rows with b = inf (none will) form groups of their own.
    """
    found: list[Group] = []
    for left in np.unique(A, axis=0):
        rows = np.flatnonzero((left == A).all(axis=1))
        need = b[rows]
        every, none = rows[need == -np.inf], rows[need == np.inf]
        some = rows[np.isfinite(need)]
        found += [(every, (everything(len(left)),))] if len(every) else []
        found += [(none, (nothing(len(left)),))] if len(none) else []
        found += [(some, (each_at_least(left, b[some], strict=strict),))] if len(some) else []
    return found
