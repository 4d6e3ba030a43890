"""A box as the search sees it, and how its bound is raised."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from butfor.arrays import BoolArray, FloatArray, IntArray
from butfor.proof.arrays import Arrays
from butfor.proof.reached import ReachedCells
from butfor.proof.related import RelatedCells
from butfor.proof.states import Spread, WishedState
from butfor.solvers.ensemble.bound_kernels import ascend
from butfor.solvers.ensemble.leaves import LeafTable
from butfor.solvers.ensemble.reduce import reduce
from butfor.solvers.ensemble.reduced_ensemble import Reduced
from butfor.solvers.ensemble.work_arrays import Task, Work, no_multipliers, work_for

ROOT_SWEEPS, NODE_SWEEPS, SWEEPS_TOGETHER = 400, 32, 4
"""How often messages are improved in the first box, in others, and between two looks at the bound."""

IDLE_GAIN = 0.01
"""Messages are good enough if sweeps close less than this share of what is missing. Better ones are no better to branch on."""

BOUND_TO_SPARE = 0.01
"""By which share of the claim the bound should exceed it, so that messages can be rounded."""

LARGEST_WORTH = 2.0**58
"""The largest leaf is worth less than so many units at the sum of all rates, which 64 bits hold."""


class Looker(Protocol):
    """What a prover knows when it looks at a box.

    place (cells): where cells stand in the table, the first of their points; spread: all their points
    grain (goals), largest: what a grain of each score is to the search, and how many the largest leaf has
    way, wish: the way to the goals, and what the search would like to say
    """

    arrays: Arrays
    table: LeafTable
    place: IntArray
    spread: Spread
    related: RelatedCells
    reached: ReachedCells | None
    grain: FloatArray
    largest: int
    way: int
    wish: WishedState

    def no_wish(self) -> WishedState: ...

    def scores(self) -> FloatArray: ...


class Node:
    """A box as the search sees it: an ensemble that is reduced to its cells.

    known (blocks): which blocks the reduced ensemble has messages for
    constant: whether every tree has one leaf left
    """

    reduced: Reduced
    work: Work

    def __init__(self, prover: Looker, alive: BoolArray, leaf: BoolArray) -> None:
        arrays, place, spread = prover.arrays, prover.place, prover.spread
        size, self.trees = int(prover.table.start[-1]), len(prover.table.tree) - 1
        self.able = np.zeros(size, dtype=np.bool_)
        self.able[spread.place] = alive[spread.cell]
        self.price = np.full(size, np.inf)
        self.price[spread.place] = np.where(alive[spread.cell], spread.price, np.inf)
        home = spread.place[arrays.asked.home[spread.cell]]
        kind, side = np.zeros(size, dtype=np.intp), np.ones((int(arrays.counted), size))
        side[:, home] = 0
        if arrays.counted:
            kind[home] = 1
        limit, self.unit = np.full(len(side), float(arrays.asked.limit)), np.zeros(0)
        if prover.related:  # each cell counts what is best in it at the taxes that are wished for
            related = prover.related
            at, mine = related.at(prover.wish.tax), place[related.cells]
            sides = related.sides(at.counts, alive)
            more = np.zeros((len(sides.limit), size))
            more[:, mine] = sides.side
            side, limit, self.unit = np.vstack([side, more]), np.concatenate([limit, sides.limit]), sides.most
            self.price[mine] = np.where(alive[related.cells], at.price, np.inf)
            kind[mine] = 2 + np.arange(len(mine))
        if prover.reached:
            wished = np.repeat(prover.wish.shares, np.diff(arrays.asked.cells)) * prover.reached.reach
            self.price[place] = np.where(alive, self.price[place] + wished, np.inf)
        self.reduced = reduced = reduce(prover.table, self.able, self.price, kind)
        trees = reduced.trees
        score = prover.scores()
        self.constant = not len(trees.original_leaf)
        self.task = Task(
            score=np.ascontiguousarray(score[trees.original_leaf]),
            goal=arrays.goals[prover.way] * prover.grain - score[trees.constant_leaves].sum(axis=0),
            price=self.price[reduced.cells.original],
            side=np.ascontiguousarray(side[:, reduced.cells.original]),
            limit=limit,
            counting=int(arrays.counted),
        )
        self.work = work_for(reduced)
        self.pair, self.known = self._same_blocks(arrays, place)

    def _same_blocks(self, arrays: Arrays, place: IntArray) -> tuple[IntArray, BoolArray]:
        """For each block of the question, the block of the reduced ensemble that holds its first living cell."""
        reduced, columns = self.reduced, arrays.columns
        pairs, blocks, cells = reduced.pairs, reduced.blocks, int(reduced.cells.start[-1])
        pair_of = np.full(self.trees * columns, -1, dtype=np.intp)
        pair_of[reduced.trees.original[pairs.tree] * columns + pairs.feature] = np.arange(len(pairs.tree))
        sizes = (blocks.end - blocks.begin).astype(np.intp)
        block = np.repeat(np.arange(len(sizes)), sizes)
        item = np.arange(len(block)) + np.repeat(blocks.begin.astype(np.intp) - np.cumsum(sizes) + sizes, sizes)
        pair_of_block = np.repeat(np.arange(len(pairs.tree)), np.diff(pairs.block_start))
        key = pair_of_block[block] * cells + blocks.items[item].astype(np.intp)
        order = np.argsort(key)
        after = np.append(np.where(self.able[place], np.arange(len(place)), len(place)), len(place))
        after = np.minimum.accumulate(after[::-1])[::-1]
        runs = arrays.asked.block_runs
        first = np.where(after[runs.first] < runs.end, after[runs.first], len(place))
        first = np.minimum.reduceat(first, runs.start[:-1]) if len(first) else first
        pair = pair_of[arrays.block_tree * columns + arrays.asked.block_column]
        known = (pair >= 0) & (first < len(place))
        merged = reduced.cells.merged_into[place[first[known]]]
        at = np.full(len(pair), -1, dtype=np.intp)
        at[known] = block[order[np.searchsorted(key, pair[known] * cells + merged, sorter=order)]]
        return at, known

    def ascend(self, prover: Looker, depth: int) -> tuple[float, WishedState]:
        """Raise the bound, from what was wished for on; returns it as a share of the claim, and the multipliers."""
        goals, counting, wish = len(self.task.goal), self.task.counting, prover.wish
        if self.constant:
            return -np.inf, wish._replace(rates=np.zeros(len(wish.rates)))
        multipliers = no_multipliers(self.reduced, goals, len(self.task.limit))
        mine = self.pair[self.known]
        multipliers.message[mine] = wish.message[self.known]
        multipliers.rate[:] = self.rates_before(wish.rates) if wish.rates.any() else self._first_rates()
        multipliers.toll[:counting], multipliers.toll[counting:] = wish.toll, wish.tax * self.unit
        size, best, found = np.full(goals, 0.1 if depth else 0.3), -np.inf, -np.inf
        for _ in range(0, NODE_SWEEPS if depth else ROOT_SWEEPS, SWEEPS_TOGETHER):
            self.prepare()
            step = float(size.max())
            found = float(
                ascend(self.reduced, self.task, multipliers, self.work, np.inf, size, SWEEPS_TOGETHER, step, 0.0)
            )
            if found >= 1 + BOUND_TO_SPARE or found - best < IDLE_GAIN * abs(1 - found):
                break
            best = max(best, found)
        rates, message = self.rates_after(multipliers.rate), wish.message.copy()
        message[self.known] = multipliers.message[mine]
        worth = float(rates @ prover.grain) * prover.largest * prover.arrays.asked.bound
        if not np.isfinite(message).all() or not 0 < worth < LARGEST_WORTH:
            return -np.inf, prover.no_wish()
        toll = float(multipliers.toll[:counting].sum())
        return found, WishedState(message, rates, toll, multipliers.toll[counting:] / self.unit, wish.shares)

    def prepare(self) -> None:
        """What there is to do before messages are improved."""

    def rates_before(self, rates: FloatArray) -> FloatArray:
        """The rates of the task, of those of all scores."""
        return rates

    def rates_after(self, rates: FloatArray) -> FloatArray:
        """The rates of all scores, of those of the task."""
        return rates

    def unlike(self) -> float:
        """How much some tree would save, in claims, if a column chose another cell."""
        return 0.0 if self.constant else float(self.work.vote.max(initial=0.0))

    def _first_rates(self) -> FloatArray:
        """What a unit of each score is worth, roughly: so much that the best leaves just reach the claim."""
        best = np.maximum.reduceat(self.task.score, self.reduced.trees.start[:-1], axis=0).sum(axis=0)
        return np.asarray(1.0 / (len(best) * np.maximum(best - self.task.goal, 1e-9)))
