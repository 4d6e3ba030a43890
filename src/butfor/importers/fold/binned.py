"""Tables over bins of columns, as trees: each table is what the bins of one column, or of several, add to the scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from butfor.arrays import FloatArray, IntArray
from butfor.experimental import experimental
from butfor.importers.fold.column import Column
from butfor.importers.fold.nodes import BEYOND_ALL, Nodes, numbered, trees_over
from butfor.model.trees import Trees


@experimental
@dataclass(frozen=True, eq=False)
class Bins:
    """The bins of a column, for `binned_over`. The last of them holds missing values, and all others hold numbers.

    - `column`: the number of the column;
    - `last` (bins - 2): the last value in each bin of numbers but the last, in ascending order.
    """

    column: int
    last: FloatArray

    @property
    def ends(self) -> FloatArray:
        """The last value in each bin of numbers (bins - 1)."""
        return np.append(self.last, BEYOND_ALL)


@experimental
def binned_over(
    columns: list[Column], terms: Sequence[tuple[Sequence[Bins], FloatArray]], base: FloatArray, *, folded: bool = False
) -> Trees:
    """The scores `base + sum of tables`, as trees over raw features. For your own importers of additive models.

    - `columns`: the columns that reach the estimator, as `read(estimator, columns)` gets them;
    - `terms`: the bins of some columns, and a table (bins of the first, bins of the second, ..., scores) of what they add;
    - `base` (scores): what the sum starts from.

    Each table becomes a balanced tree without questions that make no difference. The terms are added in their order.
    """
    grown = [_Growing(tuple(bins)) for bins, _ in terms]
    for tree, (bins, table) in zip(grown, terms, strict=True):
        tree.grow(table, np.zeros(len(bins), dtype=np.intp))
    first = numbered([len(tree.feature) for tree in grown])
    shift = np.repeat(first, [len(tree.feature) for tree in grown])
    feature = np.concatenate([tree.feature for tree in grown]).astype(np.intp)
    nodes = Nodes(
        roots=first,
        feature=feature,
        threshold=np.concatenate([tree.threshold for tree in grown]),
        missing_left=np.zeros(len(feature), dtype=np.bool_),
        left=np.concatenate([tree.left for tree in grown]).astype(np.intp) + shift,
        right=np.concatenate([tree.right for tree in grown]).astype(np.intp) + shift,
        value=np.concatenate([tree.value for tree in grown]),
        single=False,
    )
    return trees_over(columns, nodes, base, folded=folded)


@dataclass(frozen=True)
class _Growing:
    """The nodes of one tree, which grow from its root. The arrays are those of `Nodes`."""

    bins: tuple[Bins, ...]
    feature: list[int] = field(default_factory=list)
    threshold: list[float] = field(default_factory=list)
    left: list[int] = field(default_factory=list)
    right: list[int] = field(default_factory=list)
    value: list[FloatArray] = field(default_factory=list)

    def grow(self, table: FloatArray, begin: IntArray) -> int:
        """A node for a part of the table, whose first bins are known, and all below it. Returns its number."""
        node = len(self.feature)
        changes = [_changes(table, axis) for axis in range(table.ndim - 1)]
        axis = int(np.argmax([len(found) for found in changes]))
        self.feature.append(-1)
        self.threshold.append(0.0)
        self.left.append(0)
        self.right.append(0)
        self.value.append(table[(0,) * (table.ndim - 1)])
        if not len(changes[axis]):
            return node
        at = int(changes[axis][len(changes[axis]) // 2])
        below, above = np.split(table, [at], axis=axis)
        further = begin.copy()
        further[axis] += at
        self.feature[node] = self.bins[axis].column
        self.threshold[node] = self.bins[axis].ends[further[axis] - 1]
        self.left[node] = self.grow(below, begin)
        self.right[node] = self.grow(above, further)
        return node


def _changes(table: FloatArray, axis: int) -> IntArray:
    """Before which bins of an axis the table changes."""
    lines = np.moveaxis(table, axis, 0).reshape(table.shape[axis], -1)
    return 1 + np.flatnonzero((lines[1:] != lines[:-1]).any(axis=1))
