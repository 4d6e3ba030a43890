"""The cheapest change that a piecewise linear network answers as wanted, proven.

A good answer comes first. Whatever is cheaper lies in the ball of its cost, where most units of the network are on one
side of 0, and where the others lie below lines (see docs/decisions/016-networks.md). Linear programs prove a bound
between the two, and a mixed-integer program proves the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from butfor.arrays import FloatArray
from butfor.formulation.tables import Tables, tabulate
from butfor.model.network import Network
from butfor.model.questions import ModelKind
from butfor.model.scores import ScoreSet
from butfor.problem.form import Form
from butfor.problem.problem import Problem
from butfor.solvers.combine import SetAnswer, over_score_sets, row_by_row
from butfor.solvers.milp.milp import Milp
from butfor.solvers.milp.place_search import solve_written
from butfor.solvers.milp.written import write
from butfor.solvers.network.ball import ball
from butfor.solvers.network.descent import Descent
from butfor.solvers.network.directions import directions, is_plain
from butfor.solvers.network.empty_balls import empty_within
from butfor.solvers.network.rows import NEGLIGIBLE, KnownUnits, add_known
from butfor.solvers.network.units import UnitEnds, units_within
from butfor.solvers.outcome import Outcome, Stopped, to_beat, tolerated
from butfor.solvers.reduction import AbstractReduction, Handing
from butfor.solvers.solver import Budget, Support

LOOKING_SHARE = 1 / 3
"""The share of a limited time that the search for good answers may take."""

RELAXATIONS = 4
"""The largest number of linear programs that raise the bound before anything is branched on."""

MANY_UNITS = 150
"""In networks of more units than this, a linear program takes longer than to look for empty balls."""

WORTHWHILE = 0.01
"""The share of the cost by which a linear program must raise the bound, or no other one follows."""


class NetworkExact(AbstractReduction):
    """A good answer, bounds within the ball of its cost, and a program for the rest.

    Guarantee: optimal (to 1e-6), or a proven bound when the time ends. Where its own programs contradict themselves, `milp`
    gets the network as it is.
    """

    name = "network_exact"
    does = "networks of linear layers and ReLU, with every cost and constraint that milp takes: bounds near the row"
    block = 16
    row_by_row = True
    inner = (Milp(),)
    left = "the network as a program"

    def __init__(self, ends: Sequence[UnitEnds] = ()) -> None:
        self.ends = ends
        """Narrower ranges of the units at all answers that are looked for, layer by layer, if they are known."""

    def takes(self, form: Form) -> Support:
        if form.model is not ModelKind.NETWORK:
            return Support(False, f"it takes a network, and the model is a {form.model}")
        return Support(True, "every unit is linear on both sides of 0, and few change sides near the row")

    def parts(self, form: Form) -> tuple[Form, ...]:
        return (form,)

    def solve(self, problem: Problem, budget: Budget, k: int = 1, seed: int = 0) -> Outcome:
        return row_by_row(problem, budget, lambda one: self.solve_below(one, np.inf, budget))

    def solve_below(self, problem: Problem, upper: float, budget: Budget) -> Outcome:
        handing = Handing(self.inner)

        def cheapest(score_set: ScoreSet, limit: float) -> SetAnswer:
            return NetworkSearch(problem, score_set, limit, budget, handing, self.ends).run().proven(budget)

        return over_score_sets(problem, cheapest, upper).handed_to(handing.ran)


def known_units(problem: Problem, limit: float, lowest: float = 0.0, ends: Sequence[UnitEnds] = ()) -> KnownUnits:
    """What is known of the units, given the cost of an answer and a bound."""
    model = problem.model
    assert isinstance(model, Network)
    tables = tabulate(problem, model.cells)
    ways = directions(problem, model.first, tables)
    inside = ball(ways, limit * (1 + NEGLIGIBLE) + NEGLIGIBLE, problem.most_changes)
    units = units_within(model, ways, inside, ends)
    return KnownUnits(ways, inside, units, max(0.0, lowest), _additive(problem, model, tables))


class NetworkSearch:
    """The search of one score set. It may be interrupted anywhere; what is known by then is kept."""

    def __init__(
        self,
        problem: Problem,
        score_set: ScoreSet,
        limit: float,
        budget: Budget,
        handing: Handing,
        ends: Sequence[UnitEnds],
    ) -> None:
        self.problem, self.score_set, self.limit, self.budget = problem, score_set, limit, budget
        self.handing, self.ends = handing, ends
        self.descent = Descent(problem, score_set, budget.at_most(LOOKING_SHARE * budget.left()))
        self.best = SetAnswer(None, np.inf, 0.0)
        self.lowest = 0.0

    def run(self) -> SetAnswer:
        if self.limit <= 0:
            return replace(self.best, bound=np.inf)
        try:
            self._look()
            stopped = self._prove()
        except KeyboardInterrupt:
            self.budget.interrupt()
            stopped = Stopped.INTERRUPTED
        return replace(self.best, bound=self.lowest, stopped=stopped)

    @property
    def known(self) -> float:
        """What an answer must cost less than."""
        return min(self.limit, self.best.cost)

    def _look(self) -> None:
        """Look for a good answer."""
        self._take(self.descent.best_from(self.descent.starts()))

    def _take(self, found: tuple[FloatArray, float] | None) -> None:
        """Keep an answer if it is better than what is known."""
        if found is not None and found[1] < self.known:
            self.best = replace(self.best, point=found[0], cost=found[1])

    def _prove(self) -> Stopped:
        """Raise the bound by empty balls, by linear programs, and then by the whole program."""
        if _units(self.problem) > MANY_UNITS:
            self.lowest = empty_within(self.problem, self.score_set, self.known, self.budget, self.ends)
        lowest = self.lowest
        for _ in range(RELAXATIONS):
            if self._closed() or self.budget.spent():
                break
            found = self._relaxed()
            if self._refuted(found):  # nothing of it is believed
                return self._believe(self.handing.cheapest(self.problem, self.score_set, self.known, self.budget))
            self.lowest = max(self.lowest, found)
            if self._closed() or not np.isfinite(self.known):
                break
            little = WORTHWHILE * self.known
            if self.lowest - lowest < little or self.known - max(self.lowest, lowest + little) < little:
                break
            lowest = self.lowest
        if self._closed():
            return Stopped.DONE
        return self.budget.stopped if self.budget.spent() else self._branch()

    def _closed(self) -> bool:
        """Whether nothing can be cheaper than what is known."""
        return self.lowest == np.inf or self.lowest >= to_beat(self.known, 1 / 2)

    def _relaxed(self) -> float:
        """The optimum without whole numbers, as a bound. Its point is a start for the search."""
        written = write(self.problem, self.score_set, partial(add_known, self._known()), parts=True)
        found = written.program.solve(self.budget.left(), [], exact=False, whole=False, derived=self.budget.until)
        if found.x is not None:
            point = written.point(self.problem, found.x)
            starts = [self.descent.near(point[None])]
            if self.best.point is not None:
                starts.append(self.descent.between(point, self.best.point))
            self._take(self.descent.best_from(np.concatenate(starts)))
        return max(0.0, found.claim.proven())

    def _branch(self) -> Stopped:
        """The whole program."""
        written = write(self.problem, self.score_set, partial(add_known, self._known()), parts=True)
        return self._believe(solve_written(self.problem, self.score_set, written, self.budget, self.known))

    def _believe(self, found: SetAnswer) -> Stopped:
        """Take the answer and the bound of a program. Why it stopped."""
        if found.point is not None:
            self._take((found.point, found.cost))
        if self._refuted(found.bound):
            return Stopped.EFFORT
        self.lowest, self.best = max(self.lowest, found.bound), replace(self.best, claim=found.claim)
        return found.stopped

    def _refuted(self, bound: float) -> bool:
        """Whether a bound says that the answer, which is there, cannot be."""
        return self.best.point is not None and bound > self.best.cost + tolerated(self.best.cost)

    def _known(self) -> KnownUnits:
        return known_units(self.problem, self.known, self.lowest, self.ends)


def _units(problem: Problem) -> int:
    """How many units the network has."""
    assert isinstance(problem.model, Network)
    return sum(len(layer.leak) for layer in problem.model.layers)


def _additive(problem: Problem, model: Network, tables: Tables) -> bool:
    """Whether the cost of every change is just the sum of the rates of its directions."""
    prices, free = problem.prices, problem.domain.movable
    if problem.relations or prices.has_linf or prices.Q is not None or not problem.domain.stay.all():
        return False
    if prices.l0[free].any() or prices.l2[free].any():
        return False
    for j in np.flatnonzero(free).tolist():
        if not model.first.slope[:, j].any() and j not in model.first.stepped:
            continue
        block = tables.price[0, tables.start[j] : tables.start[j + 1]]
        by_cell = bool(model.first.cells[j].levels)
        if not (by_cell or is_plain(problem, model.first, j)) or block.min() > 0 or block[tables.home[0, j]] > 0:
            return False
    return True
