"""An ensemble within reach of one row. LeafTable that no affordable cell leads to are dropped, cells that no tree tells apart
any more are merged, and each tree sees of each feature only the blocks of cells that it tells apart."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from butfor.arrays import BoolArray, FloatArray, IntArray
from butfor.solvers.ensemble import reduce_kernels as kernels
from butfor.solvers.ensemble.leaves import LeafTable


class Reduced(NamedTuple):
    """The ensemble of one row's problem.

    Cells `cell[j]:cell[j + 1]` belong to feature j; `source` is the original cell that stands for each, and `merged` says of
    each original cell which it became (-1: none). `leaf[tree[t]:tree[t + 1]]` are the original leaves that are left of tree
    t, which was tree `origin[t]`; `constant` are those of trees of which a single one is left (-1: none is).

    A *pair* is a tree with a feature that it asks for. Blocks `block[q]:block[q + 1]` are the sets of cells that pair q tells
    apart, and `listed[begin[b]:end[b]]` the cells of block b: consecutive ones where the feature is `ordered`. A leaf's
    entries `entry[l]:entry[l + 1]` say that the feature of `pair[e]` is in one of the blocks `member[low[e]:high[e]]`.
    `users[used[q]:used[q + 1]]` are the entries of a pair, `owner` their leaves, and `pairs[by[j]:by[j + 1]]` the pairs of a
    feature.
    """

    cell: IntArray
    source: IntArray
    merged: IntArray
    ordered: BoolArray
    constant: IntArray
    tree: IntArray
    origin: IntArray
    leaf: IntArray
    entry: IntArray
    owner: IntArray
    pair: IntArray
    low: IntArray
    high: IntArray
    member: IntArray
    pair_feature: IntArray
    pair_tree: IntArray
    block: IntArray
    begin: IntArray
    end: IntArray
    listed: IntArray
    used: IntArray
    users: IntArray
    by: IntArray
    pairs: IntArray


UNSIGNED = ("owner", "member", "listed", "users")
"""What other arrays are looked up with: compiled code asks of a signed number whether it is negative, each time."""


def reduce(leaves: LeafTable, able: BoolArray, price: FloatArray, apart: BoolArray) -> Reduced:
    """The ensemble over the cells that are `able`; of merged cells the cheapest stands; cells `apart` are not merged."""
    found = Reduced(*map(np.ascontiguousarray, kernels.reduced(leaves, able, price, apart)))
    return found._replace(**{name: getattr(found, name).astype(np.uint32) for name in UNSIGNED})


def as_leaves(r: Reduced) -> LeafTable:
    """A reduced ensemble as one that can be reduced further: a cell that no row may have stands after those of a feature."""
    start = r.cell + np.arange(len(r.cell))
    feature = r.pair_feature[r.pair]
    first, last, mask, masks = kernels.regions(
        r.cell, r.ordered, feature, r.low, r.high, r.member, r.begin, r.end, r.listed
    )
    empty = np.zeros((len(r.leaf), 0))
    return LeafTable(
        start, r.tree, empty, r.entry, feature, first, last, np.zeros(len(feature), dtype=np.bool_), mask, masks
    )


def carried(message: FloatArray, old: Reduced, new: Reduced) -> FloatArray:
    """The messages of an ensemble that was reduced further (from `as_leaves(old)`), each from the block that holds it."""
    d = len(old.cell) - 1
    key = old.pair_tree * d + old.pair_feature
    order = np.argsort(key)
    found = order[np.searchsorted(key[order], new.origin[new.pair_tree] * d + new.pair_feature)]
    source = new.source - np.repeat(np.arange(d), np.diff(new.cell))
    out: FloatArray = kernels.carried(
        message, found, source, new.block, new.begin, new.listed, old.block, old.begin, old.end, old.listed
    )
    return out
