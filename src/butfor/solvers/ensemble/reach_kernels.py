"""Compiled: which leaves a row can reach, and which trees still decide something."""

from __future__ import annotations

import numpy as np

from butfor.compiled.kernel import part


@part
def within_reach(leaves, able):  # type: ignore[no-untyped-def]
    """What a row can reach that may have only the cells that are `able`.

    Returns three arrays.
    ordered (features): whether leaves ask for ranges only, and the row may not be "missing"
    alive (leaves): whether every entry of the leaf has an able cell
    binds (entries): whether the entry leaves out an able cell, known for leaves that are alive
    """
    start, entry, feature, mask = leaves.start, leaves.entry, leaves.feature, leaves.mask
    first, last, missing = leaves.first, leaves.last, leaves.missing
    able_before = _counted(able)
    alive, binds = np.ones(len(entry) - 1, np.bool_), np.zeros(len(feature), np.bool_)
    for i in range(len(alive)):
        for e in range(entry[i], entry[i + 1]):
            at, end = start[feature[e]], start[feature[e] + 1]
            inside = 0
            if mask[e] >= 0:
                inside = _able_in_mask(able[at:end], leaves.masks[mask[e] :])
            else:
                if first[e] <= last[e]:
                    inside = able_before[at + last[e] + 1] - able_before[at + first[e]]
                if missing[e] and able[end - 1]:
                    inside += 1
            if inside == 0:
                alive[i] = False
                break
            binds[e] = inside < able_before[end] - able_before[at]
    return _ordered(leaves, able), alive, binds


@part
def _counted(able):  # type: ignore[no-untyped-def]
    """How many cells before each one are able."""
    before = np.zeros(len(able) + 1, np.intp)
    for c in range(len(able)):
        before[c + 1] = before[c] + (1 if able[c] else 0)
    return before


@part
def _able_in_mask(able, mask):  # type: ignore[no-untyped-def]
    """How many able cells of a feature its mask holds."""
    inside = 0
    for c in range(len(able)):
        if able[c] and mask[c]:
            inside += 1
    return inside


@part
def _ordered(leaves, able):  # type: ignore[no-untyped-def]
    """Which features no entry asks for a set of, and cannot be "missing"."""
    start = leaves.start
    ordered = np.ones(len(start) - 1, np.bool_)
    for j in range(len(ordered)):
        ordered[j] = not able[start[j + 1] - 1]
    for e in range(len(leaves.feature)):
        if leaves.mask[e] >= 0:
            ordered[leaves.feature[e]] = False
    return ordered


@part
def deciding(leaves, alive, binds):  # type: ignore[no-untyped-def]
    """Which trees still decide something, and the one leaf of each other tree.

    A tree with a single living leaf decides something if an entry of that leaf binds.
    This happens because margins leave gaps between leaves.

    Returns two arrays.
    decides (trees): whether the tree decides something
    constant_leaves: the living leaf of each tree that does not; -1 if it has none
    """
    tree, entry = leaves.tree, leaves.entry
    decides = np.zeros(len(tree) - 1, np.bool_)
    constant_leaves = np.empty(len(tree) - 1, np.intp)
    constants = 0
    for t in range(len(decides)):
        living, one = 0, -1
        for i in range(tree[t], tree[t + 1]):
            if alive[i]:
                living += 1
                one = i
        decides[t] = living > 1
        if living == 1:
            for e in range(entry[one], entry[one + 1]):
                decides[t] = decides[t] or binds[e]
        if not decides[t]:
            constant_leaves[constants] = one
            constants += 1
    return decides, constant_leaves[:constants]


@part
def surviving(leaves, alive, binds, decides):  # type: ignore[no-untyped-def]
    """The trees that decide something, their living leaves, and the binding entries of these.

    Returns five arrays.
    leaf_start (trees + 1): the first leaf of each tree
    original_tree (trees), original_leaf (leaves), original_entry (entries): which ones of `leaves` they are
    entry_start (leaves + 1): the first entry of each leaf
    """
    tree, entry = leaves.tree, leaves.entry
    leaf_start, original_tree = np.zeros(len(tree), np.intp), np.empty(len(tree), np.intp)
    entry_start, original_leaf = np.zeros(len(entry), np.intp), np.empty(len(entry), np.intp)
    original_entry = np.empty(len(binds), np.intp)
    n_trees, n_leaves, n_entries = 0, 0, 0
    for t in range(len(tree) - 1):
        if not decides[t]:
            continue
        for i in range(tree[t], tree[t + 1]):
            if not alive[i]:
                continue
            for e in range(entry[i], entry[i + 1]):
                if binds[e]:
                    original_entry[n_entries] = e
                    n_entries += 1
            original_leaf[n_leaves] = i
            n_leaves += 1
            entry_start[n_leaves] = n_entries
        original_tree[n_trees] = t
        n_trees += 1
        leaf_start[n_trees] = n_leaves
    return (
        leaf_start[: n_trees + 1], original_tree[:n_trees], original_leaf[:n_leaves], original_entry[:n_entries],
        entry_start[: n_leaves + 1],
    )  # fmt: skip
