"""Compiled: the leaves of an oblique tree, in the order of cheap lower bounds.

A leaf is solved only while it may be the cheapest.
"""

from __future__ import annotations

import numpy as np

from butfor.compiled.kernel import inlined, kernel
from butfor.solvers.oblique.polytope.branch import cheapest
from butfor.solvers.oblique.polytope.columns import Box, HalfSpaces
from butfor.solvers.oblique.polytope.dual import floors

LEAF_GAP, LEAST_LEAF_GAP = 7e-7, 1e-7
"""How far the bound of a settled leaf may lie below its point: as a share of the cost, and in any case."""

ABOVE_DEAREST = 1e-6
"""What is added to the dearest price of a box, as a share and in any case: it is a rounded sum."""


@kernel
def nearest_leaves(gates, leaves, columns, rows, k, most):  # type: ignore[no-untyped-def]
    """The `k` cheapest leaves of each row.

    Returns their costs and points, a proven bound on the first, and whether all was settled. At most `most` nodes of a
    leaf are looked at.
    """
    count, n = len(rows.now), gates.B.shape[1]
    costs, points = np.full((count, k), np.inf), np.zeros((count, k, n))
    bounds, settled = np.full(count, np.inf), np.ones(count, dtype=np.bool_)
    ahead = np.empty((len(gates.B), 2))
    floor = np.empty(len(leaves.offset))
    point = np.empty(n)
    for row in range(count):
        side_bounds(gates, columns, rows, row, ahead)
        for leaf in range(len(floor)):
            floor[leaf] = 0.0
            for e in range(leaves.start[leaf], leaves.start[leaf + 1]):
                floor[leaf] = max(floor[leaf], ahead[leaves.gate[e], 1 if leaves.side[e] > 0 else 0])
            floor[leaf] += leaves.offset[leaf]
        box = _box(rows, row)
        top = _dearest(columns, box)
        for leaf in np.argsort(floor, kind="mergesort"):
            offset, limit = leaves.offset[leaf], costs[row, k - 1]
            if floor[leaf] >= limit:
                break
            if floor[leaf] - offset > top:
                continue
            spaces = _half_spaces(gates, leaves, columns, leaf, rows, row)
            cut = min(limit - offset, top)
            bound, cost = cheapest(spaces, columns, box, np.zeros(len(spaces.need)), cut, most, point)
            goal = min(cost, cut)
            if bound < (goal * (1.0 - LEAF_GAP) - LEAST_LEAF_GAP if goal < np.inf else np.inf):
                settled[row] = False
            if bound < top or cost < np.inf:
                bounds[row] = min(bounds[row], max(bound + offset, floor[leaf]))
            if cost + offset < limit:
                _insert(costs[row], points[row], cost + offset, point)
        bounds[row] = min(bounds[row], costs[row, 0])
    return costs, points, bounds, settled


# `inline`: a private step that is used once is compiled with its caller, which takes less time.
@inlined
def _insert(costs, points, cost, point):  # type: ignore[no-untyped-def]
    """Put a point in its place among the cheapest; the last one falls out."""
    at = len(costs) - 1
    while at > 0 and costs[at - 1] > cost:
        costs[at] = costs[at - 1]
        for j in range(len(point)):
            points[at, j] = points[at - 1, j]
        at -= 1
    costs[at] = cost
    for j in range(len(point)):
        points[at, j] = point[j]


@kernel
def _box(rows, row):  # type: ignore[no-untyped-def]
    """Where the columns of one row may be."""
    price = rows.price[row]
    alive = np.empty(len(price), dtype=np.bool_)
    for v in range(len(price)):
        alive[v] = price[v] < np.inf
    return Box(rows.low[row], rows.high[row], rows.first[row], price, alive)


@inlined
def _half_spaces(gates, leaves, columns, leaf, rows, row):  # type: ignore[no-untyped-def]
    """The path to a leaf, seen from one row.

    Numbers count by how far they move, options by what they add to the factual's own.
    """
    begin, end = leaves.start[leaf], leaves.start[leaf + 1]
    n, now, home = gates.B.shape[1], rows.now[row], rows.home[row]
    B, need = np.empty((end - begin, n)), np.empty(end - begin)
    for i in range(end - begin):
        g, side = leaves.gate[begin + i], leaves.side[begin + i]
        for j in range(n):
            B[i, j] = side * gates.B[g, j]
        _less_own(columns, home, B[i])
        need[i] = gates.right[g] - now[g] if side > 0 else gates.left[g] + now[g]
    return HalfSpaces(B, need)


@kernel
def _less_own(columns, home, values):  # type: ignore[no-untyped-def]
    """Take the value of the factual's own option off all options of its group."""
    numbers = len(columns.up)
    for k in range(len(home)):
        own = values[numbers + columns.group[k] + home[k]]
        for v in range(numbers + columns.group[k], numbers + columns.group[k + 1]):
            values[v] -= own


@kernel
def side_bounds(gates, columns, rows, row, ahead):  # type: ignore[no-untyped-def]
    """The least that left (0) and right (1) at each gate cost, into `ahead`.

    It is the dual of the one half-space at two multipliers.
    """
    n, now, box = gates.B.shape[1], rows.now[row], _box(rows, row)
    toward, pull = np.empty(n), np.empty(n)
    for g in range(len(gates.B)):
        for right in range(2):
            side, ahead[g, right] = 2.0 * right - 1.0, 0.0
            need = gates.right[g] - now[g] if right else gates.left[g] + now[g]
            if need <= 0.0:
                continue
            for j in range(n):
                toward[j] = side * gates.B[g, j]
            start, give = _first_answer(columns, box, rows.home[row], toward)
            if start == np.inf:
                ahead[g, right] = np.inf
                continue
            for lam in (start, start + 2.0 * need / give if give > 0.0 else 2.0 * start):
                for j in range(n):
                    pull[j] = lam * toward[j]
                _less_own(columns, rows.home[row], pull)
                ahead[g, right] = max(ahead[g, right], lam * need + floors(columns, box, pull)[1])


@inlined
def _first_answer(columns, box, home, toward):  # type: ignore[no-untyped-def]
    """The multiplier of one half-space at which the first column answers.

    Also returns twice what all curved numbers give for a unit more.
    """
    numbers = len(columns.up)
    start, give = np.inf, 0.0
    for j in range(numbers):
        b = toward[j]
        rate = columns.up[j] if b > 0.0 else columns.down[j]
        if b != 0.0:
            start = min(start, rate / abs(b))
            give += b * b / columns.square[j] if columns.square[j] > 0.0 else 0.0
    for k in range(len(home)):
        own = toward[numbers + columns.group[k] + home[k]]
        for v in range(columns.group[k], columns.group[k + 1]):
            gain = toward[numbers + v] - own
            if gain > 0.0 and box.alive[v]:
                start = min(start, box.price[v] / gain)
    return start, give


@inlined
def _dearest(columns, box):  # type: ignore[no-untyped-def]
    """More than any point of the box costs: a bound above proves it empty."""
    total = 0.0
    for j in range(len(columns.up)):
        far, near = max(box.high[j], 0.0), max(-box.low[j], 0.0)
        total += max(
            columns.up[j] * far + columns.square[j] * far * far,
            columns.down[j] * near + columns.square[j] * near * near,
        )
    for k in range(len(columns.group) - 1):
        top = 0.0
        for v in range(columns.group[k], columns.group[k + 1]):
            if box.alive[v]:
                top = max(top, box.price[v])
        total += top
    return total * (1.0 + ABOVE_DEAREST) + ABOVE_DEAREST
