"""Compiled: local search for a row of an ensemble, one feature at a time.

A row `x` is the cell of each feature. A move gives one feature another cell.
"""

from __future__ import annotations

import numpy as np

from butfor.compiled.kernel import kernel, part
from butfor.solvers.ensemble.block_kernels import block_of
from butfor.solvers.ensemble.message_kernels import potential_of

NO_LEAF_SCORE = -1e9
"""What a tree adds to a score if no leaf takes the row; margins leave gaps between leaves."""


@kernel
def improve(reduced, task, alive, work, x, held, ceiling):  # type: ignore[no-untyped-def]
    """Change a row by single moves; returns its cost.

    First come the cheapest ways into the goal, and then every saving within it.
    Feature `held` stays, and every other one takes a cell that is `alive`.
    The cost is infinite if the goal was not reached below `ceiling`.
    """
    price, side, limit = task.price, task.side, task.limit
    used = np.zeros(len(limit))
    cost = 0.0
    for j in range(len(x)):
        cost += price[x[j]]
        for f in range(len(used)):
            used[f] += side[f, x[j]]
    for f in range(len(used)):
        if used[f] > limit[f]:
            return np.inf
    _locate(reduced, work, x)
    for _ in range(8 * len(x) + 20):
        _neighbourhood(reduced, task.score, work, x)
        lack = _lack(task.goal, work.total)
        if lack > 0.0 and cost >= ceiling:
            return np.inf
        j, c = _best_move(reduced.cells.start, task, alive, work.total, work.moves, x, held, used, cost, lack)
        if j < 0:
            return cost if lack == 0.0 else np.inf
        cost += price[c] - price[x[j]]
        for f in range(len(used)):
            used[f] += side[f, c] - side[f, x[j]]
        x[j] = c
        _move(reduced, work, j, c)
    _neighbourhood(reduced, task.score, work, x)
    return cost if _lack(task.goal, work.total) == 0.0 else np.inf


@part
def _locate(reduced, work, x):  # type: ignore[no-untyped-def]
    """Write into `work` where a row is: the block of each pair, and what each leaf misses."""
    feature, block_start, use = reduced.pairs.feature, reduced.pairs.block_start, reduced.pairs.entries.start
    uses, member = work.uses, reduced.entries.blocks.items
    for i in range(len(work.misses)):
        work.misses[i], work.missed[i] = 0, 0
    for q in range(len(feature)):
        j = feature[q]
        here = block_of(reduced.blocks, reduced.cells.ordered[j], block_start[q], block_start[q + 1], x[j])
        work.at_block[q] = here
        for u in range(use[q], use[q + 1]):
            work.fits[u] = _fits(here, member, uses.low[u], uses.high[u])
            if not work.fits[u]:
                work.misses[uses.leaf[u]] += 1
                work.missed[uses.leaf[u]] += u
    for t in range(len(work.stale)):
        work.stale[t] = True


@part
def _move(reduced, work, j, c):  # type: ignore[no-untyped-def]
    """Write into `work` that feature `j` of the row takes cell `c`."""
    pairs, block_start, use = reduced.pairs, reduced.pairs.block_start, reduced.pairs.entries.start
    uses, member = work.uses, reduced.entries.blocks.items
    for q in pairs.of_feature.items[pairs.of_feature.start[j] : pairs.of_feature.start[j + 1]]:
        here = block_of(reduced.blocks, reduced.cells.ordered[j], block_start[q], block_start[q + 1], c)
        if here == work.at_block[q]:
            continue
        work.at_block[q] = here
        work.stale[pairs.tree[q]] = True
        for u in range(use[q], use[q + 1]):
            fits = _fits(here, member, uses.low[u], uses.high[u])
            if fits != work.fits[u]:
                more = -1 if fits else 1
                work.fits[u] = fits
                work.misses[uses.leaf[u]] += more
                work.missed[uses.leaf[u]] += more * u


@part
def _neighbourhood(reduced, score, work, x):  # type: ignore[no-untyped-def]
    """Write into `work` the scores of a row, and what moves would take."""
    gain, total, tree = work.gain, work.total, reduced.trees.start
    for s in range(len(total)):
        total[s] = 0.0
    for t in range(len(tree) - 1):
        if work.stale[t]:
            _look_around(reduced, score, work, t, tree[t], tree[t + 1])
        for s in range(len(total)):
            total[s] += score[work.chosen[t], s] if work.chosen[t] >= 0 else NO_LEAF_SCORE
    cells, blocks, block_start, of_feature = (
        reduced.cells,
        reduced.blocks,
        reduced.pairs.block_start,
        reduced.pairs.of_feature,
    )
    for s in range(len(total)):
        for j in range(len(x)):
            mine = of_feature.items[of_feature.start[j] : of_feature.start[j + 1]]
            first, last = cells.start[j], cells.start[j + 1]
            potential_of(work.moves[s], work.zero, gain[s], cells.ordered[j], mine, block_start, blocks, first, last)


@part
def _look_around(reduced, score, work, t, first, last):  # type: ignore[no-untyped-def]
    """Write into `work` which leaf of tree `t` takes the row, and what blocks would gain that lead to leaves near it.

    A leaf is near if it misses the row by one use. The leaves of the tree are `first` to `last - 1`.
    """
    gain, of_tree, block_start = work.gain, work.of_tree, reduced.pairs.block_start
    low, high, member = work.uses.low, work.uses.high, reduced.entries.blocks.items
    work.stale[t] = False
    work.chosen[t] = -1
    for i in range(first, last):
        if work.misses[i] == 0:
            work.chosen[t] = i
    for s in range(len(gain)):
        here = score[work.chosen[t], s] if work.chosen[t] >= 0 else NO_LEAF_SCORE
        for q in of_tree.items[of_tree.start[t] : of_tree.start[t + 1]]:
            for b in range(block_start[q], block_start[q + 1]):
                gain[s, b] = 0.0
        for i in range(first, last):
            if work.misses[i] == 1:
                u = work.missed[i]
                for p in range(low[u], high[u]):
                    gain[s, member[p]] = score[i, s] - here


@part
def _fits(here, member, low, high):  # type: ignore[no-untyped-def]
    """Whether block `here` is among the blocks `member[low:high]`, which are sorted."""
    if here < member[low] or here > member[high - 1]:
        return False
    if member[high - 1] - member[low] == high - 1 - low:
        return True
    found = False
    for p in range(low, high):
        found = found or member[p] == here
    return found


@part
def _best_move(  # type: ignore[no-untyped-def]
    start, task, alive, total, moves, x, held, used, cost, lack
):
    """The feature and the cell of the best move; feature -1 if none helps.

    A row that lacks something takes the move that mends most for its price; another one the largest saving.

    start (features + 1): the first cell of each feature
    total, moves: as in `MoveWork`
    used (limits): what the cells of the row count towards each limit
    cost, lack: what the row costs, and how much its scores miss the goal by
    """
    price, side, limit = task.price, task.side, task.limit
    best, feature, cell = 0.0, -1, -1
    for j in range(len(x)):
        if j == held:
            continue
        for c in range(start[j], start[j + 1]):
            more = price[c] - price[x[j]]
            if c == x[j] or not alive[c] or (lack == 0.0 and more >= -1e-12):
                continue
            fits = True
            for f in range(len(used)):
                fits = fits and used[f] - side[f, x[j]] + side[f, c] <= limit[f]
            if not fits:
                continue
            after = _lack_after(task.goal, total, moves, c)
            if lack == 0.0:
                worth = -more if after == 0.0 else 0.0
            else:
                worth = (lack - after) / max(more, 1e-6 * (1.0 + cost)) if after < lack else 0.0
            if worth > best:
                best, feature, cell = worth, j, c
    return feature, cell


@part
def _lack(goal, total):  # type: ignore[no-untyped-def]
    """How much the scores of a row miss the goal by."""
    lack = 0.0
    for s in range(len(goal)):
        lack += max(0.0, goal[s] - total[s])
    return lack


@part
def _lack_after(goal, total, moves, c):  # type: ignore[no-untyped-def]
    """How much they miss it by after a move to cell `c`."""
    lack = 0.0
    for s in range(len(goal)):
        lack += max(0.0, goal[s] - (total[s] - moves[s, c]))
    return lack
