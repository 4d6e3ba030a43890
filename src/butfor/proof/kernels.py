"""Compiled: what the checker works out of a box, in whole numbers, rule by rule as `docs/reference/proof-format.md` says it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from butfor.arrays import BoolArray, IntArray
from butfor.compiled.kernel import kernel, part
from butfor.proof.lists import CellRuns, Listed, Whole

NO_PRICE = 1 << 61
"""More than any cost in units."""


NOT_YET = -1
"""In place of what was not worked out yet, which is never below 0."""


class Numbered(NamedTuple):
    """The cells, leaves, entries and blocks of a question, each numbered side by side as the checker numbers them.

    cells (columns + 1), leaves, blocks (trees + 1): where those of each column or tree begin
    price, home (cells): what a cell costs, and whether the row may stay in it
    score (ways, leaves, goals), of_leaf: what each leaf adds towards each goal, and its entries
    entry_column, entry_runs, entry_blocks: the column, the cells and the blocks of each entry
    block_column, block_runs: the column and the cells of each block
    bound, limit: the claim, and how many columns may change
    """

    cells: IntArray
    leaves: IntArray
    blocks: IntArray
    price: Whole
    home: BoolArray
    score: Whole
    of_leaf: Listed
    entry_column: IntArray
    entry_runs: CellRuns
    entry_blocks: Listed
    block_column: IntArray
    block_runs: CellRuns
    bound: int
    limit: int


@kernel
def narrow_box(asked, alive, leaf):  # type: ignore[no-untyped-def]
    """Leave out, in place, cells and leaves whose rows all cost too much. False if no row is left."""
    cells, price, home, column = asked.cells, asked.price, asked.home, asked.entry_column
    columns, total, must = len(cells) - 1, 0, 0
    least, stays = np.full(columns, NO_PRICE), np.zeros(columns, dtype=np.bool_)
    for j in range(columns):
        for c in range(cells[j], cells[j + 1]):
            if alive[c]:
                least[j] = min(least[j], price[c])
                stays[j] |= home[c]
        if least[j] == NO_PRICE:
            return False
        total += least[j]
        must += not stays[j]
    if total >= asked.bound or must > asked.limit:
        return False
    for j in range(columns):
        for c in range(cells[j], cells[j + 1]):
            held = must == asked.limit and stays[j] and not home[c]
            alive[c] &= price[c] < asked.bound - total + least[j] and not held
        stays[j] = (alive & home)[cells[j] : cells[j + 1]].any()
    table = _minima(np.where(alive, price, NO_PRICE))
    at_home = _summed(alive & home)
    extra, more = np.full(len(column), NOT_YET), np.zeros(len(column), dtype=np.bool_)
    for t in range(len(asked.leaves) - 1):
        some = False
        for i in range(asked.leaves[t], asked.leaves[t + 1]):
            if leaf[i]:
                cost, changes = total, must
                for p in range(asked.of_leaf.start[i], asked.of_leaf.start[i + 1]):
                    e = asked.of_leaf.items[p]
                    if extra[e] == NOT_YET:
                        found = _least(table, asked.entry_runs, e)
                        extra[e] = asked.bound if found == NO_PRICE else found - least[column[e]]
                        more[e] = stays[column[e]] and _count(at_home, asked.entry_runs, e) == 0
                    cost += extra[e]
                    changes += more[e]
                leaf[i] = cost < asked.bound and changes <= asked.limit
                some |= leaf[i]
        if not some:
            return False
    return True


@kernel
def pay(asked, alive, leaf, message, score, rates, shift, toll, cell, cost):  # type: ignore[no-untyped-def]
    """The bound of messages, without what the goals and the limit add to it, if leaves add such a score (leaves, goals).

    Writes into `cell` what each living cell costs its column, and into `cost` what each living leaf costs its tree.
    """
    cells, column, blocks = asked.cells, asked.entry_column, asked.blocks
    living, total = _summed(alive), 0
    told, entry = np.full(len(cells) - 1, -1), np.full(len(column), NOT_YET)
    slope, its = np.zeros(len(alive) + 1, dtype=np.int64), np.zeros(len(message), dtype=np.int64)
    for t in range(len(asked.leaves) - 1):
        for i in range(asked.leaves[t], asked.leaves[t + 1]):
            if leaf[i]:
                for p in range(asked.of_leaf.start[i], asked.of_leaf.start[i + 1]):
                    e = asked.of_leaf.items[p]
                    whole = living[cells[column[e] + 1]] - living[cells[column[e]]]
                    if told[column[e]] != t and _count(living, asked.entry_runs, e) < whole:
                        told[column[e]] = t
        for b in range(blocks[t], blocks[t + 1]):
            its[b] = NO_PRICE
            if _count(living, asked.block_runs, b):
                its[b] = message[b] if told[asked.block_column[b]] == t else 0
                for r in range(asked.block_runs.start[b], asked.block_runs.start[b + 1]):
                    slope[asked.block_runs.first[r]] -= its[b]
                    slope[asked.block_runs.end[r]] += its[b]
        least = NO_PRICE
        for i in range(asked.leaves[t], asked.leaves[t + 1]):
            if leaf[i]:
                worth = 0
                for s in range(len(rates)):
                    worth -= rates[s] * score[i, s]
                cost[i] = worth >> min(shift, 63)  # 64 bits know no more
                for p in range(asked.of_leaf.start[i], asked.of_leaf.start[i + 1]):
                    e = asked.of_leaf.items[p]
                    if entry[e] == NOT_YET:
                        entry[e] = _smallest(its, asked.entry_blocks, e)
                    cost[i] += entry[e]
                least = min(least, cost[i])
        total += least
    now = 0
    for j in range(len(cells) - 1):
        least = NO_PRICE
        for c in range(cells[j], cells[j + 1]):
            now += slope[c]
            if alive[c]:
                cell[c] = asked.price[c] + now + (0 if asked.home[c] else toll)
                least = min(least, cell[c])
        total += least
    return total


@kernel
def keep_cheap(asked, alive, leaf, cell, cost, spare):  # type: ignore[no-untyped-def]
    """The cells and leaves whose own bound is less than `spare` above that of their column or tree."""
    cells, leaves = alive.copy(), leaf.copy()
    for start, living, each in ((asked.cells, cells, cell), (asked.leaves, leaves, cost)):
        for k in range(len(start) - 1):
            least = NO_PRICE
            for i in range(start[k], start[k + 1]):
                if living[i]:
                    least = min(least, each[i])
            for i in range(start[k], start[k + 1]):
                living[i] &= each[i] - least < spare
    return cells, leaves


@kernel
def highest_sums(start, score, leaf):  # type: ignore[no-untyped-def]
    """What the living leaves add up to that are the best ones towards each goal."""
    total = np.zeros(score.shape[1], dtype=np.int64)
    for s in range(len(total)):
        for t in range(len(start) - 1):
            most = -NO_PRICE
            for i in range(start[t], start[t + 1]):
                if leaf[i]:
                    most = max(most, score[i, s])
            total[s] += most
    return total


@part
def _summed(each):  # type: ignore[no-untyped-def]
    """How many of the first are true."""
    out = np.zeros(len(each) + 1, dtype=np.intp)
    for c in range(len(each)):
        out[c + 1] = out[c] + each[c]
    return out


@part
def _count(below, sets, i):  # type: ignore[no-untyped-def]
    """How many cells of a set are counted."""
    total = 0
    for r in range(sets.start[i], sets.start[i + 1]):
        total += below[sets.end[r]] - below[sets.first[r]]
    return total


@part
def _smallest(each, lists, i):  # type: ignore[no-untyped-def]
    """The smallest of a list."""
    found = NO_PRICE
    for p in range(lists.start[i], lists.start[i + 1]):
        found = min(found, each[lists.items[p]])
    return found


@part
def _minima(each):  # type: ignore[no-untyped-def]
    """The smallest of 1, 2, 4, 8, ... neighbours (levels, cells)."""
    levels = 1
    while 1 << levels <= len(each):
        levels += 1
    table = np.empty((levels, len(each)), dtype=np.int64)
    table[0] = each
    for k in range(1, levels):
        half = 1 << (k - 1)
        for c in range(len(each) - 2 * half + 1):
            table[k, c] = min(table[k - 1, c], table[k - 1, c + half])
    return table


@part
def _least(table, sets, i):  # type: ignore[no-untyped-def]
    """The smallest of a set of cells."""
    found = NO_PRICE
    for r in range(sets.start[i], sets.start[i + 1]):
        first, end, k = sets.first[r], sets.end[r], 0
        while 2 << k <= end - first:
            k += 1
        found = min(found, table[k, first], table[k, end - (1 << k)])
    return found
