"""Compiled: pairs of trees and features, their blocks, and the blocks of each entry."""

from __future__ import annotations

import numpy as np

from butfor.compiled.kernel import part
from butfor.solvers.ensemble.merge_kernels import inside, split
from butfor.solvers.ensemble.reduced_ensemble import Lists, Slices


@part
def pairs_of_trees(feature, leaf_start, entry_start, original_entry, features):  # type: ignore[no-untyped-def]
    """The pairs of all trees, those of the first feature first: a sweep then reads what lies side by side.

    feature (original entries): the feature of each entry of the `LeafTable`
    leaf_start, entry_start, original_entry: as `surviving` returns them
    features: how many features there are

    Returns three arrays: the pair of each entry, the feature of each pair, and the tree of each pair.
    """
    pair = np.empty(len(original_entry), np.intp)
    pair_feature, pair_tree = np.empty(len(original_entry), np.intp), np.empty(len(original_entry), np.intp)
    newest = np.full(features, -1, np.intp)  # the newest pair of each feature
    pairs = 0
    for t in range(len(leaf_start) - 1):
        first_of_tree = pairs
        for n in range(entry_start[leaf_start[t]], entry_start[leaf_start[t + 1]]):
            j = feature[original_entry[n]]
            if newest[j] < first_of_tree:
                newest[j] = pairs
                pair_feature[pairs], pair_tree[pairs] = j, t
                pairs += 1
            pair[n] = newest[j]
    by_feature = grouped(pair_feature[:pairs], features).items
    number, new_feature, new_tree = np.empty(pairs, np.intp), np.empty(pairs, np.intp), np.empty(pairs, np.intp)
    for q in range(pairs):
        old = by_feature[q]
        number[old], new_feature[q], new_tree[q] = q, pair_feature[old], pair_tree[old]
    for n in range(len(pair)):
        pair[n] = number[pair[n]]
    return pair, new_feature, new_tree


@part
def grouped(key, count):  # type: ignore[no-untyped-def]
    """The positions of each key among `key`, as `Lists`; keys are below `count`."""
    start = np.zeros(count + 1, np.intp)
    for k in key:
        start[k + 1] += 1
    for k in range(count):
        start[k + 1] += start[k]
    items, now = np.empty(len(key), np.uint32), np.empty(count + 1, np.intp)
    for k in range(count + 1):
        now[k] = start[k]
    for i in range(len(key)):
        items[now[key[i]]] = i
        now[key[i]] += 1
    return Lists(start, items)


@part
def blocks_of_pairs(leaves, able, cells, number, original_entry, pair_feature, entries):  # type: ignore[no-untyped-def]
    """The blocks of every pair.

    cells, number: as `merged_cells` returns them
    original_entry (entries): which entry of `leaves` each one is
    pair_feature (pairs): the feature
    entries (lists of pairs): the entries

    Returns four values.
    block_start (pairs + 1): the first block of each pair
    blocks (slices of blocks): the cells of each block
    low, high (entries): for an ordered feature, the first block of each entry and the one behind its last
    """
    low, high = _nearest_cells(leaves, able, cells, number, original_entry)
    block_start = np.zeros(len(pair_feature) + 1, np.intp)
    begin, end = np.empty(1024, np.intp), np.empty(1024, np.intp)
    label, set_cells = np.empty(cells.start[-1] + 1, np.intp), np.empty(1024, np.intp)
    total, n_set_cells = cells.start[-1], 0
    for q in range(len(pair_feature)):
        j, at = pair_feature[q], block_start[q]
        first, last = cells.start[j], cells.start[j + 1]
        mine = entries.items[entries.start[q] : entries.start[q + 1]]
        if at + last - first > len(begin):
            begin, end = grown(begin, at + last - first), grown(end, at + last - first)
        if cells.ordered[j]:
            count = _ordered_blocks(label, begin[at:], end[at:], first, last, low, high, mine)
            _number_blocks(label, at, low, high, mine)
        else:
            if n_set_cells + last - first > len(set_cells):
                set_cells = grown(set_cells, n_set_cells + last - first)
            count = _label_sets(label, leaves, cells.original[first:last], original_entry, mine)
            _list_sets(label, count, set_cells[n_set_cells:], begin[at:], end[at:], first, last, total + n_set_cells)
            n_set_cells += last - first
        block_start[q + 1] = at + count
    blocks = Slices(begin[: block_start[-1]], end[: block_start[-1]], _numbers_and(total, set_cells[:n_set_cells]))
    return block_start, blocks, low, high


@part
def _nearest_cells(leaves, able, cells, number, original_entry):  # type: ignore[no-untyped-def]
    """The first and the last cell of each entry of an ordered feature.

    They are merged cells, counted in the feature.
    """
    start = leaves.start
    ahead, behind = np.zeros(start[-1], np.intp), np.zeros(start[-1], np.intp)
    for j in range(len(start) - 1):
        now = cells.start[j + 1] - cells.start[j]
        for c in range(start[j + 1] - 1, start[j] - 1, -1):
            if able[c]:
                now = number[c]
            ahead[c] = now
        now = -1
        for c in range(start[j], start[j + 1]):
            if able[c]:
                now = number[c]
            behind[c] = now
    first, last = np.empty(len(original_entry), np.intp), np.empty(len(original_entry), np.intp)
    for n in range(len(original_entry)):
        e = original_entry[n]
        j = leaves.feature[e]
        if cells.ordered[j]:
            first[n], last[n] = ahead[start[j] + leaves.first[e]], behind[start[j] + leaves.last[e]]
    return first, last


@part
def _ordered_blocks(label, begin, end, first, last, low, high, mine):  # type: ignore[no-untyped-def]
    """Part the cells of an ordered feature where a range begins or has ended.

    Writes where each block begins and ends, and the block of each cell as its label.

    first, last: the cells of the feature are `first` to `last - 1`
    low, high (entries): the first and the last cell of each entry, counted in the feature
    mine: the entries of the pair

    Returns how many blocks there are.
    """
    size = last - first
    for c in range(size):
        label[c] = 0
    for n in mine:
        label[low[n]] = 1
        if high[n] + 1 < size:
            label[high[n] + 1] = 1
    count = 0
    for c in range(size):
        if c == 0 or label[c] == 1:
            begin[count] = first + c
            if count:
                end[count - 1] = first + c
            count += 1
        label[c] = count - 1
    end[count - 1] = last
    return count


@part
def _number_blocks(label, at, low, high, mine):  # type: ignore[no-untyped-def]
    """Replace the cells of each entry of an ordered feature by blocks.

    label (cells of the feature): the block that holds each cell, counted from `at`
    low, high (entries): first the first and the last cell, then the first block and the one behind the last
    mine: the entries of the pair
    """
    for n in mine:
        low[n], high[n] = at + label[low[n]], at + label[high[n]] + 1


@part
def _label_sets(label, leaves, original, original_entry, mine):  # type: ignore[no-untyped-def]
    """Label each cell of a feature that is not ordered by its block.

    original (cells of the feature): the original cells that they stand for
    mine: the entries of the pair

    Returns how many blocks there are.
    """
    cells = np.empty(len(original), np.intp)
    first = leaves.start[leaves.feature[original_entry[mine[0]]]]
    for c in range(len(original)):
        label[c], cells[c] = 0, original[c] - first
    count = min(1, len(cells))
    for n in mine:
        count = split(label, count, cells, leaves, original_entry[n])
    return count


@part
def _list_sets(label, count, items, begin, end, first, last, at):  # type: ignore[no-untyped-def]
    """List the labelled cells of a feature block by block.

    label (cells of the feature): the block of each cell, below `count`
    first, last: the cells of the feature are `first` to `last - 1`
    at: the place among all items that `items` begins at

    Writes the cells into `items`, and the places where each block begins and ends.
    """
    n = 0
    for b in range(count):
        begin[b] = at + n
        for c in range(first, last):
            if label[c - first] == b:
                items[n] = c
                n += 1
        end[b] = at + n


@part
def blocks_of_entries(leaves, cells, pairs, pair, blocks, low, high, original_entry):  # type: ignore[no-untyped-def]
    """The blocks of each entry, as `Slices`.

    pair (entries): the pair
    blocks, low, high: as `blocks_of_pairs` returns them
    original_entry (entries): which entry of `leaves` each one is
    """
    feature, block_start, ordered = pairs.feature, pairs.block_start, cells.ordered
    original, items, begin, masks = cells.original, blocks.items, blocks.begin, leaves.masks
    set_blocks = np.empty(1024, np.intp)
    total, n_set_blocks = len(blocks.begin), 0
    for n in range(len(pair)):
        j = feature[pair[n]]
        if ordered[j]:
            continue
        first, last = block_start[pair[n]], block_start[pair[n] + 1]
        if n_set_blocks + last - first > len(set_blocks):
            set_blocks = grown(set_blocks, n_set_blocks + last - first)
        low[n] = total + n_set_blocks
        e = original_entry[n]
        at = leaves.mask[e]
        for b in range(first, last):
            some = original[items[begin[b]]] - leaves.start[j]
            if masks[at + some] if at >= 0 else inside(leaves, e, some):
                set_blocks[n_set_blocks] = b
                n_set_blocks += 1
        high[n] = total + n_set_blocks
    return Slices(low, high, _numbers_and(total, set_blocks[:n_set_blocks]))


@part
def block_of(blocks, ordered, first, last, c):  # type: ignore[no-untyped-def]
    """The block of a pair that holds cell `c`; -1 if none does.

    ordered: whether the feature is ordered
    first, last: the blocks of the pair are `first` to `last - 1`
    """
    for b in range(first, last):
        if ordered:
            if c < blocks.end[b]:
                return b
        else:
            for p in range(blocks.begin[b], blocks.end[b]):
                if blocks.items[p] == c:
                    return b
    return -1


@part
def _numbers_and(count, others):  # type: ignore[no-untyped-def]
    """The numbers 0 to `count - 1`, and then the others."""
    items = np.empty(count + len(others), np.uint32)
    for i in range(count):
        items[i] = i
    for i in range(len(others)):
        items[count + i] = others[i]
    return items


@part
def grown(old, need):  # type: ignore[no-untyped-def]
    """The same values with room for more than `need`."""
    new = np.empty(2 * need, old.dtype)
    for i in range(len(old)):
        new[i] = old[i]
    return new
