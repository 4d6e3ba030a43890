"""Compiled: bounds for an ensemble within reach of one row.

Dual decomposition: trees and features each choose for themselves, and messages `m` (one a block of a pair) make them agree:
`min_x cost(x) >= rate goal + sum_j min_c [price_j(c) - sum_q m_q(c)] + sum_t min_l [-rate score(l) + sum_q min_b m_q(b)]`
for any messages and any `rate >= 0`. The messages of one feature are improved at a time, which never lowers the bound:
its trees hand over what each cell costs them at least, and get an equal share of the sum back (block coordinate ascent on
the local polytope, as in Kolmogorov, IEEE PAMI 37, 2015). Written with plain loops: they compile in a third of the time.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np

from butfor.arrays import BoolArray, FloatArray, IntArray

AGREED = 1e-12
"""A tree that would save less than this by another block is content with the one that the feature chose."""


class Task(NamedTuple):
    """What is asked over a reduced ensemble: the scores of its leaves must sum to at least `goal`; what the cells cost;

    `side`, summed over the cells taken, is at most `limit` (changes that are counted).
    """

    score: FloatArray
    goal: FloatArray
    price: FloatArray
    side: FloatArray
    limit: FloatArray


class Multipliers(NamedTuple):
    """What the bound is made with: messages of blocks, a rate for each score, a toll for each limit."""

    message: FloatArray
    rate: FloatArray
    toll: FloatArray


class Work(NamedTuple):
    """Arrays that one node after the other is worked in; `alive` says which cells it has, `x` which each feature chose."""

    alive: BoolArray
    x: IntArray
    potential: FloatArray
    vote: FloatArray
    dead: BoolArray
    entry_min: FloatArray
    rest: FloatArray
    cost: FloatArray
    feature_min: FloatArray
    marginal: FloatArray
    base: FloatArray
    table: FloatArray


@numba.njit(cache=True, nogil=True)
def _smallest(message, dead, member, low, high):  # type: ignore[no-untyped-def]
    """The smallest message of the living blocks of an entry."""
    found = np.inf
    for p in range(low, high):
        b = member[p]
        if not dead[b] and message[b] < found:
            found = message[b]
    return found


@numba.njit(cache=True, nogil=True)
def _set_dead(dead, alive, begin, end, listed, first, last):  # type: ignore[no-untyped-def]
    """Blocks of which no cell is alive; whether one is left."""
    left = False
    for b in range(first, last):
        dead[b] = True
        for p in range(begin[b], end[b]):
            if alive[listed[p]]:
                dead[b] = False
                left = True
                break
    return left


@numba.njit(cache=True, nogil=True)
def _shift_to_zero(message, dead, first, last):  # type: ignore[no-untyped-def]
    """Make the smallest living message of a pair 0, and return what it was."""
    low = np.inf
    for b in range(first, last):
        if not dead[b] and message[b] < low:
            low = message[b]
    for b in range(first, last):
        message[b] -= low
    return low


@numba.njit(cache=True, nogil=True)
def potential_of(out, base, message, ordered, pairs, block, begin, end, listed, first, last):  # type: ignore[no-untyped-def]
    """What each cell `first` to `last` of a feature costs it (`base`), its messages to trees taken off."""
    for c in range(first, last + 1):
        out[c] = 0.0
    if ordered:
        for q in pairs:
            before = 0.0
            for b in range(block[q], block[q + 1]):
                out[begin[b]] -= message[b] - before
                before = message[b]
        run = 0.0
        for c in range(first, last):
            run += out[c]
            out[c] = base[c] + run
    else:
        for c in range(first, last):
            out[c] = base[c]
        for q in pairs:
            for b in range(block[q], block[q + 1]):
                for p in range(begin[b], end[b]):
                    out[listed[p]] -= message[b]


@numba.njit(cache=True, nogil=True)
def _base(task, state, w):  # type: ignore[no-untyped-def]
    """Prices and tolls of the cells."""
    for c in range(len(task.price)):
        w.base[c] = task.price[c]
        for f in range(len(task.limit)):
            w.base[c] += state.toll[f] * task.side[f, c]


@numba.njit(cache=True, nogil=True)
def _refresh(r, task, state, w, load):  # type: ignore[no-untyped-def]
    """All costs from the messages, the multipliers and (`load`) the living cells; the bound, infinite if a tree is dead."""
    score, rate, message, dead, alive = task.score, state.rate, state.message, w.dead, w.alive
    entry, low, high, member, entry_min = r.entry, r.low, r.high, r.member, w.entry_min
    cost, tree, potential, cell = w.cost, r.tree, w.potential, r.cell
    begin, end, listed, block = r.begin, r.end, r.listed, r.block
    rows = len(rate)
    bound = 0.0
    for s in range(rows):
        bound += rate[s] * task.goal[s]
    for f in range(len(task.limit)):
        bound -= state.toll[f] * task.limit[f]
    if load:
        for q in range(len(r.pair_tree)):
            if not _set_dead(dead, alive, begin, end, listed, block[q], block[q + 1]):
                return np.inf
            _shift_to_zero(message, dead, block[q], block[q + 1])
    for t in range(len(tree) - 1):
        least = np.inf
        for i in range(tree[t], tree[t + 1]):
            if not load and cost[i] == np.inf:
                continue
            total = 0.0
            for s in range(rows):
                total -= rate[s] * score[i, s]
            for e in range(entry[i], entry[i + 1]):
                if load:
                    entry_min[e] = _smallest(message, dead, member, low[e], high[e])
                total += entry_min[e]
            cost[i] = total
            least = min(least, total)
        bound += least
    _base(task, state, w)
    for j in range(len(cell) - 1):
        pairs = r.pairs[r.by[j] : r.by[j + 1]]
        potential_of(potential, w.base, message, r.ordered[j], pairs, block, begin, end, listed, cell[j], cell[j + 1])
        least = np.inf
        for c in range(cell[j], cell[j + 1]):
            if alive[c] and potential[c] < least:
                least = potential[c]
        w.feature_min[j] = least
        bound += least
    return bound


@numba.njit(cache=True, nogil=True)
def _collect(  # type: ignore[no-untyped-def]
    message, dead, marginal, cost, entry_min, rest, owner, users, low, high, member, first, last, leaf, end
):
    """What each block `first` to `last` of a pair costs its tree beyond its cheapest; handed over to the feature.

    `users` are the entries of the pair, whose leaves get their cost back later: what is `rest` and what the entry costs then;
    `leaf` to `end` are the leaves of the tree. False if no leaf is left.
    """
    for b in range(first, last):
        marginal[b] = np.inf
    for e in users:
        i = owner[e]
        if cost[i] < np.inf:
            rest[e] = cost[i] - entry_min[e]
            cost[i] = np.inf
            for p in range(low[e], high[e]):
                b = member[p]
                marginal[b] = min(marginal[b], rest[e])
        else:
            rest[e] = np.inf
    absent = np.inf
    for i in range(leaf, end):
        absent = min(absent, cost[i])
    least = np.inf
    for b in range(first, last):
        marginal[b] = np.inf if dead[b] else min(marginal[b], absent) + message[b]
        least = min(least, marginal[b])
    if least == np.inf:
        return False
    for b in range(first, last):
        if marginal[b] < np.inf:
            marginal[b] -= least
            message[b] -= marginal[b]
    return True


@numba.njit(cache=True, nogil=True)
def _give_back(  # type: ignore[no-untyped-def]
    message, dead, cost, entry_min, rest, owner, users, low, high, member
):
    """The costs of the leaves that ask for a pair whose messages have changed."""
    for e in users:
        if rest[e] < np.inf:
            now = _smallest(message, dead, member, low[e], high[e])
            if now < np.inf:
                entry_min[e] = now
                cost[owner[e]] = rest[e] + now


@numba.njit(cache=True, nogil=True)
def _table_of_minima(table, potential, alive, first, last):  # type: ignore[no-untyped-def]
    """`table[k, c]`: the smallest potential of the living cells `c` to `c + 2**k - 1`."""
    for c in range(first, last):
        table[0, c] = potential[c] if alive[c] else np.inf
    k, width = 1, 2
    while width <= last - first:
        for c in range(first, last - width + 1):
            table[k, c] = min(table[k - 1, c], table[k - 1, c + width // 2])
        k, width = k + 1, 2 * width


@numba.njit(cache=True, nogil=True)
def _range_minimum(table, first, last):  # type: ignore[no-untyped-def]
    k, width = 0, 1
    while 2 * width <= last - first:
        k, width = k + 1, 2 * width
    return min(table[k, first], table[k, last - width])


@numba.njit(cache=True, nogil=True)
def _sweep(r, task, state, w, bound, upper, backward):  # type: ignore[no-untyped-def]
    """Improve the messages of every feature once, drop cells that cannot be in a better row; the bound (inf: none is)."""
    message, dead, alive, marginal, potential = state.message, w.dead, w.alive, w.marginal, w.potential
    cost, entry_min, rest, base, table = w.cost, w.entry_min, w.rest, w.base, w.table
    owner, used, users, low, high, member = r.owner, r.used, r.users, r.low, r.high, r.member
    block, begin, end, listed, tree, pair_tree = r.block, r.begin, r.end, r.listed, r.tree, r.pair_tree
    d = len(r.cell) - 1
    for step in range(d):
        j = d - 1 - step if backward else step
        first, last, ordered = r.cell[j], r.cell[j + 1], r.ordered[j]
        pairs = r.pairs[r.by[j] : r.by[j + 1]]
        lost = False
        for q in pairs:
            t = pair_tree[q]
            fine = _collect(
                message, dead, marginal, cost, entry_min, rest, owner, users[used[q] : used[q + 1]], low, high, member,
                block[q], block[q + 1], tree[t], tree[t + 1],
            )  # fmt: skip
            if not fine:
                return np.inf
            for b in range(block[q], block[q + 1]):
                if not dead[b] and marginal[b] == np.inf:  # its tree has no leaf for it
                    lost = True
                    for p in range(begin[b], end[b]):
                        alive[listed[p]] = False
        potential_of(potential, base, message, ordered, pairs, block, begin, end, listed, first, last)
        least, at = np.inf, -1
        for c in range(first, last):
            if alive[c] and potential[c] < least:
                least, at = potential[c], c
        if at < 0:
            return np.inf
        bound += least - w.feature_min[j]
        if bound >= upper:
            return np.inf
        w.x[j], w.feature_min[j] = at, least
        for c in range(first, last):
            if alive[c] and bound - least + potential[c] >= upper:
                alive[c] = False
                lost = True
        _vote(w.vote, marginal, ordered, pairs, block, begin, end, listed, at, first, last)
        if ordered:
            _table_of_minima(table, potential, alive, first, last)
        share = 1.0 / max(1, len(pairs))
        for q in pairs:
            if lost:
                _set_dead(dead, alive, begin, end, listed, block[q], block[q + 1])
            for b in range(block[q], block[q + 1]):
                if dead[b]:
                    continue
                value = np.inf
                if ordered:
                    value = _range_minimum(table, begin[b], end[b])
                else:
                    for p in range(begin[b], end[b]):
                        if alive[listed[p]]:
                            value = min(value, potential[listed[p]])
                message[b] += share * (value - least)
            w.feature_min[j] += _shift_to_zero(message, dead, block[q], block[q + 1])
            _give_back(message, dead, cost, entry_min, rest, owner, users[used[q] : used[q + 1]], low, high, member)
    return bound


@numba.njit(cache=True, nogil=True)
def _vote(vote, marginal, ordered, pairs, block, begin, end, listed, x, first, last):  # type: ignore[no-untyped-def]
    """Trees that would rather have a feature elsewhere vote for the cut (or the level) between, by how much they would."""
    for c in range(first, last + 1):
        vote[c] = 0.0
    for q in pairs:
        here = -1
        for b in range(block[q], block[q + 1]):
            if ordered:
                if begin[b] <= x and x < end[b]:
                    here = b
                    break
            else:
                for p in range(begin[b], end[b]):
                    if listed[p] == x:
                        here = b
        gap = marginal[here]
        if gap < AGREED:
            continue
        if not ordered:
            vote[x] += gap
            continue
        for away in range(1, block[q + 1] - block[q]):
            up, down = here + away, here - away
            if up < block[q + 1] and marginal[up] < AGREED:
                vote[begin[up]] += gap
                break
            if down >= block[q] and marginal[down] < AGREED:
                vote[end[down]] += gap
                break


@numba.njit(cache=True, nogil=True)
def _slack(r, task, w, out):  # type: ignore[no-untyped-def]
    """How far the leaves that the trees choose for themselves are from the goal, into `out`."""
    tree, cost, score = r.tree, w.cost, task.score
    for s in range(len(out)):
        out[s] = task.goal[s]
    for t in range(len(tree) - 1):
        least, at = np.inf, -1
        for i in range(tree[t], tree[t + 1]):
            if cost[i] < least:
                least, at = cost[i], i
        for s in range(len(out)):
            out[s] -= score[at, s]


@numba.njit(cache=True, nogil=True)
def ascend(r, task, state, w, upper, size, rounds, step, gain):  # type: ignore[no-untyped-def]
    """Raise the bound in up to `rounds` sweeps; the best bound found, infinite if no row below `upper` is left.

    Rates change by a share `size` of their size (kept for the next call), which shrinks where they turn back, and is at most
    `step`. It ends when three sweeps in a row raise the bound by less than a share `gain` of what is missing.
    """
    rows = len(task.goal)
    miss, before = np.zeros(rows), np.zeros(rows)
    bound = _refresh(r, task, state, w, True)
    best, idle = bound, 0
    for k in range(rounds):
        bound = _sweep(r, task, state, w, bound, upper, k % 2 == 1)
        if bound == np.inf:
            return np.inf
        idle = 0 if bound > best + gain * min(upper - best, 1e9) else idle + 1
        best = max(best, bound)
        if idle == 3 or k == rounds - 1:
            break
        _slack(r, task, w, miss)
        most = 0.0
        for s in range(rows):
            most = max(most, state.rate[s])
        for s in range(rows):
            if before[s] * miss[s] < 0:
                size[s] *= 0.5
            elif before[s] * miss[s] > 0:
                size[s] = min(1.2 * size[s], step)
            before[s] = miss[s]
            change = size[s] * max(state.rate[s], 0.05 * most)
            state.rate[s] = max(0.0, state.rate[s] + (change if miss[s] > 0 else -change))
        for f in range(len(task.limit)):
            used = 0.0
            for j in range(len(w.x)):
                used += task.side[f, w.x[j]]
            change = 0.3 * step * (used - task.limit[f]) * min(upper, 1e9) / (1.0 + task.limit[f])
            state.toll[f] = max(0.0, state.toll[f] + change)
        bound = _refresh(r, task, state, w, False)
        best = max(best, bound)
        if best >= upper:
            return np.inf
    return best


@numba.njit(cache=True, nogil=True)
def branching(r, w):  # type: ignore[no-untyped-def]
    """Where to branch after a sweep: a feature, and the cut (or, not ordered, the cell) to part its cells at.

    The one that most is voted for and that costs the feature most; feature -1 if every feature has a single cell left.
    """
    alive, potential, vote = w.alive, w.potential, w.vote
    best, feature, where = -1.0, -1, -1
    for j in range(len(r.cell) - 1):
        x, first, last = w.x[j], r.cell[j], r.cell[j + 1]
        beyond = np.inf
        if not r.ordered[j]:
            for c in range(first, last):
                if alive[c] and c != x:
                    beyond = min(beyond, potential[c] - potential[x])
            worth = (vote[x] + 1e-9) * (beyond + 1e-6)
            if beyond < np.inf and worth > best:
                best, feature, where = worth, j, x
            continue
        for c in range(last - 1, x, -1):
            if alive[c]:
                beyond = min(beyond, potential[c] - potential[x])
            worth = (vote[c] + 1e-9) * (beyond + 1e-6)
            if beyond < np.inf and worth > best:
                best, feature, where = worth, j, c
        beyond = np.inf
        for c in range(first, x):
            if alive[c]:
                beyond = min(beyond, potential[c] - potential[x])
            worth = (vote[c + 1] + 1e-9) * (beyond + 1e-6)
            if beyond < np.inf and worth > best:
                best, feature, where = worth, j, c + 1
    return feature, where
