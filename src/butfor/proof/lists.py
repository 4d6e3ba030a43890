"""Lists of numbers and sets of cells, side by side in arrays."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from butfor.arrays import IntArray

Whole = NDArray[np.int64]
"""Whole numbers in units of the checker."""


class Listed(NamedTuple):
    """Lists of numbers, one behind the other: list i is `items[start[i]:start[i + 1]]`."""

    start: IntArray
    items: IntArray

    @classmethod
    def of(cls, lists: Iterable[Sequence[int]]) -> Listed:
        kept = list(lists)
        start = np.concatenate([[0], np.cumsum([len(one) for one in kept])]).astype(np.intp)
        return cls(start, np.array([item for one in kept for item in one], dtype=np.intp))


class CellRuns(NamedTuple):
    """Sets of cells as runs of neighbours: set i has the runs `start[i]` to `start[i + 1] - 1`, each `[first, end)`."""

    start: IntArray
    first: IntArray
    end: IntArray

    @classmethod
    def of(cls, sets: Iterable[tuple[int, Sequence[tuple[int, int]]]]) -> CellRuns:
        """The sets of runs, each counted from a cell on."""
        kept = list(sets)
        start = np.concatenate([[0], np.cumsum([len(runs) for _, runs in kept])]).astype(np.intp)
        ends = np.array([(at + a, at + b) for at, runs in kept for a, b in runs], dtype=np.intp).reshape(-1, 2)
        return cls(start, np.ascontiguousarray(ends[:, 0]), np.ascontiguousarray(ends[:, 1]))
