r"""What is left of an ensemble for one row, as arrays.

`reduce.py` makes it.
Nothing here needs numba, so plain and compiled code read the same types.

One tree over two columns, age and income. The row cannot afford an income over 5:

                      income <= 5
                     /           \
              age <= 60         age <= 40
              /       \          /     \
       income <= 2     C        D       E
         /     \
        A       B

    cells of age        a0: up to 40    a1: 40 to 60    a2: over 60
    cells of income     i0: up to 2     i1: 2 to 5      i2: over 5, unaffordable

    leaves left         A, B and C. D and E are only for incomes in i2.
    merged cells        a0 and a1. Only D and E distinguish them.
    new cells           age: {a0, a1} and {a2}      income: {i0} and {i1}

    pair 0, age         block 0: {a0, a1}       block 1: {a2}
    pair 1, income      block 2: {i0}           block 3: {i1}

    entries of A        income in block 2       age in block 0
    entries of B        income in block 3       age in block 0
    entries of C                                age in block 1

A *pair* is a tree with a column that it asks for.
The *blocks* of a pair are the sets of cells that this tree distinguishes.
An *entry* of a leaf says which blocks of a pair lead to it.
C has no entry for income, because it takes every income that the row can afford.

With a second tree that has a cut at 40, a0 and a1 would be two cells.
Block 0 of this tree would then hold both of them, because this tree does not care.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from butfor.arrays import BoolArray, IntArray

IndexArray = NDArray[np.uint32]
"""Numbers that other arrays are looked up with, kept unsigned for speed.

Before each look-up, compiled code asks of a signed number whether it is negative.
Of an unsigned number it need not ask.
"""


class Lists(NamedTuple):
    """Lists of numbers, one behind the other: list i is `items[start[i]:start[i + 1]]`.

    start (lists + 1): where each list begins, and where the last one ends
    items: the numbers of all lists
    """

    start: IntArray
    items: IndexArray


class Slices(NamedTuple):
    """Lists of numbers that may share their items: list i is `items[begin[i]:end[i]]`.

    The items begin with 0, 1, 2 and so on.
    A list of consecutive numbers is a slice of that beginning: 3, 4, 5 has `begin` 3 and `end` 6.
    Every other list has items of its own, which come later.

    begin (lists): where each list begins
    end (lists): where each list ends
    items: the numbers
    """

    begin: IntArray
    end: IntArray
    items: IndexArray


class ReducedCells(NamedTuple):
    """The cells of all features, numbered side by side.

    Feature j has the cells `start[j]` to `start[j + 1] - 1`.
    Each stands for one or more original cells that no tree distinguishes.

    start (features + 1): the first cell of each feature, and the number of all cells
    original (cells): the cheapest of the original cells that it stands for
    merged_into (original cells): the cell that stands for each; -1 if the row cannot have it
    ordered (features): whether trees ask this feature only for ranges of cells, "missing" being out of reach
    """

    start: IntArray
    original: IntArray
    merged_into: IntArray
    ordered: BoolArray


class ReducedTrees(NamedTuple):
    """The trees that still decide something, and their leaves.

    Tree t has the leaves `start[t]` to `start[t + 1] - 1`.
    It is tree `original[t]` of the original ensemble, without the leaves that the row cannot reach.

    start (trees + 1): the first leaf of each tree, and the number of all leaves
    original (trees): which tree of the original ensemble each one is
    original_leaf (leaves): which leaf of the original ensemble each one is
    constant_leaves: for each tree that decides nothing more, the one original leaf left; -1 if none is
    """

    start: IntArray
    original: IntArray
    original_leaf: IntArray
    constant_leaves: IntArray


class Pairs(NamedTuple):
    """Each tree with each feature that it asks for.

    The blocks of a pair are the sets of cells that its tree distinguishes.
    Each cell of the feature is in one of them.
    Pair q has the blocks `block_start[q]` to `block_start[q + 1] - 1`. Pairs of the first feature come first.

    feature (pairs): the feature
    tree (pairs): the tree
    block_start (pairs + 1): the first block of each pair, and the number of all blocks
    entries (lists of pairs): the entries of each pair
    of_feature (lists of features): the pairs of each feature
    """

    feature: IntArray
    tree: IntArray
    block_start: IntArray
    entries: Lists
    of_feature: Lists


class Entries(NamedTuple):
    """What the leaves ask for.

    An entry says that a leaf asks for some blocks of a pair: the feature must be in one of them.
    Leaf i has the entries `start[i]` to `start[i + 1] - 1`.

    start (leaves + 1): the first entry of each leaf, and the number of all entries
    leaf (entries): the leaf
    pair (entries): the pair
    blocks (slices of entries): the blocks, sorted
    """

    start: IntArray
    leaf: IndexArray
    pair: IntArray
    blocks: Slices


class Reduced(NamedTuple):
    """The ensemble of one row's problem.

    It has only the cells that the row may have and the leaves that it can reach.
    Cells that no tree distinguishes are merged, unless they are to be kept separate.

    cells: the merged cells of all features
    trees: the trees that still decide something, and their leaves
    pairs: each tree with each feature that it asks for
    blocks (slices of blocks): the cells of each block, sorted
    entries: what the leaves ask for
    """

    cells: ReducedCells
    trees: ReducedTrees
    pairs: Pairs
    blocks: Slices
    entries: Entries


def parted(cells: ReducedCells, alive: BoolArray, feature: int, x: int, where: int) -> tuple[BoolArray, BoolArray]:
    """The living cells of a node in two parts, of which the first has cell `x` of the feature.

    The cells of an ordered feature are parted before the cell `where`, and others into `x` and the rest.
    """
    first, last = cells.start[feature], cells.start[feature + 1]
    near, far = alive.copy(), alive.copy()
    if not cells.ordered[feature]:
        near[first:x] = near[x + 1 : last] = False
        far[x] = False
    elif x < where:
        near[where:last] = far[first:where] = False
    else:
        near[first:where] = far[where:last] = False
    return near, far
