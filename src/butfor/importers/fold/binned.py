"""Tables over bins of columns, as trees: each table is what the bins of one column, or of several, add to the scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from butfor.arrays import FloatArray, IntArray
from butfor.experimental import experimental
from butfor.importers.fold.column import Column
from butfor.importers.fold.nodes import BEYOND_ALL, trees_over
from butfor.model.nodes import Nodes, numbered
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

    Each table becomes a balanced tree. Neighbouring bins that add the same are one. The terms are added in their order.
    """
    grown = [_grown(bins, np.asarray(table, dtype=np.float64)) for bins, table in terms]
    counts = [len(tree.feature) for tree in grown]
    first = numbered(counts)
    shift = np.repeat(first, counts)
    feature = np.concatenate([tree.feature for tree in grown]).astype(np.intp)
    nodes = Nodes(
        roots=first,
        feature=feature,
        threshold=np.concatenate([tree.threshold for tree in grown]),
        missing_left=np.zeros(len(feature), dtype=np.bool_),
        left=np.concatenate([tree.left for tree in grown]).astype(np.intp) + shift,
        right=np.concatenate([tree.right for tree in grown]).astype(np.intp) + shift,
        value=np.concatenate([tree.values[tree.kind] for tree in grown]),
        single=False,
    )
    return trees_over(columns, nodes, base, folded=folded)


def _grown(bins: Sequence[Bins], table: FloatArray) -> _Growing:
    """The tree of one table. Bins between which it does not change are one."""
    ends = []
    for axis, own in enumerate(bins):
        lines = np.moveaxis(table, axis, 0).reshape(table.shape[axis], -1)
        changes = np.flatnonzero((lines[1:] != lines[:-1]).any(axis=1))
        table = np.take(table, np.append(changes, len(lines) - 1), axis=axis)
        ends.append(own.ends[changes].tolist())
    values, kinds = np.unique(table.reshape(-1, table.shape[-1]), axis=0, return_inverse=True)
    tree = _Growing([own.column for own in bins], ends, values, kinds.reshape(table.shape[:-1]))
    tree.grow((0,) * len(bins), table.shape[:-1])
    return tree


@dataclass(frozen=True, eq=False)
class _Growing:
    """The nodes of one tree, which grow from its root. The arrays are those of `Nodes`.

    - `columns` (axes): the column of each axis; `ends` (axes; cuts): the last number below each cut;
    - `values` (kinds, scores): what different cells add; `kinds`: the row of `values` for each cell;
    - `kind` (nodes): the row of `values` for each leaf.
    """

    columns: list[int]
    ends: list[list[float]]
    values: FloatArray
    kinds: IntArray
    feature: list[int] = field(default_factory=list)
    threshold: list[float] = field(default_factory=list)
    left: list[int] = field(default_factory=list)
    right: list[int] = field(default_factory=list)
    kind: list[int] = field(default_factory=list)

    def grow(self, begin: tuple[int, ...], end: tuple[int, ...]) -> int:
        """A node for a box of cells, and all below it. Two leaves that add the same become one. Returns its number."""
        node = len(self.feature)
        self._add(-1, 0.0, 0)
        widths = [high - low for low, high in zip(begin, end, strict=True)]
        axis = widths.index(max(widths))
        if widths[axis] == 1:
            self.kind[node] = int(self.kinds[begin])
            return node
        at = begin[axis] + widths[axis] // 2
        left = self.grow(begin, (*end[:axis], at, *end[axis + 1 :]))
        right = self.grow((*begin[:axis], at, *begin[axis + 1 :]), end)
        if self.feature[left] < 0 and self.feature[right] < 0 and self.kind[left] == self.kind[right]:
            same = self.kind[left]
            for some in (self.feature, self.threshold, self.left, self.right, self.kind):
                del some[node:]
            self._add(-1, 0.0, same)
            return node
        self.feature[node], self.threshold[node] = self.columns[axis], self.ends[axis][at - 1]
        self.left[node], self.right[node] = left, right
        return node

    def _add(self, feature: int, threshold: float, kind: int) -> None:
        self.feature.append(feature)
        self.threshold.append(threshold)
        self.left.append(0)
        self.right.append(0)
        self.kind.append(kind)
