"""Everything linear together, through HiGHS: whole numbers, categories, counted changes, relations, inequalities.

Linear models enter as they are, trees by the tight order formulation (see docs/decisions), networks by big-M. Convex terms (L2, a
quadratic form, a softmax probability) are handled by outer approximation: tangents are added until bound and answer
meet (Duran and Grossmann, Mathematical Programming 36, 1986).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from butfor.arrays import BoolArray, FloatArray
from butfor.formulation.exact_program import Clash
from butfor.formulation.margins import adds_in_one_type, tightened, widened
from butfor.formulation.tables import Tables, tabulate
from butfor.model.questions import ModelKind
from butfor.model.scores import ScoreSet, Softmax
from butfor.model.trees import Trees
from butfor.problem.constraints.relations import Fresh, Implication, LinearRelation
from butfor.problem.form import ConstraintKind, CostTerm, Form
from butfor.problem.problem import Problem
from butfor.solvers.combine import SetAnswer, over_score_sets, row_by_row
from butfor.solvers.ensemble.branch_bound import EnsembleBranchBound
from butfor.solvers.milp.exact_point import Landing
from butfor.solvers.milp.features import Needs, Piece, add_feature
from butfor.solvers.milp.models import add_model, better, cells_in_use, elsewhere, needs_value
from butfor.solvers.milp.program import Program, Sum
from butfor.solvers.milp.relations import add_relation
from butfor.solvers.milp.windows import nearest_first
from butfor.solvers.outcome import TOLERANCE, Outcome, Status, Stopped, to_beat
from butfor.solvers.solver import AbstractSolver, Budget, Support

MOST_REFUSED = 50
"""How many points that the estimator refuses are excluded one by one. After that, thresholds are raised."""

MOST_PLACES = 1000
"""How many places are looked at without a time limit where relations are kept by nobody but HiGHS."""

HELD_GUARD = 1e-11
"""By which share of their size thresholds are raised while whole numbers are held, so that rounding does not decide."""


GUARDS = (0.0, 1e-12, 1e-10, 1e-9, 1e-8, 1e-7)
"""By which share of their size the thresholds of scores are raised, one after the other, until rounding no longer matters.

Bounds are those without a guard.
"""

DEARER = (1e-6, 1e-4, 1e-2, 1.0, np.inf)
"""How much more than the bound an answer may cost that is looked for deep inside, as a share of the bound."""

TIDY = 9
"""Digits of a number's width. An answer on a threshold that was written with few digits has few digits, too."""

SNAP = 1e-9
"""A value this close to its old one or to an end, as a share of its width, is meant to be there."""

CURVE_MISS, CURVE_GUARD = 2e-9, 1e-8
"""How far a point may miss a curve that was cut off by tangents, and by how much the curve is tightened for it."""

APPROXIMATIONS = 200
"""The largest number of rounds of outer approximation."""


class Milp(AbstractSolver):
    """Mixed-integer programming. Guarantee: optimal (to 1e-6), or a proven bound when the time ends."""

    name = "milp"
    row_by_row = True
    does = "linear models and trees with whole numbers, categories, counted changes, relations: through HiGHS"

    def accepts(self, form: Form) -> Support:
        if form.model is ModelKind.BLACK_BOX:
            return Support(False, f"it takes linear models, trees and networks, and the model is a {form.model}")
        if form.model in (ModelKind.NETWORK, ModelKind.MIXED) and ConstraintKind.MARGIN in form.constraints:
            return Support(False, f"the distance to the boundaries of a {form.model} is not known")
        if ConstraintKind.CANDIDATES in form.constraints:
            return Support(False, "a list of candidate rows is searched, not optimised over")
        if ConstraintKind.ROBUST in form.constraints:
            return Support(False, "a ball around the answer is for the solver robust_exact")
        if ConstraintKind.APART in form.constraints:
            return Support(False, "a distance to earlier answers is for the solver far_apart")
        if ConstraintKind.JUDGED in form.constraints:
            return Support(False, "a constraint is left that only a model can judge")
        if CostTerm.CALLABLE in form.cost and (
            form.model in (ModelKind.LINEAR, ModelKind.MIXED, ModelKind.OBLIQUE, ModelKind.NETWORK)
            or form.constraints & {ConstraintKind.LINEAR, ConstraintKind.IMPLIES}
            or CostTerm.QUADRATIC in form.cost
        ):
            return Support(False, "a callable price of a number has no linear form unless the number is cut into cells")
        return Support(True, "everything in it is linear or convex")

    def solve(self, problem: Problem, budget: Budget, k: int = 1, seed: int = 0) -> Outcome:
        return row_by_row(problem, budget, lambda one: _relaxed_first(one, budget))


def _relaxed_first(problem: Problem, budget: Budget) -> Outcome:
    """Solve without the relations first, if the search for sums of trees can.

    Often the answer keeps the relations anyway, or there is no answer at all.
    """
    search = EnsembleBranchBound()
    loose = replace(
        problem, relations=tuple(r for r in problem.relations if not isinstance(r, LinearRelation | Implication))
    )
    if len(loose.relations) == len(problem.relations) or not search.accepts(loose.form()):
        return _solve_row(problem, budget)
    found = search.solve(loose, budget)
    if found.status()[0] is Status.PROVEN_INFEASIBLE or (found.found()[0] and problem.admits(found.points)[0]):
        return found
    strict = _solve_row(problem, budget)
    return replace(strict, bound=np.maximum(strict.bound, found.bound))


def _solve_row(problem: Problem, budget: Budget) -> Outcome:
    def solve(one: Problem) -> Outcome:
        return over_score_sets(one, lambda score_set, _: _solve_set(one, score_set, budget))

    return nearest_first(problem, solve, budget)


class Written(NamedTuple):
    """A problem as a program: its features as pieces, its tables, its scores, and what its implications choose."""

    program: Program
    pieces: list[Piece]
    tables: Tables
    scores: list[Sum]
    events: dict[Implication, Sum]

    def point(self, problem: Problem, x: FloatArray) -> FloatArray:
        """The row that values of the variables describe, up to the tolerance of HiGHS."""
        return _point(problem, self.pieces, self.tables, x)

    def landing(self, problem: Problem, x: FloatArray) -> Landing:
        """The place that values of the variables describe."""
        return Landing(problem, self.program, self.pieces, self.events, x, self.point(problem, x))

    def uphill(self, score_set: ScoreSet) -> Program:
        """The program that looks for the largest of the one sum of scores that a score set asks for."""
        down = Sum()
        for weight, score in zip(score_set.A[0].tolist(), self.scores, strict=True):
            down = down - weight * score
        return self.program.aimed_at(down)


AddModel = Callable[[Program, Problem, ScoreSet, list[Piece]], list[Sum]]
"""What writes a model into a program, forces its scores into a score set, and returns them."""


def _plainly(program: Program, problem: Problem, score_set: ScoreSet, pieces: list[Piece]) -> list[Sum]:
    return add_model(problem.model, program, problem, score_set, pieces)


def write(problem: Problem, score_set: ScoreSet, add: AddModel = _plainly, *, parts: bool = False) -> Written:
    """The program of the only row and one score set.

    `parts` asks for the changes of all numbers up and down.
    """
    cells = cells_in_use(problem.model, problem)
    tables = tabulate(problem, cells)
    program = Program()
    counted = bool(problem.most_changes < len(problem.space) or problem.relations_of(Fresh))
    needs = Needs(_values_needed(problem), counted, parts)
    widest = None
    if problem.prices.has_linf:
        widest = program.variable(0.0, np.inf)
        program.minimise(widest)
    pieces = [add_feature(program, problem, tables, cells[j], j, needs, widest) for j in range(len(problem.space))]
    scores = add(program, problem, score_set, pieces)
    added = [(relation, add_relation(relation, program, problem, pieces)) for relation in problem.relations]
    events = {relation: event for relation, event in added if isinstance(relation, Implication) and event is not None}
    if problem.prices.Q is not None:
        touched = np.flatnonzero(problem.prices.Q.any(axis=0))
        gains = tuple(_number_gain(pieces[j]) for j in touched)
        program.minimise_square(gains, problem.prices.Q[np.ix_(touched, touched)])
    return Written(program, pieces, tables, scores, events)


def _solve_set(problem: Problem, score_set: ScoreSet, budget: Budget) -> SetAnswer:
    return solve_written(problem, score_set, write(problem, score_set), budget)


def solve_written(
    problem: Problem, score_set: ScoreSet, written: Written, budget: Budget, known: float = np.inf
) -> SetAnswer:
    """Solve the program of one score set.

    `known` is the cost of a known answer. Once the bound reaches it, no other point is looked for.
    """
    return _SetSearch(problem, score_set, written, budget, known).run()


class _SetSearch:
    """The search of one score set. HiGHS says where to look; what lies there is judged exactly.

    - `best`: the best answer that was found;
    - `proven`: what an answer costs at least that was not looked at;
    - `unclear`: what answers cost at least in places where floats are too coarse to tell.
    """

    def __init__(
        self, problem: Problem, score_set: ScoreSet, written: Written, budget: Budget, known: float = np.inf
    ) -> None:
        self.problem, self.score_set, self.written, self.budget, self.known = problem, score_set, written, budget, known
        self.best: FloatArray | None = None
        self.cost = self.unclear = np.inf
        self.proven = -np.inf
        self.guards = list(GUARDS)
        self.refused = 0
        written.program.answered = bool(np.isfinite(known))

    def run(self) -> SetAnswer:
        """Look in one place after the other."""
        cuts: list[tuple[Sum, float, float]] = []
        while self.guards:
            guard = self.guards[0]
            x, bound, stopped = _minimise(self.problem, self.score_set, self.written, cuts, guard, self.budget)
            if not guard:
                self.proven = bound
            ended = stopped is Stopped.TIME or self.budget.spent()
            if x is None and (ended or self.proven == np.inf):
                return self._told(stopped or (Stopped.EFFORT if self.proven < np.inf else Stopped.DONE))
            if self._is_closed():
                return self._told(Stopped.DONE)
            if x is None and bound == np.inf:  # larger guards leave no more
                break
            if x is None or self._look(x):
                self.guards.pop(0)
            if self._is_closed() or ended or (self.best is not None and not self._goes_on()):
                return self._told(stopped)
        return self._at_last()

    def _look(self, x: FloatArray) -> bool:
        """Judge the place where a solution lies. Whether thresholds must be raised, because nothing is learned there."""
        landing = self.written.landing(self.problem, x)
        found = landing.point()
        if isinstance(found, Clash):
            self.written.program.at_least(landing.cut(found), 1.0)
            return False
        tidied = replace(landing, target=_tidied(self.problem, landing.target)).point()
        points = [point for point in (found, tidied) if isinstance(point, np.ndarray)]
        for point in points:
            if self.problem.reached(self.score_set, point):
                self._take(_still(self.problem, self.score_set, point))
                return self._leave(landing.elsewhere() if self._goes_on() else None)
        if not points:
            self.unclear = min(self.unclear, self.proven)
            return self._leave(landing.elsewhere())
        return self._leave(self._others(points[0]))

    def _take(self, point: FloatArray) -> None:
        """Keep an answer if it is better than what is known."""
        cost = float(self.problem.prices.total(self.problem.factuals, point[None])[0])
        if cost < self.cost:
            self.best, self.cost = point, cost

    def _leave(self, others: Sum | None) -> bool:
        """Look elsewhere from now on, if it can be said where that is. Otherwise thresholds must be raised."""
        if others is not None:
            self.written.program.at_least(others, 1.0)
            self.refused += 1
        return others is None

    def _others(self, point: FloatArray) -> Sum | None:
        """What must be at least 1 for points whose sums of scores the refusal of this one does not decide."""
        problem, pieces, tables = self.problem, self.written.pieces, self.written.tables
        if self.guards[0] or self.refused >= MOST_REFUSED or not adds_in_one_type(problem):
            return None
        if not problem.admits(point[None])[0]:
            return None
        values = [tables.value[0, a:b] for a, b in pairwise(tables.start)]
        others = better(problem, self.score_set, self.written.program, pieces, values, point)
        return elsewhere(problem, self.written.program, pieces, point) if others is None else others

    def _goes_on(self) -> bool:
        """Whether a place can be left for good once its best point is known: its optimum is exact there."""
        exact = self.problem.prices.is_linear and isinstance(self.problem.model, Trees) and not self.guards[0]
        return exact and bool(self.problem.relations) and (self.budget.limited or self.refused < MOST_PLACES)

    def _is_closed(self) -> bool:
        """Whether nothing cheaper is left to be found."""
        return min(self.proven, self.unclear) >= to_beat(min(self.cost, self.known), 1 / 2)

    def _told(self, stopped: Stopped) -> SetAnswer:
        """What is known."""
        return SetAnswer(self.best, self.cost, min(self.proven, self.unclear, self.cost), stopped)

    def _at_last(self) -> SetAnswer:
        """What is known where rounding refused all points: perhaps there is one deep inside."""
        if self.best is None and not np.isfinite(self.known):
            point = _deep_inside(self.problem, self.score_set, self.written, max(0.0, self.proven), self.budget)
            if point is not None:
                self._take(point)
        closed = self.best is not None and self.proven >= to_beat(self.cost)
        return self._told(Stopped.DONE if closed else Stopped.EFFORT)


def _deep_inside(
    problem: Problem, score_set: ScoreSet, written: Written, bound: float, budget: Budget
) -> FloatArray | None:
    """An answer whose sum of scores is as large as it gets for little more than the bound, where rounding refused others."""
    if len(score_set.A) != 1 or score_set.curve is not None or written.program.curves:
        return None
    cost, uphill = written.program.objective, written.uphill(score_set)
    for share in DEARER:
        if budget.spent():
            break
        most = (cost, -np.inf, bound + share * (1 + bound) - cost.constant)
        found = uphill.solve(budget.left(), [most], exact=True)
        point = None if found.x is None else written.landing(problem, found.x).point()
        if isinstance(point, np.ndarray) and problem.reached(score_set, point):
            return point
    return None


def _still(problem: Problem, score_set: ScoreSet, point: FloatArray) -> FloatArray:
    """The point without changes that are next to nothing, if it is an answer without them."""
    for j in np.flatnonzero(problem.domain.stay[0] & (point != problem.factuals[0])).tolist():
        x = problem.factuals[0, j]
        if problem.space.features[j].levels is None and abs(point[j] - x) <= SNAP * problem.domain.width(j):
            same = point.copy()
            same[j] = x
            point = same if problem.reached(score_set, same) else point
    return point


def _tidied(problem: Problem, point: FloatArray) -> FloatArray:
    """The point with real numbers rounded to `TIDY` digits of their width, where the round number that is meant may lie."""
    out = point.copy()
    for j, feature in enumerate(problem.space.features):
        moved = np.isfinite(point[j]) and point[j] != problem.factuals[0, j]
        if moved and feature.levels is None and not problem.domain.step[j]:
            tidy = np.round(point[j], TIDY - int(np.floor(np.log10(problem.domain.width(j)))))
            out[j] = np.float32(tidy) if problem.domain.single[j] else tidy
    return out


def _values_needed(problem: Problem) -> BoolArray:
    """The features whose number matters, not only their cell."""
    needed = needs_value(problem.model, len(problem.space)).copy()
    for relation in problem.relations:
        needed[[problem.space.index(name) for name in relation.numbers]] = True
    if problem.prices.Q is not None:
        needed |= problem.prices.Q.any(axis=0)
    return np.asarray(needed)


def _minimise(
    problem: Problem,
    score_set: ScoreSet,
    written: Written,
    cuts: list[tuple[Sum, float, float]],
    guard: float,
    budget: Budget,
) -> tuple[FloatArray | None, float, Stopped]:
    """Minimise by outer approximation. Returns the values of the variables, the bound, and why it stopped."""
    program, scores = written.program, written.scores
    raised, inside = program.guarded(guard), program.guarded(max(guard, HELD_GUARD))
    edge = _curve(problem, score_set, guard)
    bound, best, value = -np.inf, None, np.inf
    whole = any(program.integer)
    exact = not whole
    for _ in range(APPROXIMATIONS):
        relaxed = program.solve(budget.left(), [*raised, *cuts], exact=exact)
        if relaxed.status == "infeasible":
            return best, (np.inf if best is None else value), Stopped.DONE
        if relaxed.x is None:
            if exact and program.curves and not budget.spent():
                exact = False  # the convex solver gave up, so approximate from outside instead
                continue
            timed_out = Stopped.TIME if relaxed.status == "time" else Stopped.EFFORT
            return best, max(bound, relaxed.bound), budget.stopped or timed_out
        bound = max(bound, relaxed.bound)
        x = relaxed.x
        if whole and program.has_reals:
            for rows in (inside, raised):
                held = program.solve(budget.left(), [*rows, *cuts], exact=True, fixed=relaxed.x)
                if held.x is not None:
                    x = held.x
                    break
        outside = _curve_cut(edge, scores, x)
        if outside is not None:
            cuts.append(outside)
        else:
            reached = program.objective.at(x) + sum(curve.at(x) for curve in program.curves)
            if reached < value:
                best, value = x, reached
            if exact or not program.curves or value - bound <= TOLERANCE / 4 * (1 + abs(value)):
                return best, bound, Stopped.DONE if relaxed.status == "optimal" else Stopped.TIME
        for curve in program.curves:
            cuts += [(cut, -cut.constant, np.inf) for cut in (curve.tangent(x), curve.tangent(relaxed.x))]
        if budget.spent():
            return best, bound, budget.stopped
    return best, bound, Stopped.EFFORT


def _curve(problem: Problem, score_set: ScoreSet, guard: float) -> Softmax | None:
    """The curve that the scores must reach. It is wide for bounds (no guard), and tight for answers."""
    if score_set.curve is None:
        return None
    part = tightened(score_set, problem) if guard else widened(score_set, problem)
    assert isinstance(part.curve, Softmax)
    return part.curve.relaxed(-max(guard, CURVE_GUARD)) if guard else part.curve


def _curve_cut(curve: Softmax | None, scores: list[Sum], x: FloatArray) -> tuple[Sum, float, float] | None:
    """A tangent that cuts off the scores of a solution outside the curved set."""
    if curve is None:
        return None
    at = np.array([score.at(x) for score in scores])
    if curve.excess(at) <= CURVE_MISS:
        return None
    gradient, b = curve.tangent(at)
    cut = Sum()
    for weight, score in zip(gradient, scores, strict=True):
        cut = cut + float(weight) * score
    return cut, b - cut.constant, np.inf


def _point(problem: Problem, pieces: list[Piece], tables: Tables, x: FloatArray) -> FloatArray:
    """The row that a solution describes, snapped to cells, grids and bounds."""
    point = np.empty(len(pieces))
    for j, piece in enumerate(pieces):
        cell = int(np.argmax([part.at(x) for part in piece.cell]))
        if not piece.by_value or cell == piece.cells.count:
            point[j] = tables.value[0, tables.start[j] + cell]
            continue
        point[j] = _snapped(problem, piece, j, cell, piece.value.at(x))
    return point


def _snapped(problem: Problem, piece: Piece, j: int, cell: int, value: float) -> float:
    domain = problem.domain
    at_home = cell == int(piece.cells.index(np.array([piece.x]))[0])
    step, near = float(domain.step[j]), SNAP * domain.width(j)
    if at_home and domain.stay[0, j] and abs(value - piece.x) <= near:
        return piece.x
    lower, upper = piece.cells.lower()[cell], piece.cells.upper()[cell]
    low, high = max(float(domain.low[0, j]), lower), min(float(domain.high[0, j]), upper)
    if value <= low + near:
        value = low
    elif value >= high - near:
        value = high
    found = float(domain.closest(j, np.array([[value]]), np.array([[lower]]), np.array([[upper]]))[0, 0])
    if step and at_home and domain.stay[0, j] and abs(value - piece.x) <= abs(value - found):
        return piece.x
    return value if np.isnan(found) else found


def _number_gain(piece: Piece) -> Sum:
    return piece.gain + piece.x * piece.missing if not np.isnan(piece.x) else Sum()
