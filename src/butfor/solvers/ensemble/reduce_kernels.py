"""Compiled: the reduction of an ensemble, and what is needed to reduce it further."""

from __future__ import annotations

import numpy as np

from butfor.compiled.kernel import kernel, part
from butfor.solvers.ensemble.block_kernels import block_of, blocks_of_entries, blocks_of_pairs, grouped, pairs_of_trees
from butfor.solvers.ensemble.merge_kernels import merged_cells
from butfor.solvers.ensemble.reach_kernels import deciding, surviving, within_reach
from butfor.solvers.ensemble.reduced_ensemble import Entries, Pairs, Reduced, ReducedTrees


@kernel
def kept(leaves, able, price, kind):  # type: ignore[no-untyped-def]
    """What is left of `leaves`, a `LeafTable`, over the cells that are `able`: trees, entries and merged cells.

    It is not a part of `reduced`, because two processes compile the two at once.
    """
    ordered, alive, binds = within_reach(leaves, able)
    decides, constant_leaves = deciding(leaves, alive, binds)
    leaf_start, original_tree, original_leaf, original_entry, entry_start = surviving(leaves, alive, binds, decides)
    cells, number = merged_cells(leaves, able, price, kind, ordered, original_entry)
    return (
        ReducedTrees(leaf_start, original_tree, original_leaf, constant_leaves),
        original_entry,
        entry_start,
        cells,
        number,
    )


@kernel
def reduced(leaves, able, trees, original_entry, entry_start, cells, number):  # type: ignore[no-untyped-def]
    """The `Reduced` ensemble of what was `kept`."""
    features = len(cells.ordered)
    pair, feature, tree = pairs_of_trees(leaves.feature, trees.start, entry_start, original_entry, features)
    of_pair, of_feature = grouped(pair, len(feature)), grouped(feature, features)
    block_start, blocks, low, high = blocks_of_pairs(leaves, able, cells, number, original_entry, feature, of_pair)
    pairs = Pairs(feature, tree, block_start, of_pair, of_feature)
    asked = blocks_of_entries(leaves, cells, pairs, pair, blocks, low, high, original_entry)
    return Reduced(cells, trees, pairs, blocks, Entries(entry_start, _owners(entry_start), pair, asked))


@part
def _owners(entry_start):  # type: ignore[no-untyped-def]
    """The leaf of each entry."""
    leaf = np.empty(entry_start[-1], np.uint32)
    for i in range(len(entry_start) - 1):
        for e in range(entry_start[i], entry_start[i + 1]):
            leaf[e] = i
    return leaf


@kernel
def regions(cells, pairs, blocks, entries):  # type: ignore[no-untyped-def]
    """The cells of each entry of a reduced ensemble, counted in its feature.

    Returns four arrays, as `LeafTable` has them.
    first, last (entries): the range of cells, if the feature is ordered
    mask (entries): where the entry's part of `masks` begins; -1 if the feature is ordered
    masks: whether each cell of the feature, and then "missing", which none has, is in the region
    """
    n = len(entries.pair)
    first, last, mask = np.zeros(n, np.int32), np.full(n, -1, np.int32), np.full(n, -1, np.intp)
    begin, end, asked = blocks.begin, blocks.end, entries.blocks
    size = 0
    for e in range(n):
        j = pairs.feature[entries.pair[e]]
        if cells.ordered[j]:
            first[e] = begin[asked.items[asked.begin[e]]] - cells.start[j]
            last[e] = end[asked.items[asked.end[e] - 1]] - 1 - cells.start[j]
        else:
            mask[e] = size
            size += cells.start[j + 1] - cells.start[j] + 1
    masks = np.zeros(size, np.bool_)
    for e in range(n):
        if mask[e] >= 0:
            at = mask[e] - cells.start[pairs.feature[entries.pair[e]]]
            for p in range(asked.begin[e], asked.end[e]):
                for i in range(begin[asked.items[p]], end[asked.items[p]]):
                    masks[at + blocks.items[i]] = True
    return first, last, mask, masks


@kernel
def carried(message, old_pair, old_cell, old, new):  # type: ignore[no-untyped-def]
    """The messages of the blocks of `new`, from those of `old`.

    Each block takes the message of the block of `old` that holds its first cell.

    message (blocks of old): the messages there are
    old_pair (pairs of new): the pair of old with the same tree and feature
    old_cell (cells of new): the cell of old that each stands for
    """
    out = np.zeros(new.pairs.block_start[-1])
    for q in range(len(old_pair)):
        first, last = old.pairs.block_start[old_pair[q]], old.pairs.block_start[old_pair[q] + 1]
        ordered = old.cells.ordered[new.pairs.feature[q]]
        for b in range(new.pairs.block_start[q], new.pairs.block_start[q + 1]):
            cell = old_cell[new.blocks.items[new.blocks.begin[b]]]
            out[b] = message[block_of(old.blocks, ordered, first, last, cell)]
    return out
