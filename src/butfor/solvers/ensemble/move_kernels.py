"""Compiled: local search for a row of an ensemble, by moves of one feature at a time."""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np

from butfor.arrays import FloatArray, IntArray
from butfor.solvers.ensemble.bound_kernels import potential_of

BARRED = -1e9
"""The score of a row that no leaf of a tree takes (margins leave gaps between leaves)."""


class MoveWork(NamedTuple):
    """Arrays that moves are weighed in: the `total` of each score, and what each move to a cell would take from it."""

    total: FloatArray
    moves: FloatArray
    gain: FloatArray
    zero: FloatArray
    at_block: IntArray
    hits: IntArray


@numba.njit(cache=True, nogil=True)
def _locate(begin, end, listed, ordered, first, last, c):  # type: ignore[no-untyped-def]
    """The one of the blocks `first` to `last` that holds cell `c`."""
    for b in range(first, last):
        if ordered:
            if c < end[b]:
                return b
        else:
            for p in range(begin[b], end[b]):
                if listed[p] == c:
                    return b
    return -1


@numba.njit(cache=True, nogil=True)
def _fits(here, member, low, high):  # type: ignore[no-untyped-def]
    """Whether block `here` is among the members (sorted)."""
    if here < member[low] or here > member[high - 1]:
        return False
    if member[high - 1] - member[low] == high - 1 - low:
        return True
    found = False
    for p in range(low, high):
        found = found or member[p] == here
    return found


@numba.njit(cache=True, nogil=True)
def _neighbourhood(r, task, m, x):  # type: ignore[no-untyped-def]
    """The scores of row `x` (into `m.total`) and what each single move would take from them (into `m.moves`)."""
    score, gain, moves, total, hits, at_block = task.score, m.gain, m.moves, m.total, m.hits, m.at_block
    tree, entry, pair, low, high, member = r.tree, r.entry, r.pair, r.low, r.high, r.member
    block, begin, end, listed, pair_feature = r.block, r.begin, r.end, r.listed, r.pair_feature
    rows, d = len(task.goal), len(r.cell) - 1
    for s in range(rows):
        total[s] = 0.0
        for b in range(len(gain[s])):
            gain[s, b] = 0.0
    for q in range(len(pair_feature)):
        j = pair_feature[q]
        at_block[q] = _locate(begin, end, listed, r.ordered[j], block[q], block[q + 1], x[j])
    for t in range(len(tree) - 1):
        inside, n = -1, 0
        for i in range(tree[t], tree[t + 1]):
            wrong, at = 0, -1
            for e in range(entry[i], entry[i + 1]):
                if not _fits(at_block[pair[e]], member, low[e], high[e]):
                    wrong += 1
                    at = e
                    if wrong > 1:
                        break
            if wrong == 0:
                inside = i
            elif wrong == 1:
                hits[n, 0], hits[n, 1] = i, at
                n += 1
        for s in range(rows):
            here = score[inside, s] if inside >= 0 else BARRED
            total[s] += here
            for k in range(n):
                e = hits[k, 1]
                for p in range(low[e], high[e]):
                    gain[s, member[p]] = score[hits[k, 0], s] - here
    for s in range(rows):
        for j in range(d):
            first, last = r.cell[j], r.cell[j + 1]
            pairs = r.pairs[r.by[j] : r.by[j + 1]]
            potential_of(moves[s], m.zero, gain[s], r.ordered[j], pairs, block, begin, end, listed, first, last)


@numba.njit(cache=True, nogil=True)
def _lack(goal, total, moves, c):  # type: ignore[no-untyped-def]
    """How much is missing from the goal after a move (`c` < 0: as it is)."""
    lack = 0.0
    for s in range(len(goal)):
        value = total[s] - (moves[s, c] if c >= 0 else 0.0)
        lack += max(0.0, goal[s] - value)
    return lack


@numba.njit(cache=True, nogil=True)
def improve(r, task, alive, m, x, held, ceiling):  # type: ignore[no-untyped-def]
    """Single moves from row `x`, changed in place: first the cheapest ways into the goal, then every saving within it.

    Feature `held` stays, every other takes a cell that is `alive`. The cost, infinite if the goal was not reached below
    `ceiling`.
    """
    price, side, limit, cell = task.price, task.side, task.limit, r.cell
    goal, total, moves = task.goal, m.total, m.moves
    d = len(cell) - 1
    used = np.zeros(len(limit))
    cost = 0.0
    for j in range(d):
        cost += price[x[j]]
        for f in range(len(used)):
            used[f] += side[f, x[j]]
    for f in range(len(used)):
        if used[f] > limit[f]:
            return np.inf
    for _ in range(8 * d + 20):
        _neighbourhood(r, task, m, x)
        lack = _lack(goal, total, moves, -1)
        if lack > 0.0 and cost >= ceiling:
            return np.inf
        best, move, of = 0.0, -1, -1
        for j in range(d):
            if j == held:
                continue
            for c in range(cell[j], cell[j + 1]):
                more = price[c] - price[x[j]]
                if c == x[j] or not alive[c] or (lack == 0.0 and more >= -1e-12):
                    continue
                fits = True
                for f in range(len(used)):
                    fits = fits and used[f] - side[f, x[j]] + side[f, c] <= limit[f]
                if not fits:
                    continue
                after = _lack(goal, total, moves, c)
                if lack == 0.0:
                    worth = -more if after == 0.0 else 0.0
                else:
                    worth = (lack - after) / max(more, 1e-6 * (1.0 + cost)) if after < lack else 0.0
                if worth > best:
                    best, move, of = worth, c, j
        if move < 0:
            return cost if lack == 0.0 else np.inf
        cost += price[move] - price[x[of]]
        for f in range(len(used)):
            used[f] += side[f, move] - side[f, x[of]]
        x[of] = move
    _neighbourhood(r, task, m, x)
    return cost if _lack(goal, total, moves, -1) == 0.0 else np.inf
