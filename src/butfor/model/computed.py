"""Features that are computed from others, and models that read such features beside those of the table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from butfor.arrays import FloatArray, IntArray
from butfor.model.black_box import BlackBox
from butfor.model.cells import Cells
from butfor.model.formula import Quotient

Function = Callable[[FloatArray], FloatArray]
"""From encoded values of the inputs (n, inputs) to that of the feature (n)."""


@dataclass(frozen=True, eq=False)
class ComputedFeature:
    """A feature whose value follows from those of others.

    - `feature`: its number; `inputs`: those of the features from which it is computed;
    - `function`: computes it, to the last digit. What cannot be computed is NaN;
    - `quotient`: the two linear sums of inputs, by number, whose quotient it is, but for rounding (None: it is none).
    """

    feature: int
    inputs: tuple[int, ...]
    function: Function
    quotient: Quotient | None = None

    def at(self, points: FloatArray) -> FloatArray:
        """Its values at points (n, features)."""
        return np.asarray(self.function(points[:, list(self.inputs)]), dtype=np.float64)


def completed(points: FloatArray, computed: tuple[ComputedFeature, ...]) -> FloatArray:
    """The points with the right values of computed features."""
    out = points.copy()
    for one in computed:
        out[:, one.feature] = one.at(out)
    return out


@dataclass(frozen=True, eq=False)
class FreeLayout:
    """All features, of which only the `others` are free: these come in points, and what is `computed` follows.

    - `features`: how many features there are.
    """

    others: IntArray
    computed: tuple[ComputedFeature, ...]
    features: int
    groups: tuple[()] = ()

    @classmethod
    def of(cls, features: int, computed: tuple[ComputedFeature, ...]) -> FreeLayout:
        """So many features, of which some are computed."""
        return cls(np.setdiff1d(np.arange(features), [one.feature for one in computed]), computed, features)

    def split(self, points: FloatArray) -> FloatArray:
        """Points of free features as points of all."""
        out = np.full((len(points), self.features), np.nan)
        out[:, self.others] = points
        return completed(out, self.computed)

    def over(self, model: Any) -> Any:
        """A model of all features as one of the free ones. What only predicts stays what it is."""
        return model if isinstance(model, BlackBox) else OverComputed(model, self)


@dataclass(frozen=True, eq=False)
class OverComputed:
    """A model of which some features are computed from those of the table, or from free ones."""

    model: Any
    layout: FreeLayout

    @property
    def scores(self) -> int:
        """How many scores it has."""
        return int(self.model.scores)

    @property
    def cells(self) -> tuple[Cells, ...]:
        """The cells of the free features."""
        return tuple(self.model.cells[j] for j in self.layout.others)

    @property
    def computed(self) -> tuple[ComputedFeature, ...]:
        """What is computed."""
        return self.layout.computed
