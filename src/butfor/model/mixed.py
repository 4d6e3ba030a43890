"""Trees and a linear model, added up: votes and means of both."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from butfor.arrays import FloatArray
from butfor.model.cells import Cells
from butfor.model.linear import Linear, evaluate_linear
from butfor.model.trees import Trees, evaluate_trees


@dataclass(frozen=True, eq=False)
class Mixed:
    """Scores `trees(x) + linear(x)`. Both parts have the same scores and the same cells.

    A score that only one part has is 0 in the other.
    """

    trees: Trees
    linear: Linear

    @property
    def scores(self) -> int:
        """The number of raw scores."""
        return self.trees.scores

    @property
    def cells(self) -> tuple[Cells, ...]:
        """The cells of both parts."""
        return self.trees.cells


def evaluate_mixed(model: Mixed, X: FloatArray) -> FloatArray:
    """The raw scores, one row per row of `X`."""
    return np.asarray(evaluate_trees(model.trees, X) + evaluate_linear(model.linear, X))
