"""What the compiled search reads and writes besides the reduced ensemble.

Nothing here needs numba, so plain and compiled code read the same types.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from butfor.arrays import BoolArray, FloatArray, IntArray
from butfor.solvers.ensemble.reduced_ensemble import IndexArray, Lists, Reduced


class Task(NamedTuple):
    """What is asked of a row: to reach a goal within limits.

    score (leaves, scores): what each leaf adds to each score
    goal (scores): what the scores of a row must at least sum to
    price (cells): what each cell costs
    side (limits, cells): what each cell counts towards each limit
    limit (limits): what the cells of a row may count at most
    counting: so many limits, which come first, count changes
    """

    score: FloatArray
    goal: FloatArray
    price: FloatArray
    side: FloatArray
    limit: FloatArray
    counting: int


class Multipliers(NamedTuple):
    """What the bound is made with.

    message (blocks): what the tree of a pair pays, and the feature saves, if the feature is in the block
    rate (scores): what a unit of each score is worth
    toll (limits): what a unit that counts towards each limit costs
    """

    message: FloatArray
    rate: FloatArray
    toll: FloatArray


class Uses(NamedTuple):
    """The entries of all leaves in the order of their pairs, so that what a sweep reads lies side by side.

    leaf (uses): the leaf that asks
    low, high (uses): where its blocks begin and end, in the `Entries`
    """

    leaf: IndexArray
    low: IndexArray
    high: IndexArray


class Work(NamedTuple):
    """Arrays for the bounds of one node after the other.

    alive (cells): whether the node has the cell
    x (features): the cell that the feature would choose for itself
    potential (cells + 1): price and tolls of a cell, less its messages
    vote (cells + 1): what trees would save beyond the cut before the cell or, if not ordered, in another cell
    dead (blocks): whether no cell of the block is alive
    uses: who asks for which blocks
    use_min (uses): the smallest message of the living blocks
    rest (uses): the cost of the leaf without this use
    cheapest (trees): a leaf that costs the tree least
    turns (features): the order in which a sweep goes through the features: where most trees ask comes first
    cost (leaves): what the leaf costs its tree; infinite if it cannot be reached
    feature_min (features): the smallest potential of the feature's living cells
    marginal (blocks): what the block costs its tree beyond the cheapest block of the pair
    base (cells): price and tolls of a cell
    table (levels, cells): the smallest potential of so many cells from this one on: 1, 2, 4, 8, ...
    """

    alive: BoolArray
    x: IntArray
    potential: FloatArray
    vote: FloatArray
    dead: BoolArray
    uses: Uses
    use_min: FloatArray
    rest: FloatArray
    cheapest: IntArray
    turns: IntArray
    cost: FloatArray
    feature_min: FloatArray
    marginal: FloatArray
    base: FloatArray
    table: FloatArray


class MoveWork(NamedTuple):
    """Arrays in which the moves of one row are weighed.

    total (scores): the scores of the row
    moves (scores, cells + 1): what a move to the cell would take from each score
    gain (scores, blocks): what a move into the block would add to what its tree says
    zero (cells): zeros
    uses: who asks for which blocks
    of_tree (lists of trees): the pairs of each tree
    at_block (pairs): the block that the row is in
    fits (uses): whether that is one of its blocks
    misses (leaves): how many uses of the leaf do not fit the row
    missed (leaves): the sum of their numbers: if it is only one, which
    chosen (trees): the leaf that takes the row; -1 if none does
    stale (trees): whether the row has moved since that, and gains, were written
    """

    total: FloatArray
    moves: FloatArray
    gain: FloatArray
    zero: FloatArray
    uses: Uses
    of_tree: Lists
    at_block: IntArray
    fits: BoolArray
    misses: IntArray
    missed: IntArray
    chosen: IntArray
    stale: BoolArray


def no_multipliers(reduced: Reduced, scores: int, limits: int) -> Multipliers:
    """Multipliers that are all zero."""
    return Multipliers(np.zeros(reduced.pairs.block_start[-1]), np.zeros(scores), np.zeros(limits))


def _uses_of(reduced: Reduced) -> Uses:
    """The entries of all leaves in the order of their pairs."""
    order, blocks = reduced.pairs.entries.items, reduced.entries.blocks
    return Uses(reduced.entries.leaf[order], blocks.begin[order].astype(np.uint32), blocks.end[order].astype(np.uint32))


def work_for(reduced: Reduced) -> Work:
    """Arrays of the right sizes; all cells are alive."""
    starts = reduced.cells.start
    cells, features, blocks = int(starts[-1]), len(starts) - 1, int(reduced.pairs.block_start[-1])
    trees, leaves = len(reduced.trees.start) - 1, len(reduced.trees.original_leaf)
    levels = int(np.diff(starts).max()).bit_length()
    return Work(
        alive=np.ones(cells, dtype=np.bool_),
        x=np.zeros(features, dtype=np.intp),
        potential=np.zeros(cells + 1),
        vote=np.zeros(cells + 1),
        dead=np.zeros(blocks, dtype=np.bool_),
        uses=_uses_of(reduced),
        use_min=np.zeros(len(reduced.entries.pair)),
        rest=np.zeros(len(reduced.entries.pair)),
        cheapest=np.zeros(trees, dtype=np.intp),
        turns=np.argsort(-np.diff(reduced.pairs.of_feature.start), kind="stable"),
        cost=np.zeros(leaves),
        feature_min=np.zeros(features),
        marginal=np.zeros(blocks),
        base=np.zeros(cells),
        table=np.zeros((levels, cells)),
    )


def move_work_for(reduced: Reduced, uses: Uses, scores: int) -> MoveWork:
    """Arrays of the right sizes for moves of a row with so many scores."""
    cells, blocks, pair_tree = int(reduced.cells.start[-1]), int(reduced.pairs.block_start[-1]), reduced.pairs.tree
    trees, leaves = len(reduced.trees.start) - 1, len(reduced.trees.original_leaf)
    by_tree = np.argsort(pair_tree, kind="stable")
    of_tree = Lists(np.searchsorted(pair_tree[by_tree], np.arange(trees + 1)), by_tree.astype(np.uint32))
    return MoveWork(
        total=np.zeros(scores),
        moves=np.zeros((scores, cells + 1)),
        gain=np.zeros((scores, blocks)),
        zero=np.zeros(cells),
        uses=uses,
        of_tree=of_tree,
        at_block=np.zeros(len(pair_tree), dtype=np.intp),
        fits=np.zeros(len(reduced.entries.pair), dtype=np.bool_),
        misses=np.zeros(leaves, dtype=np.intp),
        missed=np.zeros(leaves, dtype=np.intp),
        chosen=np.zeros(trees, dtype=np.intp),
        stale=np.zeros(trees, dtype=np.bool_),
    )


def most_changes(reduced: Reduced, task: Task) -> float:
    """How many features may change at most."""
    movable = float((np.diff(reduced.cells.start) > 1).sum())
    counting = zip(task.side[: task.counting], task.limit, strict=False)
    return min([movable, *(float(most) for counts, most in counting if counts.any())])
