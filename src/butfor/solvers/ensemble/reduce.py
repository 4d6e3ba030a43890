"""An ensemble within reach of one row.

Leaves that no affordable cell leads to are dropped.
Cells that no tree distinguishes any more are merged.
Each tree sees, of each feature, only the blocks of cells that it distinguishes.
"""

from __future__ import annotations

import numpy as np

from butfor.arrays import BoolArray, FloatArray, IntArray
from butfor.solvers.ensemble import reduce_kernels as kernels
from butfor.solvers.ensemble.instance import Instance
from butfor.solvers.ensemble.leaves import LeafTable
from butfor.solvers.ensemble.limits import CellLimits
from butfor.solvers.ensemble.reduced_ensemble import Reduced
from butfor.solvers.ensemble.work_arrays import Task


def reduce(leaves: LeafTable, able: BoolArray, price: FloatArray, kind: IntArray) -> Reduced:
    """The ensemble over the cells that are `able`.

    The cheapest of merged cells stands for them.

    able (cells): whether the row may have the cell
    price (cells): what the cell costs
    kind (cells): the kind of the cell. Cells of different kinds are not merged
    """
    found: Reduced = kernels.reduced(leaves, able, *kernels.kept(leaves, able, price, kind))
    return found


def as_leaves(reduced: Reduced) -> LeafTable:
    """A reduced ensemble as leaves that can be reduced further.

    Every feature gets a last cell, "missing", that no row may have.
    """
    cells, trees, entries = reduced.cells, reduced.trees, reduced.entries
    feature = reduced.pairs.feature[entries.pair]
    first, last, mask, masks = kernels.regions(cells, reduced.pairs, reduced.blocks, entries)
    return LeafTable.of(
        start=cells.start + np.arange(len(cells.start)),
        tree=trees.start,
        value=np.zeros((len(trees.original_leaf), 0)),
        entry=entries.start,
        feature=feature,
        first=first,
        last=last,
        missing=np.zeros(len(feature), dtype=np.bool_),
        mask=mask,
        masks=masks,
    )


def carried(message: FloatArray, old: Reduced, new: Reduced) -> FloatArray:
    """The messages of an ensemble that was reduced further.

    Each block of `new` takes the message of the block of `old` that holds the first of its cells.

    message (blocks of old): the messages
    new: what was reduced from `as_leaves(old)`
    """
    features = len(old.cells.ordered)
    key = old.pairs.tree * features + old.pairs.feature
    order = np.argsort(key)
    wanted = new.trees.original[new.pairs.tree] * features + new.pairs.feature
    old_pair = order[np.searchsorted(key[order], wanted)]
    old_cell = new.cells.original - np.repeat(np.arange(features), np.diff(new.cells.start))
    out: FloatArray = kernels.carried(message, old_pair, old_cell, old, new)
    return out


def of_node(
    reduced: Reduced, task: Task, kind: IntArray, firm: FloatArray, alive: BoolArray
) -> tuple[Instance, BoolArray, IntArray]:
    """The question over a reduced ensemble, for the living cells of a node.

    Behind the cells of each feature there is one more, "missing", which no row may have.

    Returns the question, whether the node has each of its cells, and where the cells of the reduced ensemble are.
    """
    start = reduced.cells.start
    features, cells = len(start) - 1, len(task.price)
    place = np.arange(cells) + np.repeat(np.arange(features), np.diff(start))
    price, able = np.full(cells + features, np.inf), np.zeros(cells + features, dtype=np.bool_)
    side, kinds = np.zeros((len(task.limit), cells + features)), np.zeros(cells + features, dtype=np.intp)
    price[place], able[place], side[:, place], kinds[place] = task.price, alive, task.side, kind
    inner = CellLimits(side, task.limit, kinds, task.counting)
    question = Instance(as_leaves(reduced), task.score, task.goal, firm, price, inner)
    return question, able, place
