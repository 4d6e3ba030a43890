"""Axis-aligned trees: one, or a sum of many. A node tests a cut of a number or a set of cells."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from butfor.arrays import BoolArray, FloatArray, IntArray
from butfor.model.cells import Cells, joined_cells, number_cells, representatives
from butfor.model.scores import low_bit


@dataclass(frozen=True, eq=False)
class Trees:
    """Scores `base + sum_t value[leaf of x in tree t]` over all trees t.

    The nodes of all trees share one set of arrays. The nodes of a tree are consecutive, its root first, and the roots
    are in ascending order.

    - `roots` (trees): the root of each tree;
    - `feature` (nodes): the feature that the node tests; -1 for a leaf;
    - `cut` (nodes): a row goes left iff `x <= cut[i]`;
    - `missing_left` (nodes): whether a missing value goes left at a cut;
    - `member` (nodes): if it is at least 0, there is no cut: a row goes left iff the cell of its feature is in
      `cell_sets[member[i]]`, a mask over the feature's cells with "missing" last;
    - `left`, `right` (nodes): the children;
    - `value` (nodes, scores): what a leaf adds to the scores;
    - `base` (scores): what the sum starts from;
    - `cells`: the cells of each feature;
    - `folded`: whether the leaves stand for products or sums that the estimator rounds, such as a weight times a leaf;
    - `summed`: of how many numbers such a sum is.
    """

    roots: IntArray
    feature: IntArray
    cut: FloatArray
    member: IntArray
    missing_left: BoolArray
    left: IntArray
    right: IntArray
    value: FloatArray
    cell_sets: tuple[BoolArray, ...]
    base: FloatArray
    cells: tuple[Cells, ...]
    folded: bool = False
    summed: int = 0

    @property
    def looked_up(self) -> bool:
        """Whether the scores are those of one leaf, as the estimator has them: nothing is added up, so nothing is rounded."""
        return len(self.roots) == 1 and not self.base.any() and not self.folded

    @cached_property
    def separable(self) -> bool:
        """Whether it is a sum of several trees of which each reads at most one column."""
        inner = np.flatnonzero(self.feature >= 0)
        tree = np.searchsorted(self.roots, inner, side="right") - 1
        first = np.full(len(self.roots), -1, dtype=np.intp)
        first[tree[::-1]] = self.feature[inner[::-1]]
        return len(self.roots) > 1 and bool((self.feature[inner] == first[tree]).all())

    @cached_property
    def table(self) -> BoolArray:
        """`cell_sets` as the rows of one table."""
        width = max((len(mask) for mask in self.cell_sets), default=0)
        rows = np.zeros((len(self.cell_sets), width), dtype=np.bool_)
        for row, mask in zip(rows, self.cell_sets, strict=True):
            row[: len(mask)] = mask
        return rows

    @cached_property
    def walk(self) -> tuple[NDArray[Any], ...]:
        """The nodes in the form that `add_leaves_of_numbers` reads. A leaf sends everything to itself."""
        nodes, leaf = np.arange(len(self.feature)), self.feature < 0
        child = np.empty(2 * len(nodes), dtype=np.uint32)
        child[0::2], child[1::2] = np.where(leaf, nodes, self.left), np.where(leaf, nodes, self.right)
        depth = np.zeros(len(nodes), dtype=np.intp)
        level = self.roots
        while len(level):
            inner = level[~leaf[level]]
            level = np.concatenate([self.left[inner], self.right[inner]])
            depth[level] = np.tile(depth[inner] + 1, 2)
        leaves = np.flatnonzero(leaf)
        tree = np.searchsorted(self.roots, leaves, side="right") - 1
        mean = np.bincount(tree, depth[leaves], len(self.roots)) / np.maximum(
            np.bincount(tree, minlength=len(self.roots)), 1
        )
        feature = np.where(leaf, 0, self.feature).astype(np.uint32)
        return (
            self.roots.astype(np.uint32),
            np.ceil(mean).astype(np.intp),
            feature,
            np.where(leaf, np.inf, self.cut),
            child,
        )

    @property
    def scores(self) -> int:
        """The number of raw scores."""
        return int(self.value.shape[1])

    @cached_property
    def reach(self) -> FloatArray:
        """For each score, the sum over the trees of the largest size of a leaf's value."""
        value = np.where(self.feature[:, None] < 0, np.abs(self.value), 0.0)
        return np.asarray(np.maximum.reduceat(value, self.roots, axis=0).sum(axis=0))

    @cached_property
    def grain(self) -> float:
        """The largest power of two of which the constant and all values of leaves are whole multiples."""
        return min(low_bit(self.base), low_bit(self.value[self.feature < 0]))

    def asked_for_sets(self) -> frozenset[int]:
        """The features for which some node tests a set of cells."""
        return frozenset(int(j) for j in np.unique(self.feature[self.member >= 0]))

    def lasting_cells(self) -> tuple[Cells | None, ...]:
        """The cells that stay when cuts move, or new ones come: those of levels, and those that sets are made of."""
        sets = self.asked_for_sets()
        return tuple(cells if cells.levels or j in sets else None for j, cells in enumerate(self.cells))

    @cached_property
    def leaves(self) -> tuple[Leaf, ...]:
        """All leaves that some row can reach, tree by tree, with the cells that lead to them."""
        masked = self.asked_for_sets()
        found: list[Leaf] = []
        for tree, root in enumerate(self.roots):
            pending: list[tuple[int, dict[int, CellSet]]] = [(int(root), {})]
            while pending:
                node, path = pending.pop()
                j = int(self.feature[node])
                if j < 0:
                    found.append(Leaf(tree, node, path))
                    continue
                for child, side in ((self.right[node], False), (self.left[node], True)):
                    whole = everywhere(self.cells[j], as_mask=j in masked)
                    region = self.side(node, path.get(j, whole), left=side)
                    if not region.empty:
                        pending.append((int(child), {**path, j: region}))
        return tuple(found)

    def leaves_at(self, x: FloatArray) -> IntArray:
        """The leaf that one row reaches, in each tree."""
        node = self.roots
        while (inner := self.feature[node] >= 0).any():
            at = node[inner]
            value, cut = x[self.feature[at]], self.member[at] < 0
            goes_left = np.where(np.isnan(value), self.missing_left[at], value <= self.cut[at])
            cells = [self.cells[j].index(x[j : j + 1])[0] for j in self.feature[at[~cut]]]
            goes_left[~cut] = self.table[self.member[at[~cut]], cells]
            node = node.copy()
            node[inner] = np.where(goes_left, self.left[at], self.right[at])
        return node

    def side(self, node: int, region: CellSet, *, left: bool) -> CellSet:
        """The part of a region that goes left (or right) at a node."""
        cells = self.cells[self.feature[node]]
        if isinstance(region, Subset):
            mask = self.mask(node)
            return Subset(region.mask & (mask if left else ~mask))
        k = int(np.searchsorted(cells.edges, self.cut[node]))
        missing = region.missing and bool(self.missing_left[node]) == left
        if left:
            return Interval(region.first, min(region.last, k), missing)
        return Interval(max(region.first, k + 1), region.last, missing)

    def mask(self, node: int) -> BoolArray:
        """The cells that go left at a node, "missing" last."""
        if self.member[node] >= 0:
            return self.cell_sets[int(self.member[node])]
        cells = self.cells[self.feature[node]]
        below = np.arange(cells.count) <= np.searchsorted(cells.edges, self.cut[node])
        return np.asarray(np.append(below, self.missing_left[node]), dtype=np.bool_)


@dataclass(frozen=True)
class Interval:
    """Consecutive cells `first` to `last` of a number, and whether "missing" belongs to them."""

    first: int
    last: int
    missing: bool

    @property
    def empty(self) -> bool:
        """Whether no cell is left."""
        return self.first > self.last and not self.missing


@dataclass(frozen=True, eq=False)
class Subset:
    """Any set of cells, as a mask with "missing" last."""

    mask: BoolArray

    @property
    def empty(self) -> bool:
        """Whether no cell is left."""
        return not self.mask.any()


CellSet = Interval | Subset


def everywhere(cells: Cells, *, as_mask: bool) -> CellSet:
    """All cells of a feature."""
    return Subset(np.ones(cells.count + 1, dtype=np.bool_)) if as_mask else Interval(0, cells.count - 1, True)


@dataclass(frozen=True, eq=False)
class Leaf:
    """A leaf: its tree, its node, and the cells of each tested feature that lead to it."""

    tree: int
    node: int
    path: dict[int, CellSet]

    def moved_inside(self, x: FloatArray, cells: tuple[Cells, ...]) -> FloatArray:
        """The row `x`, with the values that lead elsewhere replaced by others of the same tested features."""
        out = x.copy()
        for j, region in self.path.items():
            fits = as_mask(region, cells[j])
            if not fits[cells[j].index(x[[j]])[0]]:
                cell = int(np.argmax(fits))
                values = np.arange(cells[j].levels) if cells[j].levels else representatives(cells[j])
                out[j] = np.append(values, np.nan)[cell]
        return out


def as_mask(region: CellSet, cells: Cells) -> BoolArray:
    """Cells of a feature as a mask with "missing" last."""
    if isinstance(region, Subset):
        return region.mask
    at = np.arange(cells.count)
    return np.append((at >= region.first) & (at <= region.last), region.missing)


def with_cells(trees: Trees, levels: tuple[Cells | None, ...]) -> Trees:
    """`trees` with the cells between its cuts. `levels[j]` gives the cells of a level or binned feature."""
    cells = []
    for j, fixed in enumerate(levels):
        at = (trees.feature == j) & (trees.member < 0)
        cells.append(fixed if fixed is not None else number_cells(trees.cut[at]))
    return replace(trees, cells=tuple(cells))


def evaluate_trees(model: Trees, X: FloatArray, threads: int = 1) -> FloatArray:
    """The raw scores, one row per row of `X`. The rows are shared among `threads`."""
    if threads == 1 or len(X) < 2 * threads:
        return _evaluate(model, X)
    with ThreadPoolExecutor(threads) as pool:
        return np.concatenate(list(pool.map(lambda rows: _evaluate(model, rows), np.array_split(X, threads))))


def _evaluate(model: Trees, X: FloatArray) -> FloatArray:
    from butfor.model.tree_kernels import add_leaves, add_leaves_of_numbers

    X = np.ascontiguousarray(X, dtype=np.float64)
    out = np.tile(np.asarray(model.base, dtype=np.float64), (len(X), 1))
    if not model.cell_sets and not np.isnan(X).any():
        add_leaves_of_numbers(*model.walk, model.value, X, out)
        return out
    index = np.zeros(X.shape, dtype=np.intp)
    for j in model.asked_for_sets():
        index[:, j] = model.cells[j].index(X[:, j])
    add_leaves(
        model.roots, model.feature, model.cut, model.member, model.missing_left, model.left, model.right, model.value,
        model.table, X, index, out,
    )  # fmt: skip
    return out


def combined(models: Sequence[Trees], weights: Sequence[float]) -> Trees:
    """The weighted sum of several models over the same features, as one model."""
    cells = joined_cells([model.cells for model in models])
    models = [over_cells(model, cells) for model in models]
    first = np.concatenate([[0], np.cumsum([len(model.feature) for model in models])[:-1]])
    sets = np.concatenate([[0], np.cumsum([len(model.cell_sets) for model in models])[:-1]])
    return Trees(
        roots=np.concatenate([model.roots + at for model, at in zip(models, first, strict=True)]),
        feature=np.concatenate([model.feature for model in models]),
        cut=np.concatenate([model.cut for model in models]),
        member=np.concatenate(
            [np.where(model.member >= 0, model.member + at, -1) for model, at in zip(models, sets, strict=True)]
        ),
        missing_left=np.concatenate([model.missing_left for model in models]),
        left=np.concatenate([model.left + at for model, at in zip(models, first, strict=True)]),
        right=np.concatenate([model.right + at for model, at in zip(models, first, strict=True)]),
        value=np.concatenate([weight * model.value for model, weight in zip(models, weights, strict=True)]),
        cell_sets=tuple(mask for model in models for mask in model.cell_sets),
        base=np.sum([weight * model.base for model, weight in zip(models, weights, strict=True)], axis=0),
        cells=cells,
        folded=not all(exact(weight) for weight in weights) or any(model.folded for model in models),
    )


def over_cells(model: Trees, cells: tuple[Cells, ...]) -> Trees:
    """The same model over finer cells."""
    features = np.zeros(len(model.cell_sets), dtype=np.intp)
    features[model.member[model.member >= 0]] = model.feature[model.member >= 0]
    sets = [mask[cells[j].within(model.cells[j])] for j, mask in zip(features, model.cell_sets, strict=True)]
    return replace(model, cell_sets=tuple(sets), cells=cells)


def exact(weight: float) -> bool:
    """Whether products with this weight are never rounded: it is a power of two."""
    return bool(abs(np.frexp(weight)[0]) == 0.5)
