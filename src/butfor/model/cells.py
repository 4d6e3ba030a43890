"""Cells: the intervals of a number, or the levels of a feature. The last cell is "missing"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from butfor.arrays import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells of one feature.

    A number with sorted `edges` e_0 < ... has the cells (-inf, e_0], (e_0, e_1], ..., (e_last, inf). A feature with
    `levels > 0` has one cell per level. Cell number `count` is "missing".
    """

    edges: FloatArray
    levels: int = 0

    @property
    def count(self) -> int:
        """The number of cells, without "missing"."""
        return self.levels or len(self.edges) + 1

    def index(self, x: FloatArray) -> IntArray:
        """The cell of each encoded value."""
        missing = np.isnan(x)
        inside = x.astype(np.intp) if self.levels and not missing.any() else np.searchsorted(self.edges, x)
        if self.levels and missing.any():
            inside = np.where(missing, 0, x).astype(np.intp)
        return np.where(missing, self.count, inside).astype(np.intp)

    def within(self, coarser: Cells) -> IntArray:
        """For each cell, "missing" last, the cell of `coarser` in which it lies. One without cells has a single one."""
        if self.levels:
            inside = np.arange(self.count) if coarser.levels else np.zeros(self.count, dtype=np.intp)
        else:
            inside = coarser.index(representatives(self))
        return np.append(inside, coarser.count)

    def lower(self) -> FloatArray:
        """The excluded lower end of each cell of a number."""
        return np.concatenate([[-np.inf], self.edges])

    def upper(self) -> FloatArray:
        """The included upper end of each cell of a number."""
        return np.concatenate([self.edges, [np.inf]])


def number_cells(edges: FloatArray) -> Cells:
    """The cells of a number. The edges may be unsorted and repeated."""
    return Cells(np.unique(np.asarray(edges, dtype=np.float64)))


def level_cells(levels: int) -> Cells:
    """The cells of a feature with this number of levels."""
    return Cells(np.empty(0), levels)


def representatives(cells: Cells) -> FloatArray:
    """One number inside each cell of a number."""
    if not len(cells.edges):
        return np.zeros(1)
    return np.append(cells.edges, np.nextafter(cells.edges[-1], np.inf))


def joined_cells(several: Sequence[tuple[Cells, ...]]) -> tuple[Cells, ...]:
    """The cells of all features that are as fine as each of several. Some may know only the first features."""
    width = max(len(cells) for cells in several)
    return tuple(_joined([cells[j] for cells in several if j < len(cells)]) for j in range(width))


def _joined(parts: Sequence[Cells]) -> Cells:
    levels = max(part.levels for part in parts)
    return level_cells(levels) if levels else number_cells(np.concatenate([part.edges for part in parts]))
