"""The cheapest row at a distance from earlier answers.

A row is far from an earlier answer if some column is far from it. So the rows that are far are those of the parts "this
number is so much less", "this number is so much more", "this level is another one". And a row that does not just do the
same and more is in one of the parts "this number goes less far".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from butfor.arrays import FloatArray
from butfor.problem.constraints.relations import Apart
from butfor.problem.domain import Domain
from butfor.problem.form import ConstraintKind, Form
from butfor.problem.problem import Problem
from butfor.solvers.parted.parting import AbstractParting
from butfor.solvers.solver import Support
from butfor.space.space import same
from butfor.space.writing import Levels

Narrow = Callable[[Domain], Domain]
"""Makes a narrower domain of one."""


class FarApart(AbstractParting[Apart]):
    """Branching on the column that is far. Guarantee: optimal (to 1e-6), or a proven bound when the time ends."""

    name = "far_apart"
    does = "answers at a distance from earlier ones: what is left is parted, and each part is solved exactly"
    left = "the problem without the distance"
    relation = Apart

    def takes(self, form: Form) -> Support:
        if ConstraintKind.APART not in form.constraints:
            return Support(False, "it is only for answers that keep a distance to earlier ones (different=...)")
        return Support(True, "what is left around them is parted, and each part is solved exactly")

    def ways(self, problem: Problem, relation: Apart, point: FloatArray) -> Iterator[Domain]:
        parts = _less_far if relation.far(problem.space, point)[0] else _far
        for narrow in parts(problem, relation):
            yield narrow(problem.domain)


def _far(problem: Problem, near: Apart) -> Iterator[Narrow]:
    """The ways to be far from an earlier answer, column by column."""
    for j in np.flatnonzero(problem.domain.movable | ~problem.domain.stay[0]).tolist():
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
