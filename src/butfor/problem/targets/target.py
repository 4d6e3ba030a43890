"""What a target is. Solvers see it as a union of sets of raw scores, the verdict as a rule for predictions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from butfor.arrays import BoolArray, FloatArray, IntArray
from butfor.estimator.prediction import Prediction
from butfor.estimator.source import Source
from butfor.importers.read import Reading
from butfor.model.readout import AbstractReadout
from butfor.model.scores import ScoreSet
from butfor.problem.targets.score import Score

Group = tuple[IntArray, tuple[ScoreSet, ...]]


class AbstractTarget(ABC):
    """What is wanted. It is immutable and prints in words."""

    @abstractmethod
    def validate(self, source: Source) -> None:
        """Raise a clear error if the target makes no sense for this estimator."""

    def settled(self, readout: AbstractReadout, before: Prediction) -> AbstractTarget:
        """The target with everything filled in that depends on the model.

        Raises a clear error if no row could ever meet it.
        """
        return self

    def part_of(self, prediction: Prediction) -> AbstractTarget:
        """The part of the target that the only row meets: of several classes, the one that it has."""
        return self

    def focus(self, reading: Reading, before: Prediction) -> Reading:
        """The reading whose model has the raw scores that `groups` is about.

        It is another one than `reading` only if the scores depend on the target.
        """
        return reading

    def outputs(self, prediction: Prediction) -> list[Any]:
        """What the estimator predicts about the target's quantity, in plain Python values."""
        return prediction.outputs()

    def scores(self, before: Prediction, after: Prediction | None) -> list[Score | None]:
        """How each row scores before and after its change. None for a row about which the estimator gives no number.

        `after` is None for rows without an answer.
        """
        return [None] * before.height

    def measured(self, prediction: Prediction, output: Any) -> FloatArray | None:
        """The number that scores are about, for each row, if the answer's own prediction is `output`."""
        return None

    @abstractmethod
    def groups(self, readout: AbstractReadout, before: Prediction) -> list[Group]:
        """Groups of rows that share a union of score sets, each with its union."""

    @abstractmethod
    def met(self, before: Prediction, after: Prediction) -> BoolArray:
        """Which rows of `after` meet the target by the estimator itself. `before` holds their factuals."""

    def offsets(self, after: Prediction, rows: int) -> FloatArray:
        """What each answer costs in addition to its changes."""
        return np.zeros(rows)

    def priced(self, factor: float) -> AbstractTarget:
        """The same target, with everything that it adds to a cost times a factor."""
        return self

    def unsettled(self) -> AbstractTarget:
        """The target without what a model said about it, which is asked again by whoever checks answers."""
        return self

    def distance(self, before: Prediction, after: Prediction) -> FloatArray:
        """How far each prediction is from the target; 0 if it is met. Searches by trial follow it."""
        return np.where(self.met(before, after), 0.0, 1.0)

    def lacking(self, before: Prediction, after: Prediction) -> FloatArray:
        """The same in the terms in which the target is told: in probabilities, or in the unit of the values."""
        return self.distance(before, after)
