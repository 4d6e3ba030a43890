"""The nodes of trees over the columns that reach an estimator, as its library keeps them, and the sums of their leaves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from butfor.arrays import BoolArray, FloatArray, IntArray
from butfor.experimental import experimental


@experimental
@dataclass(frozen=True, eq=False)
class Nodes:
    """All nodes of all trees, one entry per node.

    - `roots` (trees): the number of each tree's root;
    - `feature` (nodes): the column that the node reads; -1 for a leaf;
    - `threshold` (nodes): a row goes left iff the column is at most this (compared in float32 if `single`);
    - `missing_left` (nodes): whether a missing value goes left;
    - `left`, `right` (nodes): the numbers of the children;
    - `value` (nodes, scores): what the node adds to each score, if it is a leaf;
    - `group` (nodes): the row of `groups` that replaces the threshold if the column holds a category's number; -1 if it
      does not;
    - `groups` (sets, categories + 1): which categories go left; the last entry is for any other number;
    - `zero_missing` (nodes): whether a zero goes where a missing value goes.
    """

    roots: IntArray
    feature: IntArray
    threshold: FloatArray
    missing_left: BoolArray
    left: IntArray
    right: IntArray
    value: FloatArray
    single: bool
    group: IntArray | None = None
    groups: BoolArray = field(default_factory=lambda: np.zeros((0, 1), dtype=np.bool_))
    zero_missing: BoolArray | None = None

    def __post_init__(self) -> None:
        """Kernels are compiled for each layout in memory, so there is one."""
        for each in fields(self):
            if isinstance(array := getattr(self, each.name), np.ndarray):
                object.__setattr__(self, each.name, np.ascontiguousarray(array))

    @cached_property
    def walk(self) -> tuple[IntArray, IntArray, BoolArray]:
        """The nodes in the form that `add_leaves` reads: the column of each, its set if it has one, and all sets.

        Zeros that are missing stand in a second copy of the columns. The last entry of a set is for a missing value.
        """
        asks = np.flatnonzero(self.feature >= 0)
        column = self.feature.copy()
        if self.zero_missing is not None:
            column[asks] += np.where(self.zero_missing[asks], self.width, 0)
        member = np.full(len(column), -1, dtype=np.intp)
        by_set = asks[:0] if self.group is None else asks[self.group[asks] >= 0]
        member[by_set] = np.arange(len(by_set))
        listed = self.groups[:0] if self.group is None else self.groups[self.group[by_set]]
        return column, member, np.column_stack([listed, self.missing_left[by_set]])

    @property
    def width(self) -> int:
        """How many columns it takes to hold all that are read."""
        return 1 + int(self.feature.max(initial=0))


@dataclass(frozen=True, eq=False)
class LeafLines:
    """Lines in leaves. A row of which a column is missing that the line reads gets the leaf's constant instead.

    - `constant` (nodes): what each line starts from;
    - `start` (nodes + 1): where the terms of each line begin;
    - `column`, `weight` (terms): the column of each term, and its weight.
    """

    constant: FloatArray
    start: IntArray
    column: IntArray
    weight: FloatArray

    def at(self, X: FloatArray, leaf: IntArray, instead: FloatArray) -> FloatArray:
        """The value of the line of each row's leaf, added term by term."""
        out, count = self.constant[leaf], np.diff(self.start)[leaf]
        for k in range(count.max(initial=0)):
            rows = np.flatnonzero(count > k)
            term = self.start[leaf[rows]] + k
            out[rows] += self.weight[term] * X[rows, self.column[term]]
        return np.where(np.isnan(out), instead, out)


def numbered(count: Sequence[int]) -> IntArray:
    """The number of each tree's first node. `count` says how many nodes each tree has."""
    return np.concatenate([[0], np.cumsum(count)[:-1]]).astype(np.intp)


def in_score(value: FloatArray, score: IntArray, scores: int) -> FloatArray:
    """Turn one value per node into a row of scores (nodes, scores).

    The value is put into its own score; the other scores are 0.
    """
    out = np.zeros((len(value), scores))
    out[np.arange(len(value)), score] = value
    return out


def leaves_added(nodes: Nodes, X: FloatArray, base: NDArray[Any]) -> NDArray[Any]:
    """The sums of leaves, one row per row of `X`: from `base` on, tree by tree, in the type that `base` has."""
    from butfor.model.tree_kernels import add_leaves

    column, member, sets = nodes.walk
    with np.errstate(over="ignore"):
        x = np.asarray(X[:, : nodes.width], dtype=np.float32 if nodes.single else np.float64).astype(np.float64)
    if nodes.zero_missing is not None and nodes.zero_missing.any():
        x = np.column_stack([x, np.where(x == 0, np.nan, x)])
    index = np.zeros(x.shape, dtype=np.intp)
    other = sets.shape[1] - 2
    for j in np.unique(column[member >= 0]):
        number = np.where((x[:, j] > -1) & (x[:, j] < other), x[:, j], other).astype(np.intp)
        index[:, j] = np.where(np.isnan(x[:, j]), other + 1, number)
    out = np.tile(base, (len(x), 1))
    add_leaves(
        nodes.roots, column, nodes.threshold, member, nodes.missing_left, nodes.left, nodes.right,
        nodes.value.astype(base.dtype), sets, np.ascontiguousarray(x), index, out,
    )  # fmt: skip
    return out
