"""All leaves of an ensemble as arrays, written once per model.

The reduction to one row's problem starts from them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from butfor.arrays import BoolArray, FloatArray, IntArray, ShortArray
from butfor.formulation.cell_arrays import laid_out
from butfor.formulation.margins import cells_inside, leaves_inside
from butfor.model.cells import Cells
from butfor.model.trees import Trees
from butfor.space.space import Space


class LeafTable(NamedTuple):
    """All leaves of an ensemble, and what they ask for.

    The cells of all features are numbered side by side: feature j has `start[j]` to `start[j + 1] - 1`, "missing" last.
    Tree t has the leaves `tree[t]` to `tree[t + 1] - 1`, and leaf i the entries `entry[i]` to `entry[i + 1] - 1`.
    An entry says that a feature must be in some of its cells, which are counted in the feature.

    start (features + 1): the first cell of each feature, and the number of all cells
    tree (trees + 1): the first leaf of each tree, and the number of all leaves
    value (leaves, scores): what the leaf adds to each score
    entry (leaves + 1): the first entry of each leaf, and the number of all entries
    feature (entries): the feature
    first, last (entries): the range of cells; empty if first > last
    missing (entries): whether "missing" is one of the cells
    mask (entries): where the cells begin in `masks`; -1 if a range says them
    masks: whether each cell of the feature is one of the cells, "missing" last
    """

    start: IntArray
    tree: IntArray
    value: FloatArray
    entry: IntArray
    feature: ShortArray
    first: ShortArray
    last: ShortArray
    missing: BoolArray
    mask: ShortArray | IntArray
    masks: BoolArray

    @classmethod
    def of(cls, *columns: Any, **named: Any) -> LeafTable:
        """The table of these columns. What entries say takes four bytes each: large forests have millions of leaves.

        Only where masks begin may need eight.
        """
        table = cls(*columns, **named)
        feature, first, last = (np.asarray(one, dtype=np.int32) for one in (table.feature, table.first, table.last))
        table = table._replace(feature=feature, first=first, last=last)
        if len(table.masks) > np.iinfo(np.int32).max:
            return table._replace(mask=np.asarray(table.mask, dtype=np.intp))
        return table._replace(mask=np.asarray(table.mask, dtype=np.int32))


@lru_cache(maxsize=4)
def all_leaves(model: Trees, space: Space, margin: float) -> tuple[tuple[Cells, ...], LeafTable]:
    """The cells and the leaves of a model.

    Regions are shrunk by the margin, and trees that ask for one and the same feature are added up.
    """
    cells, leaves = (model.cells, _walked(model)) if not margin else _shrunk(model, space, margin)
    return cells, fused(leaves)


def over_finer(leaves: LeafTable, coarse: Sequence[Cells], fine: Sequence[Cells]) -> LeafTable:
    """The leaves over coarse cells as leaves over finer ones."""
    within = {j: fine[j].within(coarse[j]) for j in range(len(fine)) if fine[j].count > coarse[j].count}
    if not within:
        return leaves
    first, last, mask, masks = leaves.first.copy(), leaves.last.copy(), leaves.mask.astype(np.intp), [leaves.masks]
    for j, at in within.items():
        own = (leaves.feature == j) & (first <= last)
        first[own] = np.searchsorted(at[:-1], first[own])
        last[own] = np.searchsorted(at[:-1], last[own], side="right") - 1
        for e in np.flatnonzero((leaves.feature == j) & (mask >= 0)).tolist():
            masks.append(leaves.masks[mask[e] + at])
            mask[e] = sum(map(len, masks[:-1]))
    start = np.concatenate([[0], np.cumsum([cells.count + 1 for cells in fine])]).astype(np.intp)
    return LeafTable.of(*leaves._replace(start=start, first=first, last=last, mask=mask, masks=np.concatenate(masks)))


def fused(leaves: LeafTable) -> LeafTable:
    """The same sums, with trees on one and the same feature as one tree.

    Such trees are stumps, above all.
    """
    trees, d = len(leaves.tree) - 1, len(leaves.start) - 1
    asked = np.zeros((trees, d), dtype=np.bool_)
    for mine, (begin, end) in zip(asked, pairwise(leaves.entry[leaves.tree].tolist()), strict=True):
        mine[leaves.feature[begin:end]] = True
    alone = asked & (asked.sum(axis=1) == 1)[:, None]
    groups = {j: np.flatnonzero(alone[:, j]) for j in range(d) if alone[:, j].sum() > 1}
    if not groups:
        return leaves
    kept = np.ones(trees, dtype=np.bool_)
    kept[np.concatenate(list(groups.values()))] = False
    keep = np.repeat(kept, np.diff(leaves.tree))
    parts = [_some(leaves, keep), *(_one_tree(leaves, j, members) for j, members in groups.items())]
    sizes = [*np.diff(leaves.tree)[kept], *(len(part.value) for part in parts[1:])]
    masks_before = np.cumsum([0, *(len(part.masks) for part in parts[:-1])])
    return LeafTable.of(
        start=leaves.start,
        tree=np.concatenate([[0], np.cumsum(sizes)]).astype(np.intp),
        value=np.concatenate([part.value for part in parts]),
        entry=np.concatenate([[0], np.cumsum(np.concatenate([np.diff(part.entry) for part in parts]))]).astype(np.intp),
        feature=np.concatenate([part.feature for part in parts]),
        first=np.concatenate([part.first for part in parts]),
        last=np.concatenate([part.last for part in parts]),
        missing=np.concatenate([part.missing for part in parts]),
        mask=np.concatenate(
            [
                np.where(part.mask >= 0, part.mask.astype(np.intp) + at, -1)
                for part, at in zip(parts, masks_before, strict=True)
            ]
        ),
        masks=np.concatenate([part.masks for part in parts]),
    )


def _some(leaves: LeafTable, keep: BoolArray) -> LeafTable:
    """Some of the leaves; the caller counts the trees anew."""
    counts = np.diff(leaves.entry)
    entries = np.repeat(keep, counts)
    return leaves._replace(
        value=leaves.value[keep],
        entry=np.concatenate([[0], np.cumsum(counts[keep])]).astype(np.intp),
        feature=leaves.feature[entries],
        first=leaves.first[entries],
        last=leaves.last[entries],
        missing=leaves.missing[entries],
        mask=leaves.mask[entries],
    )


def _one_tree(leaves: LeafTable, j: int, members: IntArray) -> LeafTable:
    """Trees that ask for feature j alone, added up.

    The sum has one leaf for each run of cells with equal sums.
    """
    width = int(leaves.start[j + 1] - leaves.start[j])
    total, covered = np.zeros((width, leaves.value.shape[1])), np.ones(width, dtype=np.bool_)
    masked = False
    for t in members:
        seen = np.zeros(width, dtype=np.bool_)
        for leaf in range(leaves.tree[t], leaves.tree[t + 1]):
            (e,) = range(leaves.entry[leaf], leaves.entry[leaf + 1])
            region = np.zeros(width, dtype=np.bool_)
            if leaves.mask[e] >= 0:
                masked = True
                region[:] = leaves.masks[leaves.mask[e] : leaves.mask[e] + width]
            else:
                region[leaves.first[e] : leaves.last[e] + 1], region[-1] = True, leaves.missing[e]
            total[region] += leaves.value[leaf]
            seen |= region
        covered &= seen
    runs = _runs(total, covered, masked)
    masks = np.zeros((len(runs), width), dtype=np.bool_)
    for mask, run in zip(masks, runs, strict=True):
        mask[run] = True
    n = len(runs)
    lost = np.array([run[0] == width - 1 for run in runs])
    return LeafTable.of(
        start=leaves.start,
        tree=np.array([0, n]),
        value=np.array([total[run[0]] for run in runs]),
        entry=np.arange(n + 1),
        feature=np.full(n, j),
        first=np.array([0 if gone or masked else run[0] for run, gone in zip(runs, lost, strict=True)]),
        last=np.array([-1 if gone or masked else run[-1] for run, gone in zip(runs, lost, strict=True)]),
        missing=lost,
        mask=np.arange(n) * width if masked else np.full(n, -1),
        masks=masks.ravel() if masked else np.zeros(0, dtype=np.bool_),
    )


def _runs(total: FloatArray, covered: BoolArray, masked: bool) -> list[IntArray]:
    """The covered cells in groups of equal sums.

    A group has neighbours only, or any cells if `masked`. "Missing", the last cell, is on its own.

    total (cells, scores): the sums
    covered (cells): whether every tree has a leaf for the cell
    """
    cells = np.flatnonzero(covered[:-1])
    groups: list[IntArray] = []
    if masked:
        _, which = np.unique(total[cells], axis=0, return_inverse=True)
        groups = [cells[which.ravel() == k] for k in range(int(which.max(initial=-1)) + 1)]
    elif len(cells):
        new = (np.diff(cells) > 1) | (total[cells[1:]] != total[cells[:-1]]).any(axis=1)
        groups = np.split(cells, np.flatnonzero(new) + 1)
    return [*groups, np.array([len(covered) - 1])] if covered[-1] else groups


def _walked(model: Trees) -> LeafTable:
    """The leaves that some row can reach."""
    from butfor.solvers.ensemble.leaf_kernels import walk

    d = len(model.cells)
    masked = np.zeros(d, dtype=np.bool_)
    masked[list(model.asked_for_sets())] = True
    last_left = np.zeros(len(model.feature), dtype=np.intp)
    for j, cells in enumerate(model.cells):
        nodes = (model.feature == j) & (model.member < 0)
        last_left[nodes] = np.searchsorted(cells.edges, model.cut[nodes])
    start = np.concatenate([[0], np.cumsum([cells.count + 1 for cells in model.cells])]).astype(np.intp)
    tree, node, entry, regions = walk(
        model.roots, model.feature, last_left, model.member, model.missing_left, model.left, model.right, model.table,
        start, masked,
    )  # fmt: skip
    return LeafTable.of(start, tree, np.ascontiguousarray(model.value[node]), entry, *regions)


def _shrunk(model: Trees, space: Space, margin: float) -> tuple[tuple[Cells, ...], LeafTable]:
    """The same over finer cells; regions are `margin` inside the cuts that bound them."""
    cells = cells_inside(model, space, margin)
    found = leaves_inside(model, space, margin)
    tree_of = np.array([leaf.tree for leaf in found], dtype=np.intp)
    return cells, LeafTable.of(
        start=np.concatenate([[0], np.cumsum([cell.count + 1 for cell in cells])]).astype(np.intp),
        tree=np.searchsorted(tree_of, np.arange(len(model.roots) + 1)).astype(np.intp),
        value=np.ascontiguousarray(model.value[[leaf.node for leaf in found]]),
        entry=np.concatenate([[0], np.cumsum([len(leaf.path) for leaf in found])]).astype(np.intp),
        **laid_out(each for leaf in found for each in leaf.path.items())._asdict(),
    )
