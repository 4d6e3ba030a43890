"""Whom a search asks what a model says of points: all that it needs of a model which could not be read."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from butfor.arrays import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Response:
    """What an oracle says of some points.

    - `met`: whether the target is met;
    - `distance`: how far off it is (0 where met);
    - `offset`: what it adds to the cost.
    """

    met: BoolArray
    distance: FloatArray
    offset: FloatArray


class AbstractOracle(ABC):
    """Answers for encoded points. `examples` are rows of the training data, encoded (there may be none)."""

    examples: FloatArray

    @abstractmethod
    def ask(self, points: FloatArray, rows: IntArray) -> Response:
        """What the model says of each point as a change of that row of the problem: one call of the model."""

    @abstractmethod
    def of_examples(self, row: int) -> Response:
        """What it says of the examples as changes of one row; not asked anew."""

    @abstractmethod
    def take(self, rows: IntArray | slice) -> AbstractOracle:
        """The same oracle for some of the rows of the problem."""


NEAR_MISS = 1e-12
"""The least distance reported for a point that misses the target, so that a near miss never looks like a hit (distance 0)."""


def at_least_near_miss(met: BoolArray, distance: FloatArray) -> FloatArray:
    """Distances, 0 where the target is met and more where it is not."""
    return np.where(met, 0.0, np.maximum(distance, NEAR_MISS))
