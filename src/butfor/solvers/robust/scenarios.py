"""The cheapest row of a network whose ball meets the target: shifts are collected that must be met all at once.

A robust answer comes first, found by linear steps alone. The worst shifts around it are nearly all that a proof needs,
so they are in the first program.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import block_diag

from butfor.arrays import FloatArray
from butfor.compiled.clock import now
from butfor.formulation.margins import tightened, widened
from butfor.model.network import Network, shifted_network
from butfor.model.questions import evaluate
from butfor.model.scores import ScoreSet
from butfor.neighbours.ball import Ball
from butfor.neighbours.networks.joint import networks_side_by_side
from butfor.neighbours.networks.search import NetworkAdversary
from butfor.neighbours.trees.search import Worst
from butfor.problem.oracle import Always
from butfor.problem.problem import Problem
from butfor.solvers.combine import SetAnswer
from butfor.solvers.network.descent import Descent
from butfor.solvers.network.exact import cheapest_below
from butfor.solvers.network.narrow import narrowed, side_by_side
from butfor.solvers.network.units import UnitEnds
from butfor.solvers.outcome import Stopped, to_beat
from butfor.solvers.robust.deep_inside import look_inside
from butfor.solvers.robust.look_around import look_around
from butfor.solvers.robust.rounds import is_closed, tell_round
from butfor.solvers.solver import Budget

FIRMLY_INSIDE = 1e-7
"""The share of its size by which a threshold is raised for answers, so that the adversary has no doubt about them."""

STEPS_INSIDE = (0.1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9)
"""The shares of the way to a known answer that are gone from a point that is nearly one."""

SAME_SHIFT = 1e-9
"""Shifts that are this close, as a share of the radius, are not collected twice."""

GOOD_ANSWER = 1e-5
"""The gap, relative to 1 + cost, from which on no better answer is looked for."""

NEIGHBOURS_ASKED = 200
"""Where rounding decides, the estimator is asked about all neighbours if they are no more than this."""

MOST_SCENARIOS, MOST_UNITS = 30, 1_500
"""The largest number of shifts. Each is a copy of the network, and of small ones there may be more: so many units."""

ROBUST_LOOKING_SHARE = 1 / 3
"""The share of a limited time in which robust answers are looked for before anything is proven."""

PLAIN_SECONDS = 1.0
"""How long whole programs take before the ranges of units are narrowed for them."""

NARROWINGS = 2
"""How often the ranges of the units are narrowed under one shift. Each begins from the last."""

MUCH_LOWER = 0.9
"""The share of the cost below which the ranges of units are narrowed once more."""

PATIENT_SECONDS = 2.0
"""How long it is looked at whether a point is robust, as long as no answer is known."""

AROUND_SECONDS = 3.0
"""How long it is looked beside a point at least. Later it may take as long as all whole programs so far."""

LOOKING_SECONDS = 5.0
"""How long one program looks for a robust answer where no other is known."""


@dataclass
class Scenarios:
    """Answers and bounds for a network, one set of scores and one ball.

    - `best`, `bound`, `shifts` (there may be `most`), the number of `rounds` and the seconds that their programs took
      (`proving`) are what is known so far. When `solve` is called again, it goes on from there;
    - `ends`: the ranges of the units under shifts, at all answers below some cost.
    """

    problem: Problem
    score_set: ScoreSet
    ball: Ball
    model: Network

    def __post_init__(self) -> None:
        self.shifts, self.rounds, self.proving = [np.zeros(len(self.problem.space))], 0, 0.0
        self.best, self.bound, self.until = SetAnswer(None, np.inf, 0.0), 0.0, np.inf
        self.most = max(MOST_SCENARIOS, MOST_UNITS // sum(len(layer.leak) for layer in self.model.layers))
        self.ends: dict[bytes, tuple[float, list[UnitEnds]]] = {}
        wide, sure = widened(self.score_set, self.problem), tightened(self.score_set, self.problem)
        self.wide = replace(wide, above=0.0, below=0.0)
        self.raised = FIRMLY_INSIDE * (1 + np.abs(sure.b))
        self.sure, self.inside = sure, replace(sure, b=sure.b + self.raised)
        self.of_neighbours = self.problem.of_neighbours()

    def solve(self, upper: float, budget: Budget) -> SetAnswer:
        """First an answer, and then shifts until no cheaper row can stay valid under all of them."""
        self._begin(upper, budget)
        stopped = Stopped.EFFORT
        while not budget.spent() and len(self.shifts) <= self.most:
            ceiling, self.rounds, begin = min(upper, self.best.cost), self.rounds + 1, now()
            found = self._whole_program(ceiling, budget)
            self.proving += now() - begin
            self.bound, stopped = max(self.bound, min(found.bound, ceiling)), found.stopped
            tell_round(self.rounds, self.bound, self.best.cost)
            if found.point is None or stopped or is_closed(self.bound, ceiling):
                break
            known = len(self.shifts)
            self._learn_from(found.point, upper, budget)
            if len(self.shifts) == known:  # nothing is left but what rounding decides about
                closed = self.bound >= to_beat(self.best.cost)
                stopped = Stopped.DONE if closed else Stopped.EFFORT
                break
        return replace(self.best, bound=min(self.bound, self.best.cost), stopped=budget.stopped or stopped)

    def _whole_program(self, ceiling: float, budget: Budget) -> SetAnswer:
        """The cheapest row that stays valid under all shifts. If it takes long, the ranges of units are narrowed before."""
        copies, plain = self.copies(self.wide, self.shifts), budget.at_most(PLAIN_SECONDS - self.proving)
        if not plain.spent():
            found = cheapest_below(*copies, ceiling, plain)
            if found.stopped is not Stopped.TIME or budget.spent():
                return found
            self.bound = max(self.bound, min(found.bound, ceiling))
        ends: list[UnitEnds] = []
        if np.isfinite(ceiling):
            ends = side_by_side([self._ends_under(shift, ceiling, budget) for shift in self.shifts])
        return cheapest_below(*copies, ceiling, budget, ends)

    def _ends_under(self, shift: FloatArray, ceiling: float, budget: Budget) -> list[UnitEnds]:
        """The ranges of the units under a shift, at all answers below a ceiling."""
        limit, ends = self.ends.get(shift.tobytes(), (-np.inf, []))
        if ceiling > limit:
            ends = []
        if not ends or ceiling < MUCH_LOWER * limit:
            for _ in range(NARROWINGS):
                ends = narrowed(*self.copies(self.wide, [shift]), ceiling, budget, ends)
            if not budget.spent():  # ends that time cut short are not kept
                self.ends[shift.tobytes()] = ceiling, ends
        return ends

    def _begin(self, upper: float, budget: Budget) -> None:
        """A first answer, and the shifts that matter there."""
        if self.best.point is None:
            self._look(None, budget.at_most(ROBUST_LOOKING_SHARE * budget.left()), PATIENT_SECONDS)
        if self.best.point is None:
            look_inside(self, budget.at_most(ROBUST_LOOKING_SHARE * budget.left()))
            self._bound_without_ball(upper, budget.at_most(ROBUST_LOOKING_SHARE * budget.left()))
        self._look(self.best.point, budget.at_most(ROBUST_LOOKING_SHARE * budget.left()))
        if self.best.point is not None:
            matter = look_around(self, self.best.point, self._beside(budget))
            if not self.rounds:  # each shift makes a program slower, and of the others nothing is proven
                self.shifts = self.shifts[:1]
            self._add(matter)

    def _learn_from(self, point: FloatArray, upper: float, budget: Budget) -> None:
        """Collect shifts that a point fails under, which costs no more than any answer, and look for answers beside it."""
        self.until = budget.until
        self._step_inside(point)
        self._collect(point, self._failures(point, self.sure.b - self.raised))
        self._look(point, budget)
        if self.best.cost - self.bound > GOOD_ANSWER * (1 + self.bound):
            self._add(look_around(self, point, self._beside(budget)))
        if self.best.point is None and not budget.spent():
            self._look_everywhere(upper, budget)

    def _beside(self, budget: Budget) -> Budget:
        """The time for looking beside a point."""
        return budget.at_most(min(max(AROUND_SECONDS, self.proving), ROBUST_LOOKING_SHARE * budget.left()))

    def _look(self, near: FloatArray | None, budget: Budget, seconds: float = np.inf) -> None:
        """Look for a robust answer by linear steps, and collect the shifts that others fail under.

        One may be `near` a point. Whether one is robust is looked at for so many seconds.
        """
        while not budget.spent() and len(self.shifts) <= self.most:
            problem, inside = self.copies(self.inside, self.shifts)
            descent = Descent(problem, inside, budget)
            starts = descent.starts()
            if near is not None:
                starts = np.concatenate([starts, descent.near(near[None])])
            found = descent.best_from(starts)
            if found is None or found[1] >= self.best.cost:
                return None
            self.until = min(budget.until, now() + seconds)
            if not self._collect(found[0], self.judged(*found)):
                return None
        return None

    def _bound_without_ball(self, upper: float, budget: Budget) -> None:
        """What any answer costs. Of hard networks, a program over many copies may tell no bound in time."""
        found = cheapest_below(*self.copies(self.wide, self.shifts[:1]), min(upper, self.best.cost), budget)
        self.bound = max(self.bound, min(found.bound, upper))

    def _look_everywhere(self, upper: float, budget: Budget) -> None:
        """Look for a robust answer by the whole program for a while, where linear steps led to none."""
        little = budget.at_most(min(LOOKING_SECONDS, ROBUST_LOOKING_SHARE * budget.left()))
        found = cheapest_below(*self.copies(self.inside, self.shifts), upper, little)
        if found.point is not None and not self.take(found.point):
            self._collect(found.point, self._failures(found.point, self.sure.b))

    def _step_inside(self, near: FloatArray) -> None:
        """Take a point between the answer and one that costs no more than any: as near to the latter as stays robust.

        The last shifts are found one by one, each nearer to a kink of the network, and in the end rounding decides.
        """
        if self.take(near) or self.best.point is None:
            return
        away = np.nan_to_num(self.best.point - near)
        away[[feature.levels is not None for feature in self.problem.space]] = 0.0
        for share in STEPS_INSIDE:
            if not self.take(near + share * away):
                return

    def take(self, point: FloatArray) -> bool:
        """Keep a point as the answer, if it is a cheaper one. Columns of float32 hold it as it is rounded."""
        point = np.where(self.problem.domain.single, point.astype(np.float32), point)
        cost = float(self.problem.prices.total(self.problem.factuals, point[None])[0])
        if cost >= self.best.cost or not self.problem.admits(point[None])[0] or not self.is_robust(point):
            return False
        self.best = replace(self.best, point=point, cost=cost)
        return True

    def is_robust(self, point: FloatArray) -> bool:
        """Whether no neighbour of a point misses the target. Where rounding decides, the estimator is asked."""
        found = self._failures(point, self.sure.b)
        if not found or not self._is_met(found):
            return not found
        if self.ball.count <= NEIGHBOURS_ASKED:
            return self._is_met(Worst(-np.inf, point + shift) for shift in self.ball.shifts())
        worst = self._worst(point, self.wide.b)
        reached = all(found.score >= least for found, least in zip(worst, self.wide.b, strict=True))
        return reached and self._is_met(worst)

    def _is_met(self, neighbours: Iterable[Worst]) -> bool:
        return all(self.of_neighbours.meets(self.score_set, found.point) for found in neighbours)

    def _failures(self, point: FloatArray, thresholds: FloatArray) -> list[Worst]:
        """Neighbours of a point whose scores miss a threshold."""
        worst = self._worst(point, thresholds)
        return [found for found, least in zip(worst, thresholds, strict=True) if found.score < least]

    def _worst(self, point: FloatArray, thresholds: FloatArray) -> list[Worst]:
        """For each threshold a neighbour of a point that misses it or, if none does, the worst one.

        Where the time ends before a ball is judged, its worst neighbour so far counts as one that misses.
        """
        return [
            NetworkAdversary(self.model, row, point, self.ball, float(least), self.until).worst()
            for row, least in zip(self.score_set.A, thresholds, strict=True)
        ]

    def judged(self, point: FloatArray, cost: float) -> list[Worst]:
        """The neighbours of a point that miss the target. If there is none, the point is the answer."""
        failures = self._failures(point, self.sure.b)
        if not failures:
            self.best = replace(self.best, point=point, cost=cost)
        return failures

    def _collect(self, point: FloatArray, failures: list[Worst]) -> bool:
        """Collect the shifts from a point to its failures. Whether there was a new one."""
        known = len(self.shifts)
        self._add(self.to_failures(point, failures))
        return len(self.shifts) > known

    def to_failures(self, point: FloatArray, failures: list[Worst]) -> list[FloatArray]:
        """The shifts from a point to its failures."""
        radius = self.ball.radius
        return [np.clip(np.nan_to_num(found.point - point), -radius, radius) for found in failures]

    def _add(self, shifts: list[FloatArray]) -> None:
        """Collect those shifts that are not known."""
        self.shifts = self.joined(self.shifts, shifts)

    def joined(self, known: list[FloatArray], shifts: list[FloatArray]) -> list[FloatArray]:
        """Known shifts, and others that are not among them."""
        every, near = list(known), SAME_SHIFT * self.ball.radius
        for shift in shifts:
            if not any((np.abs(shift - other) <= near).all() for other in every):
                every.append(shift)
        return every

    def tight(self, shifts: list[FloatArray], point: FloatArray, more: float) -> list[FloatArray]:
        """The shifts under which a point misses the target, or has little more than that."""
        spare = (self.scores(point + np.array(shifts)) - self.sure.b - more * (1 + np.abs(self.sure.b))).min(axis=1)
        return [shift for shift, left in zip(shifts, spare.tolist(), strict=True) if left < 0]

    def scores(self, points: FloatArray) -> FloatArray:
        """The left sides of the inequalities."""
        return np.asarray(evaluate(self.model, points) @ self.score_set.A.T)

    def copies(self, score_set: ScoreSet, shifts: list[FloatArray]) -> tuple[Problem, ScoreSet]:
        """The problem in which one score set must be met under some shifts."""
        copies = networks_side_by_side([shifted_network(self.model, shift) for shift in shifts])
        count = len(shifts)
        every = replace(
            score_set,
            A=block_diag(*[score_set.A] * count),
            b=np.tile(score_set.b, count),
            strict=np.tile(score_set.strict, count),
            offset=0.0,
        )
        one = replace(self.problem, model=copies, score_sets=(every,)).with_demands(ball=None)
        return one.with_witnesses(confirmation=Always(True)), every
