"""The rows that a tree is learnt from, and parts of them that are held out to choose a start and a penalty."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from butfor.arrays import BoolArray, FloatArray
from butfor.errors import InputError

PARTS = 5
ENOUGH = 2000
"""No more parts are held out after so many rows: they tell well enough what is better."""
FEWEST = 30
"""Nothing is held out of fewer different rows: chance and rounding would choose."""


@dataclass(frozen=True, eq=False)
class Sample:
    """Features, targets and weights; and `width`, the number of outputs of a leaf."""

    X: FloatArray
    y: Any
    weight: FloatArray
    width: int

    def only(self, some: BoolArray) -> Sample:
        """Some of the rows."""
        return self if some.all() else Sample(self.X[some], self.y[some], self.weight[some], self.width)

    def present(self) -> Sample:
        """The rows whose weight is not 0.

        Weights that are below 1 on average are shares, as in boosting, and are scaled until they are 1 on average.
        """
        some = self.weight > 0
        if not some.any():
            raise InputError("All rows have weight 0.", "At least one must count.")
        left = self.only(some)
        return replace(left, weight=left.weight / min(1.0, float(left.weight.mean())))

    def held_out(self, rng: np.random.RandomState) -> Iterator[BoolArray]:
        """Random parts of the rows, none if there are too few. Equal rows stay together.

        So a row of weight 2 is the same as two rows, and no row is held out while its copy is learnt from.
        """
        row = np.unique(self.X, axis=0, return_inverse=True)[1].reshape(-1)
        different = int(row.max()) + 1
        part = rng.permutation(different)[row] % PARTS
        so_far = 0
        for k in range(PARTS if different >= FEWEST else 0):
            held = part == k
            if so_far < ENOUGH:
                so_far += int(held.sum())
                yield held
