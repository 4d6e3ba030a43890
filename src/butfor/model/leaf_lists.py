"""The leaves of a sum of trees in lists, for the adversary; and pairs of trees as one tree each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from butfor.arrays import FloatArray, IntArray

PAIRS_OF_LEAVES = 256
"""How many pairs of leaves two trees may have that are merged."""


class Leaves(NamedTuple):
    """The leaves of one tree: what each adds, and the smallest and the largest value of each feature (features, leaves)."""

    value: FloatArray
    begin: FloatArray
    end: FloatArray


class LeafLists(NamedTuple):
    """The leaves of a sum of trees, and the point.

    - `tree`, `value` (leaves): the tree of each leaf, in ascending order, and what it adds;
    - `path` (leaves + 1), `feature`: the features that leaf i asks for are `feature[path[i]:path[i + 1]]`;
    - `begin`, `end` (features, leaves): the smallest and the largest value that each takes;
    - `step`, `point` (features): the grid of each feature (0: any number), and the point.
    """

    tree: IntArray
    value: FloatArray
    path: IntArray
    feature: IntArray
    begin: FloatArray
    end: FloatArray
    step: FloatArray
    point: FloatArray


def listed(
    trees: Sequence[Leaves], low: FloatArray, high: FloatArray, step: FloatArray, point: FloatArray
) -> LeafLists:
    """Trees in lists. A leaf does not ask for a feature of which it takes all that there is in a box."""
    value, begin, end = (np.concatenate(parts, axis=-1) for parts in zip(*trees, strict=True))
    asks = ((begin > low[:, None]) | (end < high[:, None])).T
    tree = np.repeat(np.arange(len(trees)), [len(one.value) for one in trees])
    path = np.append(0, np.cumsum(asks.sum(axis=1)))
    return LeafLists(tree, value, path, np.nonzero(asks)[1], begin, end, step, point)


def merged(base: float, leaves: LeafLists, low: FloatArray, high: FloatArray) -> tuple[float, LeafLists]:
    """A sum of trees over a box, with pairs of trees as one tree each. Its leaves are where two leaves meet.

    The smallest of them is at least the sum of the smallest of both trees. The pairs are those where it lies above that
    by most. A tree of which the box meets a single leaf adds to the base.
    """
    from butfor.model.adversary_kernels import rises

    trees = _within(leaves, low, high)
    base += sum(float(tree.value[0]) for tree in trees if len(tree.value) == 1)
    trees = [tree for tree in trees if len(tree.value) > 1]
    within = listed(trees, low, high, leaves.step, leaves.point)
    rise = rises(within, np.searchsorted(within.tree, np.arange(len(trees) + 1)), PAIRS_OF_LEAVES)
    pairs, alone = [], set(range(len(trees)))
    for a, b in zip(*np.unravel_index(np.argsort(-rise, axis=None), rise.shape), strict=True):
        if not rise[a, b] > 0:
            break
        if {a, b} <= alone:
            alone -= {a, b}
            pairs.append(_both(trees[a], trees[b]))
    return base, listed([*pairs, *(trees[a] for a in sorted(alone))], low, high, leaves.step, leaves.point)


def _within(leaves: LeafLists, low: FloatArray, high: FloatArray) -> list[Leaves]:
    """The trees, with those of their leaves that meet a box."""
    meets = ~((leaves.begin > high[:, None]) | (leaves.end < low[:, None])).any(axis=0)
    at = np.flatnonzero(meets)
    trees = np.split(at, np.flatnonzero(np.diff(leaves.tree[at])) + 1)
    return [Leaves(leaves.value[one], leaves.begin[:, one], leaves.end[:, one]) for one in trees]


def _both(first: Leaves, second: Leaves) -> Leaves:
    """Where a leaf of one tree meets a leaf of the other."""
    d = len(first.begin)
    value = np.add.outer(first.value, second.value).ravel()
    begin = np.maximum(first.begin[:, :, None], second.begin[:, None, :]).reshape(d, -1)
    end = np.minimum(first.end[:, :, None], second.end[:, None, :]).reshape(d, -1)
    meet = (begin <= end).all(axis=0)
    return Leaves(value[meet], np.ascontiguousarray(begin[:, meet]), np.ascontiguousarray(end[:, meet]))
