"""The cheapest row all of whose neighbours in a ball meet the target.

For linear models the thresholds rise by the dual norm. For sums of trees, the robust counterpart gives answers, and a
cutting set proves them (Mutapcic and Boyd, "Cutting-set methods for robust convex optimization", 2009): shifts are
collected for which the cheapest row so far fails, and all of them must meet the target at once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import product

import numpy as np

from butfor.arrays import BoolArray, FloatArray, IntArray
from butfor.formulation.margins import tightened, widened
from butfor.model.adversary import Worst
from butfor.model.ball import Ball, BallNorm
from butfor.model.counterpart import counterpart, in_rows, on_grid, shifted
from butfor.model.linear import Linear
from butfor.model.negative_box import NegativeBox, keeping_out, negative_boxes, own_cells
from butfor.model.network import Network
from butfor.model.questions import ModelKind
from butfor.model.regions import regions
from butfor.model.scores import ScoreSet, at_least, everything
from butfor.model.side_by_side import side_by_side
from butfor.model.trees import Trees
from butfor.model.worst import worst_neighbours
from butfor.problem.form import ConstraintKind, Form
from butfor.problem.oracle import AbstractConfirmation, Always
from butfor.problem.problem import Problem
from butfor.solvers.combine import SetAnswer, over_score_sets, row_by_row
from butfor.solvers.ensemble.branch_bound import EnsembleBranchBound, cheapest_below
from butfor.solvers.outcome import TOLERANCE, Outcome, Stopped
from butfor.solvers.robust.scenarios import Scenarios
from butfor.solvers.solver import AbstractSolver, Budget, Support

MOST_ROUNDS, FEW_ROUNDS = 1_000, 40
"""The largest number of rounds for a box, and for other balls. Boxes within a round ball never cut off all of its edge."""

LATE = 0.3
"""When so much of the time is left, rounds no longer end at the first row that fails: then they make bounds."""

ORDERS = 6
"""How many random orders the sides of a box are moved out in. Different boxes cut off different rows."""


ROBUST_KINDS = {
    ModelKind.LINEAR: ModelKind.LINEAR, ModelKind.TREE: ModelKind.ENSEMBLE, ModelKind.ENSEMBLE: ModelKind.ENSEMBLE,
    ModelKind.NETWORK: ModelKind.NETWORK,
}  # fmt: skip
"""The kinds of models that it takes, and what they become when copies are put side by side."""


class RobustExact(AbstractSolver):
    """Robust counterparts and cutting sets. Guarantee: optimal (to 1e-6), or a proven bound when the time ends."""

    name = "robust_exact"
    row_by_row = True
    takes_per_row = True
    does = "answers that stay valid in a whole ball: linear models, trees, sums of trees, networks"

    def __init__(self, inner: tuple[AbstractSolver, ...]) -> None:
        self.inner = inner
        """The solvers of the problems without a ball that are solved on the way."""

    def accepts(self, form: Form) -> Support:
        if ConstraintKind.ROBUST not in form.constraints:
            return Support(False, "it is only for answers that must stay valid in a ball (bf.robust)")
        if form.model not in ROBUST_KINDS:
            return Support(
                False, f"it takes linear models, sums of trees and networks, and the model is a {form.model}"
            )
        if form.curved or ConstraintKind.MARGIN in form.constraints:
            return Support(False, "a curved target or a margin has no robust counterpart here")
        for kind in {form.model, ROBUST_KINDS[form.model]}:
            if self.solver_of(_plain_form(form, kind)) is None:
                return Support(False, f"no exact solver takes the problem without the ball (a {kind} model)")
        return Support(True, "the robust counterpart gives answers, and a cutting set proves them")

    def solve(self, problem: Problem, budget: Budget, k: int = 1, seed: int = 0) -> Outcome:
        return row_by_row(
            problem,
            budget,
            lambda one: over_score_sets(one, lambda score_set, upper: self._solve_set(one, score_set, upper, budget)),
        )

    def solver_of(self, form: Form) -> AbstractSolver | None:
        """The first inner solver that takes a problem without a ball, if one does."""
        return next((solver for solver in self.inner if solver.accepts(form)), None)

    def cheapest(self, problem: Problem, score_set: ScoreSet, upper: float, budget: Budget) -> SetAnswer:
        """The cheapest row of a problem without a ball."""
        one = replace(problem, score_sets=(replace(score_set, offset=0.0),))
        solver = self.solver_of(one.form())
        assert solver is not None
        if isinstance(solver, EnsembleBranchBound):
            answer = cheapest_below(one, one.score_sets[0], upper, budget)
            return replace(answer, highest=np.nan)  # it is about sums that nobody but this solver knows
        found = solver.solve(one, budget)
        point = found.points[0] if found.found()[0] else None
        return SetAnswer(point, float(found.cost[0]), float(found.bound[0]), Stopped(int(found.stopped[0])))

    def _solve_set(self, problem: Problem, score_set: ScoreSet, upper: float, budget: Budget) -> SetAnswer:
        """The cheapest row whose ball lies in one score set, if one costs less than `upper`."""
        ball, model = problem.robust, problem.model
        assert ball is not None
        if isinstance(model, Linear):
            return self._linear(problem, score_set, ball, model.slope, upper, budget)
        if isinstance(model, Network):
            return Scenarios(problem, score_set, ball, model).solve(upper, budget)
        assert isinstance(model, Trees)
        return _CuttingSet(self, problem, score_set, ball, on_grid(model, ball)).solve(upper, budget)

    def _linear(
        self, problem: Problem, score_set: ScoreSet, ball: Ball, slope: FloatArray, upper: float, budget: Budget
    ) -> SetAnswer:
        """Raise the thresholds by what the scores may fall. A value that is missing is not shifted, so each way is tried."""
        domain = problem.domain
        lacking = np.flatnonzero((ball.radius > 0) & (np.isnan(problem.factuals[0]) | domain.missing[0])).tolist()
        best = SetAnswer(None, np.inf, np.inf)
        for ways in product([False, True], repeat=len(lacking)):
            if budget.spent():
                return replace(best, bound=0.0, stopped=budget.stopped)
            narrower, moved = domain.take(np.array([0])), ball.radius.copy()
            for j, lost in zip(lacking, ways, strict=True):
                narrower.make_missing(j, lost)
                moved[j] = 0.0 if lost else moved[j]
            shifts = replace(ball, radius=moved)
            loss = shifts.loss(score_set.A @ slope)
            asks = problem.confirmation and _AtWorst(
                problem.confirmation, partial(worst_neighbours, problem.model, score_set.A, ball=shifts)
            )
            one = replace(problem, robust=None, domain=narrower, confirmation=asks)
            raised = replace(score_set, b=score_set.b + loss)
            found = self.cheapest(one, raised, min(upper, best.cost), budget)
            if found.point is not None and not one.reached(raised, found.point):  # rounding decides against a neighbour
                found = SetAnswer(None, np.inf, found.bound, Stopped.EFFORT)
            bound, stopped = min(best.bound, found.bound), best.stopped or found.stopped
            best = replace(found if found.cost < best.cost else best, bound=bound, stopped=stopped)
        return best


def _plain_form(form: Form, kind: ModelKind) -> Form:
    return replace(form, model=kind, constraints=form.constraints - {ConstraintKind.ROBUST})


@dataclass(frozen=True, eq=False)
class _AtWorst(AbstractConfirmation):
    """Asks about the worst neighbours of a row, too: rounding decides about them, and not about the row."""

    asks: AbstractConfirmation
    neighbours: Callable[[FloatArray], list[Worst]]

    def confirms(self, point: FloatArray, most: float) -> bool:
        target = self.asks.of_target()
        worst = (found.point for found in self.neighbours(point))
        return self.asks.confirms(point, most) and all(target.confirms(one, most) for one in worst)

    def take(self, rows: IntArray | slice) -> _AtWorst:
        return replace(self, asks=self.asks.take(rows))


@dataclass(frozen=True, eq=False)
class _Guard(AbstractConfirmation):
    """Refuses rows that fail somewhere in the ball.

    - `failing`: the boxes around the failures near a row;
    - `fails`: those that were met.
    """

    failing: Callable[[FloatArray], list[tuple[NegativeBox, FloatArray]]]
    fails: list[tuple[NegativeBox, FloatArray]] = field(default_factory=list)

    def confirms(self, point: FloatArray, most: float) -> bool:
        found = self.failing(point)
        self.fails.extend(found)
        return not found

    def take(self, rows: IntArray | slice) -> _Guard:
        return self


@dataclass(frozen=True)
class _UntilRefused(Budget):
    """A budget that is also spent once a row was refused."""

    guard: _Guard | None = None

    def spent(self) -> bool:
        """Whether nothing is left."""
        return super().spent() or (self.guard is not None and bool(self.guard.fails))


@dataclass(frozen=True, eq=False)
class _CuttingSet:
    """Answers and bounds for a sum of trees, one set of scores and one ball."""

    solver: RobustExact
    problem: Problem
    score_set: ScoreSet
    ball: Ball
    model: Trees

    def solve(self, upper: float, budget: Budget) -> SetAnswer:
        """First an answer, and then shifts until no cheaper row can stay valid under all of them."""
        if len(self.model.roots) == 1 and self.ball.norm is BallNorm.LINF:
            return self._clear_of_leaves(upper, budget)
        best = self._counterpart(upper, budget)
        if budget.spent():
            return replace(best, bound=0.0)
        shifts = [np.zeros(len(self.problem.space))]
        if best.point is not None:
            shifts += self._against(best.point)
        boxes: list[tuple[NegativeBox, FloatArray]] = []
        bound, stopped = 0.0, Stopped.DONE
        late = budget.left() * LATE if np.isfinite(budget.left()) else 0.0
        early = self.ball.norm is BallNorm.LINF and self._by_ensembles()
        for done in range(MOST_ROUNDS if self.ball.norm is BallNorm.LINF else FEW_ROUNDS):
            ceiling = min(upper, best.cost)
            if budget.spent():
                found = replace(best, stopped=budget.stopped)
                break
            if early:
                found, refused = self._until_refused(shifts, boxes, ceiling, budget)
                if found.point is not None and found.cost < best.cost:
                    best = found
                if refused:
                    boxes += refused
                    found = replace(found, bound=bound, stopped=Stopped.EFFORT)  # it did not look everywhere
                    early = budget.left() > late and done < MOST_ROUNDS // 2
                    continue
            else:
                found = self._under(shifts, boxes, ceiling, budget)
            bound, stopped = max(bound, found.bound), found.stopped
            if found.point is None or bound >= ceiling - TOLERANCE / 2 * (1 + abs(ceiling)) or budget.spent():
                break
            fails = self._failing(found.point)
            if not fails:
                best = replace(found, bound=bound)
                break
            boxes += fails
        else:
            stopped = Stopped.EFFORT
        if found.point is None and not found.stopped:
            bound = best.cost if best.point is not None else np.inf
        return replace(best, bound=min(bound, best.cost), stopped=budget.stopped or stopped)

    def _by_ensembles(self) -> bool:
        """Whether sums of trees are solved by a search that asks about each row that it meets."""
        return isinstance(self.solver.solver_of(self._over(self._rows, Always(True)).form()), EnsembleBranchBound)

    @cached_property
    def _of_neighbours(self) -> Problem:
        """The problem as it is about neighbours: only the target matters."""
        asks = self.problem.confirmation
        return replace(self.problem, confirmation=None if asks is None else asks.of_target())

    @cached_property
    def _rows(self) -> Trees:
        """The model of the left sides of the inequalities."""
        return in_rows(self.model, self.score_set.A)

    @cached_property
    def _lacking(self) -> frozenset[int]:
        """The features whose value may be missing."""
        return frozenset(j for j, feature in enumerate(self.problem.space) if feature.missing)

    def _clear_of_leaves(self, upper: float, budget: Budget) -> SetAnswer:
        """For one tree: the cheapest row that no shift brings into a leaf that misses the target."""
        scores = self.model.base + self.model.value[[leaf.node for leaf in self.model.leaves]]
        doubt = self.problem.doubt(self.score_set)
        perhaps, surely = self.score_set.perhaps(scores, doubt), self.score_set.surely(scores, doubt)
        lowest = self._clear_of(~perhaps, upper, budget)
        if np.array_equal(perhaps, surely):
            return lowest
        return replace(self._clear_of(~surely, upper, budget), bound=lowest.bound)

    def _clear_of(self, missing: BoolArray, upper: float, budget: Budget) -> SetAnswer:
        """The cheapest row that no shift brings into some of the leaves."""
        leaves = [leaf for leaf, out in zip(self.model.leaves, missing, strict=True) if out]
        model, reached = self.model, everything(self.model.scores)
        if leaves:
            model = keeping_out([(leaf.path, self.ball.radius) for leaf in leaves], self.model)
            reached = at_least(np.ones(1), -0.5)
        return self.solver.cheapest(self._over(model, Always(False)), reached, upper, budget)

    def _counterpart(self, upper: float, budget: Budget) -> SetAnswer:
        """The cheapest row that surely stays valid: each tree gives its smallest leaf within the box."""
        model = counterpart(self._rows, self.ball, self._lacking)
        if model is None:
            return SetAnswer(None, np.inf, 0.0)
        sure = tightened(self.score_set, self.problem)
        return self.solver.cheapest(self._over(model, Always(False)), _plain(sure, len(sure.A)), upper, budget)

    def _until_refused(
        self, shifts: list[FloatArray], boxes: list[tuple[NegativeBox, FloatArray]], upper: float, budget: Budget
    ) -> tuple[SetAnswer, list[tuple[NegativeBox, FloatArray]]]:
        """As `_under`, but rows that fail are refused, and end the search: then its bound means nothing."""
        guard = _Guard(self._failing)
        until = _UntilRefused(budget.left(), threads=budget.threads, flag=budget.flag, guard=guard)
        problem, score_set = self._relaxed(shifts, boxes, guard)
        found = self.solver.cheapest(problem, replace(score_set, above=np.inf), upper, until)
        return found, guard.fails

    def _under(
        self, shifts: list[FloatArray], boxes: list[tuple[NegativeBox, FloatArray]], upper: float, budget: Budget
    ) -> SetAnswer:
        """The cheapest row that may meet the target under some shifts, and that no shift brings into the boxes.

        It bounds all robust rows.
        """
        problem, score_set = self._relaxed(shifts, boxes, Always(True))
        return self.solver.cheapest(problem, score_set, upper, budget)

    def _relaxed(
        self, shifts: list[FloatArray], boxes: list[tuple[NegativeBox, FloatArray]], confirmation: AbstractConfirmation
    ) -> tuple[Problem, ScoreSet]:
        copies = [shifted(self._rows, shift) for shift in shifts]
        wide = widened(self.score_set, self.problem)
        b, strict = np.tile(wide.b, len(copies)), np.tile(wide.strict, len(copies))
        if boxes:
            copies.append(keeping_out(boxes, self.model))
            b, strict = np.append(b, -0.5), np.append(strict, False)
        model = side_by_side(copies[0], copies[1:])
        all_of_them = replace(wide, b=b, strict=strict)
        return self._over(model, confirmation), _plain(all_of_them, len(b))

    def _over(self, model: Trees, confirmation: AbstractConfirmation) -> Problem:
        return replace(self.problem, model=model, robust=None, confirmation=confirmation)

    def _failing(self, point: FloatArray) -> list[tuple[NegativeBox, FloatArray]]:
        """For each inequality that fails near a point: a box of rows that fail, and how far a shift may bring others.

        Where rounding decides about the worst neighbour, the estimator is asked. What it says holds for the same leaves.
        """
        wide = widened(self.score_set, self.problem)
        worst = worst_neighbours(self.model, self.score_set.A, point, self.ball)
        boxes = []
        for i, (found, b) in enumerate(zip(worst, wide.b, strict=True)):
            leaves, reach = regions(self.model, self.score_set.A[i], point), self.ball.reach(found.point - point)
            if found.score < b:
                back = np.nan_to_num(self.problem.factuals[0] - point)
                orders = [back, -back, *np.random.default_rng(0).normal(size=(ORDERS, len(point)))]
                found_boxes = negative_boxes(self.model, leaves, found.point, float(b), orders)
                found_boxes = found_boxes or [own_cells(self.model, leaves, found.point)]  # sums differ in a last bit
                boxes += [(box, reach) for box in found_boxes]
            elif not self._of_neighbours.meets(self.score_set, found.point):
                boxes.append((own_cells(self.model, leaves, found.point), reach))
        return boxes

    def _against(self, point: FloatArray) -> list[FloatArray]:
        """The worst shifts of an answer. Nearly always they are what makes a cheaper row fail."""
        worst = worst_neighbours(self.model, self.score_set.A, point, self.ball)
        shifts = [self._shift(found.point - point) for found in worst]
        return [shift for shift in shifts if shift.any()]

    def _shift(self, moved: FloatArray) -> FloatArray:
        """A shift as it was meant, without the rounding of a difference."""
        return np.clip(np.nan_to_num(moved), -self.ball.radius, self.ball.radius)


def _plain(score_set: ScoreSet, count: int) -> ScoreSet:
    """The set of scores that are themselves the left sides of the inequalities."""
    return replace(score_set, A=np.eye(count), below=0.0, above=0.0)
