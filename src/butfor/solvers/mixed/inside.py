"""The cheapest row of a box in which no tree has a choice: only the linear model and sums of columns are left to decide."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from butfor.arrays import BoolArray, FloatArray
from butfor.formulation.margins import tightened
from butfor.model.questions import evaluate
from butfor.model.scores import ScoreSet
from butfor.problem.constraints.implications import Implication
from butfor.problem.problem import Problem
from butfor.solvers.ensemble.cell_search import NOTHING, Inside
from butfor.solvers.ensemble.limits import sum_columns
from butfor.solvers.linear.knapsack import LinearKnapsack
from butfor.solvers.milp.milp import Milp
from butfor.solvers.mixed.relaxed import RelaxedRow
from butfor.solvers.reduction import Handing
from butfor.solvers.solver import AbstractSolver, Budget

NUDGE = 1e-13
"""By which share of their size thresholds are raised, so that the rounding of a value that just reaches them is made up."""


Accepts = Callable[[FloatArray], bool]
"""Whether a row of the set is an answer."""

Method = Callable[[ScoreSet], tuple[float, tuple[FloatArray, ...]]]
"""The least cost of the rows of the cells whose scores are in a set (or a bound on it), and rows to be tried."""


class InsideBox:
    """The rows of a box of cells in which no tree has a choice.

    - `wide` holds all scores that the estimator may take for scores of the set, and `accepts` says which rows are answers;
    - `known`: whether the linear model can be asked about all of them. It cannot where numbers may be missing or not, where
      cells between others are left out, or if an implication is decided by the cells.
    """

    def __init__(
        self,
        problem: Problem,
        score_set: ScoreSet,
        wide: ScoreSet,
        accepts: Accepts,
        row: RelaxedRow,
        alive: BoolArray,
        handing: Handing,
        budget: Budget,
    ) -> None:
        self.problem, self.score_set, self.wide, self.row, self.budget = problem, score_set, wide, row, budget
        self.handing, self.accepts = handing, accepts
        start, able = row.tables.start, np.isfinite(row.tables.price[0])
        price = np.where(alive, row.tables.price[0], np.inf)
        cells = np.array([a + np.argmin(price[a:b]) for a, b in pairwise(start)], dtype=np.intp)
        self.start, self.low, self.high = row.tables.value[0, cells], row.low[cells], row.high[cells]
        self.price = float(price[cells].sum())
        side = np.where(alive, row.limits.side, np.inf)
        self.beyond = bool((np.minimum.reduceat(side, start[:-1], axis=1).sum(axis=1) > row.limits.limit).any())
        self.sums = sum_columns(problem)
        self.allowed: dict[int, BoolArray] = {}
        several = np.flatnonzero(np.add.reduceat(alive, start[:-1], dtype=np.intp) > 1)
        self.known = not (len(several) and problem.relations_of(Implication))
        for j in several.tolist():
            first, last = int(start[j]), int(start[j + 1]) - 1
            mine = first + np.flatnonzero(alive[first:last])
            between = slice(mine[0], mine[-1] + 1)
            if j in problem.domain.levels:
                self.allowed[j] = alive[first:last]
            self.known &= not alive[last] and bool((alive | ~able)[between].all() or j in self.allowed)
            self.low[j], self.high[j] = np.min(row.low[mine]), np.max(row.high[mine])
        moved = [j for j in self.sums if self.low[j] < self.high[j]]
        self.loose = np.unique([*row.loose(cells, wide.A).tolist(), *moved, *several.tolist()]).astype(np.intp)
        self.straight = len(self.loose) == 1 and not len(several)

    def cheapest(self) -> Inside:
        """The cheapest answer."""
        if self._is_answer(self.start):
            return Inside(self.start, self.price, self.price)
        if self.beyond or not len(self.loose):
            return NOTHING
        if self.sums or not len(self.wide.b):  # a knapsack has a sum that is to be reached
            return self._tried(self._by_program)
        if self.straight:
            return self._tried(self._along)
        found = self._tried(self._by_knapsack)
        return found if found.proven or found.bound == np.inf else self._tried(self._by_program)

    def _tried(self, method: Method) -> Inside:
        """The first row that is accepted: of the wide set, of the firm set, or of the set itself."""
        bound, rows = method(self.wide)
        if bound == np.inf:
            return NOTHING
        for point in self._rows(method, rows):
            if self._is_answer(point):
                cost = float(self.problem.prices.total(self.problem.factuals, point[None])[0])
                return Inside(point, cost, min(bound, cost))
        return Inside(None, np.inf, bound)

    def _is_answer(self, point: FloatArray) -> bool:
        short = self.wide.shortfall(evaluate(self.row.model, point[None]))[0]
        near = short <= NUDGE * (1 + np.abs(self.wide.b).max(initial=0.0))
        return bool(near and self.problem.admits(point[None])[0] and self.accepts(point))

    def _rows(self, method: Method, rows: tuple[FloatArray, ...]) -> Iterator[FloatArray]:
        yield from rows[:1]
        firm = tightened(self.score_set, self.problem)
        yield from method(replace(firm, b=firm.b + NUDGE * (1 + np.abs(firm.b))))[1][:1]
        yield from method(self.score_set)[1]

    def _needs(self, part: ScoreSet) -> FloatArray:
        """What the cheapest values lack of each sum of a set."""
        return np.asarray(part.b - part.A @ evaluate(self.row.model, self.start[None])[0])

    def _along(self, part: ScoreSet) -> tuple[float, tuple[FloatArray, ...]]:
        """A single feature moves to the nearest value that is enough. Its last one is tried, too."""
        (j,) = self.loose
        slope, need = part.A @ self.row.model.linear.slope[:, j], self._needs(part)
        ends = self.start[j] + need[slope != 0] / slope[slope != 0]
        rising = slope[slope != 0] > 0
        low, high = ends[rising].max(initial=self.low[j]), ends[~rising].min(initial=self.high[j])
        if low > high or (need[slope == 0] > 0).any():
            return np.inf, ()
        near = self._on_grid(self.start, {j: (low, high)})
        if np.isnan(near[j]):
            return np.inf, ()
        last = self._on_grid(self.start, {j: (self.high[j],) * 2 if rising.any() else (self.low[j],) * 2})
        return float(self.problem.prices.total(self.problem.factuals, near[None])[0]), (near, last)

    def _by_knapsack(self, part: ScoreSet) -> tuple[float, tuple[FloatArray, ...]]:
        """Only the sum that lacks most is regarded."""
        return self._solved(LinearKnapsack(), part, [int(np.argmax(self._needs(part)))])

    def _by_program(self, part: ScoreSet) -> tuple[float, tuple[FloatArray, ...]]:
        """All sums are."""
        return self._solved(Milp(), part, range(len(part.A)))

    def _solved(
        self, solver: AbstractSolver, part: ScoreSet, sums: Sequence[int]
    ) -> tuple[float, tuple[FloatArray, ...]]:
        """Some sums of a set are reached by the linear model alone, at the least cost."""
        A, trees = part.A[sums], evaluate(self.row.model.trees, self.start[None])[0]
        left = ScoreSet(A, part.b[sums] - A @ trees, part.strict[sums])
        found = self.handing.ask(solver, self.narrowed(left), self.budget)
        return float(found.bound[0]), tuple(found.points[found.found()])

    def _on_grid(self, point: FloatArray, between: dict[int, tuple[float, ...]]) -> FloatArray:
        """The point with some values replaced by the nearest to the factual one between two ends."""
        out = point.copy()
        for j, (low, high) in between.items():
            cell = np.array([[np.nextafter(low, -np.inf)]]), np.array([[high]])
            out[j] = self.problem.domain.nearest(j, *cell)[0, 0]
        return out

    def narrowed(self, part: ScoreSet) -> Problem:
        """The problem over these cells, which keep all implications. Only the loose features can move."""
        domain, loose = self.problem.domain, np.isin(np.arange(len(self.start)), self.loose)
        lost = np.isnan(self.start) & ~loose
        firm, numbers = ~lost & ~loose, ~lost & ~np.isin(np.arange(len(lost)), list(domain.levels))
        low, high = np.where(loose, self.low, self.start), np.where(loose, self.high, self.start)
        domain = domain.all_missing(np.flatnonzero(lost)).without_missing(np.flatnonzero(~lost))
        domain = domain.narrowed(np.flatnonzero(numbers), low[numbers], high[numbers])
        for j in (j for j in self.problem.domain.levels if firm[j]):
            domain = domain.at_levels(j, np.arange(domain.levels[j].shape[1]) == int(self.start[j]))
        for j, allowed in self.allowed.items():
            domain = domain.at_levels(j, allowed)
        linear = self.row.model.linear
        problem = replace(self.problem, model=linear, domain=domain, score_sets=(part,))
        return problem.without_relations_of(Implication).with_witnesses(confirmation=None)
