"""Compiled: the leaves of an oblique tree in the order of cheap lower bounds, each solved only while it may be the cheapest."""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np

from butfor.arrays import FloatArray, IntArray
from butfor.solvers.oblique.polytope import cheapest, floors

SURE, SMALL = 7e-7, 1e-7
"""How far a leaf's bound may lie below its point before the leaf is handed on: a share of the cost, and in any case."""


class Gates(NamedTuple):
    """The decisions: a row of unit norm each over the columns, what its score must reach to go right, its negative to go left."""

    B: FloatArray
    right: FloatArray
    left: FloatArray


class LeafPaths(NamedTuple):
    """Leaf i is reached through the decisions `gate[start[i]:start[i + 1]]`, +1 right and -1 left, and costs `offset[i]` more."""

    start: IntArray
    gate: IntArray
    side: FloatArray
    offset: FloatArray


@numba.njit(cache=True, nogil=True)
def nearest_leaves(gates, leaves, columns, now, low, high, first, price, home, k, most):  # type: ignore[no-untyped-def]
    """For each row: costs and points of the `k` cheapest leaves, a proven bound on the first, and whether all was settled.

    At most `most` nodes of a leaf are looked at.
    """
    rows, n = len(low), gates.B.shape[1]
    costs, points = np.full((rows, k), np.inf), np.zeros((rows, k, n))
    bounds, settled = np.full(rows, np.inf), np.ones(rows, dtype=np.bool_)
    ahead = np.empty((len(gates.B), 2))
    floor = np.empty(len(leaves.offset))
    point = np.empty(n)
    for row in range(rows):
        side_bounds(gates, columns, now[row], low[row], high[row], first[row], price[row], home[row], ahead)
        for leaf in range(len(floor)):
            floor[leaf] = 0.0
            for e in range(leaves.start[leaf], leaves.start[leaf + 1]):
                floor[leaf] = max(floor[leaf], ahead[leaves.gate[e], 1 if leaves.side[e] > 0 else 0])
            floor[leaf] += leaves.offset[leaf]
        top = _dearest(columns, low[row], high[row], price[row])
        for leaf in np.argsort(floor, kind="mergesort"):
            offset, limit = leaves.offset[leaf], costs[row, k - 1]
            if floor[leaf] >= limit:
                break
            if floor[leaf] - offset > top:
                continue
            B, need = polytope(gates, leaves, columns, leaf, now[row], home[row])
            lam = np.zeros(len(need))
            cut = min(limit - offset, top)
            bound, cost = cheapest(B, need, columns, low[row], high[row], first[row], price[row], lam, cut, most, point)
            goal = min(cost, cut)
            if bound < (goal * (1.0 - SURE) - SMALL if goal < np.inf else np.inf):
                settled[row] = False
            if bound < top or cost < np.inf:
                bounds[row] = min(bounds[row], max(bound + offset, floor[leaf]))
            if cost + offset < limit:
                at = k - 1
                while at > 0 and costs[row, at - 1] > cost + offset:
                    costs[row, at], points[row, at] = costs[row, at - 1], points[row, at - 1]
                    at -= 1
                costs[row, at], points[row, at] = cost + offset, point
        bounds[row] = min(bounds[row], costs[row, 0])
    return costs, points, bounds, settled


@numba.njit(cache=True, nogil=True)
def polytope(gates, leaves, columns, leaf, now, home):  # type: ignore[no-untyped-def]
    """B x >= need for the row of one factual: numbers by how far they move, options by what they add to the factual's own."""
    begin, end = leaves.start[leaf], leaves.start[leaf + 1]
    n, numbers = gates.B.shape[1], len(columns.up)
    B, need = np.empty((end - begin, n)), np.empty(end - begin)
    for i in range(end - begin):
        g, side = leaves.gate[begin + i], leaves.side[begin + i]
        for j in range(n):
            B[i, j] = side * gates.B[g, j]
        for k in range(len(home)):
            own = B[i, numbers + columns.group[k] + home[k]]
            for v in range(columns.group[k], columns.group[k + 1]):
                B[i, numbers + v] -= own
        need[i] = gates.right[g] - now[g] if side > 0 else gates.left[g] + now[g]
    return B, need


@numba.njit(cache=True, nogil=True)
def side_bounds(gates, columns, now, low, high, first, price, home, ahead):  # type: ignore[no-untyped-def]
    """The least that going left (0) and right (1) at each decision costs by itself: the dual at two multipliers."""
    n, numbers = gates.B.shape[1], len(columns.up)
    pull, alive = np.empty(n), np.isfinite(price)
    for g in range(len(gates.B)):
        for right in range(2):
            side, ahead[g, right] = 2.0 * right - 1.0, 0.0
            need = gates.right[g] - now[g] if right else gates.left[g] + now[g]
            if need <= 0.0:
                continue
            start, give = np.inf, 0.0
            for j in range(numbers):
                b = side * gates.B[g, j]
                rate = columns.up[j] if b > 0.0 else columns.down[j]
                if b != 0.0:
                    start = min(start, rate / abs(b))
                    give += b * b / columns.square[j] if columns.square[j] > 0.0 else 0.0
            for k in range(len(home)):
                own = gates.B[g, numbers + columns.group[k] + home[k]]
                for v in range(columns.group[k], columns.group[k + 1]):
                    gain = side * (gates.B[g, numbers + v] - own)
                    if gain > 0.0 and alive[v]:
                        start = min(start, price[v] / gain)
            if start == np.inf:
                ahead[g, right] = np.inf
                continue
            for lam in (start, start + 2.0 * need / give if give > 0.0 else 2.0 * start):
                for j in range(n):
                    pull[j] = lam * side * gates.B[g, j]
                for k in range(len(home)):
                    own = pull[numbers + columns.group[k] + home[k]]
                    for v in range(columns.group[k], columns.group[k + 1]):
                        pull[numbers + v] -= own
                ahead[g, right] = max(
                    ahead[g, right], lam * need + floors(columns, low, high, first, price, alive, pull)[1]
                )


@numba.njit(cache=True, nogil=True)
def _dearest(columns, low, high, price):  # type: ignore[no-untyped-def]
    """More than any point of the row's box can cost: a bound above it proves that there is none."""
    total = 0.0
    for j in range(len(columns.up)):
        far, near = max(high[j], 0.0), max(-low[j], 0.0)
        total += max(
            columns.up[j] * far + columns.square[j] * far * far,
            columns.down[j] * near + columns.square[j] * near * near,
        )
    for k in range(len(columns.group) - 1):
        top = 0.0
        for v in range(columns.group[k], columns.group[k + 1]):
            if price[v] < np.inf:
                top = max(top, price[v])
        total += top
    return total * (1.0 + 1e-6) + 1e-6
