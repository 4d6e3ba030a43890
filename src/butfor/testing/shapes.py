"""Random functions of single columns, added to a linear model."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from butfor.arrays import FloatArray
from butfor.model.additive import Additive, Shape
from butfor.model.linear import Linear
from butfor.space.space import Space

SHAPES: tuple[tuple[Callable[[FloatArray], FloatArray], tuple[float, ...] | None], ...] = (
    (np.square, ()), (np.exp, ()), (np.tanh, (0.0,)), (np.arcsinh, (0.0,)), (np.floor, tuple(range(-6, 10))), (np.cbrt, None),
    (np.sign, (0.0,)), (np.sin, (-2 * np.pi, -np.pi, 0.0, np.pi, 2 * np.pi)),
)  # fmt: skip
"""Functions, and between which numbers they are convex all along, or concave. Of some it is not said; they rise."""

DEFINED_TO = 1e6
"""The largest number for which they are defined."""


def with_shapes(rng: np.random.Generator, space: Space, line: Linear) -> Additive:
    """A linear model with up to two shapes of each number. Their weights are halves, so that scores tie."""
    shapes = []
    for j, feature in enumerate(space.features):
        for _ in range(0 if feature.levels is not None else int(rng.integers(0, 3))):
            call, bends = SHAPES[rng.integers(len(SHAPES))]
            known = None if bends is None else np.array(bends)
            weight = np.round(2 * rng.normal(size=line.scores)) / 2
            shapes.append(Shape(j, call, weight, -DEFINED_TO, DEFINED_TO, known))
    return Additive(line, tuple(shapes))
