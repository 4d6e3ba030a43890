"""More rows that meet the target, when fewer answers differ in what they change than were asked for.

They are the cheapest ones of a pool: of all rows with some values of each column, if these are few enough; otherwise of
the rows that differ from the given one, or from one of its answers, in a single column, and of the data.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod
from typing import Any

import numpy as np

from butfor.arrays import FloatArray
from butfor.space import frames
from butfor.space.feature import Feature
from butfor.space.space import Space, same

VALUES = 40
"""How many values of a column of numbers are tried."""

ALL_COMBINATIONS = 5_000
"""Up to so many rows, all combinations of values are tried."""

ROWS_OF_DATA = 1_000
"""So many rows of the data are tried."""

Ends = dict[str, tuple[float, float]]
"""Column of numbers -> the ends between which answers lie."""


def pool(space: Space, row: Any, answers: Sequence[FloatArray], varied: Sequence[str], ends: Ends, data: Any) -> Any:
    """Rows that differ from the given one in the varied columns, as a table; None if there is none."""
    start = space.encode(row)[0]
    places = [space.index(name) for name in varied]
    values = {j: _values(space.features[j], start[j], [one[j] for one in answers], ends) for j in places}
    if prod(map(len, values.values())) <= ALL_COMBINATIONS:
        codes = np.repeat(start[None], prod(map(len, values.values())), axis=0)
        if places:
            codes[:, places] = list(product(*(values[j] for j in places)))
    else:
        codes = np.concatenate(
            [*(_moves(base, values) for base in (start, *answers)), _data(space, start, data, places)]
        )
    codes = np.unique(codes[~same(codes, start).all(axis=1)], axis=0)
    return (
        space.decode(codes, frames.take(row, [0] * len(codes)), np.repeat(start[None], len(codes), axis=0))
        if len(codes)
        else None
    )


def _values(feature: Feature, own: float, others: Sequence[float], ends: Ends) -> list[float]:
    """Some values of a column: all if they are few, its own one and those of the answers."""
    if feature.levels is not None:
        found = np.arange(len(feature.levels), dtype=float)
    else:
        low, high = ends.get(feature.name, (feature.low, feature.high))
        found = _steps(feature, low, high) if feature.step else np.linspace(low, high, VALUES)
    return sorted({*found.tolist(), own, *others})


def _steps(feature: Feature, low: float, high: float) -> FloatArray:
    """Some numbers on the grid of a column: all if they are few."""
    first, last = np.ceil((low - feature.anchor) / feature.step), np.floor((high - feature.anchor) / feature.step)
    few = last - first < VALUES
    places = np.arange(first, last + 1) if few else np.unique(np.round(np.linspace(first, last, VALUES)))
    return feature.anchor + feature.step * places


def _moves(base: FloatArray, values: dict[int, list[float]]) -> FloatArray:
    """A row with another value in one column, for each of its values."""
    codes = np.repeat(base[None], sum(map(len, values.values())), axis=0)
    at = 0
    for j, known in values.items():
        codes[at : at + len(known), j] = known
        at += len(known)
    return codes


def _data(space: Space, start: FloatArray, data: Any, places: Sequence[int]) -> FloatArray:
    """The given row with the varied columns of rows of the data."""
    chosen = np.linspace(0, frames.height(data) - 1, min(frames.height(data), ROWS_OF_DATA)).astype(np.intp)
    codes = np.repeat(start[None], len(chosen), axis=0)
    codes[:, places] = space.encode(frames.take(data, chosen.tolist()))[:, places]
    return codes
