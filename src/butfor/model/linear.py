"""Linear models: a sum over raw features of a slope times the number plus a step for its cell."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from butfor.model.cells import Cells
from butfor.space.frames import FloatArray


@dataclass(frozen=True, eq=False)
class Linear:
    """Scores `intercept[s] + sum_j slope[s, j] x_j + steps[j][s, cell of x_j]`.

    A level feature has slope 0 and one step a level (its one-hot or ordinal code times the weight); a plain number has a
    slope and one cell; a binned number has steps. The last column of each `steps[j]` is the share of a missing value.
    """

    intercept: FloatArray
    slope: FloatArray
    cells: tuple[Cells, ...]
    steps: tuple[FloatArray, ...]

    @property
    def scores(self) -> int:
        """How many raw scores there are."""
        return len(self.intercept)

    @cached_property
    def stepped(self) -> tuple[int, ...]:
        """The features whose cell matters."""
        return tuple(j for j, step in enumerate(self.steps) if step.any())


def evaluate_linear(model: Linear, X: FloatArray) -> FloatArray:
    """Raw scores, one row a row of `X`."""
    present = np.where(np.isnan(X), 0.0, X)
    out = model.intercept + present @ model.slope.T
    for j in model.stepped:
        out = out + model.steps[j][:, model.cells[j].index(X[:, j])].T
    return np.asarray(out)
