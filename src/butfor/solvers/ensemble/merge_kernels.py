"""Compiled: cells that no entry distinguishes become one."""

from __future__ import annotations

import numpy as np

from butfor.compiled.kernel import part
from butfor.solvers.ensemble.reduced_ensemble import ReducedCells


@part
def merged_cells(leaves, able, price, kind, ordered, entries):  # type: ignore[no-untyped-def]
    """The able cells; those that no entry distinguishes are merged.

    able, price, kind (original cells): as in `reduce`
    ordered (features): whether the feature is ordered
    entries: the entries of `leaves` that count

    Returns the `ReducedCells`, and the number of each able original cell: which cell of its feature it became.
    """
    start = leaves.start
    begins, number, labels = _distinguished(leaves, able, kind, ordered, entries)
    new_start = np.zeros(len(start), np.intp)
    for j in range(len(ordered)):
        if ordered[j]:
            count = _number_runs(number, begins, able, start[j], start[j + 1])
        else:
            count = _number_labels(number, labels[j], able, start[j], start[j + 1])
        new_start[j + 1] = new_start[j] + count
    original = np.full(new_start[-1], -1, np.intp)
    merged_into = np.full(len(able), -1, np.intp)
    for j in range(len(ordered)):
        for c in range(start[j], start[j + 1]):
            if able[c]:
                k = new_start[j] + number[c]
                merged_into[c] = k
                if original[k] < 0 or price[c] < price[original[k]]:
                    original[k] = c
    return ReducedCells(new_start, original, merged_into, ordered), number


@part
def _distinguished(leaves, able, kind, ordered, entries):  # type: ignore[no-untyped-def]
    """Which cells the entries distinguish, or are of different kinds.

    Returns three arrays.
    begins (cells + 1): whether a cell of an ordered feature must not be merged with the one before it
    label (cells): cells of a feature that is not ordered are distinguished if their labels differ
    labels (features): how many labels such a feature has
    """
    start, feature = leaves.start, leaves.feature
    cells = start[-1]
    begins, label, numbers = np.zeros(cells + 1, np.bool_), np.zeros(cells, np.intp), np.empty(cells, np.intp)
    labels, label_of = np.zeros(len(ordered), np.intp), np.empty(kind.max() + 1, np.intp)
    for j in range(len(ordered)):
        label_of[:] = -1
        before = -1
        for c in range(start[j], start[j + 1]):
            numbers[c] = c
            if label_of[kind[c]] < 0:
                label_of[kind[c]] = labels[j]
                labels[j] += 1
            label[c] = label_of[kind[c]]
            if able[c]:
                begins[c] = before >= 0 and kind[c] != before
                before = kind[c]
    for e in entries:
        j = feature[e]
        if ordered[j]:
            begins[start[j] + leaves.first[e]] = True
            begins[start[j] + leaves.last[e] + 1] = True
        else:
            width = start[j + 1] - start[j]
            labels[j] = split(label[start[j] : start[j + 1]], labels[j], numbers[:width], leaves, e)
    return begins, label, labels


@part
def _number_runs(number, begins, able, first, last):  # type: ignore[no-untyped-def]
    """Number the able cells of an ordered feature, run by run.

    A run ends where the next cell `begins` another one. Returns how many runs there are.
    """
    found, fresh = 0, True
    for c in range(first, last):
        fresh = fresh or begins[c]
        if able[c]:
            if fresh:
                found += 1
                fresh = False
            number[c] = found - 1
    return found


@part
def _number_labels(label, labels, able, first, last):  # type: ignore[no-untyped-def]
    """Replace the labels of the able cells of a feature by numbers without gaps.

    Numbers are given in the order of the cells. Returns how many numbers there are.
    """
    number = np.full(labels, -1, np.intp)
    found = 0
    for c in range(first, last):
        if not able[c]:
            continue
        if number[label[c]] < 0:
            number[label[c]] = found
            found += 1
        label[c] = number[label[c]]
    return found


@part
def inside(leaves, e, c):  # type: ignore[no-untyped-def]
    """Whether cell `c`, counted in its feature, is in the region of entry `e`."""
    if leaves.mask[e] >= 0:
        return leaves.masks[leaves.mask[e] + c]
    j = leaves.feature[e]
    if c == leaves.start[j + 1] - leaves.start[j] - 1:
        return leaves.missing[e]
    return leaves.first[e] <= c and c <= leaves.last[e]


@part
def split(label, count, cells, leaves, e):  # type: ignore[no-untyped-def]
    """Give cells with equal labels different ones if an entry distinguishes them.

    An entry distinguishes two cells if only one of them is in its region.

    label (cells of a feature): the label of each cell, below `count`
    cells (cells of a feature): the cell of `leaves` that it stands for, counted in its feature

    Returns the new number of labels.
    """
    within = np.empty(len(cells), np.bool_)
    masks, at = leaves.masks, leaves.mask[e]
    for i in range(len(cells)):
        within[i] = masks[at + cells[i]] if at >= 0 else inside(leaves, e, cells[i])
    hit = np.zeros(count, np.int8)
    parted = False
    for i in range(len(cells)):
        hit[label[i]] |= 1 if within[i] else 2
        parted = parted or hit[label[i]] == 3
    if not parted:
        return count
    fresh = np.full(count, -1, np.intp)
    for i in range(len(cells)):
        old = label[i]
        if hit[old] == 3 and not within[i]:
            if fresh[old] < 0:
                fresh[old] = count
                count += 1
            label[i] = fresh[old]
    return count
