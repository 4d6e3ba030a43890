"""Linear models over raw features. Each number has a slope, and each cell a step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from butfor.arrays import FloatArray
from butfor.model.cells import Cells


@dataclass(frozen=True, eq=False)
class Linear:
    """Scores `intercept[s] + sum_j slope[s, j] (x_j - centre_j) + steps[j][s, cell of x_j]`.

    A feature with levels has slope 0 and one step per level (its one-hot or ordinal code times the weight). A plain
    number has a slope and one cell. A binned number has steps. The last column of each `steps[j]` is what a missing
    value adds.

    Numbers are measured from a `centre` in the middle of their values (default: 0). A time in seconds since 1970 and
    its product with a slope are large and nearly cancel the intercept, which would cost the digits that matter. `blur`
    is the share by which a step before the estimator rounds each number (default: 0).

    A term is `folded` if it stands for several numbers of the estimator, such as a weight and a scale. The estimator
    rounds on the way from one to the other, whatever digits the term has.

    `cancelled` is by how much the terms that the estimator adds up are larger than those that stand here, the intercept or
    the steps (default: 0), and `cancelled_slope` (scores, features) the same per unit of each number. `more_terms` is how
    many more of them there are, and all of them are whole multiples of `fine`. `unit` is the unit roundoff of sums that a
    step before the estimator has added up (default: none are coarser than the estimator's own).
    """

    intercept: FloatArray
    slope: FloatArray
    cells: tuple[Cells, ...]
    steps: tuple[FloatArray, ...]
    centre: FloatArray = field(default_factory=lambda: np.zeros(1))
    blur: FloatArray = field(default_factory=lambda: np.zeros(1))
    folded: bool = False
    cancelled: FloatArray = field(default_factory=lambda: np.zeros(1))
    more_terms: int = 0
    fine: float = np.inf
    cancelled_slope: FloatArray = field(default_factory=lambda: np.zeros((1, 1)))
    unit: float = 0.0

    def __post_init__(self) -> None:
        for name in ("centre", "blur"):
            values = np.array(np.broadcast_to(getattr(self, name), len(self.cells)), dtype=np.float64)
            object.__setattr__(self, name, values)

    @property
    def scores(self) -> int:
        """The number of raw scores."""
        return len(self.intercept)

    @property
    def added_slope(self) -> FloatArray:
        """How large the terms are that the estimator adds up for each number, per unit of it (scores, features)."""
        return np.asarray(np.abs(self.slope) + self.cancelled_slope)

    @cached_property
    def stepped(self) -> tuple[int, ...]:
        """The features whose cell matters."""
        return tuple(j for j, step in enumerate(self.steps) if step.any())

    @cached_property
    def stepped_when_known(self) -> frozenset[int]:
        """The features whose cell matters even if the value is not missing."""
        return frozenset(j for j in self.stepped if self.steps[j][:, :-1].any())

    @cached_property
    def largest_step(self) -> FloatArray:
        """The size of the largest step of each feature (scores, features)."""
        return self._largest(self.steps)

    @cached_property
    def largest_known_step(self) -> FloatArray:
        """The same without what a missing value adds."""
        return self._largest([step[:, :-1] for step in self.steps])

    def _largest(self, steps: Sequence[FloatArray]) -> FloatArray:
        """The size of the largest number in each of some steps (scores, features)."""
        out = np.zeros((self.scores, len(steps)))
        for j in self.stepped:
            out[:, j] = np.abs(steps[j]).max(axis=1)
        return out


MANY_SCORES = 20
"""From so many scores on, as of the first layer of a network, a product of matrices is several times as fast."""


def _sums(X: FloatArray, slope: FloatArray) -> FloatArray:
    """What slopes add up to in each row. Few of them are rounded in the same way whatever the other rows are."""
    return X @ slope.T if len(slope) >= MANY_SCORES else np.einsum("ij,sj->is", X, slope)


def linear_terms(model: Linear, j: int, values: FloatArray) -> FloatArray:
    """What some values of a feature add to each score (scores, values)."""
    lost = np.isnan(values)
    sloped = model.slope[:, [j]] * np.where(lost, 0.0, values - model.centre[j])
    return np.asarray(sloped + model.steps[j][:, model.cells[j].index(values)])


def evaluate_linear(model: Linear, X: FloatArray) -> FloatArray:
    """The raw scores, one row per row of `X`."""
    lost = np.isnan(X)
    out = model.intercept + _sums(np.where(lost, 0.0, X - model.centre), model.slope)
    for j in model.stepped:
        if j in model.stepped_when_known or lost[:, j].any():
            out = out + model.steps[j][:, model.cells[j].index(X[:, j])].T
    return np.asarray(out)
