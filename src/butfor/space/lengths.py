"""Lengths by which columns are off: radii of balls, and standard deviations of noise."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from butfor.arrays import FloatArray
from butfor.errors import InputError, number
from butfor.space.space import Space

Lengths = float | Mapping[str, float]
"""A share of the range of each column of real numbers, or lengths by column in its own units."""


def lengths_in(given: Lengths, space: Space, said: str, thing: str, example: str) -> FloatArray:
    """The length of each feature in its own units; 0 where none is given.

    For errors: `said` is what the user wrote, `thing` what a length is called, and `example` how columns are named.
    """
    if isinstance(given, Mapping):
        named = {name: _length(length, said, thing) for name, length in given.items()}
    else:
        share = _length(given, said, thing)
        if share and not any(feature.is_real for feature in space.features):
            raise InputError(
                f"{said} perturbs nothing, because no column holds real numbers.",
                "Whole numbers are perturbed only if they are named.",
                f"Give {thing} for each: {example}.",
            )
        named = {feature.name: share * feature.range for feature in space.features if feature.is_real}
    lengths = np.zeros(len(space))
    for name, length in named.items():
        j = space.index(name)
        if space.features[j].levels is not None:
            raise InputError(
                f"{said} gives {thing} to column {name!r}, which has levels.",
                "Only numbers are perturbed.",
                "Leave it out.",
            )
        lengths[j] = length
    return lengths


def _length(length: float, said: str, thing: str) -> float:
    told = f"{said} was given."
    found = number(length, told, f"{thing.capitalize()} must be a number, or a dict from column to a number.")
    if not (np.isfinite(found) and found >= 0):
        raise InputError(told, f"{thing.capitalize()} must be finite and not negative.")
    return float(found)
