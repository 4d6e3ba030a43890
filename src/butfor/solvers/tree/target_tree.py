"""One tree as arrays for a search.

Branches that miss the target are left out, and each edge has the cells that lead through it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from butfor.arrays import BoolArray, FloatArray, IntArray
from butfor.formulation.cell_arrays import CellSets, laid_out
from butfor.formulation.margins import cells_inside, ends_inside, leaf_offsets, shrunk
from butfor.model.cells import Cells
from butfor.model.trees import CellSet, Leaf, Trees, everywhere
from butfor.problem.problem import Problem
from butfor.space.space import Space


@dataclass(frozen=True, eq=False)
class Branches:
    """The part of a tree that some row can reach. Node 0 is the root, and parents come before their children.

    - `sets`: for each node, the cells of one feature through which it is entered;
    - `child` (nodes, 2): the children, -1 if there is none;
    - `levels`: the nodes of each depth;
    - `leaf`: the nodes that are leaves, and `leaves`: what they are in the model.

    The set of a node already respects all tests of the same feature above it.
    """

    cells: tuple[Cells, ...]
    sets: CellSets
    child: IntArray
    levels: tuple[IntArray, ...]
    leaf: IntArray
    leaves: tuple[Leaf, ...]


class TargetTree(NamedTuple):
    """The branches of a tree that reach the target, as compiled code reads them.

    - `sets`: for each node, the cells of one feature through which it is entered;
    - `child` (nodes, 2): the children that reach the target (-1: none); if there is one, it comes first;
    - `offset` (nodes): the smallest price of a class at or below the node;
    - `leaf` (nodes): the number of the target leaf, -1 for other nodes;
    - `depth`: how many nodes there are on the longest path.
    """

    sets: CellSets
    child: IntArray
    offset: FloatArray
    leaf: IntArray
    depth: int

    @property
    def leaves(self) -> int:
        """The number of leaves that meet the target."""
        return int(self.leaf.max(initial=-1)) + 1


def target_tree(problem: Problem) -> tuple[tuple[Cells, ...], TargetTree]:
    """The cells of each feature, and the branches of the problem's only tree that reach its target.

    They respect the margin.
    """
    model = problem.model
    assert isinstance(model, Trees)
    tree = branches(model, problem.space, problem.demands.margin)
    return tree.cells, _reaching(tree, leaf_offsets(problem, tree.leaves).tobytes())


def tree_towards(tree: Branches, wanted: BoolArray) -> TargetTree:
    """The branches of a tree that lead to some of its leaves."""
    return _reaching(tree, np.where(wanted, 0.0, np.inf).tobytes())


@lru_cache(maxsize=32)
def _reaching(tree: Branches, offsets: bytes) -> TargetTree:
    """The branches that lead to leaves of the target. Those of other leaves have infinite offsets.

    They are cached, because one model gets many rows with the same target in a row.
    """
    offset = np.full(len(tree.child), np.inf)
    offset[tree.leaf] = np.frombuffer(offsets)
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
    return TargetTree(tree.sets, child, offset, leaf, len(tree.levels))


@lru_cache(maxsize=8)
def branches(model: Trees, space: Space, margin: float) -> Branches:
    """The branches of the model's only tree, with regions shrunk by the margin.

    They are cached, because one model gets many questions in a row.
    """
    cells = cells_inside(model, space, margin)
    ends = ends_inside(model, space, margin)
    masked = model.asked_for_sets()
    child: list[list[int]] = []
    entry: list[tuple[int, CellSet | None]] = []
    levels: list[list[int]] = []
    leaves: list[tuple[int, Leaf]] = []
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
            leaves.append((me, Leaf(0, node, path)))
            continue
        region = path.get(j, everywhere(model.cells[j], as_mask=j in masked))
        for below, left in ((model.right[node], False), (model.left[node], True)):
            side = model.side(node, region, left=left)
            fits = side if side.empty else shrunk(side, model.cells[j], cells[j], ends[j])
            if not fits.empty:
                pending.append((int(below), me, j, fits, {**path, j: side}, depth + 1))
    return Branches(
        cells,
        laid_out(entry),
        np.array([[*kids, -1, -1][:2] for kids in child], dtype=np.intp),
        tuple(np.array(level, dtype=np.intp) for level in levels),
        np.array([me for me, _ in leaves], dtype=np.intp),
        tuple(leaf for _, leaf in leaves),
    )
