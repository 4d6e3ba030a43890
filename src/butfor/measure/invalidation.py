"""Noisy copies of answers, for the share of them that the model refuses."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from butfor.arrays import FloatArray
from butfor.errors import InputError, number
from butfor.space.space import Space

Sigma = float | Mapping[str, float]
"""The standard deviation in ranges of each column of real numbers, or by column in its own units."""


def noisy(point: FloatArray, spread: FloatArray, space: Space, copies: int, rng: np.random.Generator) -> FloatArray:
    """Copies of a point with independent normal noise. Columns with steps are rounded to the nearest step."""
    moved = point + spread * rng.normal(size=(copies, len(point)))
    step = np.array([feature.step if at > 0 else 0.0 for feature, at in zip(space, spread, strict=True)])
    whole = np.flatnonzero(step > 0)
    moved[:, whole] = point[whole] + np.round((moved - point)[:, whole] / step[whole]) * step[whole]
    return np.asarray(moved)


def spread_of(sigma: Sigma, space: Space) -> FloatArray:
    """The standard deviation of the noise in each feature."""
    given: dict[str, float]
    if isinstance(sigma, Mapping):
        given = {name: _length(length, sigma) for name, length in sigma.items()}
    else:
        share = _length(sigma, sigma)
        given = {feature.name: share * feature.range for feature in space.features if feature.is_real}
    if not given:
        raise InputError(
            f"sigma={sigma!r} was given.",
            "It must name a column, or there must be columns of real numbers.",
            "Whole numbers get noise only if they are named: sigma={'income': 500}.",
        )
    spread = np.zeros(len(space))
    for name, length in given.items():
        feature = space[name]
        if feature.levels is not None:
            raise InputError(
                f"sigma={sigma!r} names {name!r}, which has levels.", "Only numbers get noise.", "Leave it out."
            )
        spread[space.index(name)] = length
    return spread


def _length(length: float, sigma: Sigma) -> float:
    found = number(length, f"sigma={sigma!r} was given.", "It must be a number, or a dict from column to a number.")
    if not (np.isfinite(found) and found > 0):
        raise InputError(f"sigma={sigma!r} was given.", "A standard deviation must be finite and above 0.")
    return float(found)
