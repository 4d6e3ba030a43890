"""Compiled loops of the exact tree solver."""

from __future__ import annotations

import numba
import numpy as np


@numba.njit(cache=True, nogil=True)
def _cell(row, e, start, price, reach, home, near, feature, first, last, missing, mask, masks):  # type: ignore[no-untyped-def]
    """The cheapest admissible cell of entry `e`; -1 if there is none. Staying wins a tie."""
    j = feature[e]
    at, count = start[j], start[j + 1] - start[j] - 1
    linf = reach.size > 0
    best, chosen = np.inf, -1
    if mask[e] >= 0:
        here = home[row, j]
        if masks[mask[e] + here] and price[row, at + here] == 0.0:
            return here
        for k in range(count):
            if masks[mask[e] + k]:
                cost = price[row, at + k] + (reach[row, at + k] if linf else 0.0)
                if cost < best:
                    best, chosen = cost, k
    elif first[e] <= last[e]:
        begin = min(max(near[row, j], first[e]), last[e])
        if begin >= near[row, j]:
            k = begin
            while k < last[e] and price[row, at + k] == np.inf:
                k += 1
            best, chosen = price[row, at + k] + (reach[row, at + k] if linf else 0.0), k
        if begin <= near[row, j]:
            k = begin
            while k > first[e] and price[row, at + k] == np.inf:
                k -= 1
            cost = price[row, at + k] + (reach[row, at + k] if linf else 0.0)
            if cost < best:
                best, chosen = cost, k
    if missing[e]:
        cost = price[row, at + count] + (reach[row, at + count] if linf else 0.0)
        if cost < best or (cost == best and home[row, j] == count):
            best, chosen = cost, count
    return chosen if best < np.inf else -1


@numba.njit(cache=True, nogil=True)
def _leaf_cost(  # type: ignore[no-untyped-def]
    row, leaf, limit, start, price, reach, home, near, stay, begin, feature, first, last, missing, mask, masks, offset, most
):
    """The cost of entering a leaf; infinity if that is impossible or at least `limit`."""
    total, widest, changes = offset[leaf], 0.0, 0
    for e in range(begin[leaf], begin[leaf + 1]):
        cell = _cell(row, e, start, price, reach, home, near, feature, first, last, missing, mask, masks)
        if cell < 0:
            return np.inf
        j = feature[e]
        total += price[row, start[j] + cell]
        if reach.size > 0:
            widest = max(widest, reach[row, start[j] + cell])
        if cell != home[row, j] or not stay[row, j]:
            changes += 1
        if changes > most or total + widest >= limit:
            return np.inf
    return total + widest


@numba.njit(cache=True, nogil=True)
def cheapest_leaf(  # type: ignore[no-untyped-def]
    start, price, reach, home, near, stay, begin, feature, first, last, missing, mask, masks, offset, most
):
    """For each row, the smallest cost over all leaves, and the leaf."""
    n = len(home)
    cost, best = np.full(n, np.inf), np.full(n, -1)
    for row in range(n):
        for leaf in range(len(offset)):
            found = _leaf_cost(
                row, leaf, cost[row], start, price, reach, home, near, stay, begin, feature, first, last, missing, mask,
                masks, offset, most,
            )  # fmt: skip
            if found < cost[row]:
                cost[row], best[row] = found, leaf
    return cost, best


@numba.njit(cache=True, nogil=True)
def leaf_costs(  # type: ignore[no-untyped-def]
    start, price, reach, home, near, stay, begin, feature, first, last, missing, mask, masks, offset, most
):
    """For each row, the cost of every leaf."""
    n = len(home)
    cost = np.empty((n, len(offset)))
    for row in range(n):
        for leaf in range(len(offset)):
            cost[row, leaf] = _leaf_cost(
                row, leaf, np.inf, start, price, reach, home, near, stay, begin, feature, first, last, missing, mask,
                masks, offset, most,
            )  # fmt: skip
    return cost


@numba.njit(cache=True, nogil=True)
def chosen_cells(  # type: ignore[no-untyped-def]
    start, price, reach, home, near, stay, begin, feature, first, last, missing, mask, masks, offset, row, leaf
):
    """For each answer (its row and leaf), the cell of each feature; -1 where the factual stays."""
    out = np.full((len(row), home.shape[1]), -1)
    for i in range(len(row)):
        for e in range(begin[leaf[i]], begin[leaf[i] + 1]):
            cell = _cell(row[i], e, start, price, reach, home, near, feature, first, last, missing, mask, masks)
            if cell != home[row[i], feature[e]] or not stay[row[i], feature[e]]:
                out[i, feature[e]] = cell
    return out
