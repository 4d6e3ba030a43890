"""Several inequalities of an additive model at once: a program over pieces of columns, which become narrower where needed.

Lines enclose what each piece gains for each inequality. With the lines above all pieces, the cheapest choice bounds every
answer; with those below, it is one. The pieces that either chose are cut, until both cost the same.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from butfor.arrays import FloatArray, IntArray
from butfor.formulation.choices import ChoiceTable, Runs, choice_table
from butfor.formulation.margins import tightened, widened
from butfor.model.additive import Additive
from butfor.model.cells import number_cells
from butfor.model.questions import evaluate
from butfor.model.scores import UNIT_DOUBLE, ScoreSet
from butfor.problem.problem import Problem
from butfor.programs.cost_claim import CostClaim
from butfor.programs.highs import FEASIBILITY
from butfor.programs.program import Program, Solved, Sum
from butfor.solvers.additive.lines import BentColumn, Enclosed
from butfor.solvers.combine import SetAnswer
from butfor.solvers.outcome import Stopped, tolerated
from butfor.solvers.solver import Budget
from butfor.space.space import same

ROUNDS_OF_CUTS = 200
"""How often pieces are cut, or choices left out, for one score set."""

AT_ITS_END = 1e-9
"""How close to an end of a piece a number is taken for it, as a share of the length. HiGHS comes that close."""

BEYOND_TOLERANCE = 4 * FEASIBILITY
"""By which share of its terms an answer exceeds a threshold, because HiGHS may miss it."""


class SharedPieces:
    """One feature of the only row: its pieces, which are the same for all inequalities `A s >= b`."""

    def __init__(self, problem: Problem, A: FloatArray, j: int) -> None:
        self.problem, self.j = problem, j
        self.parts = [BentColumn(problem, weights, j) for weights in A]
        self.curved = bool(problem.prices.l2[j])
        self.touched: set[float] = set()
        self._share()

    def _share(self, *more: float) -> None:
        if not self.parts[0].cells.levels:
            cells = number_cells(np.concatenate([*(part.cells.edges for part in self.parts), np.array(more)]))
            for part in self.parts:
                part.cells = cells

    def lines(self) -> list[Enclosed]:
        """What its choices gain for each inequality. The choices are the same."""
        return [part.lines() for part in self.parts]

    def runs(self, lines: list[Enclosed]) -> Runs:
        """Its choices, without numbers for which some shape of the model is not defined."""
        runs, model = lines[0].runs, self.problem.model
        assert isinstance(model, Additive)
        able = runs.able.copy()
        for shape in (shape for shape in model.shapes if shape.feature == self.j):
            able &= ~((np.fmin(runs.begin, runs.end) < shape.low) | (np.fmax(runs.begin, runs.end) > shape.high))
        return runs._replace(able=able)

    def refine(self, x: float, lines: list[Enclosed]) -> bool:
        """Cut the piece in which a number lies, and remember the number. Whether that tells more."""
        fresh = self.curved and not np.isnan(x) and x not in self.touched
        self.touched.add(x)
        runs = lines[0].runs
        ends = np.stack([np.fmin(runs.begin, runs.end)[0], np.fmax(runs.begin, runs.end)[0]])
        inside = np.flatnonzero((ends[0] <= x) & (x <= ends[1]))
        finer = [part.refine(x, some) for part, some in zip(self.parts, lines, strict=True)]
        self._share(*(ends[:, inside].mean(axis=0) if any(finer) else ()))
        return any(finer) or fresh

    def single_out(self, x: float) -> bool:
        """Make a number of a grid a piece of its own. Whether it is not yet."""
        edges = self.parts[0].cells.edges
        if np.isnan(x) or np.isin([np.nextafter(x, -np.inf), x], edges).all():
            return False
        self._share(float(np.nextafter(x, -np.inf)), x)
        return True


class PieceProgram(NamedTuple):
    """A program, and the choices that it is about: whether each is taken, and which share of its length."""

    program: Program
    table: ChoiceTable
    taken: dict[int, Sum]
    share: dict[int, Sum]

    def picked(self, x: FloatArray) -> tuple[IntArray, FloatArray]:
        """The choice of each feature, and how far along it (1, features)."""
        start = self.table.start
        taken = np.array([self.taken[i].at(x) if i in self.taken else -1.0 for i in range(int(start[-1]))])
        pick = np.array([a + np.argmax(taken[a:b]) for a, b in pairwise(start.tolist())], dtype=np.intp)
        share = np.array([self.share[i].at(x) if i in self.share else 0.0 for i in pick.tolist()])
        share = np.where(share <= AT_ITS_END, 0.0, np.where(share >= 1 - AT_ITS_END, 1.0, share))
        length = self.table.length[0, pick]
        return pick[None], np.where(share == 1, length, share * length)[None]


class JointPieces:
    """The search for one row and one score set, for a point that costs less than `limit`."""

    def __init__(self, problem: Problem, score_set: ScoreSet) -> None:
        self.problem, self.score_set = problem, score_set
        self.A = score_set.A if len(score_set.A) else np.zeros((1, score_set.A.shape[1]))
        features = np.flatnonzero(problem.domain.movable | (~problem.domain.stay).any(axis=0))
        self.columns = [SharedPieces(problem, self.A, j) for j in features.tolist()]
        self.lines = [column.lines() for column in self.columns]
        self.barred: list[FloatArray] = []
        self.point: FloatArray | None = None
        self.cost = self.limit = np.inf
        now = (evaluate(problem.model, problem.factuals) @ self.A.T)[0]
        sets = (widened(score_set, problem), tightened(score_set, problem))
        self.least, self.firm = (some.b.reshape(-1) - now if len(some.A) else np.full(1, -np.inf) for some in sets)
        self.size = np.abs(now)

    def floor(self, budget: Budget) -> float:
        """What nothing in the set costs less than, by a program without whole numbers."""
        found = self._program(above=True).program.solve(
            budget.left(), [], exact=False, whole=False, derived=budget.until
        )
        return max(0.0, found.claim.proven())

    def solve(self, limit: float, budget: Budget) -> SetAnswer:
        """Cut pieces until nothing is said to be cheaper than the answer. That is still to be proven."""
        self.limit, claim, stopped = limit, CostClaim.of(0.0), Stopped.EFFORT
        for _ in range(ROUNDS_OF_CUTS):
            if budget.spent():
                stopped = budget.stopped
                break
            told = self._program(above=True)
            above = told.program.solve(budget.left(), [], exact=False, derived=budget.until)
            claim = claim.higher(above.claim)
            if claim.reaches(self._ceiling()):
                stopped = Stopped.DONE
                break
            if above.x is None:
                stopped = budget.stopped or Stopped.EFFORT
                break
            points = [self._point(told, above)]
            if not claim.reaches(self._ceiling()) and (not self._takes(points[0]) or self._bent()):
                held = self._program(above=False)
                below = held.program.solve(budget.left(), [], exact=False)
                points += [] if below.x is None else [self._point(held, below)]
                self._takes(points[-1])
            if claim.reaches(self._ceiling()):
                stopped = Stopped.DONE
                break
            if not self._cut(points) and not self._leave_out(told, above):
                break
        return SetAnswer(self.point, self.cost, 0.0, stopped, claim=claim.and_no_less(CostClaim.of(self.cost)))

    def _bent(self) -> bool:
        """Whether lines above and below differ somewhere."""
        return any(some.above.any() or some.below.any() for lines in self.lines for some in lines)

    def _ceiling(self) -> float:
        return min(self.limit, self.cost - tolerated(self.cost) / 4 if self.cost < np.inf else np.inf)

    def _takes(self, point: FloatArray) -> bool:
        """Whether a point is an answer. It is kept if it is cheaper."""
        if not self.problem.reached(self.score_set, point):
            return False
        cost = float(self.problem.prices.total(self.problem.factuals, point[None])[0])
        if cost < self.cost:
            self.point, self.cost = point, cost
        return True

    def _cut(self, points: list[FloatArray]) -> bool:
        """Cut the pieces that some points chose. Whether one was wide enough."""
        cut = [
            column.refine(float(point[column.j]), self.lines[k])
            for point in points
            for k, column in enumerate(self.columns)
        ]
        self.lines = [column.lines() for column in self.columns]
        return any(cut)

    def _leave_out(self, told: PieceProgram, found: Solved) -> bool:
        """Bar a choice of single values that is no answer; make those of a grid single first. Not where real numbers move."""
        assert found.x is not None
        point, (pick, _) = self._point(told, found), told.picked(found.x)
        wide = ~same(told.table.begin[0, pick[0]], told.table.end[0, pick[0]]) & (told.table.length[0, pick[0]] > 0)
        loose = [column for column, some in zip(self.columns, wide, strict=True) if some]
        if self.problem.reached(self.score_set, point) or any(not self.problem.domain.step[one.j] for one in loose):
            return False
        fresh = [one.single_out(float(point[one.j])) for one in loose]
        if not any(fresh):
            self.barred.append(point)
        self.lines = [column.lines() for column in self.columns]
        return True

    def _point(self, told: PieceProgram, found: Solved) -> FloatArray:
        assert found.x is not None
        point: FloatArray = self.problem.factuals[0].copy()
        point[told.table.features] = told.table.values(*told.picked(found.x))[0]
        return point

    def _program(self, *, above: bool) -> PieceProgram:
        """The cheapest choice that gains enough by the lines above all pieces, or by those below."""
        features = np.array([column.j for column in self.columns], dtype=np.intp)
        runs = [column.runs(lines) for column, lines in zip(self.columns, self.lines, strict=True)]
        table, program = choice_table(self.problem, features, runs), Program()
        program.answered = self.point is not None
        told = PieceProgram(program, table, {}, {})
        changes, gains = Sum(), [Sum() for _ in self.A]
        for k, (column, lines) in enumerate(zip(self.columns, self.lines, strict=True)):
            first, last = int(table.start[k]), int(table.start[k + 1])
            one = Sum()
            for i in range(first, last):
                if np.isfinite(table.cost[0, i]):
                    taken = self._write(told, i, column)
                    one, changes = one + taken, changes if i == first else changes + taken
                    for r, some in enumerate(lines):
                        self._gain(told, gains, r, i, some, i - first, above=above)
            program.equal(one, 1.0)
        size = self.size + sum(np.array([some.size for some in lines]) for lines in self.lines)
        slack = 4 * (len(self.columns) + 2) * UNIT_DOUBLE * size
        aim = self.least - slack if above else self.firm + slack + BEYOND_TOLERANCE * size
        for gain, least in zip(gains, aim, strict=True):
            if np.isfinite(least):
                program.at_least(gain, float(least))
        if self.problem.most_changes < len(self.problem.space):
            program.at_least(-1.0 * changes, -float(self.problem.most_changes))
        for point in self.barred:
            self._bar(told, point)
        return told

    def _write(self, told: PieceProgram, i: int, column: SharedPieces) -> Sum:
        """The variables of a choice, and what it costs."""
        program, table = told.program, told.table
        taken = program.binary()
        told.taken[i] = taken
        program.minimise(float(table.cost[0, i]) * taken)
        length, step, curve = float(table.length[0, i]), float(table.step[i]), float(table.curve[0, i])
        if not length:
            return taken
        share = program.variable(0.0, 1.0)  # of the length, so that no coefficient is tiny
        if step:
            program.equal(round(length / step) * share - program.variable(0.0, round(length / step), integer=True))
        told.share[i] = share
        program.at_least(taken - share)
        program.minimise(float(table.slope[0, i]) * length * share)
        if curve:
            above, begin, end = program.variable(0.0, 1.0), float(table.begin[0, i]), float(table.end[0, i])
            seen = [abs(x - begin) / length for x in column.touched if min(begin, end) <= x <= max(begin, end)]
            for u in {0.5, 1.0, *seen}:
                program.at_least(above - 2 * u * share + u * u * taken)
            program.minimise(curve * length * length * above)
        return taken

    def _gain(
        self, told: PieceProgram, gains: list[Sum], r: int, i: int, some: Enclosed, at: int, *, above: bool
    ) -> None:
        spare = some.above[at] if above else -some.below[at]
        gains[r] = gains[r] + float(some.begin[at] + spare) * told.taken[i]
        if i in told.share and some.rate[at]:
            gains[r] = gains[r] + float(some.rate[at] * told.table.length[0, i]) * told.share[i]

    def _bar(self, told: PieceProgram, point: FloatArray) -> None:
        """Something else than a point of single values."""
        table, chosen, count = told.table, Sum(), 0
        for k, column in enumerate(self.columns):
            here = range(int(table.start[k]), int(table.start[k + 1]))
            x = np.array(point[column.j])
            for i in here:
                if i in told.taken and same(table.begin[0, i], x) and i not in told.share:
                    chosen, count = chosen + told.taken[i], count + 1
        told.program.at_least(-1.0 * chosen, 1.0 - len(self.columns))
