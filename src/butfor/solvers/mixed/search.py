"""The search for the cheapest row over trees and a linear model: boxes of cells, bounded by messages and rates.

Whatever rates r >= 0 say that a unit of each sum is worth, no row of a box costs less than

    r goals + trees: min (their messages - r leaf) + columns: min over ends of cells (price - r gain - messages).

So a number counts as it is, and not as the most that its cell can add. Where no tree has more than one leaf left, the linear
model alone is solved in the whole box.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from butfor.arrays import BoolArray, FloatArray, IntArray
from butfor.formulation.margins import widened
from butfor.frontier import Frontier
from butfor.model.scores import ScoreSet
from butfor.problem.problem import Problem
from butfor.solvers.combine import SetAnswer
from butfor.solvers.ensemble.bound_kernels import as_it_is, ascend
from butfor.solvers.ensemble.branching_kernels import branching
from butfor.solvers.ensemble.cell_search import NOTHING, Inside
from butfor.solvers.ensemble.instance import Instance
from butfor.solvers.ensemble.move_kernels import improve
from butfor.solvers.ensemble.reduce import reduce
from butfor.solvers.ensemble.reduced_ensemble import Reduced
from butfor.solvers.ensemble.work_arrays import Task, Work, move_work_for, no_multipliers, work_for
from butfor.solvers.mixed.inside import Accepts, InsideBox, InsideCells
from butfor.solvers.mixed.points import Points, of_cells
from butfor.solvers.mixed.relaxed import RelaxedRow
from butfor.solvers.outcome import Stopped, to_beat
from butfor.solvers.reduction import Handing
from butfor.solvers.solver import Budget

SWEEPS, ROOT_BURSTS, BURSTS = 8, 12, 3
"""So many sweeps make a burst, and so many bursts raise the bound of the first box, and of others."""

WORTH_A_BURST = 0.1
"""Another burst is worth it if the last one closed so much of what is missing."""


WORTH_A_LOOK = 0.9
"""A box of which more cells than this share are left is not looked at again before it is parted."""

FIRST_STEP, NODE_STEP = 0.3, 0.1
"""By which share of itself a rate changes at most after a sweep, in the first box, and in others."""


class Box(NamedTuple):
    """Cells that are left, and rates with which to begin."""

    alive: BoolArray
    rates: FloatArray


class MixedSearch:
    """The search for one row and one score set, for an answer cheaper than `upper`."""

    def __init__(
        self, problem: Problem, row: RelaxedRow, score_set: ScoreSet, accepts: Accepts, upper: float, handing: Handing
    ) -> None:
        self.problem, self.row, self.score_set, self.accepts = problem, row, score_set, accepts
        self.upper, self.handing, self.best = upper, handing, NOTHING
        self.wide = widened(score_set, problem)
        A, b = (self.wide.A, self.wide.b) if len(self.wide.b) else (np.zeros((1, row.model.scores)), np.full(1, -1.0))
        self.points = Points.of(problem, row)
        table, score = self.points.leaves(row, A)
        base = A @ (row.model.trees.base + row.model.linear.intercept)
        least = np.minimum.reduceat(score, table.tree[:-1], axis=0).sum(axis=0)
        cell = self.points.cell
        limits = row.limits._replace(kind=row.limits.kind[cell], side=np.ascontiguousarray(row.limits.side[:, cell]))
        self.question = Instance(
            leaves=table,
            score=np.ascontiguousarray(score),
            goal=np.maximum(b - base, least - 1.0),
            firm=np.full(len(b), np.inf),
            price=self.points.price,
            limits=limits,
        )
        self.trees = len(row.trees.tree) - 1
        self.left = Frontier[Box](self._ceiling)
        self.known: set[bytes] = set()

    def run(self, budget: Budget) -> SetAnswer:
        """Look at boxes, the one with the lowest bound first, until the best row is proven or the budget is spent."""
        self.budget = budget
        able = np.isfinite(self.row.tables.price[0])
        if np.logical_or.reduceat(able, self.row.tables.start[:-1]).all():
            self.left.put(0.0, Box(able, np.zeros(0)))
        try:
            while self.left.is_open and not budget.spent():
                bound, box = self.left.pop()
                self._look_at(bound, box)
        except KeyboardInterrupt:
            budget.interrupt()
            self.left.settle(bound)
        bound = min(self.left.lowest, self._ceiling(), self.best.cost)
        return SetAnswer(self.best.point, self.best.cost, bound, budget.stopped if self.left.is_open else Stopped.DONE)

    def _ceiling(self) -> float:
        """What a row must cost less than to be better than the best."""
        return to_beat(self.upper, 1 / 4)

    def _look_at(self, bound: float, box: Box) -> None:
        """Settle a box, or part it."""
        alive, rates, first = box.alive, box.rates, not len(box.rates)
        while True:
            node = self._node(alive)
            if node is None:
                return
            if first:
                self._try(node.moved(self._ceiling()))
            bound = max(bound, node.raised(self._ceiling(), rates, ROOT_BURSTS if first else BURSTS))
            if bound >= self._ceiling():
                return
            self._try(node.x)
            kept = alive & np.logical_or.reduceat(node.cheap(self._ceiling()), self.points.start[:-1])
            alive, few, rates = kept, kept.sum() > WORTH_A_LOOK * alive.sum(), node.multipliers.rate.copy()
            if few:
                break
        decided = not (node.reduced.trees.original < self.trees).any()
        if decided and (inside := self._box(alive)).known:
            found = inside.cheapest()
            self._take(found)
            if found.bound < self._ceiling():
                self.left.settle(max(bound, found.bound))
            return
        for part in self._parts(alive, node):
            self.left.put(bound, Box(part, rates))

    def _node(self, alive: BoolArray) -> Node | None:
        """A box, without the cells that cost too much; None if it has no row."""
        if not np.logical_or.reduceat(alive, self.row.tables.start[:-1]).all():
            return None
        points = self.question.affordable(of_cells(alive, self.points.start), self._ceiling())
        alive &= np.logical_or.reduceat(points, self.points.start[:-1])
        # a number between two ends may cost less than the claim where one of them does not
        return Node.of(self.question, of_cells(alive, self.points.start)) if alive.any() else None

    def _box(self, alive: BoolArray) -> InsideBox:
        """All rows of a box."""
        own = self.problem, self.score_set, self.wide, self.accepts, self.row
        return InsideBox(*own, alive, self.handing, self.budget)

    def _inside(self, cells: IntArray) -> InsideCells:
        """The rows of some cells, one for each column."""
        own = self.problem, self.score_set, self.wide, self.accepts, self.row
        return InsideCells(*own, cells, self.handing, self.budget)

    def _try(self, x: IntArray | None) -> bool:
        """Look into the cells of a row. Returns whether an answer was found that is better than the best."""
        if x is None:
            return False
        cells = self.points.cell[x]
        if cells.tobytes() in self.known:
            return False
        self.known.add(cells.tobytes())
        return self._take(self._inside(cells).cheapest())

    def _take(self, found: Inside) -> bool:
        if found.cost >= self._ceiling():
            return False
        self.best, self.upper = found, found.cost
        return True

    def _parts(self, alive: BoolArray, node: Node) -> list[BoolArray]:
        """Two parts of a box: where most trees disagree with the ends that columns chose, or else its longest column halved."""
        cells, work, start = node.reduced.cells, node.work, self.row.tables.start
        j, where = branching(cells.start, cells.ordered, work.alive, work.x, work.potential, work.vote)
        feature = self.row.feature
        if j >= 0:
            merged = cells.merged_into[self.points.start[:-1]]
            of_where = self.points.cell[cells.original[min(where, len(cells.original) - 1)]]
            first = (merged >= 0) & (merged < where) if cells.ordered[j] else np.arange(len(alive)) == of_where
            parts = [alive & (first | (feature != j)), alive & ~(first & (feature == j))]
            if all(part[start[j] : start[j + 1]].any() for part in parts) and not (parts[0] == alive).all():
                return parts
        count = np.add.reduceat(alive, start[:-1], dtype=np.intp)
        j = int(np.argmax(count))
        if count[j] < 2:
            self.left.settle(0.0)  # what it holds was not decided
            return []
        mine = np.flatnonzero(alive & (feature == j))
        parts = [alive.copy(), alive.copy()]
        parts[0][mine[len(mine) // 2 :]] = parts[1][mine[: len(mine) // 2]] = False
        return parts


class Node:
    """A box as messages see it."""

    def __init__(self, reduced: Reduced, task: Task) -> None:
        self.reduced, self.task = reduced, task
        self.multipliers = no_multipliers(reduced, len(task.goal), len(task.limit))
        self.work: Work = work_for(reduced)

    @classmethod
    def of(cls, question: Instance, able: BoolArray) -> Node | None:
        """The box of the points that a row may have; None if it has no row."""
        reduced = reduce(question.leaves, able, question.price, question.limits.kind)
        cells, trees = reduced.cells, reduced.trees
        if (np.diff(cells.start) == 0).any() or (trees.constant_leaves < 0).any():
            return None
        task = Task(
            score=np.ascontiguousarray(question.score[trees.original_leaf]),
            goal=question.goal - question.score[trees.constant_leaves].sum(axis=0),
            price=question.price[cells.original],
            side=np.ascontiguousarray(question.limits.side[:, cells.original]),
            limit=question.limits.limit,
            counting=question.limits.counting,
        )
        best = np.maximum.reduceat(task.score, trees.start[:-1], axis=0).sum(axis=0) if len(task.score) else 0.0
        return None if (best < task.goal).any() else cls(reduced, task)

    @property
    def x(self) -> IntArray:
        """The point that each column would choose."""
        return np.asarray(self.reduced.cells.original[self.work.x])

    def moved(self, ceiling: float) -> IntArray | None:
        """The cheapest row, moved until it reaches the goals; None if moves of single columns do not lead there."""
        start, price = self.reduced.cells.start, self.task.price
        x = np.array([a + np.argmin(price[a:b]) for a, b in pairwise(start)], dtype=np.intp)
        moves = move_work_for(self.reduced, self.work.uses, len(self.task.goal))
        if improve(self.reduced, self.task, self.work.alive, moves, x, -1, ceiling) == np.inf:
            return None
        return np.asarray(self.reduced.cells.original[x])

    def raised(self, ceiling: float, rates: FloatArray, bursts: int) -> float:
        """A bound on what rows cost. Begins with some rates, if there are any."""
        self.multipliers.rate[:] = rates if len(rates) else self._first_rates(ceiling)
        size, best = np.full(len(self.task.goal), NODE_STEP if len(rates) else FIRST_STEP), 0.0
        for _ in range(bursts):
            before = best
            found = ascend(self.reduced, self.task, self.multipliers, self.work, np.inf, size, SWEEPS, size.max(), 0.0)
            best = max(best, float(found))
            if best >= ceiling or best - before < WORTH_A_BURST * (min(ceiling, 1e9) - before):
                break
        return best

    def cheap(self, ceiling: float) -> BoolArray:
        """Which points a row below the ceiling may have."""
        bound = float(as_it_is(self.reduced, self.task, self.multipliers, self.work))
        cells, work = self.reduced.cells, self.work
        count = np.diff(cells.start)
        beyond = work.potential[: len(self.task.price)] - np.repeat(work.feature_min, count)
        fine = work.alive & (bound + beyond < ceiling)
        return np.asarray(np.append(fine, False)[cells.merged_into])

    def _first_rates(self, ceiling: float) -> FloatArray:
        """What units of sums are worth, roughly: what a row below the ceiling pays for what the cheapest points lack."""
        price, trees = self.task.price, self.reduced.trees
        low = (
            np.minimum.reduceat(self.task.score, trees.start[:-1], axis=0).sum(axis=0) if len(self.task.score) else 0.0
        )
        lack = np.maximum(self.task.goal - low, 1e-9)
        spent = ceiling if np.isfinite(ceiling) else float(price[np.isfinite(price)].mean()) * len(self.work.x)
        return np.asarray(spent / (lack * len(lack)))
