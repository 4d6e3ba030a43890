"""Compiled: how far the scores of a box can reach.

A box has some cells of each feature, which are `alive`. Its cheapest row takes the cheapest of them, `x`.
"""

from __future__ import annotations

import numpy as np

from butfor.compiled.kernel import kernel, part


@kernel
def least_prices(start, price):  # type: ignore[no-untyped-def]
    """The smallest price of 1, 2, 4, 8, ... consecutive cells of a feature, from each cell on (levels, cells)."""
    longest, levels = 1, 1
    for j in range(len(start) - 1):
        longest = max(longest, start[j + 1] - start[j])
    while 2**levels <= longest:
        levels += 1
    least = np.empty((levels, len(price)))
    least[0] = price
    for level in range(1, levels):
        step = 2 ** (level - 1)
        for c in range(len(price)):
            ahead = least[level - 1, c + step] if c + step < len(price) else np.inf
            least[level, c] = min(least[level - 1, c], ahead)
    return least


@kernel
def tighten(start, price, side, limit, alive, ceiling, x, spared):  # type: ignore[no-untyped-def]
    """Drop the cells that no row of a box can have below `ceiling` and within the limits.

    Writes the cheapest row into `x`, and into `spared` (limits, features) what its cells count.
    Returns its cost, or infinity if the box has no row.
    """
    limits = len(limit)
    used = np.zeros(limits)
    while True:
        cost = 0.0
        used[:] = 0.0
        for j in range(len(x)):
            at, counted = -1, np.inf
            for c in range(start[j], start[j + 1]):
                if not alive[c]:
                    continue
                counts = 0.0
                for f in range(limits):
                    counts += side[f, c]
                if at < 0 or price[c] < price[at] or (price[c] == price[at] and counts < counted):
                    at, counted = c, counts
            if at < 0:
                return np.inf
            x[j] = at
            cost += price[at]
            for f in range(limits):
                least = np.inf
                for c in range(start[j], start[j + 1]):
                    if alive[c]:
                        least = min(least, side[f, c])
                spared[f, j] = least
                used[f] += least
        if cost >= ceiling:
            return np.inf
        stable = True
        for j in range(len(x)):
            for c in range(start[j], start[j + 1]):
                if not alive[c]:
                    continue
                fits = cost - price[x[j]] + price[c] < ceiling
                for f in range(limits):
                    fits = fits and used[f] - spared[f, j] + side[f, c] <= limit[f]
                if not fits:
                    alive[c] = False
                    stable = stable and c != x[j]
        if stable:
            return cost


@kernel
def reach(leaves, ordered, start, task, least, alive, x, spared, ceiling, work):  # type: ignore[no-untyped-def]
    """Bound the scores of the rows of a box.

    Each tree gives its best leaf that some row of the box reaches below `ceiling` and within the limits, other things
    being equal. Writes into `work` the sums of these leaves, the sums of the cheapest row, and these leaves themselves.
    Returns whether the box may hold a row that reaches the goal.
    """
    price, limit, score = task.price, task.limit, task.score
    cost = 0.0
    work.room[:] = limit
    for j in range(len(x)):
        cost += price[x[j]]
        for f in range(len(limit)):
            work.room[f] -= spared[f, j]
        work.low[j] = start[j]
        while not alive[work.low[j]]:
            work.low[j] += 1
        work.high[j] = start[j + 1] - 1
        while not alive[work.high[j]]:
            work.high[j] -= 1
    work.most[:] = 0.0
    work.here[:] = 0.0
    for t in range(len(leaves.tree) - 1):
        work.best[t] = -1
        work.inside[t] = -1
        for i in range(leaves.tree[t], leaves.tree[t + 1]):
            better = False
            for s in range(score.shape[1]):
                better = better or work.best[t, s] < 0 or score[i, s] > score[work.best[t, s], s]
            if not better and work.inside[t] >= 0:
                continue
            way = _way(leaves, ordered, start, least, alive, x, spared, task, ceiling - cost, work, i)
            if way < 0:
                continue
            if way == 0:
                work.inside[t] = i
            for s in range(score.shape[1]):
                if work.best[t, s] < 0 or score[i, s] > score[work.best[t, s], s]:
                    work.best[t, s] = i
        if work.best[t, 0] < 0:
            work.most[:] = -np.inf
            return False
        for s in range(score.shape[1]):
            work.most[s] += score[work.best[t, s], s]
            work.here[s] += score[work.inside[t], s] if work.inside[t] >= 0 else -np.inf
    return (work.most >= task.goal).all()


@part
def _way(leaves, ordered, start, least, alive, x, spared, task, spare, work, i):  # type: ignore[no-untyped-def]
    """Whether leaf `i` takes the cheapest row (0), some other row of the box (1), or none (-1).

    The other rows may cost less than `spare` more than the cheapest.
    """
    price, side = task.price, task.side
    extra, way, mask = 0.0, 0, 0
    work.need[:] = 0.0
    for e in range(leaves.entry[i], leaves.entry[i + 1]):
        j = leaves.feature[e]
        more, at = np.inf, -1
        if ordered[j]:
            a, b = max(leaves.first[e] + start[j], work.low[j]), min(leaves.last[e] + start[j], work.high[j])
            if a > b:
                return -1
            if a <= x[j] <= b:
                continue
            at, level = a, 0
            while 2 ** (level + 1) <= b - a + 1:
                level += 1
            more = min(least[level, a], least[level, b + 1 - 2**level])
        else:
            mask, a, b = leaves.mask[e] - start[j], start[j], start[j + 1] - 1
            if leaves.masks[mask + x[j]]:
                continue
            for c in range(a, b + 1):
                if alive[c] and leaves.masks[mask + c] and price[c] < more:
                    at, more = c, price[c]
            if at < 0:
                return -1
        way = 1
        extra += more - price[x[j]]
        if extra >= spare:
            return -1
        for f in range(len(work.need)):
            counts = side[f, at]
            for c in range(a, b + 1):  # of a relation, a dearer cell may count less
                if f < task.counting or counts <= spared[f, j]:
                    break
                if alive[c] and (ordered[j] or leaves.masks[mask + c]):
                    counts = min(counts, side[f, c])
            work.need[f] += counts - spared[f, j]
            if work.need[f] > work.room[f]:
                return -1
    return way


@kernel
def parted(leaves, ordered, start, task, alive, x, work, far):  # type: ignore[no-untyped-def]
    """Where to part a box: writes into `far` the cells of the part without its cheapest row.

    Trees vote for the cuts between that row and their best leaves, with what they would gain. Returns the feature, or
    -1 if the box is a single row.
    """
    s = 0
    for other in range(len(task.goal)):
        if task.goal[other] - work.here[other] > task.goal[s] - work.here[s]:
            s = other
    work.vote[:] = 0.0
    best, feature, where = 0.0, -1, -1
    for t in range(len(leaves.tree) - 1):
        i, inside = work.best[t, s], work.inside[t]
        gain = task.score[i, s] - task.score[inside, s] if inside >= 0 else 1.0
        if gain <= 0.0:
            continue
        for e in range(leaves.entry[i], leaves.entry[i + 1]):
            j = leaves.feature[e]
            first, last = leaves.first[e] + start[j], leaves.last[e] + start[j]
            for c in range(start[j], start[j + 1]):
                if ordered[j]:
                    voted = (c == first and x[j] < first) or (c == last + 1 and x[j] > last)
                else:
                    mask = leaves.mask[e] - start[j]
                    voted = alive[c] and leaves.masks[mask + c] and not leaves.masks[mask + x[j]]
                if voted:
                    work.vote[c] += gain
                    if work.vote[c] > best:
                        best, feature, where = work.vote[c], j, c
    if feature < 0:  # all trees are content with the cheapest row, and yet it is no answer
        count = 1
        for j in range(len(x)):
            living = 0
            for c in range(start[j], start[j + 1]):
                living += alive[c]
            if living > count:
                count, feature = living, j
        if feature < 0:
            return -1
        where = x[feature] + 1
        if ordered[feature] and where > work.high[feature]:
            where = x[feature]
    far[:] = alive
    for c in range(start[feature], start[feature + 1]):
        if ordered[feature]:
            keep = c >= where if x[feature] < where else c < where
        elif best > 0.0:
            keep = work.vote[c] > 0.5 * best
        else:
            keep = c != x[feature]
        far[c] = alive[c] and keep
    return feature
