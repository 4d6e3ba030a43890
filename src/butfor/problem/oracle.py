"""The oracle of a search: it says what a model predicts for points.

A search needs nothing else of a model that could not be read.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from butfor.arrays import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Response:
    """What an oracle says about some points.

    - `met`: whether the point meets the target;
    - `distance`: how far the point is from meeting it (0 if it does);
    - `offset`: what the predicted class adds to the cost;
    - `lacking`: computes what the point lacks in the terms of the target, if the oracle knows them (see
      `AbstractTarget.lacking`).
    """

    met: BoolArray
    distance: FloatArray
    offset: FloatArray
    lacking: Callable[[], FloatArray] | None = None


class AbstractOracle(ABC):
    """Says what the model predicts for encoded points.

    `examples` are encoded rows of the training data. There may be none.
    """

    examples: FloatArray

    @abstractmethod
    def ask(self, points: FloatArray, rows: IntArray) -> Response:
        """What the model says about each point as a change of its row.

        It takes one call of the model.
        """

    @abstractmethod
    def of_examples(self, row: int) -> Response:
        """What the model says about the examples as changes of one row. It is not called again for them."""

    @abstractmethod
    def take(self, rows: IntArray | slice) -> AbstractOracle:
        """The same oracle for some of the rows of the problem."""


class AbstractConfirmation(ABC):
    """Asks the estimator where rounding decides whether a point is an answer."""

    @abstractmethod
    def confirms(self, point: FloatArray, most: float) -> bool:
        """Whether the estimator takes a point as an answer to the first row, at an offset of at most `most`."""

    def of_target(self) -> AbstractConfirmation:
        """The same about the target alone, whatever the constraints."""
        return self

    def confirms_twins(self, point: FloatArray, most: float) -> bool:
        """The same, if the point is asked about together with itself. A library may add two rows up in another order."""
        return self.confirms(point, most)

    @abstractmethod
    def take(self, rows: IntArray | slice) -> AbstractConfirmation:
        """The same for some of the rows of the problem."""


NEAR_MISS = 1e-12
"""The least distance of a point that misses the target, so that a near miss never looks like a hit (distance 0)."""


def at_least_near_miss(met: BoolArray, distance: FloatArray) -> FloatArray:
    """The distances, made 0 where the target is met and at least `NEAR_MISS` elsewhere."""
    return np.where(met, 0.0, np.maximum(distance, NEAR_MISS))


@dataclass(frozen=True)
class Always(AbstractConfirmation):
    """One answer for all points about which rounding decides."""

    answer: bool

    def confirms(self, point: FloatArray, most: float) -> bool:
        return self.answer

    def take(self, rows: IntArray | slice) -> Always:
        return self
