"""How the hypercube is laid out in arrays, for compiled code and for those who read them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from butfor.arrays import BoolArray, FloatArray, IntArray

NUMBER, RANK, GROUP = 0, 1, 2
"""The kinds of features in the hypercube: one coordinate in ranges, one in ranks, or one per level."""

FREE, STAY, MISSING, SINGLE = 1, 2, 4, 8
"""Flags of a feature of a row: it may move, may stay, may go missing; its numbers have single precision."""

FACTUAL, START, LOW, HIGH, WIDTH, STEP, ANCHOR = range(7)
"""The columns of `Plan.table`."""


class Layout(NamedTuple):
    """Where each feature has its coordinates and levels.

    - `kind` (features): NUMBER (its coordinate counts ranges from `start`), RANK (its coordinate counts shares of all
      ranks) or GROUP (one coordinate per level; the largest wins);
    - `first` (features + 1): where the coordinates of each feature begin;
    - `vanish` (features): the coordinate that makes the feature missing (-1: none);
    - `place` (features + 1): where the levels of each feature begin in `allowed`;
    - `allowed` (n, levels): which levels are allowed;
    - `digits` (features, 3): the grid of each number as it is written (see `butfor.model.grid_points.Digits`).
    """

    kind: IntArray
    first: IntArray
    vanish: IntArray
    place: IntArray
    allowed: BoolArray
    digits: FloatArray


class Plan(NamedTuple):
    """What decoding a position needs to know of each feature of each row.

    - `table` (n, features, 7): what `FACTUAL` to `ANCHOR` name, side by side for the processor's cache;
    - `flag` (n, features): the flags `FREE`, `STAY`, `MISSING` and `SINGLE`;
    - `start`, `least`, `greatest` (n, features), `width` (features): for plain numbers;
    - `special`: the features that are not plain numbers.
    """

    table: FloatArray
    flag: NDArray[np.int8]
    start: FloatArray
    width: FloatArray
    least: FloatArray
    greatest: FloatArray
    special: IntArray


class RatesAndTables(NamedTuple):
    """Prices that are sums of rates and tables.

    - `l0`, `l1`, `l2` (features): the rates;
    - `missing` (2, features): the prices of becoming missing, and of becoming known;
    - `place` (features): where the prices between the levels begin in `table`;
    - `side` (features): the number of levels, "missing" included, which comes last; 0 for a number;
    - `table`: the prices between levels, `side` values per level.
    """

    l0: FloatArray
    l1: FloatArray
    l2: FloatArray
    missing: FloatArray
    place: IntArray
    side: IntArray
    table: FloatArray
