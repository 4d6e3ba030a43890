"""Compiled: the leaves of all trees as regions of cells."""

from __future__ import annotations

import numpy as np

from butfor.compiled.kernel import kernel, part
from butfor.formulation.cell_arrays import CellSets


@kernel
def walk(  # type: ignore[no-untyped-def]
    roots, feature, last_left, member, missing_left, left, right, sets, start, masked
):
    """The leaves that some row can reach, each with its regions of cells.

    roots (trees): the first node of each tree
    feature, member, missing_left, left, right (nodes): as in `Trees`
    last_left (nodes): the last cell that goes left, where a node asks for a number
    sets (sets, cells): whether each cell goes left, where a node asks for a set
    start (features + 1): the first cell of each feature
    masked (features): whether some node asks for a set of the feature's cells

    Returns four values: `tree` of a `LeafTable`, the node of each leaf, `entry` of the table, and its regions.
    """
    nodes = len(feature)
    tree, node_of, entry = np.zeros(len(roots) + 1, np.intp), np.empty(nodes, np.intp), np.zeros(nodes + 1, np.intp)
    stack, sides, level = np.empty(nodes + 1, np.intp), np.empty(nodes + 1, np.intp), np.empty(nodes + 1, np.intp)
    path, place = np.empty(nodes + 1, np.intp), np.full(len(masked), -1, np.intp)
    regions = _room(roots, feature, left, right, start, masked)
    leaves, n, n_masks = 0, np.intp(0), np.intp(0)  # a literal 0 would have the functions below compiled twice
    for t in range(len(roots)):
        stack[0], sides[0], level[0] = roots[t], 0, 0
        top = 0
        while top >= 0:
            node, depth = stack[top], level[top]
            if depth > 0:
                path[depth - 1] = sides[top]
            top -= 1
            if feature[node] >= 0:
                for child, side in ((right[node], 2 * node + 1), (left[node], 2 * node)):
                    top += 1
                    stack[top], sides[top], level[top] = child, side, depth + 1
                continue
            end, end_masks = _follow(
                path[:depth], regions, n, n_masks, feature, last_left, member, missing_left, sets, start, masked, place
            )
            if _reachable(regions, n, end, start):
                n, n_masks = end, end_masks
                node_of[leaves] = node
                leaves += 1
                entry[leaves] = n
        tree[t + 1] = leaves
    return tree, node_of[:leaves], entry[: leaves + 1], _first_of(regions, n, n_masks)


@part
def _room(roots, feature, left, right, start, masked):  # type: ignore[no-untyped-def]
    """Room for the regions of all leaves, as many as there are at most, so that nothing is copied and moved later."""
    nodes = len(feature)
    stack, level, above = np.empty(nodes + 1, np.intp), np.empty(nodes + 1, np.intp), np.empty(nodes + 1, np.intp)
    sets, cells, path = np.empty(nodes + 1, np.intp), np.empty(nodes + 1, np.intp), np.empty(nodes + 1, np.intp)
    all_sets, all_cells = np.intp(0), np.intp(0)
    for root in roots:
        stack[0], level[0], sets[0], cells[0], top = root, 0, 0, 0, 0
        while top >= 0:
            node, depth, n, n_cells = stack[top], level[top], sets[top], cells[top]
            if depth > 0:
                path[depth - 1] = above[top]
            top -= 1
            j = feature[node]
            if j < 0:
                all_sets, all_cells = all_sets + n, all_cells + n_cells
                continue
            new = True
            for k in range(depth):
                new = new and path[k] != j
            if new:
                n += 1
                if masked[j]:
                    n_cells += start[j + 1] - start[j]
            for child in (right[node], left[node]):
                top += 1
                stack[top], level[top], above[top], sets[top], cells[top] = child, depth + 1, j, n, n_cells
    return CellSets(
        np.empty(all_sets, np.int32),
        np.empty(all_sets, np.int32),
        np.empty(all_sets, np.int32),
        np.empty(all_sets, np.bool_),
        np.empty(all_sets, np.intp),
        np.empty(all_cells, np.bool_),
    )


@part
def _first_of(regions, n, n_masks):  # type: ignore[no-untyped-def]
    """The first `n` regions."""
    return CellSets(
        regions.feature[:n],
        regions.first[:n],
        regions.last[:n],
        regions.missing[:n],
        regions.mask[:n],
        regions.masks[:n_masks],
    )


@part
def _follow(  # type: ignore[no-untyped-def]
    path, regions, n, n_masks, feature, last_left, member, missing_left, sets, start, masked, place
):
    """Write the regions of the features on a path behind the first `n` regions.

    A step of the path is twice its node, and one more where it goes right.

    n_masks: how many masks are taken
    place (features): room for the place of each feature's region; -1 before and after
    feature, last_left, member, missing_left, sets, start, masked: as in `walk`

    Returns how many regions there are now, and how many masks are taken.
    """
    begin = n
    for step in range(len(path)):
        above, goes_left = path[step] // 2, path[step] % 2 == 0
        j = feature[above]
        width = start[j + 1] - start[j]
        if place[j] < 0:
            place[j] = n
            regions.feature[n], regions.first[n], regions.missing[n] = j, 0, True
            if masked[j]:
                regions.last[n], regions.mask[n] = -1, n_masks
                for k in range(n_masks, n_masks + width):
                    regions.masks[k] = True
                n_masks += width
            else:
                regions.last[n], regions.mask[n] = width - 2, -1
            n += 1
        e = place[j]
        if masked[j]:
            mask = regions.masks[regions.mask[e] : regions.mask[e] + width]
            _narrow(mask, above, goes_left, last_left, member, missing_left, sets)
            regions.missing[e] = mask[width - 1]
            continue
        if goes_left:
            regions.last[e] = min(regions.last[e], last_left[above])
        else:
            regions.first[e] = max(regions.first[e], last_left[above] + 1)
        if missing_left[above] != goes_left:
            regions.missing[e] = False
    for e in range(begin, n):
        place[regions.feature[e]] = -1
    return n, n_masks


@part
def _narrow(mask, node, goes_left, last_left, member, missing_left, sets):  # type: ignore[no-untyped-def]
    """Take the cells out of a mask that a node sends the other way.

    The last cell of the mask is "missing".
    """
    for k in range(len(mask)):
        if member[node] >= 0:
            inside = sets[member[node], k]
        elif k == len(mask) - 1:
            inside = missing_left[node]
        else:
            inside = k <= last_left[node]
        if inside != goes_left:
            mask[k] = False


@part
def _reachable(regions, begin, end, start):  # type: ignore[no-untyped-def]
    """Whether each of the regions `begin` to `end - 1` has a cell."""
    for e in range(begin, end):
        found = regions.missing[e] or regions.first[e] <= regions.last[e]
        if regions.mask[e] >= 0:
            for k in range(start[regions.feature[e] + 1] - start[regions.feature[e]]):
                found = found or regions.masks[regions.mask[e] + k]
        if not found:
            return False
    return True
