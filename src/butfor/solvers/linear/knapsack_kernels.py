"""Compiled loops of the knapsack solver: branch and bound over the options of each row.

A choice is one option for each feature (`pick`), and how far along it the feature goes (`far`; 0 for a single value).
A node is a box: feature j must gain more than `low[j]` and at most `high[j]`.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np

from butfor.arrays import FloatArray, IntArray
from butfor.solvers.linear.options import Options

EXACT, PRUNED = 1e-10, 1e-7
"""How well the relaxation is solved, and which node is not worth a search, as shares of 1 + cost."""

ROUNDS = 60
"""The largest number of multipliers that are tried in one node."""

OPEN_NODES = 400
"""The largest number of nodes that wait at the same time."""

SAME_POINT = 1e-9
"""Two positions on a grid are the same if they are this close, in steps."""


class Kept(NamedTuple):
    """The options of one row that are looked at: those of feature j are `option[start[j]:start[j + 1]]`."""

    start: IntArray
    option: IntArray


class Nodes(NamedTuple):
    """The nodes that wait: their boxes, their bounds, and where they are cut (feature -1: nowhere)."""

    low: FloatArray
    high: FloatArray
    bound: FloatArray
    feature: IntArray
    cut: FloatArray


class Work(NamedTuple):
    """Room for three choices, what each change saves, and which option is to stay (-1: it may not)."""

    pick: IntArray
    far: FloatArray
    saving: FloatArray
    home: IntArray


def workspace(options: Options) -> tuple[Kept, Nodes, Work]:
    """What the search of one row writes to."""
    count, d = len(options.rate), len(options.start) - 1
    kept = Kept(np.zeros(d + 1, dtype=np.intp), np.zeros(count, dtype=np.intp))
    box, cuts = np.empty((OPEN_NODES + 1, d)), np.empty(OPEN_NODES + 1)
    nodes = Nodes(box, box.copy(), cuts, np.empty(OPEN_NODES + 1, dtype=np.intp), cuts.copy())
    return kept, nodes, Work(np.zeros((3, d), dtype=np.intp), np.zeros((3, d)), np.zeros(d), np.zeros(d, dtype=np.intp))


@numba.njit(cache=True, nogil=True)
def _cost(options, row, i, u):  # type: ignore[no-untyped-def]
    return options.cost[row, i] + (options.slope[row, i] + options.curve[i] * u) * u


@numba.njit(cache=True, nogil=True)
def _gain(options, row, i, u):  # type: ignore[no-untyped-def]
    return options.gain[row, i] + options.rate[i] * u


@numba.njit(cache=True, nogil=True)
def _span(options, row, i, low, high):  # type: ignore[no-untyped-def]
    """The least and the most of option `i` that gains more than `low` and at most `high`; the least is more if none."""
    gain, length, rate, step = options.gain[row, i], options.length[row, i], options.rate[i], options.step[i]
    if length == 0.0:
        return (0.0, 0.0) if low < gain <= high else (1.0, 0.0)
    least, most = 0.0, length
    if step > 0:
        if low > -np.inf:
            least = max(0.0, step * (np.floor((low - gain) / (rate * step) + SAME_POINT) + 1))
        if high < np.inf:
            most = min(length, step * np.floor((high - gain) / (rate * step) + SAME_POINT))
    else:
        least, most = max(0.0, (low - gain) / rate), min(length, (high - gain) / rate)
    return least, most


@numba.njit(cache=True, nogil=True)
def _peak(options, row, i, least, most, share, level):  # type: ignore[no-untyped-def]
    """Where on option `i` the cost times `share`, less the gain times `level`, is smallest."""
    if most == least:
        return least
    slope = level * options.rate[i] - share * options.slope[row, i]
    curve, step = share * options.curve[i], options.step[i]
    if curve * most <= 0:
        return most if slope > 0 else least
    u = slope / (2 * curve)
    if step > 0:
        u = step * np.floor(u / step + 0.5)
    return min(most, max(least, u))


@numba.njit(cache=True, nogil=True)
def _respond(options, row, kept, low, high, share, level, most, pick, far, saving, home):  # type: ignore[no-untyped-def]
    """The choice with the smallest cost times `share`, less its gain times `level`. At most `most` features change.

    Returns whether there is one, its cost and its gain.
    """
    d, changes = len(low), 0
    for j in range(d):
        best, at, by, stays = np.inf, -1, 0.0, -1
        for e in range(kept.start[j], kept.start[j + 1]):
            i = kept.option[e]
            least, longest = _span(options, row, i, low[j], high[j])
            if longest < least:
                continue
            if i == options.start[j]:
                stays = i
                continue
            u = _peak(options, row, i, least, longest, share, level)
            value = share * _cost(options, row, i, u) - level * _gain(options, row, i, u)
            if value < best:
                best, at, by = value, i, u
        if at < 0 and stays < 0:
            return False, np.inf, 0.0
        pick[j], far[j], home[j], saving[j] = stays, 0.0, stays, 0.0
        if stays < 0 or best < 0:
            pick[j], far[j], saving[j] = at, by, (np.inf if stays < 0 else -best)
            changes += 1
    if changes > most:
        for _ in range(most):
            top = -1
            for j in range(d):
                if saving[j] > 0 and (top < 0 or saving[j] > saving[top]):
                    top = j
            saving[top] = -1.0
        for j in range(d):
            if saving[j] == np.inf:
                return False, np.inf, 0.0
            if saving[j] > 0:
                pick[j], far[j] = home[j], 0.0
    cost, gain = 0.0, 0.0
    for j in range(d):
        cost += _cost(options, row, pick[j], far[j])
        gain += _gain(options, row, pick[j], far[j])
    return True, cost, gain


@numba.njit(cache=True, nogil=True)
def _copy(work, source, to):  # type: ignore[no-untyped-def]
    """Copy one of the three choices to another."""
    for j in range(len(work.home)):
        work.pick[to, j], work.far[to, j] = work.pick[source, j], work.far[source, j]


@numba.njit(cache=True, nogil=True)
def _relax(options, row, kept, low, high, need, most, limit, work):  # type: ignore[no-untyped-def]
    """The best bound of one multiplier, and the choices on both sides of it: `work[0]` gains too little, `work[1]` enough.

    Returns the bound and the gains of both choices. The bound is concave in the level of the multiplier, so the next
    level is where the tangents from both sides meet.
    """
    pick, far = work.pick[2], work.far[2]
    share, level, line, bound = 1.0, 0.0, 0.0, -np.inf
    cost_below, gain_below, cost_above, gain_above = 0.0, 0.0, np.inf, np.inf
    for turn in range(ROUNDS):
        fine, cost, gain = _respond(
            options, row, kept, low, high, share, level, most, pick, far, work.saving, work.home
        )
        if not fine or (turn == 1 and gain < need):
            return np.inf, 0.0, 0.0
        side = 1 if gain >= need else 0
        if turn != 1:
            reached = cost + level * (need - gain) if side == 0 or turn else cost
            bound = max(bound, reached)
            if turn > 1 and (bound >= limit or reached >= line - EXACT * (1 + abs(line))):
                break
        _copy(work, 2, side)
        if side == 0:
            cost_below, gain_below = cost, gain
        else:
            cost_above, gain_above = cost, gain
            if turn == 0:
                _copy(work, 2, 0)
                gain_below = gain
                break
        if turn == 0:
            share, level = 0.0, 1.0
        else:
            share, level = 1.0, (cost_above - cost_below) / (gain_above - gain_below)
            line = cost_below + level * (need - gain_below)
    return bound, gain_below, gain_above


@numba.njit(cache=True, nogil=True)
def _complete(options, row, kept, pick, far, need, aim, most, best, best_pick, best_far):  # type: ignore[no-untyped-def]
    """The cheapest choice with enough gain that differs from `pick` in at most one feature, if it is below `best`.

    Returns its cost. Where numbers are continuous, it gains `aim`, which is a little more than it needs.
    """
    d, changes, cost, gain = len(pick), 0, 0.0, 0.0
    for j in range(d):
        changes += 0 if pick[j] == options.start[j] else 1
        cost += _cost(options, row, pick[j], far[j])
        gain += _gain(options, row, pick[j], far[j])
    if gain >= need and changes <= most and cost < best:
        best = cost
        for j in range(d):
            best_pick[j], best_far[j] = pick[j], far[j]
    found, at, by = -1, -1, 0.0
    for j in range(d):
        others = gain - _gain(options, row, pick[j], far[j])
        price = cost - _cost(options, row, pick[j], far[j])
        fixed = changes - (0 if pick[j] == options.start[j] else 1)
        for e in range(kept.start[j], kept.start[j + 1]):
            i = kept.option[e]
            if fixed + (0 if i == options.start[j] else 1) > most:
                continue
            u, rest = 0.0, need - others - options.gain[row, i]
            if rest > 0:
                rate, step = options.rate[i], options.step[i]
                if options.length[row, i] * rate < rest:
                    continue
                if step > 0:
                    u = step * np.ceil(rest / (rate * step))
                    u = u - step if rate * (u - step) >= rest else u
                else:
                    u = (aim - others - options.gain[row, i]) / rate
                u = min(u, options.length[row, i])
            whole = price + _cost(options, row, i, u)
            if whole < best:
                best, found, at, by = whole, j, i, u
    if found >= 0:
        for j in range(d):
            best_pick[j], best_far[j] = pick[j], far[j]
        best_pick[found], best_far[found] = at, by
    return best


@numba.njit(cache=True, nogil=True)
def _split(options, row, need, gain_below, gain_above, work):  # type: ignore[no-untyped-def]
    """The feature on which a node branches, and the gain at which it is cut; -1 if nothing is left to branch on.

    It is the feature that differs most between both choices of the relaxation, cut where their mixture is. A stretch of
    continuous numbers of the same option is no reason to branch.
    """
    found, widest, cut = -1, 0.0, 0.0
    mixed = (need - gain_below) / (gain_above - gain_below) if gain_above > gain_below else 0.0
    for j in range(len(work.home)):
        i, k = work.pick[0, j], work.pick[1, j]
        if i == k and options.step[i] == 0:
            continue
        a, b = _gain(options, row, i, work.far[0, j]), _gain(options, row, k, work.far[1, j])
        if abs(b - a) > widest:
            found, widest, cut = j, abs(b - a), a + mixed * (b - a)
            if not min(a, b) <= cut < max(a, b):
                cut = 0.5 * (a + b)
    return found, cut


@numba.njit(cache=True, nogil=True)
def _walk(options, row, need, gain, work):  # type: ignore[no-untyped-def]
    """A choice on the way from the one below to the one above, as far as it gains too little."""
    _copy(work, 0, 2)
    for j in range(len(work.home)):
        more = _gain(options, row, work.pick[1, j], work.far[1, j]) - _gain(
            options, row, work.pick[0, j], work.far[0, j]
        )
        if gain + more < need:
            work.pick[2, j], work.far[2, j] = work.pick[1, j], work.far[1, j]
            gain += more


@numba.njit(cache=True, nogil=True)
def _enter(options, row, kept, need, aim, most, nodes, at, best, best_pick, best_far, work):  # type: ignore[no-untyped-def]
    """Solve the relaxation of node `at`, and look for a better choice near it. Returns the cost of the best one."""
    limit = best - PRUNED * (1 + best) if best < np.inf else np.inf
    bound, gain_below, gain_above = _relax(
        options, row, kept, nodes.low[at], nodes.high[at], need, most, limit, work
    )
    nodes.bound[at] = max(nodes.bound[at], bound)
    nodes.feature[at] = -1
    if nodes.bound[at] >= limit:
        return best
    _walk(options, row, need, gain_below, work)
    for k in range(3):
        best = _complete(
            options, row, kept, work.pick[k], work.far[k], need, aim, most, best, best_pick, best_far
        )
    nodes.feature[at], nodes.cut[at] = _split(options, row, need, gain_below, gain_above, work)
    return best


@numba.njit(cache=True, nogil=True)
def _cheapest_of_row(options, row, kept, need, aim, most, effort, nodes, best_pick, best_far, work):  # type: ignore[no-untyped-def]
    """The cheapest choice of one row: its cost, a bound, and whether the search was complete."""
    nodes.bound[0] = 0.0
    for j in range(len(best_pick)):
        nodes.low[0, j], nodes.high[0, j] = -np.inf, np.inf
    best, lowest, bottom, top = np.inf, np.inf, 0, 0
    while True:
        for at in range(bottom, top + 1):
            best = _enter(options, row, kept, need, aim, most, nodes, at, best, best_pick, best_far, work)
        if top > bottom and nodes.bound[top] > nodes.bound[bottom]:
            _swap(nodes, bottom)
        while top >= 0 and (nodes.feature[top] < 0 or nodes.bound[top] >= best - PRUNED * (1 + best)):
            lowest = min(lowest, nodes.bound[top])
            top -= 1
        if top < 0:
            return best, min(lowest, best), True
        if effort <= 0 or top + 1 >= OPEN_NODES:
            for at in range(top + 1):
                lowest = min(lowest, nodes.bound[at])
            return best, min(lowest, best), False
        j, bottom = nodes.feature[top], top
        top, effort = top + 1, effort - 1
        nodes.bound[top] = nodes.bound[bottom]
        for i in range(len(best_pick)):
            nodes.low[top, i], nodes.high[top, i] = nodes.low[bottom, i], nodes.high[bottom, i]
        nodes.low[top, j] = nodes.high[bottom, j] = nodes.cut[bottom]


@numba.njit(cache=True, nogil=True)
def _swap(nodes, at):  # type: ignore[no-untyped-def]
    """Exchange two neighbours on the stack, so that the one with the lower bound comes first."""
    for j in range(nodes.low.shape[1]):
        nodes.low[at, j], nodes.low[at + 1, j] = nodes.low[at + 1, j], nodes.low[at, j]
        nodes.high[at, j], nodes.high[at + 1, j] = nodes.high[at + 1, j], nodes.high[at, j]
    nodes.bound[at], nodes.bound[at + 1] = nodes.bound[at + 1], nodes.bound[at]
    nodes.feature[at], nodes.feature[at + 1] = nodes.feature[at + 1], nodes.feature[at]
    nodes.cut[at], nodes.cut[at + 1] = nodes.cut[at + 1], nodes.cut[at]


@numba.njit(cache=True, nogil=True)
def _keep(options, row, kept):  # type: ignore[no-untyped-def]
    """List the options of a row that can be best: no other option of their feature gains as much and costs no more.

    To stay is always listed, because it is no change.
    """
    count = 0
    for j in range(len(options.start) - 1):
        kept.start[j] = count
        for i in range(options.start[j], options.start[j + 1]):
            cost, gain = options.cost[row, i], options.gain[row, i]
            fine = cost < np.inf
            judged = fine and options.length[row, i] == 0 and i > options.start[j]
            for k in range(options.start[j], options.start[j + 1] if judged else 0):
                no_worse = options.gain[row, k] >= gain and options.cost[row, k] <= cost
                equal = options.gain[row, k] == gain and options.cost[row, k] == cost
                if no_worse and (not equal or k < i):
                    fine = False
                    break
            if fine:
                kept.option[count] = i
                count += 1
        kept.start[j + 1] = count


@numba.njit(cache=True, nogil=True)
def cheapest_choices(options, kept, nodes, work, rows, need, aim, most, effort):  # type: ignore[no-untyped-def]
    """The cheapest choices of some rows whose gains sum to at least `need`, after at most `effort` branchings each.

    Returns `pick` and `far` (rows, features), `cost` and `bound` (rows; infinite: there is none) and `done` (rows):
    whether the search was complete.
    """
    n, d = len(rows), len(options.start) - 1
    pick, far = np.empty((n, d), dtype=np.intp), np.zeros((n, d))
    cost, bound, done = np.empty(n), np.empty(n), np.empty(n, dtype=np.bool_)
    for k, row in enumerate(rows):
        for j in range(d):
            pick[k, j] = options.start[j]
        _keep(options, row, kept)
        cost[k], bound[k], done[k] = _cheapest_of_row(
            options, row, kept, need[row], aim[row], most, effort, nodes, pick[k], far[k], work
        )
    return pick, far, cost, bound, done
