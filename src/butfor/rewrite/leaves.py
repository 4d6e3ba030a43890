"""All leaves of an ensemble as arrays, written once per model: what the reduction to one row's problem starts from."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from butfor.model.cells import BoolArray, Cells, IntArray
from butfor.model.trees import Span, Trees
from butfor.rewrite.margins import cells_inside, leaves_inside
from butfor.space.frames import FloatArray
from butfor.space.space import Space


class Leaves(NamedTuple):
    """Leaves `tree[t]:tree[t + 1]` belong to tree t; leaf i asks for what entries `entry[i]:entry[i + 1]` say.

    Entry e: `feature[e]` lies in cells `first[e]` to `last[e]`, or is missing where `missing[e]`; or, if `mask[e] >= 0`, in
    the cells of `masks[mask[e]:]`, "missing" last. `start` counts the cells of all features side by side.
    """

    start: IntArray
    tree: IntArray
    value: FloatArray
    entry: IntArray
    feature: IntArray
    first: IntArray
    last: IntArray
    missing: BoolArray
    mask: IntArray
    masks: BoolArray


@lru_cache(maxsize=4)
def all_leaves(model: Trees, space: Space, margin: float) -> tuple[tuple[Cells, ...], Leaves]:
    """The cells and the leaves of a model, regions shrunk by the margin."""
    return (model.cells, _walked(model)) if not margin else _shrunk(model, space, margin)


def _walked(model: Trees) -> Leaves:
    """The leaves that some row can reach."""
    from butfor.rewrite.reduce_kernels import walk

    d = len(model.cells)
    masked = np.zeros(d, dtype=np.bool_)
    masked[list(model.asked_for_sets())] = True
    last_left = np.zeros(len(model.feature), dtype=np.intp)
    for j, cells in enumerate(model.cells):
        nodes = (model.feature == j) & (model.member < 0)
        last_left[nodes] = np.searchsorted(cells.edges, model.cut[nodes])
    start = np.concatenate([[0], np.cumsum([cells.count + 1 for cells in model.cells])]).astype(np.intp)
    tree, node, entry, *rest = walk(
        model.roots, model.feature, last_left, model.member, model.missing_left, model.left, model.right, model.table,
        start, masked,
    )  # fmt: skip
    return Leaves(start, tree, np.ascontiguousarray(model.value[node]), entry, *rest)


def _shrunk(model: Trees, space: Space, margin: float) -> tuple[tuple[Cells, ...], Leaves]:
    """The same over finer cells, each region `margin` inside the cuts that bound it."""
    cells = cells_inside(model, space, margin)
    found = leaves_inside(model, space, margin)
    rows: list[tuple[int, int, int, int, int]] = []
    masks: list[BoolArray] = []
    size = 0
    for leaf in found:
        for j, region in leaf.path.items():
            if isinstance(region, Span):
                rows.append((j, region.first, region.last, int(region.missing), -1))
            else:
                rows.append((j, 0, -1, int(region.mask[-1]), size))
                masks.append(region.mask)
                size += len(region.mask)
    columns = np.array(rows, dtype=np.intp).reshape(-1, 5).T
    tree_of = np.array([leaf.tree for leaf in found], dtype=np.intp)
    return cells, Leaves(
        start=np.concatenate([[0], np.cumsum([cell.count + 1 for cell in cells])]).astype(np.intp),
        tree=np.searchsorted(tree_of, np.arange(len(model.roots) + 1)).astype(np.intp),
        value=np.ascontiguousarray(model.value[[leaf.node for leaf in found]]),
        entry=np.concatenate([[0], np.cumsum([len(leaf.path) for leaf in found])]).astype(np.intp),
        feature=np.ascontiguousarray(columns[0]),
        first=np.ascontiguousarray(columns[1]),
        last=np.ascontiguousarray(columns[2]),
        missing=np.ascontiguousarray(columns[3].astype(np.bool_)),
        mask=np.ascontiguousarray(columns[4]),
        masks=np.concatenate(masks) if masks else np.zeros(0, dtype=np.bool_),
    )
