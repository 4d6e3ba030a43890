"""One tree as arrays for a search.

Branches that miss the target are left out, and each edge has the cells that lead through it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from butfor.arrays import BoolArray, FloatArray, IntArray
from butfor.formulation.cell_arrays import laid_out
from butfor.formulation.margins import cells_inside, shrunk
from butfor.model.cells import Cells
from butfor.model.clearance import ranges
from butfor.model.scores import cheapest_offset
from butfor.model.trees import CellSet, Trees, everywhere
from butfor.problem.problem import Problem
from butfor.space.space import Space


@dataclass(frozen=True, eq=False)
class Branches:
    """The part of a tree that some row can reach. Node 0 is the root, and parents come before their children.

    - `feature` (nodes): the feature that is tested on entering the node;
    - `first`, `last` (nodes): the feature must lie in one of these cells;
    - `mask` (nodes): if it is at least 0, the feature must instead lie in the cells of `masks[mask[i]:]`;
    - `missing` (nodes): whether a missing value may enter;
    - `child` (nodes, 2): the children, -1 if there is none;
    - `levels`: the nodes of each depth;
    - `leaf`, `score`: the leaves, and their scores.

    The cells of a node already respect all tests of the same feature above it.
    """

    cells: tuple[Cells, ...]
    child: IntArray
    feature: IntArray
    first: IntArray
    last: IntArray
    missing: BoolArray
    mask: IntArray
    masks: BoolArray
    levels: tuple[IntArray, ...]
    leaf: IntArray
    score: FloatArray


@dataclass(frozen=True, eq=False)
class TargetTree:
    """The branches of a tree that reach the target.

    - `branches`: all branches;
    - `child` (nodes, 2): the children that reach the target (-1: none); if there is one, it comes first;
    - `offset` (nodes): the smallest price of a class at or below the node;
    - `leaf` (nodes): the number of the target leaf, -1 for other nodes.
    """

    branches: Branches
    child: IntArray
    offset: FloatArray
    leaf: IntArray

    @property
    def leaves(self) -> int:
        """The number of leaves that meet the target."""
        return int(self.leaf.max(initial=-1)) + 1


def target_tree(problem: Problem) -> TargetTree:
    """The branches of the problem's only tree that reach its target. They respect the margin."""
    model = problem.model
    assert isinstance(model, Trees)
    tree = branches(model, problem.space, problem.margin)
    offset = np.full(len(tree.child), np.inf)
    offset[tree.leaf] = cheapest_offset(problem.score_sets, tree.score)
    leaf = np.full(len(tree.child), -1, dtype=np.intp)
    hits = tree.leaf[np.isfinite(offset[tree.leaf])]
    leaf[hits] = np.arange(len(hits))
    child = tree.child.copy()
    for level in reversed(tree.levels):
        below = np.where(child[level] >= 0, offset[child[level]], np.inf)
        offset[level] = np.minimum(offset[level], below.min(axis=1))
        kept = np.where(np.isfinite(below), child[level], -1)
        only_second = kept[:, 0] < 0
        kept[only_second] = kept[only_second][:, ::-1]
        child[level] = kept
    return TargetTree(tree, child, offset, leaf)


@lru_cache(maxsize=8)
def branches(model: Trees, space: Space, margin: float) -> Branches:
    """The branches of the model's only tree, with regions shrunk by the margin.

    They are cached, because one model gets many questions in a row.
    """
    cells = cells_inside(model, space, margin)
    width = margin * ranges(space)
    masked = model.asked_for_sets()
    child: list[list[int]] = []
    entry: list[tuple[int, CellSet | None]] = []
    levels: list[list[int]] = []
    leaves: list[tuple[int, int]] = []
    pending: list[tuple[int, int, int, CellSet | None, dict[int, CellSet], int]] = [
        (int(model.roots[0]), -1, -1, None, {}, 0)
    ]
    while pending:
        node, parent, j, inside, path, depth = pending.pop()
        me = len(child)
        if parent >= 0:
            child[parent].append(me)
        child.append([])
        entry.append((j, inside))
        if depth == len(levels):
            levels.append([])
        levels[depth].append(me)
        j = int(model.feature[node])
        if j < 0:
            leaves.append((me, node))
            continue
        region = path.get(j, everywhere(model.cells[j], as_mask=j in masked))
        for below, left in ((model.right[node], False), (model.left[node], True)):
            side = model.side(node, region, left=left)
            fits = side if side.empty else shrunk(side, model.cells[j], cells[j], width[j])
            if not fits.empty:
                pending.append((int(below), me, j, fits, {**path, j: side}, depth + 1))
    leaf, node_of = np.array(leaves, dtype=np.intp).reshape(-1, 2).T
    return Branches(
        cells,
        np.array([[*kids, -1, -1][:2] for kids in child], dtype=np.intp),
        *laid_out(entry),
        tuple(np.array(level, dtype=np.intp) for level in levels),
        leaf,
        model.base + model.value[node_of],
    )
