"""Compiled: the messages between one feature and its trees.

A message says what the tree of a pair pays, and the feature saves, if the feature is in a block.
The cells of the feature are always `first` to `last - 1`, and so are the blocks of a pair.
Plain loops are used throughout, because they compile in a third of the time.
"""

from __future__ import annotations

import numpy as np

from butfor.compiled.kernel import part


@part
def smallest(message, dead, member, low, high):  # type: ignore[no-untyped-def]
    """The smallest message of the living blocks `member[low:high]`."""
    found = np.inf
    for p in range(low, high):
        b = member[p]
        if not dead[b] and message[b] < found:
            found = message[b]
    return found


@part
def set_dead(dead, alive, blocks, first, last):  # type: ignore[no-untyped-def]
    """Say which blocks of a pair have no living cell.

    Returns whether some block has one.
    """
    begin, end, items = blocks.begin, blocks.end, blocks.items
    left = False
    for b in range(first, last):
        dead[b] = True
        for p in range(begin[b], end[b]):
            if alive[items[p]]:
                dead[b] = False
                left = True
                break
    return left


@part
def shift_to_zero(message, dead, first, last):  # type: ignore[no-untyped-def]
    """Make the smallest living message of a pair 0; returns what it was."""
    low = np.inf
    for b in range(first, last):
        if not dead[b] and message[b] < low:
            low = message[b]
    for b in range(first, last):
        message[b] -= low
    return low


@part
def potential_of(  # type: ignore[no-untyped-def]
    out, base, message, ordered, pairs, block_start, blocks, first, last
):
    """Write into `out` what each cell of a feature costs, less its messages.

    base (cells): what each cell costs
    ordered: whether the feature is ordered
    pairs: the pairs of the feature
    block_start, blocks: as in `Reduced`
    """
    begin, end, items = blocks.begin, blocks.end, blocks.items
    for c in range(first, last + 1):
        out[c] = 0.0
    if ordered:  # differences between neighbours first, and then their sums
        for q in pairs:
            before = 0.0
            for b in range(block_start[q], block_start[q + 1]):
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
            for b in range(block_start[q], block_start[q + 1]):
                for p in range(begin[b], end[b]):
                    out[items[p]] -= message[b]


@part
def cheapest(potential, alive, first, last):  # type: ignore[no-untyped-def]
    """The living cell of a feature with the smallest potential; -1 if none lives."""
    least, at = np.inf, -1
    for c in range(first, last):
        if alive[c] and potential[c] < least:
            least, at = potential[c], c
    return at


@part
def collect(  # type: ignore[no-untyped-def]
    message, work, member, ordered, use, use_end, first, last, tree, t
):
    """Let tree `t` of a pair hand over what each block costs it.

    The marginal of a block is what it costs the tree beyond the cheapest block. It is taken off the message.
    The leaves that use the pair have no cost until `give_back`.

    member: the blocks of each use of the pair, which are `use` to `use_end - 1`; of an ordered feature, every number
    tree (trees + 1): as in `ReducedTrees`

    Returns False if the tree has no leaf left.
    """
    dead, marginal, cost, rest = work.dead, work.marginal, work.cost, work.rest
    owner, low, high = work.uses.leaf, work.uses.low, work.uses.high
    for b in range(first, last):
        marginal[b] = np.inf
    for u in range(use, use_end):
        rest[u] = cost[owner[u]]
        if rest[u] == np.inf:
            continue
        rest[u] -= work.use_min[u]
        cost[owner[u]] = np.inf
        for p in range(low[u], high[u]):
            b = p if ordered else member[p]
            if rest[u] < marginal[b]:
                marginal[b] = rest[u]
    if cost[work.cheapest[t]] == np.inf:
        for i in range(tree[t], tree[t + 1]):
            if cost[i] < cost[work.cheapest[t]]:
                work.cheapest[t] = i
    elsewhere = cost[work.cheapest[t]]
    least = np.inf
    for b in range(first, last):
        marginal[b] = np.inf if dead[b] else min(marginal[b], elsewhere) + message[b]
        least = min(least, marginal[b])
    if least == np.inf:
        return False
    for b in range(first, last):
        if marginal[b] < np.inf:
            marginal[b] -= least
            message[b] -= marginal[b]
    return True


@part
def give_back(message, work, member, ordered, use, use_end, t):  # type: ignore[no-untyped-def]
    """Give the leaves that use a pair their costs under its new messages, so that tree `t` can choose among them again.

    The arguments are those of `collect`.
    """
    dead, cost, rest, owner, low, high = work.dead, work.cost, work.rest, work.uses.leaf, work.uses.low, work.uses.high
    for u in range(use, use_end):
        if rest[u] == np.inf:
            continue
        now = np.inf
        for p in range(low[u], high[u]):
            b = p if ordered else member[p]
            if not dead[b] and message[b] < now:
                now = message[b]
        if now < np.inf:
            work.use_min[u] = now
            cost[owner[u]] = rest[u] + now
            if cost[owner[u]] < cost[work.cheapest[t]]:
                work.cheapest[t] = owner[u]


@part
def drop_blocks(alive, dead, marginal, blocks, first, last):  # type: ignore[no-untyped-def]
    """Drop the cells of living blocks that the tree has no leaf for.

    Returns whether there are any.
    """
    lost = False
    for b in range(first, last):
        if not dead[b] and marginal[b] == np.inf:
            lost = True
            for p in range(blocks.begin[b], blocks.end[b]):
                alive[blocks.items[p]] = False
    return lost


@part
def drop_cells(alive, potential, first, last, bound, upper):  # type: ignore[no-untyped-def]
    """Drop the cells of a feature that would bring the bound up to `upper`.

    The bound is given without this feature. Returns whether there are any.
    """
    lost = False
    for c in range(first, last):
        if alive[c] and bound + potential[c] >= upper:
            alive[c] = False
            lost = True
    return lost


@part
def table_of_minima(table, potential, alive, first, last):  # type: ignore[no-untyped-def]
    """Write the table that `range_minimum` reads, for an ordered feature.

    `table[k, c]` is the smallest potential of the living cells among the `2**k` from c on.
    """
    for c in range(first, last):
        table[0, c] = potential[c] if alive[c] else np.inf
    k, width = 1, 2
    while width <= last - first:
        for c in range(first, last - width + 1):
            table[k, c] = min(table[k - 1, c], table[k - 1, c + width // 2])
        k, width = k + 1, 2 * width


@part
def range_minimum(table, begin, end):  # type: ignore[no-untyped-def]
    """The smallest potential of the living cells `begin` to `end - 1`."""
    k, width = 0, 1
    while 2 * width <= end - begin:
        k, width = k + 1, 2 * width
    return min(table[k, begin], table[k, end - width])


@part
def set_minimum(potential, alive, items, begin, end):  # type: ignore[no-untyped-def]
    """The smallest potential of the living cells `items[begin:end]`."""
    least = np.inf
    for p in range(begin, end):
        c = items[p]
        if alive[c]:
            least = min(least, potential[c])
    return least
