"""What the compiled search reads and writes besides the reduced ensemble.

Nothing here needs numba, so plain and compiled code read the same types.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from butfor.arrays import BoolArray, FloatArray, IntArray
from butfor.solvers.ensemble.reduced_ensemble import Reduced


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


class Work(NamedTuple):
    """Arrays for the bounds of one node after the other.

    alive (cells): whether the node has the cell
    x (features): the cell that the feature would choose for itself
    potential (cells + 1): price and tolls of a cell, less its messages
    vote (cells + 1): what trees would save beyond the cut before the cell or, if not ordered, in another cell
    dead (blocks): whether no cell of the block is alive
    entry_min (entries): the smallest message of the entry's living blocks
    rest (entries): the cost of the entry's leaf without this entry
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
    entry_min: FloatArray
    rest: FloatArray
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
    at_block (pairs): the block that the row is in
    near (leaves + 1, 2): a leaf of one tree that misses the row by one entry, and that entry
    """

    total: FloatArray
    moves: FloatArray
    gain: FloatArray
    zero: FloatArray
    at_block: IntArray
    near: IntArray


def no_multipliers(reduced: Reduced, scores: int, limits: int) -> Multipliers:
    """Multipliers that are all zero."""
    return Multipliers(np.zeros(reduced.pairs.block_start[-1]), np.zeros(scores), np.zeros(limits))


def work_for(reduced: Reduced) -> Work:
    """Arrays of the right sizes; all cells are alive."""
    starts = reduced.cells.start
    cells, features, blocks = int(starts[-1]), len(starts) - 1, int(reduced.pairs.block_start[-1])
    entries, leaves = len(reduced.entries.pair), len(reduced.trees.original_leaf)
    levels = int(np.diff(starts).max()).bit_length()
    return Work(
        alive=np.ones(cells, dtype=np.bool_),
        x=np.zeros(features, dtype=np.intp),
        potential=np.zeros(cells + 1),
        vote=np.zeros(cells + 1),
        dead=np.zeros(blocks, dtype=np.bool_),
        entry_min=np.zeros(entries),
        rest=np.zeros(entries),
        cost=np.zeros(leaves),
        feature_min=np.zeros(features),
        marginal=np.zeros(blocks),
        base=np.zeros(cells),
        table=np.zeros((levels, cells)),
    )


def move_work_for(reduced: Reduced, scores: int) -> MoveWork:
    """Arrays of the right sizes for moves of a row with so many scores."""
    cells, blocks = int(reduced.cells.start[-1]), int(reduced.pairs.block_start[-1])
    return MoveWork(
        total=np.zeros(scores),
        moves=np.zeros((scores, cells + 1)),
        gain=np.zeros((scores, blocks)),
        zero=np.zeros(cells),
        at_block=np.zeros(len(reduced.pairs.tree), dtype=np.intp),
        near=np.zeros((len(reduced.trees.original_leaf) + 1, 2), dtype=np.intp),
    )
