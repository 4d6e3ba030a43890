"""Leaves: classifiers that are a single tree, of whose predictions whatever is made is such a tree, and ends of sums."""

from __future__ import annotations

import numpy as np

from butfor.arrays import FloatArray
from butfor.importers.registry import Imported
from butfor.model.oblique import ObliqueTree
from butfor.model.questions import Model
from butfor.model.readout import Argmax
from butfor.model.trees import Trees

SPARE_RANGE = 1e-3
"""By which share of its range a sum of leaves may lie beyond it: more than any rounding."""


def only_tree(model: Model) -> Trees | ObliqueTree | None:
    """The model, if its scores are looked up in the leaves of one tree."""
    if isinstance(model, Trees) and (len(model.roots) > 1 or model.base.any()):
        return None
    return model if isinstance(model, Trees | ObliqueTree) else None


def tree_of_shares(read: Imported) -> Trees | ObliqueTree | None:
    """The model, if it is one tree whose leaves hold the probabilities of the classes."""
    model, readout = read
    plain = type(readout) is Argmax and readout.link == "identity" and readout.total == 1
    return only_tree(model) if plain else None


def ends_of_sum(model: Model, row: FloatArray) -> tuple[float, float]:
    """Between which numbers the sum `row @ scores` lies. Only that of trees has ends."""
    if not isinstance(model, Trees):
        return -np.inf, np.inf
    leaf = np.flatnonzero(model.feature < 0)
    tree = np.searchsorted(model.roots, leaf, side="right") - 1
    begin = np.searchsorted(tree, np.arange(len(model.roots)))
    value, base = model.value[leaf] @ row, float(model.base @ row)
    low, high = base + np.minimum.reduceat(value, begin).sum(), base + np.maximum.reduceat(value, begin).sum()
    spare = SPARE_RANGE * (high - low) + SPARE_RANGE * max(abs(low), abs(high))
    return float(low - spare), float(high + spare)
