"""Compiled: the leaves of all trees as regions of cells."""

from __future__ import annotations

import numba
import numpy as np


@numba.njit(cache=True, nogil=True)
def walk(roots, feature, last_left, member, missing_left, left, right, sets, start, masked):  # type: ignore[no-untyped-def]
    """Where the trees' leaves begin, the node of each leaf, where its entries begin, and the entries (see `LeafTable`).

    A number goes left up to cell `last_left` of its feature; features with a `masked` region are asked for sets, too.
    """
    d, nodes = len(masked), len(feature)
    tree, node_of, entry = np.zeros(len(roots) + 1, np.intp), np.empty(nodes, np.intp), np.zeros(nodes + 1, np.intp)
    room, room_masks = 4 * nodes + 16, 1024
    of, first, last = np.empty(room, np.intp), np.empty(room, np.intp), np.empty(room, np.intp)
    missing, mask, masks = np.empty(room, np.intp), np.empty(room, np.intp), np.empty(room_masks, np.intp)
    stack, sides = np.empty(nodes + 1, np.intp), np.empty(nodes + 1, np.intp)
    path, at = np.empty(nodes + 1, np.intp), np.empty(nodes + 1, np.intp)
    place = np.full(d, -1, np.intp)
    leaves, n, n_masks = 0, 0, 0
    for t in range(len(roots)):
        stack[0], sides[0], at[0] = roots[t], 0, 0
        top = 0
        while top >= 0:
            node, depth = stack[top], at[top]
            if depth > 0:
                path[depth - 1] = sides[top]
            top -= 1
            if feature[node] >= 0:
                for child, side in ((right[node], 2 * node + 1), (left[node], 2 * node)):
                    top += 1
                    stack[top], sides[top], at[top] = child, side, depth + 1
                continue
            begin, begin_masks, fits = n, n_masks, True
            for step in range(depth):
                above, goes_left = path[step] // 2, path[step] % 2 == 0
                j = feature[above]
                width = start[j + 1] - start[j]
                e = place[j]
                if e < 0:
                    if n == len(of):
                        of, first, last = grown(of, n), grown(first, n), grown(last, n)
                        missing, mask = grown(missing, n), grown(mask, n)
                    e = n
                    place[j], of[e], first[e], last[e], missing[e], mask[e] = e, j, 0, width - 2, 1, -1
                    n += 1
                    if masked[j]:
                        if n_masks + width > len(masks):
                            masks = grown(masks, n_masks + width)
                        mask[e], last[e] = n_masks, -1
                        for k in range(width):
                            masks[n_masks + k] = 1
                        n_masks += width
                if masked[j]:
                    for k in range(width):
                        if member[above] >= 0:
                            inside = sets[member[above], k]
                        elif k == width - 1:
                            inside = missing_left[above]
                        else:
                            inside = k <= last_left[above]
                        if inside != goes_left:
                            masks[mask[e] + k] = 0
                    missing[e] = masks[mask[e] + width - 1]
                    continue
                if goes_left:
                    last[e] = min(last[e], last_left[above])
                else:
                    first[e] = max(first[e], last_left[above] + 1)
                if missing_left[above] != goes_left:
                    missing[e] = 0
            for e in range(begin, n):
                place[of[e]] = -1
                if mask[e] < 0:
                    fits = fits and (first[e] <= last[e] or missing[e] == 1)
                else:
                    found = False
                    for k in range(start[of[e] + 1] - start[of[e]]):
                        found = found or masks[mask[e] + k] == 1
                    fits = fits and found
            if not fits:
                n, n_masks = begin, begin_masks
                continue
            node_of[leaves] = node
            leaves += 1
            entry[leaves] = n
        tree[t + 1] = leaves
    return (
        tree, node_of[:leaves], entry[: leaves + 1], of[:n], first[:n], last[:n], missing[:n] == 1, mask[:n],
        masks[:n_masks] == 1,
    )  # fmt: skip


@numba.njit(cache=True, nogil=True)
def grown(old, need):  # type: ignore[no-untyped-def]
    """The same numbers with room for more than `need`."""
    new = np.empty(2 * need, np.intp)
    for i in range(len(old)):
        new[i] = old[i]
    return new
