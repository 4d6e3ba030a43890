"""One tree without the branches that miss the target, each edge with the cells that lead through it: arrays for a search."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from butfor.model.cells import BoolArray, Cells, IntArray
from butfor.model.trees import Region, Span, Trees, everywhere
from butfor.problem.problem import Problem
from butfor.rewrite.margins import cells_inside, ranges, shrunk
from butfor.space.frames import FloatArray


@dataclass(frozen=True, eq=False)
class TargetTree:
    """Node i (0 is the root) has up to two children, `child[i]` (-1: none that reaches the target), or is a leaf.

    To enter node i, `feature[i]` must lie in cells `first[i]` to `last[i]`, or (`mask[i] >= 0`) in those of
    `masks[mask[i]:]`, "missing" included if `missing[i]`; the tests above are contained in that. `offset[i]` is the
    smallest price of a class below; `leaf[i]` numbers the leaves, -1 elsewhere.
    """

    cells: tuple[Cells, ...]
    child: IntArray
    feature: IntArray
    first: IntArray
    last: IntArray
    missing: BoolArray
    mask: IntArray
    masks: BoolArray
    offset: FloatArray
    leaf: IntArray
    depth: int

    @property
    def leaves(self) -> int:
        """How many leaves meet the target."""
        return int(self.leaf.max(initial=-1)) + 1


def target_tree(problem: Problem) -> TargetTree:
    """The branches of the problem's one tree that reach its target, margins worked in."""
    model = problem.model
    assert isinstance(model, Trees)
    cells = cells_inside(model, problem.space, problem.margin)
    width = problem.margin * ranges(problem.space)
    masked = model.asked_for_sets()
    child: list[list[int]] = []
    entry: list[tuple[int, Region | None]] = []
    offset: list[float] = []
    deepest = 0
    pending: list[tuple[int, int, int, Region | None, dict[int, Region], int]] = [
        (int(model.roots[0]), -1, -1, None, {}, 0)
    ]
    while pending:
        node, parent, j, inside, path, depth = pending.pop()
        me = len(child)
        if parent >= 0:
            child[parent].append(me)
        child.append([])
        entry.append((j, inside))
        deepest = max(deepest, depth)
        j = int(model.feature[node])
        if j < 0:
            offset.append(_offset(problem, model.base + model.value[node]))
            continue
        offset.append(np.inf)
        region = path.get(j, everywhere(model.cells[j], as_mask=j in masked))
        for below, left in ((model.right[node], False), (model.left[node], True)):
            side = model.side(node, region, left=left)
            fits = side if side.empty else shrunk(side, model.cells[j], cells[j], width[j])
            if not fits.empty:
                pending.append((int(below), me, j, fits, {**path, j: side}, depth + 1))
    return _as_arrays(cells, child, entry, np.array(offset), deepest)


def _offset(problem: Problem, score: FloatArray) -> float:
    """The price of the class that a leaf is read as; infinity outside the target."""
    return min((part.offset for part in problem.sets if part.holds(score[None])[0]), default=np.inf)


def _as_arrays(
    cells: tuple[Cells, ...],
    child: list[list[int]],
    entry: list[tuple[int, Region | None]],
    offset: FloatArray,
    depth: int,
) -> TargetTree:
    leaf = np.cumsum([0 if kids or offset[i] == np.inf else 1 for i, kids in enumerate(child)]) - 1
    leaf = np.where([bool(kids) or offset[i] == np.inf for i, kids in enumerate(child)], -1, leaf)
    children = np.full((len(child), 2), -1, dtype=np.intp)
    for i in range(len(child) - 1, -1, -1):
        alive = [kid for kid in child[i] if offset[kid] < np.inf]
        children[i, : len(alive)] = alive
        if alive:
            offset[i] = min(offset[kid] for kid in alive)
    rows, masks, size = [], [], 0
    for j, region in entry:
        if region is None:
            rows.append((0, 0, -1, 0, -1))
        elif isinstance(region, Span):
            rows.append((j, region.first, region.last, int(region.missing), -1))
        else:
            rows.append((j, 0, cells[j].count - 1, int(region.mask[-1]), size))
            masks.append(region.mask)
            size += len(region.mask)
    feature, first, last, missing, mask = (np.ascontiguousarray(column) for column in np.array(rows, dtype=np.intp).T)
    flat = np.concatenate(masks) if masks else np.zeros(0, dtype=np.bool_)
    return TargetTree(
        cells, children, feature, first, last, missing.astype(np.bool_), mask, flat, offset, leaf.astype(np.intp), depth
    )
