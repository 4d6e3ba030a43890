"""The search for sums of trees, for a mean of functions of several sums: straight lines that follow the search.

In every node, the leaves that are left say between which numbers each sum lies. Straight lines above the functions over
these ranges make the goal of the node. All sums are of the same columns, so all ranges narrow together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from butfor.arrays import BoolArray, FloatArray, IntArray
from butfor.formulation.tables import tabulate
from butfor.model.blend import Blend
from butfor.model.questions import evaluate
from butfor.model.scores import ScoreSet
from butfor.model.trees import Trees
from butfor.problem.problem import Problem
from butfor.solvers.combine import SetAnswer
from butfor.solvers.ensemble.boxes import BoxSearch
from butfor.solvers.ensemble.branch_bound import instance
from butfor.solvers.ensemble.effort import Effort
from butfor.solvers.ensemble.instance import Instance
from butfor.solvers.ensemble.leaves import all_leaves
from butfor.solvers.ensemble.move_kernels import improve
from butfor.solvers.ensemble.reduced_ensemble import Slices
from butfor.solvers.ensemble.search import LeafSearch
from butfor.solvers.ensemble.work_arrays import Task, move_work_for, no_multipliers
from butfor.solvers.outcome import Stopped
from butfor.solvers.solver import Budget

STRIDES = 5
"""How often a row is moved on along lines through it, at most."""

REACH = 0.1
"""Over which share of the range of a sum the rise of its function is measured."""

SLOWER = 5
"""A box takes so many times as long as one of a single sum."""


def cheapest_below(problem: Problem, score_set: ScoreSet, upper: float, budget: Budget) -> SetAnswer:
    """The cheapest point of one score set, if one costs less than `upper`."""
    model = problem.model
    assert isinstance(model, Trees)
    wide = score_set.widened(problem.doubt(score_set))
    cells, leaves = all_leaves(model, problem.space, problem.margin)
    tables = tabulate(problem, cells)
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
    score = np.ascontiguousarray(leaves.value @ sums.rows.T)
    search = BlendLeafSearch(instance(problem, tables, leaves, score, base, base), sums, sums_of, upper, confirmed)
    search.run(budget)
    if search.best is None:
        return SetAnswer(None, np.inf, search.lower, budget.stopped if search.lower < upper else Stopped.DONE)
    return SetAnswer(tables.value[0, search.best], search.upper, search.lower, budget.stopped)


@dataclass(frozen=True, eq=False)
class SumGoals:
    """What is wanted of several sums of scores: some lie on a curve, and the others reach thresholds.

    - `rows` (sums, scores): the sums of the curve come first;
    - `b` (other sums): the thresholds of the others.
    """

    curve: Blend
    rows: FloatArray
    b: FloatArray

    @classmethod
    def of(cls, wide: ScoreSet) -> SumGoals:
        """The goals of a widened score set."""
        assert isinstance(wide.curve, Blend)
        return cls(wide.curve, np.vstack([wide.curve.rows, wide.A]), wide.b)

    @property
    def curved(self) -> int:
        """How many sums the curve has."""
        return len(self.curve.rows)

    def excess(self, sums: FloatArray) -> float:
        """How far the sums are outside (at most 0: inside)."""
        own = self.curve.excess_of(sums[: self.curved])
        return max(own, float((self.b - sums[self.curved :]).max(initial=-np.inf)))

    def straight(self, slopes: FloatArray, least: float) -> tuple[FloatArray, FloatArray]:
        """Rows and thresholds, with the curve replaced by a half-space."""
        rows = np.zeros((1 + len(self.b), len(self.rows)))
        rows[0, : self.curved], rows[1:, self.curved :] = slopes, np.eye(len(self.b))
        return rows, np.append(least, self.b)


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
        self.multipliers = no_multipliers(self.reduced, 1 + len(self.goals.b), len(self.task.limit))
        self.moves = move_work_for(self.reduced, 1 + len(self.goals.b))
        if not self._straighten():
            self._close()
            return False
        return True

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
        self.task = self._task(*self.goals.curve.half_space(least, most, at))
        return True

    def _task(self, slopes: FloatArray, least: float) -> Task:
        """What is asked of a row if the curve is a half-space of sums."""
        rows, b = self.goals.straight(slopes, least)
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
        cost, start = self.work.cost, self.reduced.trees.start
        least = np.repeat(np.minimum.reduceat(cost, start[:-1]), np.diff(start))
        at = np.flatnonzero(cost == least)
        first = at[np.searchsorted(at, start[:-1])]
        return np.asarray(self.score[first].sum(axis=0) - self.zero)[: self.goals.curved]

    def _try(self, x: IntArray, held: int = -1) -> bool:
        """Improve a row by moves, and keep it if it is the best.

        First it moves along the lines of the node. What it then lacks is asked of lines through it, again and again.
        """
        row, task, better = x.copy(), self.task, False
        for _ in range(STRIDES):
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
        slopes = curve.rise(own, step)
        return self._task(slopes, float(slopes @ own + curve.excess_of(own)))


class BlendBoxes(BoxSearch):
    """Boxes of cells, in which each function is bounded by itself. No lines are needed.

    The sums that should fall are negated.
    """

    def __init__(self, search: BlendLeafSearch) -> None:
        goals, zero = search.goals, search.zero
        self.curve, self.ways = goals.curve, np.append(goals.curve.ways, np.ones(len(goals.b)))
        self.zero, more = self.ways * zero, np.append(np.full(goals.curved, -np.inf), goals.b)
        task = search.task._replace(score=search.score * self.ways, goal=more + zero)
        super().__init__(search.reduced, task, search._ceiling, search._accept)

    def steps(self, size: int) -> Iterator[None]:
        return super().steps(max(1, size // SLOWER))

    def _may_reach(self, alive: BoolArray) -> bool:
        return super()._may_reach(alive) and not self._excess(self.work.most) > 2 * self.curve.rounding

    def _is_reached(self) -> bool:
        return super()._is_reached() and self._excess(self.work.here) <= 2 * self.curve.rounding

    def _excess(self, gained: FloatArray) -> float:
        return self.curve.excess_of(self._sums(gained)) if np.isfinite(gained).all() else np.inf

    def _sums(self, gained: FloatArray) -> FloatArray:
        return np.asarray((self.ways * (gained - self.zero))[: len(self.curve.rows)])

    def _aim(self) -> Task:
        """Most is lacking of the sum whose function may gain most."""
        here, goal = self.work.here, self.task.goal.copy()
        if np.isfinite(here).all():
            gains = self.curve.parts_of(self._sums(self.work.most)) - self.curve.parts_of(self._sums(here))
            goal[: len(gains)] = here[: len(gains)] + gains
        return self.task._replace(goal=goal)


def _some(living: BoolArray, lists: Slices) -> BoolArray:
    """Whether some item of each list is living."""
    count = np.concatenate([[0], np.cumsum(living[lists.items])])
    return np.asarray(count[lists.end] > count[lists.begin])
