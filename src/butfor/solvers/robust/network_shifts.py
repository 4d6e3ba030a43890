"""The cutting loop of a network: shifts are collected that must be met all at once.

A robust answer comes first, found by linear steps alone. The worst shifts around it are nearly all that a proof needs,
so they are in the first program.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from butfor.arrays import FloatArray
from butfor.compiled.clock import now
from butfor.neighbours.trees.search import Worst
from butfor.solvers.combine import SetAnswer
from butfor.solvers.network.descent import Descent
from butfor.solvers.network.exact import NetworkExact
from butfor.solvers.network.narrow import narrowed, side_by_side
from butfor.solvers.network.units import UnitEnds
from butfor.solvers.outcome import Stopped
from butfor.solvers.robust.cutting import AbstractCutting
from butfor.solvers.robust.deep_inside import look_inside, walk_back
from butfor.solvers.robust.look_around import look_around
from butfor.solvers.robust.network_in_ball import NetworkInBall
from butfor.solvers.solver import Budget

STEPS_INSIDE = (0.1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9)
"""The shares of the way to a known answer that are gone from a point that is nearly one."""

GOOD_ANSWER = 1e-5
"""The gap, relative to 1 + cost, from which on no better answer is looked for."""

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


class NetworkShifts(AbstractCutting):
    """Answers and bounds for a network, one set of scores and one ball.

    - `shifts`: what must be met all at once (there may be `most`);
    - `proving`: the seconds that whole programs took;
    - `ends`: the ranges of the units under shifts, at all answers below some cost.
    """

    def __init__(self, network: NetworkInBall) -> None:
        super().__init__(network.problem)
        self.network, self.shifts, self.proving = network, [network.nothing], 0.0
        self.most = max(MOST_SCENARIOS, MOST_UNITS // sum(len(layer.leak) for layer in network.model.layers))
        self.ends: dict[bytes, tuple[float, list[UnitEnds]]] = {}

    def begin(self, upper: float, budget: Budget) -> None:
        """A first answer, and the shifts that matter there."""
        if self.best.point is None:
            self._look(None, _share_of(budget), PATIENT_SECONDS)
        if self.best.point is None:
            inside = _share_of(budget)
            self.best = look_inside(self.network, self.shifts, self.best, inside)
            self.best = walk_back(self.network, self.best, inside)
            self._bound_without_ball(upper, _share_of(budget))
        self._look(self.best.point, _share_of(budget))
        if self.best.point is not None:
            matter = self._around(self.best.point, budget)
            if not self.rounds:  # each shift makes a program slower, and of the others nothing is proven
                self.shifts = self.shifts[:1]
            self._add(matter)

    def is_full(self) -> bool:
        return len(self.shifts) > self.most

    def cheapest_left(self, ceiling: float, budget: Budget) -> SetAnswer:
        """The cheapest row that stays valid under all shifts. If it takes long, the ranges of units are narrowed before."""
        begin = now()
        found = self._whole_program(ceiling, budget)
        self.proving += now() - begin
        return found

    def _whole_program(self, ceiling: float, budget: Budget) -> SetAnswer:
        copies = self.network.under(self.shifts, self.network.wide)
        plain = budget.at_most(PLAIN_SECONDS - self.proving)
        if not plain.spent():
            found = self.network.handing.cheapest(*copies, ceiling, plain)
            if found.stopped is not Stopped.TIME or budget.spent():
                return found
            self.bound = max(self.bound, min(found.bound, ceiling))
        ends: list[UnitEnds] = []
        if np.isfinite(ceiling):
            ends = side_by_side([self._ends_under(shift, ceiling, budget) for shift in self.shifts])
        return self.network.handing.cheapest(*copies, ceiling, budget, NetworkExact(ends))

    def _ends_under(self, shift: FloatArray, ceiling: float, budget: Budget) -> list[UnitEnds]:
        """The ranges of the units under a shift, at all answers below a ceiling."""
        limit, ends = self.ends.get(shift.tobytes(), (-np.inf, []))
        if ceiling > limit:
            ends = []
        if not ends or ceiling < MUCH_LOWER * limit:
            for _ in range(NARROWINGS):
                ends = narrowed(*self.network.under([shift], self.network.wide), ceiling, budget, ends)
            if not budget.spent():  # ends that time cut short are not kept
                self.ends[shift.tobytes()] = ceiling, ends
        return ends

    def learn(self, found: SetAnswer, upper: float, budget: Budget) -> bool:
        """Collect shifts that a point fails under, which costs no more than any answer, and look for answers beside it.

        If there is no new one, nothing is left but what rounding decides about.
        """
        assert found.point is not None
        known, point, self.until = len(self.shifts), found.point, budget.until
        self._step_inside(point)
        self._collect(point, self.network.failures(point, self.network.sure.b - self.network.raised, self.until))
        self._look(point, budget)
        if self.best.cost - self.bound > GOOD_ANSWER * (1 + self.bound):
            self._add(self._around(point, budget))
        if self.best.point is None and not budget.spent():
            self._look_everywhere(upper, budget)
        return len(self.shifts) > known

    def is_robust(self, point: FloatArray) -> bool:
        return self.network.is_robust(point, self.until)

    # ---------------------------------------------------------------------------------------------------------- answers

    def _look(self, near: FloatArray | None, budget: Budget, seconds: float = np.inf) -> None:
        """Look for a robust answer by linear steps, and collect the shifts that others fail under.

        One may be `near` a point. Whether one is robust is looked at for so many seconds.
        """
        while not budget.spent() and not self.is_full():
            problem, inside = self.network.under(self.shifts, self.network.inside)
            descent = Descent(problem, inside, budget)
            starts = descent.starts()
            if near is not None:
                starts = np.concatenate([starts, descent.near(near[None])])
            found = descent.best_from(starts)
            if found is None or found[1] >= self.best.cost:
                return
            failures = self.network.failures(found[0], self.network.sure.b, min(budget.until, now() + seconds))
            if not failures:
                self.best = SetAnswer(*found, bound=0.0)
            if not self._collect(found[0], failures):
                return

    def _around(self, near: FloatArray, budget: Budget) -> list[FloatArray]:
        """Look for an answer beside a point. Returns the shifts that matter there."""
        seconds = max(AROUND_SECONDS, self.proving)
        beside = budget.at_most(min(seconds, ROBUST_LOOKING_SHARE * budget.left()))
        self.best, matter = look_around(self.network, self.shifts, near, self.best, beside)
        return matter

    def _bound_without_ball(self, upper: float, budget: Budget) -> None:
        """What any answer costs. Of hard networks, a program over many copies may tell no bound in time."""
        plain = self.network.under(self.shifts[:1], self.network.wide)
        found = self.network.handing.cheapest(*plain, min(upper, self.best.cost), budget)
        self.bound = max(self.bound, min(found.bound, upper))

    def _look_everywhere(self, upper: float, budget: Budget) -> None:
        """Look for a robust answer by the whole program for a while, where linear steps led to none."""
        little = budget.at_most(min(LOOKING_SECONDS, ROBUST_LOOKING_SHARE * budget.left()))
        inside = self.network.under(self.shifts, self.network.inside)
        found = self.network.handing.cheapest(*inside, upper, little)
        if found.point is not None and not self.take(found.point):
            self._collect(found.point, self.network.failures(found.point, self.network.sure.b, self.until))

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

    # ----------------------------------------------------------------------------------------------------------- shifts

    def _collect(self, point: FloatArray, failures: list[Worst]) -> bool:
        """Collect the shifts from a point to its failures. Whether there was a new one."""
        known = len(self.shifts)
        self._add(self.network.to_failures(point, failures))
        return len(self.shifts) > known

    def _add(self, shifts: Sequence[FloatArray]) -> None:
        """Collect those shifts that are not known."""
        self.shifts = self.network.joined(self.shifts, shifts)


def _share_of(budget: Budget) -> Budget:
    """The part of a budget in which robust answers are looked for."""
    return budget.at_most(ROBUST_LOOKING_SHARE * budget.left())
