"""The number that a target is about. It can be asked for more of it, or for less."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from butfor.arrays import FloatArray
from butfor.errors import InputError
from butfor.estimator.prediction import Prediction
from butfor.problem.targets.classes import Probability
from butfor.problem.targets.target import AbstractTarget
from butfor.problem.targets.values import ValueIn


class AbstractScale(ABC):
    """A number of the model, and the targets that it is at least, or at most, something."""

    up: bool
    """Whether more is wanted, and not less."""

    @property
    @abstractmethod
    def words(self) -> str:
        """What the number is."""

    @abstractmethod
    def numbers(self, prediction: Prediction) -> FloatArray:
        """The number of each row."""

    @abstractmethod
    def goal(self, number: float) -> AbstractTarget:
        """The target that the number goes at least so far."""

    def closer(self, number: float, other: float) -> bool:
        """Whether a number goes less far than another one."""
        return number < other if self.up else number > other

    def beyond(self, number: float) -> float:
        """The next number after this one in the wanted direction."""
        return float(np.nextafter(number, np.inf if self.up else -np.inf))


@dataclass(frozen=True)
class ProbabilityScale(AbstractScale):
    """The probability of a class."""

    label: Any
    up: bool = True

    @property
    def words(self) -> str:
        return f"probability of {self.label}"

    def numbers(self, prediction: Prediction) -> FloatArray:
        return np.asarray(prediction.probabilities[:, list(prediction.source.classes).index(self.label)])

    def goal(self, number: float) -> AbstractTarget:
        return Probability(self.label, at_least=number) if self.up else Probability(self.label, at_most=number)


@dataclass(frozen=True)
class ValueScale(AbstractScale):
    """The value of a regressor."""

    up: bool

    @property
    def words(self) -> str:
        return "predicted value"

    def numbers(self, prediction: Prediction) -> FloatArray:
        return prediction.values

    def goal(self, number: float) -> AbstractTarget:
        return ValueIn(number, np.inf) if self.up else ValueIn(-np.inf, number)


def scale_of(target: AbstractTarget) -> tuple[AbstractScale, float]:
    """The scale of a target with one end, and this end."""
    if isinstance(target, Probability) and target.at_most == 1:
        return ProbabilityScale(target.label), target.at_least
    if isinstance(target, Probability) and target.at_least == 0:
        return ProbabilityScale(target.label, up=False), target.at_most
    if isinstance(target, ValueIn) and np.isinf(target.high):
        return ValueScale(True), target.low
    if isinstance(target, ValueIn) and np.isinf(target.low):
        return ValueScale(False), target.high
    raise InputError(
        f"the target {target!r} was given.",
        "It must ask for at least, or at most, a number.",
        "Use bf.probability(label, at_least=...), bf.value(at_least=...), or at_most= of either.",
    )
