"""Compiled: bounds for an ensemble within reach of one row.

The bound is a dual decomposition: each tree chooses a leaf and each feature a cell, by itself.
Messages `m`, one for each block of a pair, make them agree. The cost of a row x is at least

    rate goal + sum over features j: min over cells c: price_j(c) - sum over pairs q of j: m_q(c)
              + sum over trees t: min over leaves l: -rate score(l) + sum over entries of l: min over blocks b: m(b)

for any messages and any `rate >= 0`.

The messages of one feature are improved at a time, which never lowers the bound.
Its trees hand over what each block costs them at least, and get an equal share of the sum back.
This is block coordinate ascent on the local polytope, as in Kolmogorov, IEEE PAMI 37, 2015.
"""

from __future__ import annotations

import numpy as np

from butfor.compiled.kernel import kernel, part
from butfor.solvers.ensemble.branching_kernels import vote
from butfor.solvers.ensemble.message_kernels import (
    cheapest,
    collect,
    drop_blocks,
    drop_cells,
    give_back,
    potential_of,
    range_minimum,
    set_dead,
    set_minimum,
    shift_to_zero,
    smallest,
    table_of_minima,
)


@kernel
def ascend(reduced, task, multipliers, work, upper, size, sweeps, step, gain):  # type: ignore[no-untyped-def]
    """Raise the bound in up to so many sweeps; returns the best bound found.

    The bound is infinite if no row below `upper` is left.
    After each sweep the rates and the tolls change.
    It ends early when three sweeps in a row raise the bound by less than a share `gain` of what is missing.

    size (scores): the share of itself by which each rate changes; kept for the next call
    step: the largest share
    """
    scores = len(task.goal)
    lack, before, change = np.zeros(scores), np.zeros(scores), np.zeros(scores)
    bound = _refresh(reduced, task, multipliers, work) if _load(reduced, multipliers.message, work) else np.inf
    best, idle = bound, 0
    for k in range(sweeps):
        bound = _sweep(reduced, multipliers.message, work, bound, upper)
        if bound == np.inf:
            return np.inf
        idle = 0 if bound > best + gain * min(upper - best, 1e9) else idle + 1
        best = max(best, bound)
        if idle == 3 or k == sweeps - 1:
            break
        _set_lack(lack, task.goal, work.cheapest, task.score)
        _change_rates(multipliers.rate, change, lack, before, size, step)
        if len(task.limit):
            _change_tolls(multipliers.toll, task, work.x, step, upper)
            bound = _refresh(reduced, task, multipliers, work)
        else:
            bound = _at_new_rates(reduced.trees.start, task, multipliers.rate, change, work)
        best = max(best, bound)
        if best >= upper:
            return np.inf
    _vote(reduced, work)
    return best


@kernel
def as_it_is(reduced, task, multipliers, work):  # type: ignore[no-untyped-def]
    """The bound that multipliers make. Writes into `work` what each living cell costs its feature, and the least of it."""
    return _refresh(reduced, task, multipliers, work) if _load(reduced, multipliers.message, work) else np.inf


@part
def _vote(reduced, work):  # type: ignore[no-untyped-def]
    """Let the trees vote on what the last sweep left."""
    cells, of_feature = reduced.cells, reduced.pairs.of_feature
    for j in range(len(work.x)):
        mine = of_feature.items[of_feature.start[j] : of_feature.start[j + 1]]
        vote(
            work.vote, work.marginal, cells.ordered[j], mine, reduced.pairs.block_start, reduced.blocks, work.x[j],
            cells.start[j], cells.start[j + 1],
        )  # fmt: skip


@part
def _load(reduced, message, work):  # type: ignore[no-untyped-def]
    """Begin with the living cells of a node.

    Returns False if a pair has no living block.
    """
    block_start = reduced.pairs.block_start
    for q in range(len(block_start) - 1):
        if not set_dead(work.dead, work.alive, reduced.blocks, block_start[q], block_start[q + 1]):
            return False
        shift_to_zero(message, work.dead, block_start[q], block_start[q + 1])
    member, uses = reduced.entries.blocks.items, work.uses
    for u in range(len(work.use_min)):
        work.use_min[u] = smallest(message, work.dead, member, uses.low[u], uses.high[u])
    for i in range(len(work.cost)):
        work.cost[i] = 0.0
    return True


@part
def _refresh(reduced, task, multipliers, work):  # type: ignore[no-untyped-def]
    """Work out all costs anew; returns the bound that they make."""
    rate, toll = multipliers.rate, multipliers.toll
    bound = 0.0
    for s in range(len(task.goal)):
        bound += rate[s] * task.goal[s]
    for f in range(len(task.limit)):
        bound -= toll[f] * task.limit[f]
    for c in range(len(task.price)):
        work.base[c] = task.price[c]
        for f in range(len(task.limit)):
            work.base[c] += toll[f] * task.side[f, c]
    bound = _with_trees(bound, reduced.trees.start, task.score, rate, work)
    return _with_features(bound, reduced.cells, reduced.pairs, reduced.blocks, multipliers.message, work)


@part
def _with_trees(bound, tree, score, rate, work):  # type: ignore[no-untyped-def]
    """A bound and the cheapest leaf of each tree.

    A leaf whose cost is infinite cannot be reached, and stays so.
    """
    cost, owner = work.cost, work.uses.leaf
    for i in range(len(cost)):
        if cost[i] < np.inf:
            cost[i] = 0.0
            for s in range(len(rate)):
                cost[i] -= rate[s] * score[i, s]
    for u in range(len(owner)):
        cost[owner[u]] += work.use_min[u]
    for t in range(len(tree) - 1):
        bound += _choose(work, tree, t)
    return bound


@part
def _choose(work, tree, t):  # type: ignore[no-untyped-def]
    """Let a tree choose its cheapest leaf; returns what that costs."""
    least, at = np.inf, tree[t]
    for i in range(tree[t], tree[t + 1]):
        if work.cost[i] < least:
            least, at = work.cost[i], i
    work.cheapest[t] = at
    return least


@part
def _at_new_rates(tree, task, rate, change, work):  # type: ignore[no-untyped-def]
    """The bound once the rates have changed, and nothing else has."""
    cost, score = work.cost, task.score
    bound = 0.0
    for s in range(len(rate)):
        bound += rate[s] * task.goal[s]
    for i in range(len(cost)):
        for s in range(len(rate)):
            cost[i] -= change[s] * score[i, s]
    for t in range(len(tree) - 1):
        bound += _choose(work, tree, t)
    for j in range(len(work.feature_min)):
        bound += work.feature_min[j]
    return bound


@part
def _with_features(bound, cells, pairs, blocks, message, work):  # type: ignore[no-untyped-def]
    """A bound and the cheapest living cell of each feature."""
    potential, alive, of_feature = work.potential, work.alive, pairs.of_feature
    for j in range(len(cells.ordered)):
        first, last = cells.start[j], cells.start[j + 1]
        mine = of_feature.items[of_feature.start[j] : of_feature.start[j + 1]]
        potential_of(potential, work.base, message, cells.ordered[j], mine, pairs.block_start, blocks, first, last)
        least = np.inf
        for c in range(first, last):
            if alive[c] and potential[c] < least:
                least = potential[c]
        work.feature_min[j] = least
        bound += least
    return bound


@part
def _sweep(reduced, message, work, bound, upper):  # type: ignore[no-untyped-def]
    """Improve the messages of every feature once; returns the bound.

    Cells that cannot be in a row below `upper` are dropped.
    The bound is infinite if no such row is left.
    """
    alive, dead, potential, marginal, feature_min = (
        work.alive,
        work.dead,
        work.potential,
        work.marginal,
        work.feature_min,
    )
    cells, blocks, tree, pair_tree = reduced.cells, reduced.blocks, reduced.trees.start, reduced.pairs.tree
    begin, end, items, block_start = blocks.begin, blocks.end, blocks.items, reduced.pairs.block_start
    member, use, of_feature = reduced.entries.blocks.items, reduced.pairs.entries.start, reduced.pairs.of_feature
    for j in work.turns:
        first, last, ordered = cells.start[j], cells.start[j + 1], cells.ordered[j]
        mine = of_feature.items[of_feature.start[j] : of_feature.start[j + 1]]
        lost = False
        for q in mine:
            if not collect(
                message,
                work,
                member,
                ordered,
                use[q],
                use[q + 1],
                block_start[q],
                block_start[q + 1],
                tree,
                pair_tree[q],
            ):
                return np.inf
            lost |= drop_blocks(alive, dead, marginal, blocks, block_start[q], block_start[q + 1])
        potential_of(potential, work.base, message, ordered, mine, block_start, blocks, first, last)
        x = cheapest(potential, alive, first, last)
        if x < 0:
            return np.inf
        least = potential[x]
        bound += least - feature_min[j]
        if bound >= upper:
            return np.inf
        work.x[j], feature_min[j] = x, least
        lost |= drop_cells(alive, potential, first, last, bound - least, upper)
        if ordered:
            table_of_minima(work.table, potential, alive, first, last)
        share = 1.0 / max(1, len(mine))
        for q in mine:
            if lost:
                set_dead(dead, alive, blocks, block_start[q], block_start[q + 1])
            for b in range(block_start[q], block_start[q + 1]):
                if dead[b]:
                    continue
                if ordered:
                    value = range_minimum(work.table, begin[b], end[b])
                else:
                    value = set_minimum(potential, alive, items, begin[b], end[b])
                message[b] += share * (value - least)
            feature_min[j] += shift_to_zero(message, dead, block_start[q], block_start[q + 1])
            give_back(message, work, member, ordered, use[q], use[q + 1], pair_tree[q])
    return bound


@part
def _set_lack(lack, goal, chosen, score):  # type: ignore[no-untyped-def]
    """Write into `lack` what the leaves that the trees have chosen miss the goal by."""
    for s in range(len(lack)):
        lack[s] = goal[s]
        for i in chosen:
            lack[s] -= score[i, s]


@part
def _change_rates(rate, change, lack, before, size, step):  # type: ignore[no-untyped-def]
    """Raise the rates of the scores that lack something, and lower the others. Writes by how much into `change`.

    A rate that turns back changes by less from now on, and one that goes on by more.

    lack, before (scores): what the scores lack now, and what they lacked last time
    size, step: as in `ascend`
    """
    most = 0.0
    for s in range(len(rate)):
        most = max(most, rate[s])
    for s in range(len(rate)):
        if before[s] * lack[s] < 0:
            size[s] *= 0.5
        elif before[s] * lack[s] > 0:
            size[s] = min(1.2 * size[s], step)
        before[s] = lack[s]
        old, new = rate[s], size[s] * max(rate[s], 0.05 * most)
        rate[s] = max(0.0, old + (new if lack[s] > 0 else -new))
        change[s] = rate[s] - old


@part
def _change_tolls(toll, task, x, step, upper):  # type: ignore[no-untyped-def]
    """Raise the tolls of the limits that row `x` exceeds, and lower the others.

    A toll is a part of what a row may cost: less than `upper` or, if no row is known, about what cells cost on average.
    """
    if upper == np.inf and len(toll):
        count, upper = 0, 0.0
        for c in range(len(task.price)):
            if task.price[c] < np.inf:
                upper += task.price[c]
                count += 1
        upper *= len(x) / max(1, count)
    for f in range(len(toll)):
        used = 0.0
        for j in range(len(x)):
            used += task.side[f, x[j]]
        change = 0.3 * step * (used - task.limit[f]) * upper / (1.0 + task.limit[f])
        toll[f] = max(0.0, toll[f] + change)
