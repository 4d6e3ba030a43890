"""Targets on risk scores: a change of the score, or a ratio of hazards."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from butfor.arrays import BoolArray, FloatArray
from butfor.errors import InputError, UnsupportedProblemError
from butfor.estimator.prediction import Prediction
from butfor.estimator.source import Source
from butfor.model.readout import AbstractReadout
from butfor.model.survival.readout import Survival
from butfor.problem.targets.prototype import Prototype, predicted
from butfor.problem.targets.score import Score, scores_of
from butfor.problem.targets.survival import Needs, OnOneScore
from butfor.space import frames


class OnRisk(OnOneScore):
    """The target that a risk score is at least (`up`) or at most a value."""

    @property
    @abstractmethod
    def up(self) -> bool:
        """Whether more risk is wanted."""

    @property
    @abstractmethod
    def name(self) -> str:
        """The name of the quantity, in words."""

    @abstractmethod
    def wanted(self, now: float) -> float:
        """The value wanted for a row whose value is `now`."""

    def scores(self, before: Prediction, after: Prediction | None) -> list[Score | None]:
        now = np.array(self.outputs(before), dtype=np.float64)
        then = None if after is None else np.array(self.outputs(after), dtype=np.float64)
        wanted = np.array([self.wanted(one) for one in now.tolist()])
        return scores_of([self.name] * len(now), now, then, wanted, np.full(len(now), self.up))

    def measured(self, prediction: Prediction, output: Any) -> FloatArray | None:
        return np.array(self.outputs(prediction), dtype=np.float64)

    @abstractmethod
    def goal(self, before: Prediction) -> FloatArray:
        """The score wanted for each row."""

    def validate(self, source: Source) -> None:
        if not source.survives or source.says_time:
            raise InputError(
                f"the target is {self!r}, but the model gives no risk score.",
                "A model of survival that scores risk is needed.",
                "Use bf.survival.mean_gain." if source.says_time else "",
            )

    def needs(self, readout: AbstractReadout, before: Prediction) -> Needs:
        sign, goal = 1.0 if self.up else -1.0, self.goal(before)
        return np.full((len(goal), 1), sign), sign * goal, False

    def met(self, before: Prediction, after: Prediction) -> BoolArray:
        return np.asarray(self.distance(before, after) == 0)

    def distance(self, before: Prediction, after: Prediction) -> FloatArray:
        short = self.goal(before) - after.values
        return np.maximum(0.0, short if self.up else -short)


@dataclass(frozen=True, repr=False)
class RiskChange(OnRisk):
    """See `risk_change`."""

    by: float

    def __repr__(self) -> str:
        return f"risk score {'up' if self.up else 'down'} by at least {abs(self.by):g}"

    @property
    def up(self) -> bool:
        return self.by > 0

    @property
    def name(self) -> str:
        return "risk score"

    def wanted(self, now: float) -> float:
        return now + self.by

    def goal(self, before: Prediction) -> FloatArray:
        return before.values + self.by


@dataclass(frozen=True, repr=False)
class HazardRatio(OnRisk):
    """See `hazard_ratio`. The ratio is to the hazard of the `prototype` (none: of the factual)."""

    ratio: float
    up: bool = False
    prototype: Prototype = ()

    def __repr__(self) -> str:
        whose = "that of the prototype" if self.prototype else "what it is now"
        return f"hazard at {'least' if self.up else 'most'} {self.ratio:.6g} times {whose}"

    def settled(self, readout: AbstractReadout, before: Prediction) -> HazardRatio:
        if isinstance(readout, Survival) and not readout.proportional:
            raise UnsupportedProblemError(
                "a hazard ratio was asked for, but the model has no proportional hazards.",
                "Two of its hazards do not have the same ratio at all times.",
                "Use bf.survival.risk_change, or ask for a mean time.",
            )
        return self

    @property
    def name(self) -> str:
        return f"hazard, as a multiple of the {'prototype' if self.prototype else 'baseline'}'s"

    def wanted(self, now: float) -> float:
        return self.ratio if self.prototype else now * self.ratio

    def goal(self, before: Prediction) -> FloatArray:
        base = predicted(self.prototype, before).values if self.prototype else before.values
        return np.broadcast_to(base + np.log(self.ratio), frames.height(before.table))

    def outputs(self, prediction: Prediction) -> list[Any]:
        base = predicted(self.prototype, prediction).values if self.prototype else 0.0
        return list(np.exp(prediction.values - base).tolist())
