"""The search for sums of trees, for a mean of functions of several sums: straight lines that follow the search.

In every node, the leaves that are left say between which numbers each sum lies. Straight lines above the functions over
these ranges make the goal of the node. All sums are of the same columns, so all ranges narrow together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import block_diag

from butfor.arrays import BoolArray, FloatArray, IntArray
from butfor.model.blend import Blends
from butfor.model.questions import evaluate
from butfor.model.scores import ScoreSet
from butfor.problem.problem import Problem
from butfor.solvers.combine import SetAnswer
from butfor.solvers.ensemble.boxes import BoxSearch
from butfor.solvers.ensemble.effort import Effort
from butfor.solvers.ensemble.instance import Instance
from butfor.solvers.ensemble.move_kernels import improve
from butfor.solvers.ensemble.reduced_ensemble import Slices
from butfor.solvers.ensemble.row_cells import row_cells
from butfor.solvers.ensemble.search import LeafSearch
from butfor.solvers.ensemble.work_arrays import Task, move_work_for, no_multipliers
from butfor.solvers.outcome import Stopped
from butfor.solvers.solver import Budget

MOST_STRIDES = 5
"""How often a row is moved on along lines through it, at most."""

REACH = 0.1
"""Over which share of the range of a sum the rise of its function is measured."""

SLOWER_BOXES = 5
"""A box takes so many times as long as one of a single sum."""


def cheapest_below(problem: Problem, score_set: ScoreSet, upper: float, budget: Budget) -> SetAnswer:
    """The cheapest point of one score set, if one costs less than `upper`."""
    row = row_cells(problem)
    model, tables = row.model, row.tables
    wide = score_set.widened(problem.doubt(score_set))
    sums = SumGoals.of(wide)
    known: dict[bytes, FloatArray] = {}
    asked: dict[bytes, bool] = {}

    def sums_of(chosen: IntArray) -> FloatArray:
        key = chosen.tobytes()
        if key not in known:
            known[key] = sums.rows @ evaluate(model, tables.value[0, chosen][None])[0]
        return known[key]

    def confirmed(chosen: IntArray) -> bool:
        key = chosen.tobytes()
        if key not in asked:
            asked[key] = sums.excess(sums_of(chosen)) <= 0 and problem.reached(score_set, tables.value[0, chosen])
        return asked[key]

    base = -sums.rows @ model.base
    score = np.ascontiguousarray(row.leaves.value @ sums.rows.T)
    search = BlendLeafSearch(row.asked(score, base, base), sums, sums_of, upper, confirmed)
    search.run(budget)
    if search.best is None:
        return SetAnswer(None, np.inf, search.lower, Stopped.DONE if search.closed else budget.stopped)
    return SetAnswer(tables.value[0, search.best], search.upper, search.lower, budget.stopped)


@dataclass(frozen=True, eq=False)
class SumGoals:
    """What is wanted of several sums of scores: some lie in a curve, and the others reach thresholds.

    - `rows` (sums, scores): the sums of the curve come first;
    - `b` (other sums): the thresholds of the others.
    """

    curve: Blends
    rows: FloatArray
    b: FloatArray

    @classmethod
    def of(cls, wide: ScoreSet) -> SumGoals:
        """The goals of a widened score set."""
        curve = Blends.of(wide.curve)
        return cls(curve, np.vstack([curve.rows, wide.A]), wide.b)

    @property
    def curved(self) -> int:
        """How many sums the curve has."""
        return len(self.curve.rows)

    def excess(self, sums: FloatArray) -> float:
        """How far the sums are outside (at most 0: inside)."""
        own = self.curve.excesses_of(sums[: self.curved])
        return float(np.append(own, self.b - sums[self.curved :]).max())

    @property
    def straight(self) -> int:
        """How many inequalities there are once the curve is straightened."""
        return len(self.curve.each) + len(self.b)

    def half_spaces(self, low: FloatArray, high: FloatArray, at: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Half-spaces of sums that lie between two ends, with the curve straightened where it is tight at some sums."""
        mine = slice(self.curved)
        return self.straightened(*self.curve.half_spaces(low[mine], high[mine], at[mine]))

    def is_missed(self, low: FloatArray, high: FloatArray) -> bool:
        """Whether no sums between two ends are wanted."""
        mine = slice(self.curved)
        return self.curve.is_missed(low[mine], high[mine]) or bool((high[self.curved :] < self.b).any())

    def straightened(self, slopes: FloatArray, least: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Rows and thresholds, with the curve replaced by half-spaces."""
        return block_diag(slopes, np.eye(len(self.b))), np.append(least, self.b)


class BlendLeafSearch(LeafSearch):
    """The search for the cheapest row whose sums are as wanted.

    Its question holds what the leaves add to each sum, and the goals at which the sums are 0. The goals of its task are
    straight, and follow the leaves that are left. `sums_of` gives the sums of a row.
    """

    def __init__(
        self,
        question: Instance,
        goals: SumGoals,
        sums_of: Callable[[IntArray], FloatArray],
        upper: float,
        confirmed: Callable[[IntArray], bool],
    ) -> None:
        super().__init__(question, upper, confirmed)
        self.goals, self.sums_of = goals, sums_of

    def _reduce(self, able: BoolArray) -> bool:
        if not super()._reduce(able):
            return False
        self.score, self.zero = self.task.score, self.task.goal
        self.multipliers = no_multipliers(self.reduced, self.goals.straight, len(self.task.limit))
        self.moves = move_work_for(self.reduced, self.work.uses, self.goals.straight)
        return self._straighten()

    def _fell_short(self, highest: FloatArray, *starts: IntArray) -> None:
        """How much was lacking is not told: it is no sum."""
        self._close()

    def _inside(self, question: Instance, original: Callable[[IntArray], IntArray]) -> BlendLeafSearch:
        question = replace(question, score=self.score, goal=self.zero, firm=self.zero)
        return BlendLeafSearch(
            question,
            self.goals,
            lambda cells: self.sums_of(original(cells)),
            self.upper,
            lambda cells: self.confirmed(original(cells)),
        )

    def _boxes(self) -> BoxSearch:
        return BlendBoxes(self)

    def _raise(self, how: Effort, size: FloatArray) -> float:
        return super()._raise(how, size) if self._straighten() else np.inf

    def _straighten(self) -> bool:
        """Lines above the functions over what the living leaves add up to. Returns False if they never reach the goal."""
        least, most = self._ends()
        if not (np.isfinite(least) & np.isfinite(most)).all() or self.goals.curve.is_missed(least, most):
            return False
        self.least, self.most = least, most
        at = np.clip(self._chosen(), least, most)
        self.task = self._task(*self.goals.curve.half_spaces(least, most, at))
        return True

    def _task(self, slopes: FloatArray, least: FloatArray) -> Task:
        """What is asked of a row if the curve is replaced by half-spaces."""
        rows, b = self.goals.straightened(slopes, least)
        return self.task._replace(score=np.ascontiguousarray(self.score @ rows.T), goal=b + rows @ self.zero)

    def _ends(self) -> tuple[FloatArray, FloatArray]:
        """The least and the most that the living leaves of all trees add up to, for each sum of the curve."""
        living, own = self._living_leaves()[:, None], slice(self.goals.curved)
        start, spare = self.reduced.trees.start[:-1], self.goals.curve.off
        ends = []
        for sign in (1.0, -1.0):
            each = np.minimum.reduceat(np.where(living, sign * self.score[:, own], np.inf), start, axis=0)
            ends.append(sign * (each.sum(axis=0) - sign * self.zero[own] - spare))
        return ends[0], ends[1]

    def _living_leaves(self) -> BoolArray:
        """The leaves for which every feature has a living cell."""
        blocks = _some(self.work.alive, self.reduced.blocks)
        entries = _some(blocks, self.reduced.entries.blocks)
        return np.asarray(np.logical_and.reduceat(entries, self.reduced.entries.start[:-1]))

    def _chosen(self) -> FloatArray:
        """The sums of the curve for the leaves that the trees chose last."""
        first = cheapest_leaves(self.work.cost, self.reduced.trees.start)
        return np.asarray(self.score[first].sum(axis=0) - self.zero)[: self.goals.curved]

    def _try(self, x: IntArray, held: int = -1) -> bool:
        """Improve a row by moves, and keep it if it is the best.

        First it moves along the lines of the node. What it then lacks is asked of lines through it, again and again.
        """
        row, task, better = x.copy(), self.task, False
        for _ in range(MOST_STRIDES):
            before, ceiling = row.copy(), self._ceiling()
            cost = improve(self.reduced, task, self.work.alive, self.moves, row, held, ceiling)
            if cost >= ceiling:
                break
            cells = self.reduced.cells.original[row]
            if self.confirmed(cells):
                self.upper, self.best, better = float(self.task.price[row].sum()), cells, True
            elif better or (row == before).all():
                break
            task = self._task_through(self.sums_of(cells))
        return better

    def _task_through(self, sums: FloatArray) -> Task:
        """What a row with these sums lacks, along the rise of the functions where it is."""
        curve, own = self.goals.curve, sums[: self.goals.curved]
        step = REACH * (self.most - self.least)
        slopes = curve.rises(own, step)
        return self._task(slopes, slopes @ own + curve.excesses_of(own))


class BlendBoxes(BoxSearch):
    """Boxes of cells, in which each function is bounded by itself. No lines are needed.

    Its scores are the sums that should rise, those that should fall (negated), and the others: `member` and `way` say
    which is which.
    """

    def __init__(self, search: BlendLeafSearch) -> None:
        goals, zero = search.goals, search.zero
        self.curve, wanted = goals.curve, goals.curve.ways
        ends = [(m, way) for way in (1.0, -1.0) for m in np.flatnonzero((wanted == way).any(axis=0)).tolist()]
        self.member = np.array([m for m, _ in ends], dtype=np.intp)
        self.way = np.array([way for _, way in ends])
        self.zero = zero[self.member]
        others = slice(goals.curved, None)
        score = np.column_stack([search.score[:, self.member] * self.way, search.score[:, others]])
        goal = np.append(np.full(len(ends), -np.inf), goals.b + zero[others])
        task = search.task._replace(score=np.ascontiguousarray(score), goal=goal)
        super().__init__(search.reduced, task, search._ceiling, search._accept)

    def steps(self, size: int) -> Iterator[None]:
        return super().steps(max(1, size // SLOWER_BOXES))

    def _may_reach(self, alive: BoolArray) -> bool:
        return super()._may_reach(alive) and not self.curve.is_missed(*self._ends(self.work.most))

    def _is_reached(self) -> bool:
        here = self.work.here
        return super()._is_reached() and bool(np.isfinite(here).all()) and not self.curve.is_missed(*self._ends(here))

    def _ends(self, gained: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The least and the most of each sum. An end in which no set is interested is 0."""
        low, high = np.zeros(len(self.curve.rows)), np.zeros(len(self.curve.rows))
        sums = self.way * gained[: len(self.way)] - self.zero
        up = self.way > 0
        high[self.member[up]], low[self.member[~up]] = sums[up], sums[~up]
        return low, high

    def _aim(self) -> Task:
        """Most is lacking of the sum whose function may gain most, in the set that is furthest away."""
        here, goal = self.work.here, self.task.goal.copy()
        if np.isfinite(here).all():
            (low, high), (least, most) = self._ends(here), self._ends(self.work.most)
            now = np.where(self.curve.ways > 0, high, low)
            blend = self.curve.each[int(np.argmax([b.excess_of(s) for b, s in zip(self.curve.each, now, strict=True)]))]
            gains = blend.parts_of(np.where(blend.ways > 0, most, least))
            gains = gains - blend.parts_of(np.where(blend.ways > 0, high, low))
            wanted = blend.ways[self.member] == self.way
            goal[: len(wanted)] = here[: len(wanted)] + np.where(wanted, gains[self.member], 0.0)
        return self.task._replace(goal=goal)


def cheapest_leaves(cost: FloatArray, start: IntArray) -> IntArray:
    """The first of the cheapest leaves of each tree."""
    least = np.repeat(np.minimum.reduceat(cost, start[:-1]), np.diff(start))
    at = np.flatnonzero(cost == least)
    return np.asarray(at[np.searchsorted(at, start[:-1])])


def _some(living: BoolArray, lists: Slices) -> BoolArray:
    """Whether some item of each list is living."""
    count = np.concatenate([[0], np.cumsum(living[lists.items])])
    return np.asarray(count[lists.end] > count[lists.begin])
