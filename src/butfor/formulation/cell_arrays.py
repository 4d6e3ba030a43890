"""Sets of cells, each of one feature, as arrays for compiled code."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from butfor.arrays import BoolArray, IntArray, ShortArray
from butfor.model.trees import CellSet, Interval


class CellSets(NamedTuple):
    """Sets of cells as arrays. Set e contains cells of one feature.

    - `feature` (sets): the feature;
    - `first`, `last` (sets): the first and last cell;
    - `missing` (sets): whether "missing" belongs to the set;
    - `mask` (sets): if it is at least 0, only the cells that are true in `masks[mask[e]:]` belong to the set;
    - `masks`: the masks one after the other, each with "missing" last.
    """

    feature: ShortArray
    first: ShortArray
    last: ShortArray
    missing: BoolArray
    mask: IntArray
    masks: BoolArray


def laid_out(regions: Iterable[tuple[int, CellSet | None]]) -> CellSets:
    """Pairs of feature and region as arrays. A region of None becomes an empty set of feature 0."""
    rows: list[tuple[int, int, int, int, int]] = []
    masks: list[BoolArray] = []
    size = 0
    for j, region in regions:
        if region is None:
            rows.append((0, 0, -1, 0, -1))
        elif isinstance(region, Interval):
            rows.append((j, region.first, region.last, int(region.missing), -1))
        else:
            rows.append((j, 0, len(region.mask) - 2, int(region.mask[-1]), size))
            masks.append(region.mask)
            size += len(region.mask)
    columns = np.array(rows, dtype=np.intp).reshape(-1, 5).T
    feature, first, last = (column.astype(np.int32) for column in columns[:3])
    missing, mask = columns[3:]
    flat = np.concatenate(masks) if masks else np.zeros(0, dtype=np.bool_)
    return CellSets(feature, first, last, missing.astype(np.bool_), np.ascontiguousarray(mask), flat)
