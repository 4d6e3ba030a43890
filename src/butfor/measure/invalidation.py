"""Noisy copies of answers, for the share of them that the model refuses."""

from __future__ import annotations

import numpy as np

from butfor.arrays import FloatArray
from butfor.errors import InputError
from butfor.space.lengths import Lengths, lengths_in
from butfor.space.space import Space


def noisy(point: FloatArray, spread: FloatArray, space: Space, copies: int, rng: np.random.Generator) -> FloatArray:
    """Copies of a point with independent normal noise. Columns with steps are rounded to the nearest step."""
    moved = point + spread * rng.normal(size=(copies, len(point)))
    step = np.array([feature.step if at > 0 else 0.0 for feature, at in zip(space, spread, strict=True)])
    whole = np.flatnonzero(step > 0)
    moved[:, whole] = point[whole] + np.round((moved - point)[:, whole] / step[whole]) * step[whole]
    return np.asarray(moved)


def spread_of(sigma: Lengths, space: Space) -> FloatArray:
    """The standard deviation of the noise in each feature."""
    if sigma == {}:
        raise InputError("sigma={} was given.", "It must name a column.")
    spread = lengths_in(sigma, space, f"sigma={sigma!r}", "a standard deviation", "sigma={'income': 500}")
    if not spread.any():
        raise InputError(f"sigma={sigma!r} was given.", "A standard deviation must be above 0.")
    return spread
