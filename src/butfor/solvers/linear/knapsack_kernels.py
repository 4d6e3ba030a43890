"""Compiled loops of the knapsack solver: branch and bound over the options of each row.

An option is a row of seven numbers (`parts`), those of one feature one after the other, from `start[j]` on; the first of
them is to stay. A choice is one option of each feature (`pick`), and how far along it the feature goes (`far`). A node
is a box (2, features): feature j must gain more than `box[0, j]`, and at most `box[1, j]`.

Plain arrays are handed on instead of named ones, which would take three times as long to compile.
"""

from __future__ import annotations

import numpy as np

from butfor.arrays import BoolArray, FloatArray, IntArray
from butfor.compiled.kernel import kernel, part

GAIN, PRICE, SLOPE, CURVE, RATE, LENGTH, GRID = range(7)
"""The numbers of an option, in the order of `Options.stacked`."""

BOUND, FEATURE, CUT = range(3)
"""The numbers of a node: its bound, and the feature and the gain at which it is cut (feature -1: nowhere)."""

BELOW, ABOVE, BETWEEN = range(3)
"""The choices of a relaxation: one that gains too little, one that gains enough, and the one that is tried."""

EXACT, PRUNED = 1e-10, 1e-7
"""How well the relaxation is solved, and which node is not worth a search, as shares of 1 + cost."""

MULTIPLIERS = 60
"""The largest number of multipliers that are tried in one node."""

OPEN_NODES = 400
"""The largest number of nodes that wait at the same time."""

SAME_POINT = 1e-9
"""Two positions on a grid are the same if they are this close, in steps."""

SAME_MULTIPLE = 1e-6
"""A bound is not rounded up if it is above a multiple by no more than this share. Rounding errors are far smaller."""


@part
def _cost(parts, i, u):  # type: ignore[no-untyped-def]
    return parts[i, PRICE] + (parts[i, SLOPE] + parts[i, CURVE] * u) * u


@part
def _gain(parts, i, u):  # type: ignore[no-untyped-def]
    return parts[i, GAIN] + parts[i, RATE] * u


@part
def _span(parts, i, low, high):  # type: ignore[no-untyped-def]
    """The least and the most of option `i` that gains more than `low` and at most `high`; the least is more if none."""
    gain, length, rate, step = parts[i, GAIN], parts[i, LENGTH], parts[i, RATE], parts[i, GRID]
    if length == 0.0:
        return (0.0, 0.0) if low < gain <= high else (1.0, 0.0)
    least, most = 0.0, length
    if step == 0.0:
        return max(0.0, (low - gain) / rate), min(length, (high - gain) / rate)
    if low > -np.inf:
        least = max(0.0, step * (np.floor((low - gain) / (rate * step) + SAME_POINT) + 1))
    if high < np.inf:
        most = min(length, step * np.floor((high - gain) / (rate * step) + SAME_POINT))
    return least, most


@part
def _peak(parts, i, least, most, share, level):  # type: ignore[no-untyped-def]
    """Where on option `i` the cost times `share`, less the gain times `level`, is smallest."""
    slope = level * parts[i, RATE] - share * parts[i, SLOPE]
    curve, step = share * parts[i, CURVE], parts[i, GRID]
    if curve * most <= 0.0:
        return most if slope > 0.0 else least
    u = slope / (2 * curve)
    if step > 0.0:
        u = step * np.floor(u / step + 0.5)
    return min(most, max(least, u))


@part
def _respond(parts, start, box, share, level, most, pick, far, saving):  # type: ignore[no-untyped-def]
    """The choice with the smallest cost times `share`, less its gain times `level`. At most `most` features change.

    Returns its cost (infinite: there is none) and its gain. `saving` is what each change saves.
    """
    changes = 0
    for j in range(len(pick)):
        best, at, by, home = np.inf, -1, 0.0, start[j]
        stays = parts[home, PRICE] < np.inf and box[0, j] < parts[home, GAIN] <= box[1, j]
        for i in range(home + 1, start[j + 1]):
            least, longest = _span(parts, i, box[0, j], box[1, j])
            if least <= longest:
                u = _peak(parts, i, least, longest, share, level)
                value = share * _cost(parts, i, u) - level * _gain(parts, i, u)
                if value < best:
                    best, at, by = value, i, u
        pick[j], far[j], saving[j] = home, 0.0, 0.0
        if at >= 0 and (best < 0.0 or not stays):
            pick[j], far[j], saving[j] = at, by, (-best if stays else np.inf)
            changes += 1
        elif not stays:
            return np.inf, 0.0
    if changes > most:
        for _ in range(most):
            top = 0
            for j in range(len(pick)):
                top = j if saving[j] > saving[top] else top
            saving[top] = -1.0
        for j in range(len(pick)):
            if saving[j] == np.inf:
                return np.inf, 0.0
            if saving[j] > 0.0:
                pick[j], far[j] = start[j], 0.0
    cost, gain = 0.0, 0.0
    for j in range(len(pick)):
        cost += _cost(parts, pick[j], far[j])
        gain += _gain(parts, pick[j], far[j])
    return cost, gain


@part
def _copy(pick, far, source, to):  # type: ignore[no-untyped-def]
    """Copy one choice to the place of another."""
    for j in range(pick.shape[1]):
        pick[to, j], far[to, j] = pick[source, j], far[source, j]


@part
def _relax(parts, start, box, need, most, limit, pick, far, saving):  # type: ignore[no-untyped-def]
    """The best bound of one multiplier, and the choices on both sides of it.

    Returns the bound (at once if it reaches `limit`) and the gains of both choices. The bound is concave in the level
    of the multiplier, so the next level is where the tangents from both sides meet.
    """
    share, level, line, bound = 1.0, 0.0, 0.0, -np.inf
    cost_below, gain_below, cost_above, gain_above = 0.0, 0.0, np.inf, np.inf
    for turn in range(MULTIPLIERS):
        cost, gain = _respond(parts, start, box, share, level, most, pick[BETWEEN], far[BETWEEN], saving)
        enough = gain >= need
        if cost == np.inf or (turn == 1 and not enough):
            return np.inf, 0.0, 0.0
        if turn == 0:
            bound = cost
        elif turn > 1:
            reached = cost + level * (need - gain)
            bound = max(bound, reached)
            if bound >= limit or reached >= line - EXACT * (1 + abs(line)):
                break
        if enough:
            cost_above, gain_above = cost, gain
            _copy(pick, far, BETWEEN, ABOVE)
        if turn == 0 or not enough:
            cost_below, gain_below = cost, gain
            _copy(pick, far, BETWEEN, BELOW)
        if turn == 0 and enough:
            break
        share, level = (0.0, 1.0) if turn == 0 else (1.0, (cost_above - cost_below) / (gain_above - gain_below))
        line = cost_below + level * (need - gain_below)
    return bound, gain_below, gain_above


@part
def _complete(parts, start, root, pick, far, need, aim, most, best, best_pick, best_far):  # type: ignore[no-untyped-def]
    """The cheapest choice with enough gain that differs from `pick` in at most one feature, if it is below `best`.

    Returns its cost. Where numbers are continuous, it gains `aim`, which is a little more than it needs.
    """
    changes, cost, gain = 0, 0.0, 0.0
    for j in range(len(pick)):
        changes += 1 if pick[j] > start[j] else 0
        cost += _cost(parts, pick[j], far[j])
        gain += _gain(parts, pick[j], far[j])
    same = gain >= need and changes <= most and cost < best
    best, found, at, by = (cost if same else best), -1, -1, 0.0
    for j in range(len(pick)):
        others = gain - _gain(parts, pick[j], far[j])
        price = cost - _cost(parts, pick[j], far[j])
        fixed = changes - (1 if pick[j] > start[j] else 0)
        for i in range(start[j], start[j + 1]):
            u, longest = _span(parts, i, root[0, j], root[1, j])
            rest, rate, step = need - others - parts[i, GAIN], parts[i, RATE], parts[i, GRID]
            if fixed + (1 if i > start[j] else 0) > most or longest < u or longest * rate < rest:
                continue
            if rest > u * rate:
                u = (aim - others - parts[i, GAIN]) / rate
                if step > 0.0:
                    u = step * np.ceil(rest / (rate * step))
                    u = u - step if rate * (u - step) >= rest else u
                u = min(u, longest)
            whole = price + _cost(parts, i, u)
            if whole < best:
                best, found, at, by = whole, j, i, u
    if same or found >= 0:
        for j in range(len(pick)):
            best_pick[j], best_far[j] = (at, by) if j == found else (pick[j], far[j])
    return best


@part
def _walk(parts, need, gain, pick, far):  # type: ignore[no-untyped-def]
    """Go from the choice below to the one above, feature by feature, as far as the gain is still too little."""
    for j in range(pick.shape[1]):
        to = BELOW
        more = _gain(parts, pick[ABOVE, j], far[ABOVE, j]) - _gain(parts, pick[BELOW, j], far[BELOW, j])
        if gain + more < need:
            gain, to = gain + more, ABOVE
        pick[BETWEEN, j], far[BETWEEN, j] = pick[to, j], far[to, j]


@part
def _split(parts, mixed, pick, far):  # type: ignore[no-untyped-def]
    """The feature on which a node branches, and the gain at which it is cut; -1 if nothing is left to branch on.

    It is the feature that differs most between both choices of the relaxation, cut where their mixture is. A stretch of
    continuous numbers of the same option is no reason to branch.
    """
    found, widest, cut = -1, 0.0, 0.0
    for j in range(pick.shape[1]):
        i, k = pick[BELOW, j], pick[ABOVE, j]
        a, b = _gain(parts, i, far[BELOW, j]), _gain(parts, k, far[ABOVE, j])
        if abs(b - a) > widest and (i != k or parts[i, GRID] > 0.0):
            found, widest, cut = j, abs(b - a), a + mixed * (b - a)
            if not min(a, b) <= cut < max(a, b):
                cut = 0.5 * (a + b)
    return found, cut


@part
def _search(parts, start, root, need, aim, most, quantum, effort, boxes, marks, best_pick, best_far, pick, far, saving):  # type: ignore[no-untyped-def]
    """The cheapest choice of one row: its cost, a bound, and whether the search was complete.

    It is depth first. The nodes from `bottom` to `top` are new. Every cost is a multiple of `quantum` (0: of nothing).
    """
    best, lowest, bottom, top = np.inf, np.inf, 0, 0
    while True:
        for at in range(bottom, top + 1):
            limit = best - PRUNED * (1 + best) if best < np.inf else np.inf
            bound, below, above = _relax(parts, start, boxes[at], need, most, limit, pick, far, saving)
            bound = quantum * np.ceil(bound / quantum - SAME_MULTIPLE) if quantum > 0.0 else bound
            marks[at, BOUND], marks[at, FEATURE] = max(marks[at, BOUND], bound), -1.0
            if marks[at, BOUND] >= limit:
                continue
            _walk(parts, need, below, pick, far)
            for k in range(3):
                best = _complete(parts, start, root, pick[k], far[k], need, aim, most, best, best_pick, best_far)
            mixed = (need - below) / (above - below) if above > below else 0.0
            marks[at, FEATURE], marks[at, CUT] = _split(parts, mixed, pick, far)
        if top > bottom and marks[top, BOUND] > marks[bottom, BOUND]:
            for i in range(3):
                marks[top, i], marks[bottom, i] = marks[bottom, i], marks[top, i]
            for side in range(2):
                for i in range(len(best_pick)):
                    boxes[top, side, i], boxes[bottom, side, i] = boxes[bottom, side, i], boxes[top, side, i]
        while top >= 0 and (marks[top, FEATURE] < 0 or marks[top, BOUND] >= best - PRUNED * (1 + best)):
            lowest = min(lowest, marks[top, BOUND])
            top -= 1
        if top < 0:
            return best, min(lowest, best), True
        if effort <= 0 or top + 1 >= OPEN_NODES:
            for at in range(top + 1):
                lowest = min(lowest, marks[at, BOUND])
            return best, min(lowest, best), False
        j, bottom = int(marks[top, FEATURE]), top
        top, effort = top + 1, effort - 1
        marks[top, BOUND] = marks[bottom, BOUND]
        for side in range(2):
            for i in range(len(best_pick)):
                boxes[top, side, i] = boxes[bottom, side, i]
        boxes[bottom, 1, j] = boxes[top, 0, j] = marks[bottom, CUT]


@part
def _keep(table, order, every, parts, start, option):  # type: ignore[no-untyped-def]
    """List those options of a row that can be best: no other one of their feature gains as much and costs no more.

    To stay is always listed, because it is no change, and so are numbers that go on. Until `option` lists an option, it
    says at its place whether it is one of those.
    """
    count = 0
    for j in range(len(every) - 1):
        start[j], at, least = count, every[j + 1], np.inf
        while at > every[j]:  # those that gain equally much, the most first
            to, at, cheapest = at, at - 1, -1
            while at > every[j] and table[order[at - 1], GAIN] == table[order[at], GAIN]:
                at -= 1
            for k in range(at, to):
                option[order[k]] = 0
                if table[order[k], PRICE] < least:
                    least, cheapest = table[order[k], PRICE], order[k]
            if cheapest >= 0:
                option[cheapest] = 1
        for i in range(every[j], every[j + 1]):
            goes_on = table[i, LENGTH] > 0.0 and table[i, PRICE] < np.inf
            if i == every[j] or goes_on or option[i] == 1:
                option[count] = i
                for part in range(7):
                    parts[count, part] = table[i, part]
                count += 1
    start[len(every) - 1] = count


Choices = tuple[IntArray, FloatArray, FloatArray, FloatArray, BoolArray]


def cheapest_choices(
    tables: FloatArray,
    every: IntArray,
    roots: FloatArray,
    need: FloatArray,
    aim: FloatArray,
    most: int,
    quantum: float,
    effort: int,
) -> Choices:
    """The cheapest choices of n rows whose gains sum to at least `need`, after at most `effort` branchings each.

    - `tables` (n, options, 7): the options of each row; `every` (features + 1): where those of each feature begin;
    - `roots` (n, 2, features): the box of each row;
    - `quantum`: every cost is a multiple of it (0: of nothing).

    Returns `chosen` and `along` (n, features), `cost` and `bound` (n; infinite: there is none) and `done` (n): whether
    the search was complete.
    """
    gain = tables[:, :, GAIN]
    feature = np.repeat(np.arange(len(every) - 1), np.diff(every))
    order = np.lexsort((gain, np.broadcast_to(feature, gain.shape)))
    found: Choices = _cheapest_choices(tables, order, every, roots, need, aim, most, quantum, effort)
    return found


@kernel
def _cheapest_choices(tables, order, every, roots, need, aim, most, quantum, effort):  # type: ignore[no-untyped-def]
    """See `cheapest_choices`. `order` (n, options): those of each feature by their gain, the first of equal ones first."""
    n, m, d = len(tables), tables.shape[1], len(every) - 1
    chosen, along = np.empty((n, d), dtype=np.intp), np.zeros((n, d))
    cost, bound, done = np.empty(n), np.empty(n), np.empty(n, dtype=np.bool_)
    parts, start, option = np.empty((m, 7)), np.empty(d + 1, dtype=np.intp), np.empty(m, dtype=np.intp)
    boxes, marks = np.empty((OPEN_NODES + 1, 2, d)), np.zeros((OPEN_NODES + 1, 3))
    pick, far, saving = np.zeros((3, d), dtype=np.intp), np.zeros((3, d)), np.zeros(d)
    for row in range(n):
        _keep(tables[row], order[row], every, parts, start, option)
        for j in range(d):
            boxes[0, 0, j], boxes[0, 1, j], chosen[row, j] = roots[row, 0, j], roots[row, 1, j], start[j]
        marks[0, BOUND] = 0.0
        cost[row], bound[row], done[row] = _search(
            parts,
            start,
            roots[row],
            need[row],
            aim[row],
            most,
            quantum,
            effort,
            boxes,
            marks,
            chosen[row],
            along[row],
            pick,
            far,
            saving,
        )
        for j in range(d):
            chosen[row, j] = option[chosen[row, j]]
    return chosen, along, cost, bound, done
