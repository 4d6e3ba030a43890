"""What a learner of trees is given, and what it returns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from butfor.arrays import IntArray
from butfor.compress.tree import Shape


@dataclass(frozen=True, eq=False)
class TreeTask:
    """The rows, and how large the tree may be.

    - `answers` (rows, binary columns), `codes` (rows), `classes`: the rows, the numbers of their classes, and how many
      classes there are;
    - `depth`: the longest path;
    - `penalty`: what a leaf costs, in shares of the rows;
    - `seconds`: the time limit.
    """

    answers: NDArray[np.uint8]
    codes: IntArray
    classes: int
    depth: int
    penalty: float
    seconds: float

    @property
    def most_frequent(self) -> int:
        """The number of the most frequent class: the tree without a question."""
        return int(np.bincount(self.codes, minlength=self.classes).argmax())


@dataclass(frozen=True)
class GrownTree:
    """A tree, whether it is proven to be the best one, and a proven bound on the objective of all trees."""

    shape: Shape
    proven: bool
    bound: float
    why: str


Engine = Callable[[TreeTask], GrownTree]
