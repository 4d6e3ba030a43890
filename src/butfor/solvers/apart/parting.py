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

import numpy as np

from butfor.arrays import FloatArray
from butfor.frontier import Frontier
from butfor.problem.constraints.relations import Apart
from butfor.problem.domain import Domain
from butfor.problem.form import ConstraintKind, Form
from butfor.problem.problem import Problem
from butfor.solvers.combine import row_by_row
from butfor.solvers.outcome import Outcome, Stopped, nothing_found, to_beat
from butfor.solvers.reduction import AbstractReduction, Handing
from butfor.solvers.solver import AbstractSolver, Budget, Support
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
        return row_by_row(problem, budget, lambda one: _cheapest_far(one, form, Handing(self.inner), budget))


def _cheapest_far(problem: Problem, form: Form, handing: Handing, budget: Budget) -> Outcome:
    """The cheapest row that is far from all earlier answers, with the lowest bound of the parts that are left."""
    earlier = problem.relations_of(Apart)
    whole = problem.without_relations_of(Apart)
    best, stopped = nothing_found(problem, np.inf), Stopped.DONE
    left = Frontier[tuple[Problem, Outcome]](lambda: to_beat(float(best.cost[0])), newest_first=True)

    def put(part: Problem) -> None:
        found = handing.solve(part, budget, form=form)
        if found.bound[0] < np.inf:
            left.put(float(found.bound[0]), (part, found))

    put(whole)
    while left.is_open:
        bound, (part, found) = left.pop()
        near = _too_near(problem, earlier, found)
        if near is None:
            left.settle(bound)  # if the part has no cheaper row, this is no loss
            stopped = Stopped(max(stopped, int(found.stopped[0])))
            best = found if found.cost[0] < best.cost[0] else best
        elif budget.spent():
            left.settle(bound)
            stopped = budget.stopped
        else:
            for narrow in _parts(part, near, found.points):
                put(replace(part, domain=narrow(part.domain)))
    lowest = min(left.lowest, float(best.cost[0]))
    stops = np.array([stopped], dtype=np.intp)
    return replace(best, bound=np.array([lowest]), stopped=stops, notes={}).handed_to(handing.ran)


def _too_near(problem: Problem, earlier: tuple[Apart, ...], found: Outcome) -> Apart | None:
    """The first of the earlier answers that a row is too much like; None if there is none, or no row."""
    if not found.found()[0]:
        return None
    near = (one for one in earlier if not one.holds_between(problem.space, problem.factuals, found.points)[0])
    return next(near, None)


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
