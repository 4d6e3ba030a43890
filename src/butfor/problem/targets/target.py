"""What the model should say instead: each target becomes a union of sets of raw scores, and is judged by the estimator."""

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

Group = tuple[IntArray, tuple[ScoreSet, ...]]


class AbstractTarget(ABC):
    """What is wanted. Immutable; prints in words."""

    @abstractmethod
    def validate(self, source: Source) -> None:
        """Raise a clear error if the estimator can never be asked that."""

    def settled(self, readout: AbstractReadout, before: Prediction) -> AbstractTarget:
        """The target with what it leaves open settled by the model; a clear error if no row could ever meet it."""
        return self

    def focus(self, reading: Reading, before: Prediction) -> Reading:
        """The reading with the model whose raw scores `groups` speaks of, where the scores depend on what is asked."""
        return reading

    def outputs(self, prediction: Prediction) -> list[Any]:
        """What the estimator says, as far as it bears on the target: plain Python values."""
        return prediction.outputs()

    @abstractmethod
    def groups(self, readout: AbstractReadout, before: Prediction) -> list[Group]:
        """Rows that share a union of score sets, with that union."""

    @abstractmethod
    def met(self, before: Prediction, after: Prediction) -> BoolArray:
        """Which rows of `after` the estimator itself says to meet the target, `before` being their factuals."""

    def offsets(self, after: Prediction, rows: int) -> FloatArray:
        """What the answer costs beyond its changes."""
        return np.zeros(rows)

    def distance(self, before: Prediction, after: Prediction) -> FloatArray:
        """How far each prediction is from what is wanted, 0 where it is met: what a search by trial follows."""
        return np.where(self.met(before, after), 0.0, 1.0)
