"""What levels may slip to: the other levels of a category that a row may be recorded with, or fall to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from butfor.arrays import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Slips:
    """`seen[j][a, b]`: whether a row with cell `a` of feature j may be seen with cell `b`.

    The cells of a feature with levels are its levels, and "missing" last. Each may be seen as what it is. What is missing
    does not slip, and nothing slips to it. Features slip independently of each other.
    """

    seen: Mapping[int, BoolArray] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.seen)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Slips) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @cached_property
    def _key(self) -> tuple[tuple[int, bytes], ...]:
        return tuple((j, may.tobytes()) for j, may in self.seen.items())

    def of_columns(self, columns: IntArray) -> Slips:
        """The slips of some features, in their order."""
        return Slips({k: self.seen[j] for k, j in enumerate(columns.tolist()) if j in self.seen})

    def seen_as(self, j: int, value: float) -> FloatArray:
        """The values that a value of feature j may be seen as, its own first."""
        if j not in self.seen or np.isnan(value):
            return np.array([value])
        others = np.flatnonzero(self.seen[j][int(value)])
        return np.append(value, others[others != value]).astype(np.float64)

    def into(self, j: int, cells: BoolArray) -> BoolArray:
        """The cells of feature j from which some slip leads into one of these `cells`, or which are among them."""
        return np.asarray((self.seen[j] & cells).any(axis=1)) if j in self.seen else cells

    def towards(self, j: int, level: int) -> IntArray:
        """For each cell of feature j, what it is seen as if all that may be are seen as one level. Others stay."""
        return np.where(self.seen[j][:, level], level, np.arange(len(self.seen[j])))

    def least(self, j: int, value: FloatArray) -> IntArray:
        """For each cell of feature j, the one with the least value (cells) among those that it may be seen as. A tie stays."""
        lowest = np.where(self.seen[j], value, np.inf).argmin(axis=1)
        return np.where(value[lowest] < value, lowest, np.arange(len(value)))

    @property
    def count(self) -> float:
        """How many ways of slipping there are at most, from any row."""
        return float(np.prod([table.shape[1] for table in self._tables.values()]))

    def every(self, points: FloatArray) -> FloatArray:
        """All that rows (n, k, features) may be seen as (n, k `count`, features), each first as it is.

        Where there are fewer ways to slip than elsewhere, some come twice.
        """
        for j, table in self._tables.items():
            seen = np.repeat(points[:, :, None], table.shape[1], axis=2)
            seen[..., j] = table[_cell(points[..., j], table)]
            points = seen.reshape(len(points), -1, points.shape[2])
        return points

    def some(self, rng: np.random.Generator, points: FloatArray) -> FloatArray:
        """Rows (n, k, features) as what they may be seen as, at random."""
        points = points.copy() if self else points
        for j, table in self._tables.items():
            way = rng.integers(table.shape[1], size=points.shape[1])
            points[..., j] = table[_cell(points[..., j], table), way]
        return points

    @cached_property
    def _tables(self) -> dict[int, FloatArray]:
        """For each feature (cells, ways): what each cell is seen as. Its own value is first, and fills what is left."""
        tables = {}
        for j, may in self.seen.items():
            own = np.append(np.arange(len(may) - 1.0), np.nan)
            table = np.repeat(own[:, None], may.sum(axis=1).max(), axis=1)
            for cell, value in enumerate(own[:-1].tolist()):
                found = self.seen_as(j, value)
                table[cell, : len(found)] = found
            tables[j] = table
        return tables


def _cell(values: FloatArray, table: FloatArray) -> IntArray:
    """The cells of some encoded values."""
    return np.where(np.isnan(values), len(table) - 1, values).astype(np.intp)


NO_SLIPS = Slips()
"""Levels stay what they are."""
