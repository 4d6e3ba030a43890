"""The search of one score set: HiGHS says where to look, and what lies there is judged exactly."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np

from butfor.arrays import FloatArray
from butfor.formulation.exact_program import Clash
from butfor.formulation.margins import adds_in_one_type, tightened, widened
from butfor.model.scores import AbstractConvex, ScoreSet
from butfor.model.trees import Trees
from butfor.problem.problem import Problem
from butfor.programs.cost_claim import CostClaim
from butfor.programs.program import Sum
from butfor.solvers.combine import SetAnswer
from butfor.solvers.milp.models import better, elsewhere
from butfor.solvers.milp.written import SNAP, Written
from butfor.solvers.outcome import Stopped, to_beat
from butfor.solvers.solver import Budget

MOST_REFUSED = 50
"""How many points that the estimator refuses are excluded one by one. After that, thresholds are raised."""

MOST_PLACES = 1000
"""How many places are left without a time limit because HiGHS promises better ones than there are."""

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

CURVE_MISS, CURVE_GUARD = 2e-9, 1e-8
"""How far a point may miss a curve that was cut off by tangents, and by how much the curve is tightened for it."""

APPROXIMATIONS = 200
"""The largest number of rounds of outer approximation."""

_STOPPED = {"optimal": Stopped.DONE, "time": Stopped.TIME, "limit": Stopped.EFFORT}
"""What it means for the search how a program ended."""


def solve_written(
    problem: Problem, score_set: ScoreSet, written: Written, budget: Budget, known: float = np.inf
) -> SetAnswer:
    """Solve the program of one score set.

    `known` is the cost of a known answer. Once the bound reaches it, no other point is looked for.
    """
    return _PlaceSearch(problem, score_set, written, budget, known).run()


class _PlaceSearch:
    """The search of one score set. HiGHS says where to look; what lies there is judged exactly.

    - `best`: the best answer that was found;
    - `claim`: what an answer is said to cost at least that was not looked at;
    - `unclear`: what answers are said to cost at least in places where floats are too coarse to tell.
    """

    def __init__(
        self, problem: Problem, score_set: ScoreSet, written: Written, budget: Budget, known: float = np.inf
    ) -> None:
        self.problem, self.score_set, self.written, self.budget, self.known = problem, score_set, written, budget, known
        self.best: FloatArray | None = None
        self.cost, self.unclear, self.claim = np.inf, CostClaim.of(np.inf), CostClaim.of(-np.inf)
        self.guards = list(GUARDS)
        self.refused = 0
        written.program.answered = bool(np.isfinite(known))

    def run(self) -> SetAnswer:
        """Look in one place after the other."""
        cuts: list[tuple[Sum, float, float]] = []
        while self.guards:
            guard = self.guards[0]
            x, claim, stopped = _minimise(self.problem, self.score_set, self.written, cuts, guard, self.budget)
            if not guard:
                self.claim = claim
            ended = stopped is Stopped.TIME or self.budget.spent()
            if x is None and (ended or self.claim.is_none):
                return self._told(stopped or (Stopped.DONE if self.claim.is_none else Stopped.EFFORT))
            if self._is_closed():
                return self._told(Stopped.DONE)
            if x is None and claim.is_none:  # larger guards leave no more
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
            self.unclear = self.claim.and_no_less(self.unclear)
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
        known = min(self.cost, self.known)
        return self._whole_claim().reaches(to_beat(known, 1 / 2))

    def _whole_claim(self) -> CostClaim:
        """What is said of all answers that were not looked at."""
        return self.claim.and_no_less(self.unclear)

    def _told(self, stopped: Stopped) -> SetAnswer:
        """What is known."""
        claim = self._whole_claim().and_no_less(CostClaim.of(self.cost))
        return SetAnswer(self.best, self.cost, 0.0, stopped, claim=claim)

    def _at_last(self) -> SetAnswer:
        """What is known where rounding refused all points: perhaps there is one deep inside."""
        if self.best is None and not np.isfinite(self.known):
            point = _deep_inside(self.problem, self.score_set, self.written, max(0.0, self.claim.proven()), self.budget)
            if point is not None:
                self._take(point)
        closed = self.best is not None and self.claim.reaches(to_beat(self.cost))
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
        found = uphill.solve(budget.left(), [most], exact=True, derived=budget.until)
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
    """The point with real numbers rounded to `TIDY` digits of their width, where the round number that is meant may lie.

    Beside an end of the domain, it may lie outside.
    """
    out = point.copy()
    moved = np.isfinite(point) & (point != problem.factuals[0])
    for j in np.flatnonzero(moved & problem.domain.reals()).tolist():
        tidy = np.round(point[j], TIDY - int(np.floor(np.log10(problem.domain.width(j)))))
        out[j] = np.float32(tidy) if problem.domain.single[j] else tidy
    return np.where(problem.domain.takes(out[None])[0], out, point)


def _minimise(
    problem: Problem,
    score_set: ScoreSet,
    written: Written,
    cuts: list[tuple[Sum, float, float]],
    guard: float,
    budget: Budget,
) -> tuple[FloatArray | None, CostClaim, Stopped]:
    """Minimise by outer approximation. Returns the values of the variables, what is said to cost least, and why it stopped.

    Of all rounds only one claim is kept, and no other is derived.
    """
    program, scores = written.program, written.scores
    raised, inside = program.guarded(guard), program.guarded(max(guard, HELD_GUARD))
    edge = _curve(problem, score_set, guard)
    claim, best, value = CostClaim.of(-np.inf), None, np.inf
    whole = any(program.integer)
    exact = not whole
    for _ in range(APPROXIMATIONS):
        relaxed = program.solve(budget.left(), [*raised, *cuts], exact=exact, derived=budget.until)
        if relaxed.status == "infeasible":
            return best, relaxed.claim.and_no_less(CostClaim.of(value)), Stopped.DONE
        if relaxed.x is None:
            if exact and program.curves and not budget.spent():
                exact = False  # the convex solver gave up, so approximate from outside instead
                continue
            return best, claim.higher(relaxed.claim), budget.stopped or _STOPPED[relaxed.status]
        claim = claim.higher(relaxed.claim)
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
            if exact or not program.curves or claim.reaches(to_beat(value, 1 / 4)):
                return best, claim, _STOPPED[relaxed.status]
        for curve in program.curves:
            cuts += [(cut, -cut.constant, np.inf) for cut in (curve.tangent(x), curve.tangent(relaxed.x))]
        if budget.spent():
            return best, claim, budget.stopped
    return best, claim, Stopped.EFFORT


def _curve(problem: Problem, score_set: ScoreSet, guard: float) -> AbstractConvex | None:
    """The curve that the scores must reach. It is wide for bounds (no guard), and tight for answers."""
    if score_set.curve is None:
        return None
    part = tightened(score_set, problem) if guard else widened(score_set, problem)
    assert isinstance(part.curve, AbstractConvex)
    return part.curve.relaxed(-max(guard, CURVE_GUARD)) if guard else part.curve


def _curve_cut(curve: AbstractConvex | None, scores: list[Sum], x: FloatArray) -> tuple[Sum, float, float] | None:
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
