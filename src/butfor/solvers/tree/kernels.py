"""Compiled loops of the exact tree solver."""

from __future__ import annotations

import numba
import numpy as np


@numba.njit(cache=True, nogil=True)
def _cheapest_cell(row, j, first, last, missing, mask, masks, start, price, reach, home, near):  # type: ignore[no-untyped-def]
    """The cheapest admissible cell in a region of feature `j`; -1 if there is none. Staying wins a tie."""
    at, count = start[j], start[j + 1] - start[j] - 1
    linf = reach.size > 0
    best, chosen = np.inf, -1
    if mask >= 0:
        here = home[row, j]
        if masks[mask + here] and price[row, at + here] == 0.0:
            return here
        for k in range(count):
            if masks[mask + k]:
                cost = price[row, at + k] + (reach[row, at + k] if linf else 0.0)
                if cost < best:
                    best, chosen = cost, k
    elif first <= last:
        begin = min(max(near[row, j], first), last)
        if begin >= near[row, j]:
            k = begin
            while k < last and price[row, at + k] == np.inf:
                k += 1
            best, chosen = price[row, at + k] + (reach[row, at + k] if linf else 0.0), k
        if begin <= near[row, j]:
            k = begin
            while k > first and price[row, at + k] == np.inf:
                k -= 1
            cost = price[row, at + k] + (reach[row, at + k] if linf else 0.0)
            if cost < best:
                best, chosen = cost, k
    if missing:
        cost = price[row, at + count] + (reach[row, at + count] if linf else 0.0)
        if cost < best or (cost == best and home[row, j] == count):
            best, chosen = cost, count
    return chosen if best < np.inf else -1


@numba.njit(cache=True, nogil=True)
def nearest_leaves(  # type: ignore[no-untyped-def]
    start,
    price,
    reach,
    home,
    near,
    stay,
    forced,
    child,
    feature,
    first,
    last,
    missing,
    mask,
    masks,
    offset,
    leaf,
    depth,
    most,
    k,
):
    """The `k` cheapest leaves of each row.

    Returns `costs` (rows, k), infinite if there are fewer leaves, and `cells` (rows, k, features): the chosen cell of
    each feature, -1 if the factual value stays.

    The search is depth first, the cheaper child first. Each entry of the stack is a node with the cost, the widest
    change and the number of changes on entering it. `cell` holds the cell of each feature on the current path, and
    `trail` the cells that it held before, in order to go back.
    """
    n, d = home.shape
    linf = reach.size > 0
    costs, cells = np.full((n, k), np.inf), np.full((n, k, d), -1, dtype=np.int32)
    cell = np.empty(d, dtype=np.int32)
    stack = np.empty((2 * depth + 4, 4), dtype=np.intp)
    levels = np.empty((2 * depth + 4, 2))
    trail = np.empty((depth + 1, 2), dtype=np.intp)
    for row in range(n):
        cell[:] = -1
        total, widest, changes, possible = 0.0, 0.0, 0, True
        for j in forced:
            if stay[row, j]:
                continue
            count = start[j + 1] - start[j] - 1
            chosen = _cheapest_cell(row, j, 0, count - 1, True, -1, masks, start, price, reach, home, near)
            if chosen < 0:
                possible = False
                break
            cell[j] = chosen
            total += price[row, start[j] + chosen]
            widest = max(widest, reach[row, start[j] + chosen]) if linf else 0.0
            changes += 1
        if not possible:
            continue
        top = 0
        stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3] = 0, changes, 0, -1
        levels[0, 0], levels[0, 1] = total, widest
        length = 0
        while top >= 0:
            node, changes, mark, entered = stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3]
            total, widest = levels[top, 0], levels[top, 1]
            top -= 1
            while length > mark:
                length -= 1
                cell[trail[length, 0]] = trail[length, 1]
            if total + widest + offset[node] >= costs[row, k - 1]:
                continue
            if entered != -1:
                trail[length, 0], trail[length, 1] = feature[node], cell[feature[node]]
                length += 1
                cell[feature[node]] = entered if entered >= 0 else -1
            if leaf[node] >= 0:
                place = k - 1
                while place > 0 and costs[row, place - 1] > total + widest + offset[node]:
                    costs[row, place] = costs[row, place - 1]
                    cells[row, place] = cells[row, place - 1]
                    place -= 1
                costs[row, place] = total + widest + offset[node]
                cells[row, place] = cell
                continue
            pushed = 0
            for c in range(2):
                below = child[node, c]
                if below < 0:
                    break
                j = feature[below]
                chosen = _cheapest_cell(
                    row,
                    j,
                    first[below],
                    last[below],
                    missing[below],
                    mask[below],
                    masks,
                    start,
                    price,
                    reach,
                    home,
                    near,
                )
                if chosen < 0:
                    continue
                stays = chosen == home[row, j] and stay[row, j]
                was = cell[j]
                cost = total + price[row, start[j] + chosen] - (price[row, start[j] + was] if was >= 0 else 0.0)
                count = changes + (0 if stays else 1) - (1 if was >= 0 else 0)
                if count > most:
                    continue
                top += 1
                stack[top, 0], stack[top, 1], stack[top, 2] = below, count, length
                stack[top, 3] = -2 if stays else chosen
                levels[top, 0] = cost
                levels[top, 1] = max(widest, reach[row, start[j] + chosen]) if linf else 0.0
                pushed += 1
            if pushed == 2 and levels[top, 0] + levels[top, 1] > levels[top - 1, 0] + levels[top - 1, 1]:
                for i in range(4):
                    stack[top, i], stack[top - 1, i] = stack[top - 1, i], stack[top, i]
                for i in range(2):
                    levels[top, i], levels[top - 1, i] = levels[top - 1, i], levels[top, i]
    return costs, cells
