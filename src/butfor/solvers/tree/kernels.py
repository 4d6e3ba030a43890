"""Compiled loops of the exact tree solver.

The innermost function is inlined: passing a tuple of arrays to it for each node costs a third of the search.
"""

from __future__ import annotations

import numpy as np

from butfor.compiled.kernel import inlined, kernel, part


@inlined
def _cheapest_cell(tables, row, j, first, last, missing, mask, masks):  # type: ignore[no-untyped-def]
    """The cheapest admissible cell in a region of feature `j`; -1 if there is none. Staying wins a tie."""
    price, reach, home, near = tables.price, tables.reach, tables.home, tables.near
    at, count = tables.start[j], tables.start[j + 1] - tables.start[j] - 1
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


@part
def _cheapest_level(tables, row, j):  # type: ignore[no-untyped-def]
    """The cheapest admissible level of feature `j`, or "missing"; -1 if there is none. Their prices follow no order."""
    best, chosen = np.inf, -1
    for k in range(tables.start[j + 1] - tables.start[j]):
        at = tables.start[j] + k
        cost = tables.price[row, at] + (tables.reach[row, at] if tables.reach.size > 0 else 0.0)
        if cost < best:
            best, chosen = cost, k
    return chosen


@part
def _forced_start(tables, forced, unordered, masks, row, cell):  # type: ignore[no-untyped-def]
    """The cheapest cells of the features that must move, put into `cell`; their price, reach and number (-1: impossible)."""
    linf = tables.reach.size > 0
    total, widest, changes = 0.0, 0.0, 0
    for j in forced:
        if tables.stay[row, j]:
            continue
        at, count = tables.start[j], tables.start[j + 1] - tables.start[j] - 1
        if unordered[j]:
            chosen = _cheapest_level(tables, row, j)
        else:
            chosen = _cheapest_cell(tables, row, j, 0, count - 1, True, -1, masks)
        if chosen < 0:
            return total, widest, -1
        cell[j] = chosen
        total += tables.price[row, at + chosen]
        widest = max(widest, tables.reach[row, at + chosen]) if linf else 0.0
        changes += 1
    return total, widest, changes


@part
def _insert(costs, cells, cost, cell):  # type: ignore[no-untyped-def]
    """A leaf among the cheapest ones of a row, which are sorted; the dearest falls out."""
    place = len(costs) - 1
    while place > 0 and costs[place - 1] > cost:
        costs[place] = costs[place - 1]
        for j in range(len(cell)):
            cells[place, j] = cells[place - 1, j]
        place -= 1
    costs[place] = cost
    for j in range(len(cell)):  # copying a row at once compiles for a second longer
        cells[place, j] = cell[j]


@part
def _nearest_of_row(tables, tree, row, most, start, cell, stack, levels, trail, costs, cells):  # type: ignore[no-untyped-def]
    """The cheapest leaves of one row, from the `start` (price, reach, changes) that forced features have."""
    linf = tables.reach.size > 0
    price, reach, sets = tables.price, tables.reach, tree.sets
    levels[0, 0], levels[0, 1] = start[0], start[1]
    stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3] = 0, start[2], 0, -1
    top, length = 0, 0
    while top >= 0:
        node, changes, mark, entered = stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3]
        total, widest = levels[top, 0], levels[top, 1]
        top -= 1
        while length > mark:
            length -= 1
            cell[trail[length, 0]] = trail[length, 1]
        if total + widest + tree.offset[node] >= costs[-1]:
            continue
        if entered != -1:
            trail[length, 0], trail[length, 1] = sets.feature[node], cell[sets.feature[node]]
            length += 1
            cell[sets.feature[node]] = entered if entered >= 0 else -1
        if tree.leaf[node] >= 0:
            _insert(costs, cells, total + widest + tree.offset[node], cell)
            continue
        pushed = 0
        for c in range(2):
            below = tree.child[node, c]
            if below < 0:
                break
            j = sets.feature[below]
            at = tables.start[j]
            chosen = _cheapest_cell(
                tables, row, j, sets.first[below], sets.last[below], sets.missing[below], sets.mask[below], sets.masks
            )
            if chosen < 0:
                continue
            stays = chosen == tables.home[row, j] and tables.stay[row, j]
            was = cell[j]
            count = changes + (0 if stays else 1) - (1 if was >= 0 else 0)
            if count > most:
                continue
            top += 1
            stack[top, 0], stack[top, 1], stack[top, 2] = below, count, length
            stack[top, 3] = -2 if stays else chosen
            levels[top, 0] = total + price[row, at + chosen] - (price[row, at + was] if was >= 0 else 0.0)
            levels[top, 1] = max(widest, reach[row, at + chosen]) if linf else 0.0
            pushed += 1
        if pushed == 2 and levels[top, 0] + levels[top, 1] > levels[top - 1, 0] + levels[top - 1, 1]:
            for i in range(4):
                stack[top, i], stack[top - 1, i] = stack[top - 1, i], stack[top, i]
            for i in range(2):
                levels[top, i], levels[top - 1, i] = levels[top - 1, i], levels[top, i]


@kernel
def nearest_leaves(tables, tree, forced, unordered, most, k):  # type: ignore[no-untyped-def]
    """The `k` cheapest leaves of each row, with at most `most` changes.

    - `forced`: the features that some row must change;
    - `unordered` (features): those with levels, whose prices follow no order.

    Returns `costs` (rows, k), infinite if there are fewer leaves, and `cells` (rows, k, features): the chosen cell of
    each feature, -1 if the factual value stays.

    The search is depth first, the cheaper child first. Each entry of the stack is a node with the cost, the widest
    change and the number of changes on entering it. `cell` holds the cell of each feature on the current path, and
    `trail` the cells that it held before, in order to go back.
    """
    n, d = tables.home.shape
    costs, cells = np.empty((n, k)), np.empty((n, k, d), dtype=np.int32)
    cell = np.empty(d, dtype=np.int32)
    stack = np.empty((2 * tree.depth + 4, 4), dtype=np.intp)
    levels = np.empty((2 * tree.depth + 4, 2))
    trail = np.empty((tree.depth + 1, 2), dtype=np.intp)
    for row in range(n):
        for i in range(k):
            costs[row, i] = np.inf
            for j in range(d):
                cells[row, i, j] = -1
        for j in range(d):
            cell[j] = -1
        start = _forced_start(tables, forced, unordered, tree.sets.masks, row, cell)
        if start[2] >= 0:
            _nearest_of_row(tables, tree, row, most, start, cell, stack, levels, trail, costs[row], cells[row])
    return costs, cells
