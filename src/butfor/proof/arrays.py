"""A question as the checker reads it, as arrays: what the checker works out box by box, worked out quickly."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from butfor.arrays import BoolArray, IntArray
from butfor.solvers.ensemble.leaves import LeafTable

Whole = NDArray[np.int64]
"""Whole numbers in units of the checker."""

NO_PRICE = 1 << 61
"""More than any cost in units."""


class Listed(NamedTuple):
    """Lists of numbers, one behind the other: list i is `items[start[i]:start[i + 1]]`."""

    start: IntArray
    items: IntArray

    @classmethod
    def of(cls, lists: Iterable[Sequence[int]]) -> Listed:
        kept = list(lists)
        start = np.concatenate([[0], np.cumsum([len(one) for one in kept])]).astype(np.intp)
        return cls(start, np.array([item for one in kept for item in one], dtype=np.intp))


class CellRuns(NamedTuple):
    """Sets of cells as runs of neighbours: set i has the runs `start[i]` to `start[i + 1] - 1`, each `[first, end)`."""

    start: IntArray
    first: IntArray
    end: IntArray

    @classmethod
    def of(cls, sets: Iterable[tuple[int, Sequence[tuple[int, int]]]]) -> CellRuns:
        """The sets of runs, each counted from a cell on."""
        kept = list(sets)
        start = np.concatenate([[0], np.cumsum([len(runs) for _, runs in kept])]).astype(np.intp)
        ends = np.array([(at + a, at + b) for at, runs in kept for a, b in runs], dtype=np.intp).reshape(-1, 2)
        return cls(start, ends[:, 0], ends[:, 1])

    def total(self, each: NDArray[Any]) -> NDArray[Any]:
        """The sum over the cells of each set."""
        if not len(self.first):
            return np.zeros(0, dtype=np.int64)
        below = np.concatenate([[0], np.cumsum(each)])
        return np.asarray(np.add.reduceat(below[self.end] - below[self.first], self.start[:-1]))

    def least(self, each: Whole) -> Whole:
        """The smallest over the cells of each set."""
        if not len(self.first):
            return np.zeros(0, dtype=np.int64)
        table = [each]
        while 2 << len(table) - 1 <= len(each):
            half = 1 << len(table) - 1
            table.append(np.minimum(table[-1][:-half], table[-1][half:]))
        size = self.end - self.first
        level = np.frexp(size.astype(np.float64))[1] - 1
        found = np.empty(len(size), dtype=np.int64)
        for k in np.unique(level).tolist():
            at = level == k
            found[at] = np.minimum(table[k][self.first[at]], table[k][self.end[at] - (1 << k)])
        return np.minimum.reduceat(found, self.start[:-1])


class Paid(NamedTuple):
    """What messages make of a box: their bound, and what each cell costs its column and each leaf its tree."""

    total: int
    cell: Whole
    leaf: Whole
    cell_least: Whole
    leaf_least: Whole


class Arrays:
    """The cells, blocks, entries and leaves of a question, numbered as the checker numbers them.

    cells (columns + 1), leaves, entries, blocks (trees + 1): where those of each column or tree begin
    """

    def __init__(self, question: Any, runs: Any) -> None:
        columns, trees = question.columns, question.trees
        self.bound, self.goal, self.limit = int(question.bound), int(question.goal), int(question.limit)
        self.counted = bool(question.counted)
        self.cells = np.concatenate([[0], np.cumsum([len(row) for row in question.price])]).astype(np.intp)
        self.column = np.repeat(np.arange(len(columns)), np.diff(self.cells))
        self.price = np.array([NO_PRICE if p is None else p for row in question.price for p in row], dtype=np.int64)
        self.alive = _bits(question.alive, np.diff(self.cells))
        self.home = _bits(question.home, np.diff(self.cells))
        self.leaves = np.concatenate([[0], np.cumsum([len(tree.leaves) for tree in trees])]).astype(np.intp)
        self.entries = np.concatenate([[0], np.cumsum([len(tree.entries) for tree in trees])]).astype(np.intp)
        self.score = np.array([score for tree in trees for score, _ in tree.leaves], dtype=np.int64)
        count = int(self.entries[-1])  # one more entry, of every leaf, that asks for nothing
        self.of_leaf = Listed.of(
            [*(e + int(at) for e in asked), count]
            for tree, at in zip(trees, self.entries, strict=False)
            for _, asked in tree.leaves
        )
        self.leaf_of = np.repeat(np.arange(len(self.score)), np.diff(self.of_leaf.start))
        asked = [(j, bits) for tree in trees for j, bits, _ in tree.entries]
        known = {one: runs(one[1]) for one in set(asked)}
        self.entry_column = np.array([j for j, _ in asked], dtype=np.intp)
        self.entry_runs = CellRuns.of((int(self.cells[one[0]]), known[one]) for one in asked)
        self.entry_tree = np.repeat(np.arange(len(trees)), np.diff(self.entries))
        self.entry_blocks = Listed.of([b + tree.first for b in its] for tree in trees for _, _, its in tree.entries)
        blocks = [(n, block) for n, tree in enumerate(trees) for block in tree.blocks]
        self.block_column = np.array([block[0] for _, block in blocks], dtype=np.intp)
        self.block_tree = np.array([n for n, _ in blocks], dtype=np.intp)
        self.block_runs = CellRuns.of((int(self.cells[j]), its) for _, (j, _, its) in blocks)
        self.levels = [column.levels is not None for column in columns]

    @property
    def columns(self) -> int:
        return len(self.cells) - 1

    @property
    def trees(self) -> int:
        return len(self.leaves) - 1

    def narrowed(self, alive: BoolArray, leaf: BoolArray) -> bool:
        """Leave out, in place, cells and leaves whose rows all cost too much. False if no row is left."""
        price = np.where(alive, self.price, NO_PRICE)
        least = np.minimum.reduceat(price, self.cells[:-1])
        stays = np.logical_or.reduceat(alive & self.home, self.cells[:-1])
        must, total = int((~stays).sum()), sum(least.tolist())
        if total >= self.bound or must > self.limit:
            return False
        if must == self.limit:
            alive &= self.home | ~stays[self.column]
        alive &= price < self.bound - total + least[self.column]
        price = np.where(alive, self.price, NO_PRICE)
        extra = self.entry_runs.least(price) - least[self.entry_column]
        extra = np.append(np.minimum(extra, self.bound), 0)
        cost = np.add.reduceat(extra[self.of_leaf.items], self.of_leaf.start[:-1])
        stays = np.logical_or.reduceat(alive & self.home, self.cells[:-1])
        more = np.append(stays[self.entry_column] & (self.entry_runs.total(alive & self.home) == 0), False)
        changes = np.add.reduceat(more[self.of_leaf.items].astype(np.intp), self.of_leaf.start[:-1])
        leaf &= (cost < self.bound - total) & (changes <= self.limit - must)
        return bool(np.logical_or.reduceat(leaf, self.leaves[:-1]).all())

    def most(self, leaf: BoolArray) -> int:
        """What the best leaves add up to."""
        return sum(np.maximum.reduceat(np.where(leaf, self.score, -NO_PRICE), self.leaves[:-1]).tolist())

    def paid(self, alive: BoolArray, leaf: BoolArray, message: Whole, rate: int, shift: int, toll: int) -> Paid:
        """The bound of messages, as the checker works it out."""
        total = (rate * self.goal >> shift) - toll * self.limit
        inside = self.entry_runs.total(alive)
        whole = np.append(inside == np.add.reduceat(alive, self.cells[:-1], dtype=np.intp)[self.entry_column], True)
        used = ~whole[self.of_leaf.items] & leaf[self.leaf_of]
        told = np.zeros((self.trees, self.columns), dtype=np.bool_)
        asked = self.of_leaf.items[used]
        told[self.entry_tree[asked], self.entry_column[asked]] = True
        living = self.block_runs.total(alive) > 0
        paid = np.where(living & told[self.block_tree, self.block_column], message, 0)
        slope = np.zeros(len(self.price) + 1, dtype=np.int64)
        each = np.repeat(paid, np.diff(self.block_runs.start))
        np.subtract.at(slope, self.block_runs.first, each)
        np.add.at(slope, self.block_runs.end, each)
        cell = self.price + np.cumsum(slope)[:-1] + np.where(self.home, 0, toll)
        dead = np.where(living, paid, NO_PRICE)
        smallest = (
            np.minimum.reduceat(dead[self.entry_blocks.items], self.entry_blocks.start[:-1]) if len(dead) else dead
        )
        entry = np.append(np.where(inside > 0, smallest, 0), 0)
        gain = (-rate * self.score) >> shift
        cost = gain + np.add.reduceat(entry[self.of_leaf.items], self.of_leaf.start[:-1])
        cell_least = np.minimum.reduceat(np.where(alive, cell, NO_PRICE), self.cells[:-1])
        leaf_least = np.minimum.reduceat(np.where(leaf, cost, NO_PRICE), self.leaves[:-1])
        total += sum(cell_least.tolist()) + sum(leaf_least.tolist())
        return Paid(total, cell, cost, cell_least, leaf_least)

    def drop(self, alive: BoolArray, leaf: BoolArray, paid: Paid) -> tuple[BoolArray, BoolArray]:
        """The cells and leaves whose own bound does not reach the claim."""
        spare = self.bound - paid.total
        tree = np.repeat(np.arange(self.trees), np.diff(self.leaves))
        return (
            alive & (paid.cell - paid.cell_least[self.column] < spare),
            leaf & (paid.leaf - paid.leaf_least[tree] < spare),
        )

    def place(self) -> IntArray:
        """Where each cell stands if every column has one more, "missing", behind its own."""
        return np.arange(len(self.price)) + self.column

    def table(self) -> LeafTable:
        """The leaves as searches read them."""
        asks = self.of_leaf.items < self.entries[-1]
        entry = self.of_leaf.items[asks]
        column = self.entry_column[entry]
        start, first, last = self.cells + np.arange(len(self.cells)), self.entry_runs.first, self.entry_runs.end
        base = self.cells[self.entry_column]
        low, high = first[self.entry_runs.start[:-1]] - base, last[self.entry_runs.start[1:] - 1] - 1 - base
        mask, masks, size = np.full(len(base), -1, dtype=np.intp), [np.zeros(0, dtype=np.bool_)], 0
        for e in np.flatnonzero(np.array(self.levels)[self.entry_column]).tolist():
            j = int(self.entry_column[e])
            bits = np.zeros(int(self.cells[j + 1] - self.cells[j]) + 1, dtype=np.bool_)
            for r in range(int(self.entry_runs.start[e]), int(self.entry_runs.start[e + 1])):
                bits[first[r] - base[e] : last[r] - base[e]] = True
            mask[e], low[e], high[e] = size, 0, -1
            masks.append(bits)
            size += len(bits)
        return LeafTable(
            start=start.astype(np.intp),
            tree=self.leaves,
            value=np.zeros((len(self.score), 1)),
            entry=self.of_leaf.start - np.arange(len(self.of_leaf.start)),
            feature=column,
            first=low[entry],
            last=high[entry],
            missing=np.zeros(len(entry), dtype=np.bool_),
            mask=mask[entry],
            masks=np.concatenate(masks),
        )


def _bits(sets: Sequence[int], sizes: IntArray) -> BoolArray:
    """Bits of whole numbers, side by side."""
    return np.array(
        [bits >> c & 1 for bits, size in zip(sets, sizes.tolist(), strict=True) for c in range(size)], dtype=np.bool_
    )
