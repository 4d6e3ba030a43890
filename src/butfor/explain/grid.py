"""Rows that differ from one row in two columns only, where something happens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from butfor.arrays import BoolArray, FloatArray
from butfor.errors import InputError, UnknownColumnError, choice
from butfor.space.feature import Feature
from butfor.space.space import Space, same

VALUES_PER_COLUMN = 120
"""How many values of each of its two columns a map shows, at most."""

NARROWEST = 0.1
"""The least part of a column's range that a map shows, on each side of what is marked."""

AROUND = 0.6
"""How far a map goes beyond what is marked, as a multiple of the distance between the marks."""


@dataclass(frozen=True, eq=False)
class MapGrid:
    """Every pair of values of two columns.

    - `i`, `j`: the positions of the column across and of the one upwards;
    - `x`, `y`: their values (encoded);
    - `points` (pairs, columns): the rows, those with the first value of `y` first.
    """

    i: int
    j: int
    x: FloatArray
    y: FloatArray
    points: FloatArray

    @property
    def shape(self) -> tuple[int, int]:
        """How many values upwards and across."""
        return len(self.y), len(self.x)

    def others(self, a: FloatArray, b: FloatArray, space: Space) -> tuple[str, ...]:
        """The other columns in which two rows differ."""
        return self.named(~same(a, b), space)

    def named(self, chosen: BoolArray, space: Space) -> tuple[str, ...]:
        """The names of those chosen columns that are not the two of the map."""
        return tuple(space.names[k] for k in np.flatnonzero(chosen).tolist() if k not in (self.i, self.j))


def grid_over(
    space: Space, columns: Sequence[str], start: FloatArray, marked: Sequence[FloatArray], steps: int
) -> MapGrid:
    """The rows like `start` with other values of two columns, which cover all that is marked."""
    unknown = [name for name in columns if name not in space.names]
    if len(columns) != 2 or len(set(columns)) != 2 or unknown:
        raise UnknownColumnError(
            f"columns={columns!r} were given.",
            *choice("Two of these are needed:", next(iter(unknown), None), space.names),
        )
    if not isinstance(steps, int) or steps < 2:
        raise InputError(f"steps={steps!r} was given.", "It must be a whole number of at least 2.")
    i, j = (space.names.index(name) for name in columns)
    x, y = (_values(space.features[k], [float(point[k]) for point in [start, *marked]], steps) for k in (i, j))
    points = np.repeat(start[None], len(x) * len(y), axis=0)
    points[:, i], points[:, j] = (side.ravel() for side in np.meshgrid(x, y))
    return MapGrid(i, j, x, y, points)


def _values(feature: Feature, marked: list[float], steps: int) -> FloatArray:
    """Values of one column: every level, or numbers around those that are marked."""
    if feature.unread:
        raise InputError(
            f"nothing reads the column {feature.name!r}.",
            "The model drops it, so nothing is seen along it.",
            "Choose another.",
        )
    if feature.kind == "constant":
        raise InputError(
            f"the column {feature.name!r} has the same value in all rows.",
            "Nothing is seen along it.",
            "Choose another.",
        )
    if np.isnan(marked).any():
        raise InputError(
            f"the column {feature.name!r} is missing in the row or in an answer.",
            "It has no place on a map.",
            "Choose another column.",
        )
    if feature.levels is not None:
        return np.arange(len(feature.levels), dtype=np.float64)
    first, last = min(marked), max(marked)
    beyond = max(AROUND * (last - first), NARROWEST * feature.range, 2 * feature.step)
    low = max(first - beyond, min(feature.low, first))
    high = min(last + beyond, max(feature.high, last))
    evenly = np.linspace(low, high, steps)
    if not feature.step:
        return evenly
    whole = feature.anchor + np.arange(np.ceil((low - feature.anchor) / feature.step - 1e-9),
                                       np.floor((high - feature.anchor) / feature.step + 1e-9) + 1) * feature.step  # fmt: skip
    return whole if len(whole) <= steps else whole[np.linspace(0, len(whole) - 1, steps).round().astype(np.intp)]
