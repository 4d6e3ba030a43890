"""Who is asked what a model says of points: all that a search needs of a model which cannot be read."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from butfor.arrays import BoolArray, FloatArray, IntArray
from butfor.problem.constraints.constraint import AbstractConstraint


@dataclass(frozen=True, eq=False)
class Heard:
    """What was said of some points: whether the target is met, how far off it is (0 where met), what it adds to the cost."""

    met: BoolArray
    distance: FloatArray
    offset: FloatArray


class AbstractOracle(ABC):
    """Answers for encoded points. `examples` are rows of the training data, encoded (there may be none)."""

    examples: FloatArray

    @abstractmethod
    def ask(self, points: FloatArray, rows: IntArray) -> Heard:
        """What the model says of each point as a change of that row of the problem; one call of the model."""

    @abstractmethod
    def of_examples(self, row: int) -> Heard:
        """What it says of the examples, as changes of one row; not asked anew."""

    @abstractmethod
    def rows(self, chosen: IntArray | slice) -> AbstractOracle:
        """The same oracle for some of the rows of the problem."""

    def plausible(self, constraint: AbstractConstraint, points: FloatArray) -> BoolArray:
        """Which points a forest takes for likely; all, where `ask` has the forest in what it says already."""
        return np.ones(len(points), dtype=np.bool_)
