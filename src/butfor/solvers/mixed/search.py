"""The search for the cheapest row over trees and a linear model: boxes of cells, bounded by messages and rates.

Whatever rates r >= 0 say that a unit of each sum is worth, no row of a box costs less than

    r goals + trees: min (their messages - r leaf) + columns: min over ends of cells (price - r gain - messages).

So a number counts as it is, and not as the most that its cell can add. Where no tree has more than one leaf left, the linear
model alone is asked about the whole box.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple, Protocol

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
from butfor.solvers.mixed.inside import Accepts, InsideBox
from butfor.solvers.mixed.points import Points, of_cells
from butfor.solvers.mixed.relaxed import RelaxedRow
from butfor.solvers.outcome import Stopped, to_beat
from butfor.solvers.reduction import Handing
from butfor.solvers.solver import Budget

SWEEPS, FIRST_BURSTS, MORE_BURSTS = 16, 12, 3
"""So many sweeps make a burst, and so many bursts raise the bound of the first box, and of others."""

WORTH_A_BURST = 0.1
"""Another burst is worth it if the last one closed so much of what is missing."""

WORTH_A_LOOK = 0.9
"""A box of which more cells than this share are left is not looked at again before it is parted."""

RATE_STEP = 0.3
"""By which share of itself a rate changes at most after a sweep."""

BEYOND = 1 + 1e-9
"""A bound is beyond what the dearest row costs if it is above it by more than rounding."""

OVERLAP = 1e-9
"""Parts overlap by this share of where they meet, which is more than sums are rounded."""

FIRST_LEAPS = (1.0, 1.5, 2.0, 4.0, 8.0)
"""How many times what the cheapest row lacks is asked for, to find a first answer."""


class Goals(Protocol):
    """What is wanted of sums of scores, `rows @ scores`, as half-spaces of sums that lie between two ends."""

    @property
    def rows(self) -> FloatArray: ...

    def half_spaces(self, low: FloatArray, high: FloatArray, at: FloatArray) -> tuple[FloatArray, FloatArray]:
        """`slopes @ sums >= least` holds for all that is wanted between the ends, and is as tight as possible at some sums."""
        ...

    def is_missed(self, low: FloatArray, high: FloatArray) -> bool:
        """Whether nothing between the ends is wanted."""
        ...


class Thresholds(NamedTuple):
    """Sums that are to reach thresholds."""

    rows: FloatArray
    b: FloatArray

    def half_spaces(self, low: FloatArray, high: FloatArray, at: FloatArray) -> tuple[FloatArray, FloatArray]:
        return np.eye(len(self.b)), self.b

    def is_missed(self, low: FloatArray, high: FloatArray) -> bool:
        return bool((high < self.b).any())


class SumEnd(NamedTuple):
    """An end of a sum: `sign` times the sum is at least `least`."""

    of: int
    sign: int
    least: float


class MixedBox(NamedTuple):
    """Cells that are left, ends between which sums lie, and rates of the goals and the ends with which to begin."""

    alive: BoolArray
    ends: tuple[SumEnd, ...]
    rates: FloatArray


class MixedSearch:
    """The search for one row and one score set. `accepts` says which rows are answers, and `upper` is the cost to beat."""

    def __init__(
        self, problem: Problem, row: RelaxedRow, score_set: ScoreSet, accepts: Accepts, handing: Handing
    ) -> None:
        self.problem, self.row, self.score_set, self.accepts = problem, row, score_set, accepts
        self.upper, self.handing, self.best = np.inf, handing, NOTHING
        self.goals, self.points = self.wanted(), Points.of(problem, row)
        table, self.score = self.points.leaves(row, self.goals.rows)
        self.base = self.goals.rows @ (row.model.trees.base + row.model.linear.intercept)
        cell = self.points.cell
        limits = row.limits._replace(kind=row.limits.kind[cell], side=np.ascontiguousarray(row.limits.side[:, cell]))
        none = np.zeros(len(self.base))
        self.question = Instance(table, self.score, none, none, self.points.price, limits)
        self.trees = len(row.trees.tree) - 1
        self.left = Frontier[MixedBox](self._ceiling)
        able = np.isfinite(row.tables.price[0])
        if np.logical_or.reduceat(able, row.tables.start[:-1]).all():
            self.left.put(0.0, MixedBox(able, (), np.zeros(0)))
        self.known: set[bytes] = set()

    def wanted(self) -> Goals:
        """What is wanted, with all scores that the estimator may take for such."""
        self.wide = widened(self.score_set, self.problem)
        nothing = np.zeros((1, self.row.model.scores)), np.full(1, -1.0)
        return Thresholds(*((self.wide.A, self.wide.b) if len(self.wide.b) else nothing))

    def settled(self, alive: BoolArray) -> Inside | None:
        """What is known of the rows of a box in which no tree has a choice; None if only smaller boxes can be asked about."""
        own = self.problem, self.score_set, self.wide, self.accepts, self.row
        box = InsideBox(*own, alive, self.handing, self.budget)
        return box.cheapest() if box.known else None

    def below(self, upper: float, budget: Budget) -> SetAnswer:
        """Look for an answer cheaper than another: at boxes, the one with the lowest bound first. Called again, it goes on."""
        self.upper, self.budget, bound = min(self.upper, upper), budget, 0.0
        try:
            while self.left.is_open and not budget.spent():
                bound, box = self.left.pop()
                self._look_at(bound, box)
        except KeyboardInterrupt:
            budget.interrupt()
            self.left.settle(bound)
        bound = min(self.left.lowest, self._ceiling(), self.best.cost)
        stopped = budget.stopped if bound < self._ceiling() else Stopped.DONE
        return SetAnswer(self.best.point, self.best.cost, bound, stopped)

    def _ceiling(self) -> float:
        """What a row must cost less than to be better than the best."""
        return to_beat(self.upper, 1 / 4)

    def _look_at(self, bound: float, box: MixedBox) -> None:
        """Settle a box, or part it."""
        alive, rates, first = box.alive, box.rates, not len(box.rates)
        while True:
            node = self._node(alive, box.ends)
            if node is None:
                return
            if first:
                self._leap(node)
            ceiling = min(self._ceiling(), node.dearest)
            bound = max(bound, node.raised(ceiling, rates, FIRST_BURSTS if first else MORE_BURSTS))
            if bound >= min(ceiling, self._ceiling()):
                return
            self._try(node.x)
            self.move(node)
            kept = alive & np.logical_or.reduceat(node.cheap(self._ceiling()), self.points.start[:-1])
            few, rates = kept.sum() > WORTH_A_LOOK * alive.sum(), node.multipliers.rate.copy()
            alive = kept
            if few:
                break
        decided = not (node.reduced.trees.original < self.trees).any()
        found = self.settled(alive) if decided else None
        if found is not None:
            self._take(found)
            if found.bound < self._ceiling():
                self.left.settle(max(bound, found.bound))
            return
        for part in self.parts(box._replace(alive=alive, rates=rates), node):
            self.left.put(bound, part)

    def _node(self, alive: BoolArray, ends: tuple[SumEnd, ...]) -> MixedNode | None:
        """A box, without the cells that cost too much, which are left out in place; None if it has no row."""
        starts = self.points.start[:-1]
        if not np.logical_or.reduceat(alive, self.row.tables.start[:-1]).all():
            return None
        points = self.question.affordable(of_cells(alive, self.points.start), self._ceiling())
        alive &= np.logical_or.reduceat(points, starts)  # an end that costs too much bounds numbers that do not
        if not np.logical_or.reduceat(alive, self.row.tables.start[:-1]).all():
            return None
        return MixedNode.of(self.question, self.goals, self.base, ends, of_cells(alive, self.points.start))

    def move(self, node: MixedNode) -> None:
        """Try the row that columns chose, moved into the goals."""
        if (x := node.improved(self._ceiling(), 0.0)) is not None:
            self._try(x)

    def _leap(self, node: MixedNode) -> None:
        """Look for an answer that need not be the cheapest."""
        for factor in FIRST_LEAPS:
            x = node.moved(self._ceiling(), factor)
            if x is None or self._try(x):
                return

    def _try(self, x: IntArray) -> bool:
        """Look into the cells of a row. Returns whether a better answer was found."""
        cells = self.points.cell[x]
        if cells.tobytes() in self.known:
            return False
        self.known.add(cells.tobytes())
        alive = np.zeros(len(self.row.feature), dtype=np.bool_)
        alive[cells] = True
        found = self.settled(alive)
        return found is not None and self._take(found)

    def _take(self, found: Inside) -> bool:
        if found.cost >= self._ceiling():
            return False
        self.best, self.upper = found, found.cost
        return True

    def parts(self, box: MixedBox, node: MixedNode) -> list[MixedBox]:
        """Two parts of a box: where most trees disagree with the points that columns chose, or else its longest column halved."""
        return [box._replace(alive=part) for part in self._parts(box.alive, node)]

    def _parts(self, alive: BoolArray, node: MixedNode) -> list[BoolArray]:
        cells, work, start, feature = node.reduced.cells, node.work, self.row.tables.start, self.row.feature
        j, where = branching(cells.start, cells.ordered, work.alive, work.x, work.potential, work.vote)
        if j >= 0:
            merged = cells.merged_into[self.points.start[:-1]]
            of_where = self.points.cell[cells.original[min(where, len(cells.original) - 1)]]
            first = (merged >= 0) & (merged < where) if cells.ordered[j] else np.arange(len(alive)) == of_where
            parts = [alive & (first | (feature != j)), alive & ~(first & (feature == j))]
            if all(part[start[j] : start[j + 1]].any() for part in parts):
                return parts
        count = np.add.reduceat(alive, start[:-1], dtype=np.intp)
        mine = np.flatnonzero(alive & (feature == int(np.argmax(count))))
        parts = [alive.copy(), alive.copy()]
        parts[0][mine[len(mine) // 2 :]] = parts[1][mine[: len(mine) // 2]] = False
        return parts


def spread(low: FloatArray, high: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Ends of sums, a little wider than they are computed."""
    return low - OVERLAP * (1 + np.abs(low)), high + OVERLAP * (1 + np.abs(high))


class MixedNode:
    """A box as messages see it. Between the ends that sums have in it, the goals are half-spaces."""

    def __init__(
        self, question: Instance, goals: Goals, base: FloatArray, ends: tuple[SumEnd, ...], reduced: Reduced
    ) -> None:
        cells, trees = reduced.cells, reduced.trees
        self.reduced, self.goals, self.ends, self.start = reduced, goals, ends, trees.start[:-1]
        self.score = question.score[trees.original_leaf]
        self.base = base + question.score[trees.constant_leaves].sum(axis=0)
        self.low, self.high = (
            self.base + (extreme.reduceat(self.score, self.start, axis=0).sum(axis=0) if len(self.score) else 0.0)
            for extreme in (np.minimum, np.maximum)
        )
        self.low, self.high = spread(self.low, self.high)
        for end in ends:
            if end.sign > 0:
                self.low[end.of] = max(self.low[end.of], end.least)
            else:
                self.high[end.of] = min(self.high[end.of], -end.least)
        none = np.zeros(0)
        self.task = Task(
            score=self.score,
            goal=none,
            price=question.price[cells.original],
            side=np.ascontiguousarray(question.limits.side[:, cells.original]),
            limit=question.limits.limit,
            counting=question.limits.counting,
        )
        self.empty = bool((self.low > self.high).any())
        self.high = np.maximum(self.low, self.high)
        self.straighten((self.low + self.high) / 2)
        self.multipliers = no_multipliers(reduced, len(self.task.goal), len(self.task.limit))
        self.work: Work = work_for(reduced)

    @classmethod
    def of(
        cls, question: Instance, goals: Goals, base: FloatArray, ends: tuple[SumEnd, ...], able: BoolArray
    ) -> MixedNode | None:
        """The box of the points that a row may have; None if it has no row, or none that reaches the goals."""
        reduced = reduce(question.leaves, able, question.price, question.limits.kind)
        if (np.diff(reduced.cells.start) == 0).any() or (reduced.trees.constant_leaves < 0).any():
            return None
        node = cls(question, goals, base, ends, reduced)
        return None if node.misses else node

    def straighten(self, at: FloatArray) -> None:
        """Let the goals be half-spaces that are tight at some sums."""
        slopes, least = self.goals.half_spaces(self.low, self.high, np.clip(at, self.low, self.high))
        signs = np.zeros((len(self.ends), len(at)))
        for row, end in zip(signs, self.ends, strict=True):
            row[end.of] = end.sign
        slopes, least = np.vstack([slopes, signs]), np.append(least, [end.least for end in self.ends])
        score = np.ascontiguousarray(self.score @ slopes.T)
        goal = np.maximum(least - slopes @ self.base, self._least(score))  # all rows meet a goal that is less
        self.task = self.task._replace(score=score, goal=goal)

    def _least(self, score: FloatArray) -> FloatArray:
        """What the leaves add up to at least."""
        if not len(score):
            return np.zeros(score.shape[1])
        return np.asarray(np.minimum.reduceat(score, self.start, axis=0).sum(axis=0))

    @property
    def dearest(self) -> float:
        """More than any row costs: a bound of so much says that there is none."""
        price, start = self.task.price, self.reduced.cells.start
        return BEYOND * (1.0 + float(np.maximum.reduceat(price, start[:-1]).sum()))

    @property
    def misses(self) -> bool:
        """Whether the best leaves and numbers miss a goal, or an end."""
        if self.empty or self.goals.is_missed(self.low, self.high):
            return True
        score = self.task.score
        most = (
            np.maximum.reduceat(score, self.start, axis=0).sum(axis=0) if len(score) else np.zeros(len(self.task.goal))
        )
        return bool((most < self.task.goal).any())

    @property
    def sums(self) -> FloatArray:
        """What the leaves that trees and columns would choose for themselves add up to."""
        chosen = self.score[self.work.cheapest].sum(axis=0) if len(self.score) else 0.0
        return np.asarray(np.clip(self.base + chosen, self.low, self.high))

    @property
    def x(self) -> IntArray:
        """The point that each column would choose."""
        return np.asarray(self.reduced.cells.original[self.work.x])

    def moved(self, ceiling: float, factor: float) -> IntArray | None:
        """The cheapest row, moved until it makes up for what it lacks, or so many times that; None if no moves lead there."""
        start, price = self.reduced.cells.start, self.task.price
        x = np.array([a + np.argmin(price[a:b]) for a, b in pairwise(start)], dtype=np.intp)
        moves = move_work_for(self.reduced, self.work.uses, len(self.task.goal))
        improve(self.reduced, self.task, self.work.alive, moves, x.copy(), -1, -np.inf)  # adds the scores up, and stops
        goal = moves.total + np.maximum(self.task.goal - moves.total, 0.0) * factor
        goal = np.maximum(goal, self.task.goal)
        if improve(self.reduced, self.task._replace(goal=goal), self.work.alive, moves, x, -1, ceiling) == np.inf:
            return None
        return np.asarray(self.reduced.cells.original[x])

    def improved(self, ceiling: float, more: float) -> IntArray | None:
        """The row that columns chose, moved so much beyond all goals, and cheaper then; None if no moves lead there."""
        x, moves = self.work.x.copy(), move_work_for(self.reduced, self.work.uses, len(self.task.goal))
        task = self.task._replace(goal=self.task.goal + more)
        if improve(self.reduced, task, self.work.alive, moves, x, -1, ceiling) == np.inf:
            return None
        return np.asarray(self.reduced.cells.original[x])

    def raised(self, ceiling: float, rates: FloatArray, bursts: int) -> float:
        """A bound on what rows cost. Begins with some rates, if there are any."""
        self.multipliers.rate[:] = rates if len(rates) else self._first_rates(ceiling)
        size, best = np.full(len(self.task.goal), RATE_STEP), 0.0
        for burst in range(bursts):
            if burst:
                self.straighten(self.sums)
            before, step = best, float(size.max())
            found = ascend(self.reduced, self.task, self.multipliers, self.work, np.inf, size, SWEEPS, step, 0.0)
            best = max(best, float(found))
            if best >= ceiling or best - before < WORTH_A_BURST * (min(ceiling, 1e9) - before):
                break
        return best

    def cheap(self, ceiling: float) -> BoolArray:
        """Which points a row below the ceiling may have."""
        bound = float(as_it_is(self.reduced, self.task, self.multipliers, self.work))
        cells, work = self.reduced.cells, self.work
        beyond = work.potential[: len(self.task.price)] - np.repeat(work.feature_min, np.diff(cells.start))
        fine = work.alive & (bound + beyond < ceiling)
        return np.asarray(np.append(fine, False)[cells.merged_into])

    def _first_rates(self, ceiling: float) -> FloatArray:
        """What units of sums are worth, roughly: what a row below the ceiling pays for what the least leaves lack."""
        price = self.task.price
        lack = np.maximum(self.task.goal - self._least(self.task.score), 1e-9)
        spent = ceiling if np.isfinite(ceiling) else float(price[np.isfinite(price)].mean()) * len(self.work.x)
        return np.asarray(spent / (lack * len(lack)))
