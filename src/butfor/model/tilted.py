"""Axis-aligned trees as oblique ones: each question about a feature becomes a decision of a linear model.

A linear model of the decisions may then read a feature as a sum of others, and the trees are oblique indeed.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from butfor.arrays import FloatArray, IntArray
from butfor.model.cells import number_cells
from butfor.model.linear import Linear
from butfor.model.oblique import ObliqueTree
from butfor.model.oblique_forest import ObliqueForest
from butfor.model.trees import Trees

FARTHEST_CUT = 1e100
"""Beyond it, no number of a feature lies on the other side of a cut. Only a missing value does."""


def tilted(model: Trees, put_in: Callable[[Linear], Linear]) -> ObliqueTree | ObliqueForest:
    """The same trees. `put_in` says what the decisions read in place of some features."""
    inner = np.flatnonzero(model.feature >= 0)
    asked = np.column_stack([model.feature, model.member, model.missing_left, model.cut])[inner]
    asked[asked[:, 1] >= 0, 2:] = 0.0
    different, which = np.unique(asked, axis=0, return_inverse=True)
    gate = np.full(len(model.feature), -1, dtype=np.intp)
    gate[inner] = which.ravel()
    gates = put_in(_decisions(model, different))
    trees = [_tree(model, root, gates, gate) for root in model.roots.tolist()]
    if model.base.any():
        trees.append(leaf(gates, model.base))
    return trees[0] if len(trees) == 1 else ObliqueForest(tuple(trees), model.folded)


def _decisions(model: Trees, asked: FloatArray) -> Linear:
    """For each question (feature, set, whether missing goes left, cut), a score that is at least 0 iff a row goes left.

    A number at its cut goes left, so programs may choose it: only what is below 0 must keep away from 0.
    """
    count, features = len(asked), len(model.cells)
    intercept, slope = np.zeros(count), np.zeros((count, features))
    sets = model.asked_for_sets()
    cells = tuple(cell if cell.levels or j in sets else number_cells(np.empty(0)) for j, cell in enumerate(model.cells))
    steps = tuple(np.zeros((count, cell.count + 1)) for cell in cells)
    for at, (j, member, missing_left, cut) in enumerate(asked.tolist()):
        feature = int(j)
        if member >= 0:
            steps[feature][at] = np.where(model.cell_sets[int(member)], 1.0, -1.0)
            continue
        if abs(cut) > FARTHEST_CUT:
            cut = float(np.sign(cut))
        else:
            slope[at, feature] = -1.0
        intercept[at] = cut
        steps[feature][at, -1] = -cut + (1.0 if missing_left else -1.0) * max(1.0, abs(cut))
    return Linear(intercept, slope, cells, steps, folded=True)


def _tree(model: Trees, root: int, gates: Linear, gate: IntArray) -> ObliqueTree:
    """One of the trees, its nodes numbered from the root on. What went left goes right."""
    nodes = [root]
    for node in nodes:
        if gate[node] >= 0:
            nodes += [int(model.right[node]), int(model.left[node])]
    kept = np.array(nodes, dtype=np.intp)
    split = gate[kept] >= 0
    child = 1 + 2 * (np.cumsum(split) - 1)
    left, right = np.where(split, child, -1), np.where(split, child + 1, -1)
    return ObliqueTree(gates, gate[kept], left, right, np.ascontiguousarray(model.value[kept]))


def leaf(gates: Linear, value: FloatArray) -> ObliqueTree:
    """A tree that is a single leaf."""
    none = np.full(1, -1, dtype=np.intp)
    return ObliqueTree(gates, none, none, none, np.array(value, dtype=np.float64)[None])
