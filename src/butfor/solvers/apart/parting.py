"""The cheapest row at a distance from earlier answers: what is left around them is parted, and each part is solved.

A row is far from an earlier answer if some column is far from it. So the rows that are far are those of the parts "this
number is so much less", "this number is so much more", "this level is another one". And a row that does not just do the
same and more is in one of the parts "this number goes less far". Each part is a narrower domain, which any exact solver
takes. The part with the lowest bound comes first, and is parted again only if its cheapest row is
too near to another answer (Lawler, "A procedure for computing the k best solutions", Management Science 18, 1972).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from butfor.arrays import FloatArray
from butfor.frontier import Frontier
from butfor.problem.constraints.relations import Apart
from butfor.problem.domain import Domain
from butfor.problem.form import ConstraintKind, Form
from butfor.problem.problem import Problem
from butfor.solvers.combine import row_by_row
from butfor.solvers.outcome import Outcome, Status, Stopped, better_of, nothing_found, objects, to_beat
from butfor.solvers.reduction import AbstractReduction, Handing
from butfor.solvers.solver import AbstractSolver, Budget, Rest, Support
from butfor.space.space import same
from butfor.space.writing import Levels

Narrow = Callable[[Domain], Domain]
"""Makes a narrower domain of one."""


class FarApart(AbstractReduction):
    """Branching on the column that is far. Guarantee: optimal (to 1e-6), or a proven bound when the time ends."""

    name = "far_apart"
    does = "answers at a distance from earlier ones: what is left is parted, and each part is solved exactly"
    row_by_row = True
    takes_per_row = True
    left = "the problem without the distance"

    def __init__(self, inner: tuple[AbstractSolver, ...]) -> None:
        self.inner = inner

    def takes(self, form: Form) -> Support:
        if ConstraintKind.APART not in form.constraints:
            return Support(False, "it is only for answers that keep a distance to earlier ones (different=...)")
        return Support(True, "what is left around them is parted, and each part is solved exactly")

    def parts(self, form: Form) -> tuple[Form, ...]:
        """In a part, a column may have to move."""
        return (replace(form, constraints=form.constraints - {ConstraintKind.APART}, forced=True),)

    def solve(self, problem: Problem, budget: Budget, k: int = 1, seed: int = 0) -> Outcome:
        (form,) = self.parts(problem.form())
        return row_by_row(problem, budget, lambda one: _FarRow(one, form, Handing(self.inner), budget).go_on(budget))


class _SolvedPart(NamedTuple):
    """A part of what is left, and its cheapest row. `due`: the search for this row was cut short, and may go on now."""

    problem: Problem
    found: Outcome
    due: bool = False

    @property
    def stopped(self) -> Stopped:
        """Why no more is known of its cheapest row."""
        proven = self.found.status()[0] is Status.PROVEN_OPTIMAL
        return Stopped.DONE if proven else Stopped(int(self.found.stopped[0]))

    def bounded(self, bound: float) -> _SolvedPart:
        """The part of another one in which no row costs less than a bound."""
        return self._replace(found=replace(self.found, bound=np.maximum(self.found.bound, bound)))


class _FarRow(Rest):
    """The search for one row.

    - `best`: the cheapest row so far that is far from all earlier answers;
    - `left`: the parts for which there was no time: their cheapest row is too near, or was not proven;
    - `lowest`: the lowest bound of the other parts.
    """

    def __init__(self, problem: Problem, form: Form, handing: Handing, budget: Budget) -> None:
        self.problem, self.handing, self.solver = problem, handing, handing.taker(form)
        self.earlier, self.best, self.lowest = problem.relations_of(Apart), nothing_found(problem, np.inf), np.inf
        self.left = [self._solved(problem.without_relations_of(Apart), budget)]

    def go_on(self, budget: Budget) -> Outcome:
        """The cheapest row that is far from all earlier answers, with the lowest bound of the parts that are left."""
        waiting = Frontier[_SolvedPart](lambda: to_beat(float(self.best.cost[0])), newest_first=True)
        stopped, left, self.left = Stopped.DONE, self.left, []

        def put(part: _SolvedPart) -> None:
            if part.found.bound[0] < np.inf:
                waiting.put(float(part.found.bound[0]), part)

        for part in left:
            put(part._replace(due=part.stopped is Stopped.TIME))
        while waiting.is_open:
            bound, part = waiting.pop()
            near = self._too_near(part.found)
            if part.due and not budget.spent():
                put(self._longer(part, budget))
            elif near is not None and not budget.spent():
                for narrow in _parts(part.problem, near, part.found.points):
                    inside = self._solved(replace(part.problem, domain=narrow(part.problem.domain)), budget)
                    put(inside.bounded(bound))
            else:
                waiting.settle(bound)  # if the part has no cheaper row, this is no loss
                why = part.stopped if near is None else budget.stopped
                stopped = max(stopped, why)
                if near is None and part.found.cost[0] < self.best.cost[0]:
                    self.best = part.found
                if near is not None or why is Stopped.TIME:
                    self.left.append(part)
                else:
                    self.lowest = min(self.lowest, bound)
        return replace(
            self.best,
            bound=np.array([min(waiting.lowest, self.lowest, float(self.best.cost[0]))]),
            stopped=np.array([stopped], dtype=np.intp),
            rest=objects([self if self.left else None]),
            notes={},
        ).handed_to(self.handing.ran)

    def _solved(self, part: Problem, budget: Budget) -> _SolvedPart:
        return _SolvedPart(part, self.handing.kept(self.solver, self.solver.solve(part, budget)))

    def _longer(self, part: _SolvedPart, budget: Budget) -> _SolvedPart:
        """The part after a search that goes on, or begins anew if it was not kept."""
        (rest,) = part.found.rest
        more = self._solved(part.problem, budget).found if rest is None else rest.go_on(budget)
        best = replace(better_of(part.found, more), stopped=more.stopped, rest=more.rest)
        return part._replace(found=best, due=False)

    def _too_near(self, found: Outcome) -> Apart | None:
        """The first of the earlier answers that a row is too much like; None if there is none, or no row."""
        if not found.found()[0]:
            return None
        space, start = self.problem.space, self.problem.factuals
        return next((one for one in self.earlier if not one.holds_between(space, start, found.points)[0]), None)


def _parts(problem: Problem, near: Apart, point: FloatArray) -> Iterator[Narrow]:
    """The ways to keep apart from an earlier answer, which a point does not."""
    if near.far(problem.space, point)[0]:
        yield from _less_far(problem, near)
    else:
        yield from _far(problem, near)


def _far(problem: Problem, near: Apart) -> Iterator[Narrow]:
    """The ways to be far from an earlier answer, column by column."""
    for j in np.flatnonzero(problem.domain.movable() | ~problem.domain.stay[0]).tolist():
        feature, value = problem.space.features[j], near.point[j]
        reach = near.distance * feature.range
        yield from _sides(j, value, feature.levels, (value - reach, value + reach))


def _less_far(problem: Problem, near: Apart) -> Iterator[Narrow]:
    """The ways not to do all that an earlier answer does, column by column."""
    start = problem.factuals[0]
    for j in np.flatnonzero(~same(np.array(near.point), start)).tolist():
        value, half = near.point[j], problem.domain.step[j] / 2  # an end beside a grid point would mean the point
        below = value - half if half else np.nextafter(value, -np.inf)
        above = value + half if half else np.nextafter(value, np.inf)
        ends = (-np.inf if value < start[j] else below, np.inf if value > start[j] else above)
        yield from _sides(j, value, problem.space.features[j].levels, ends)


def _sides(j: int, value: float, levels: Levels | None, ends: tuple[float, float]) -> Iterator[Narrow]:
    """Column `j` has another level than `value`; or it is a number outside `ends`; or it is not missing, if that is."""
    if np.isnan(value):
        yield lambda domain: domain.without_missing(j)
    elif levels is not None:
        yield lambda domain: domain.at_levels(j, np.arange(len(levels)) != value)
    else:
        below, above = ends
        if below > -np.inf:
            yield lambda domain: domain.narrowed(j, -np.inf, below)
        if above < np.inf:
            yield lambda domain: domain.narrowed(j, above, np.inf)
