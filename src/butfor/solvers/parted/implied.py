"""The cheapest row under implications: where one change happens, another one must, too.

An answer breaks one if its cause happens and its consequence does not. The rows that keep it are those of two parts: "the
cause does not happen", and "it happens, and so does the consequence". Each is about single columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from butfor.arrays import BoolArray, FloatArray
from butfor.model.float_order import last_between
from butfor.model.questions import ModelKind
from butfor.problem.constraints.relations import Implication
from butfor.problem.domain import Domain, grid_down
from butfor.problem.form import ConstraintKind, Form
from butfor.problem.problem import Problem
from butfor.solvers.parted.parting import AbstractParting, Narrow
from butfor.solvers.solver import Support
from butfor.space.space import Space

BY_CELLS = frozenset({ModelKind.TREE, ModelKind.ENSEMBLE, ModelKind.MIXED, ModelKind.OBLIQUE, ModelKind.OBLIQUE_FOREST})
"""The models whose programs are slow. Those of linear models and networks have a row for each implication."""

Holds = Callable[[FloatArray], BoolArray]
"""At which values of a column something holds. As a number grows, it begins to hold or ends to, only once."""


class ImpliedParts(AbstractParting[Implication]):
    """Branching on whether the cause happens. Guarantee: optimal (to 1e-6), or a proven bound when the time ends."""

    name = "implied_parts"
    does = "sums of trees, single trees and oblique trees under implications: what is left is parted, and each part is solved"
    left = "the problem without the implications"
    relation = Implication

    def takes(self, form: Form) -> Support:
        if ConstraintKind.IMPLIES not in form.constraints:
            return Support(False, "it is only for implications")
        if form.model not in BY_CELLS:
            return Support(False, f"it takes trees, oblique ones, too, and the model is a {form.model}")
        return Support(True, "where an answer breaks an implication, what is left is parted")

    def ways(self, problem: Problem, relation: Implication, point: FloatArray) -> Iterator[Narrow]:
        space = problem.space
        cause, consequence = space.index(relation.cause.name), space.index(relation.consequence.name)

        def caused(values: FloatArray) -> BoolArray:
            return relation.caused(*_with(problem, cause, values))

        def follows(values: FloatArray) -> BoolArray:
            return relation.follows(*_with(problem, consequence, values))

        yield lambda domain: held(domain, cause, lambda values: ~caused(values))
        yield lambda domain: held(held(domain, cause, caused), consequence, follows)


def held(domain: Domain, j: int, holds: Holds) -> Domain:
    """The domain in which something holds of column `j` of the only row."""
    known = domain if holds(np.array([np.nan]))[0] else domain.without_missing(j)
    if j in domain.levels:
        return known.at_levels(j, holds(np.arange(domain.levels[j].shape[1], dtype=np.float64)))
    stay = known.stay.copy()
    stay[:, j] &= holds(domain.factuals[:, j])  # the own number need not lie on the grid
    return replace(known.narrowed(j, *_where(known, j, holds)), stay=stay)


def _where(domain: Domain, j: int, holds: Holds) -> tuple[float, float]:
    """Between which ends something holds of a number. Those of a grid lie between its points, which is never in doubt."""
    ends = np.array([domain.low[0, j], domain.high[0, j]])
    if ends[0] > ends[1]:
        return np.inf, -np.inf
    below, above = holds(ends).tolist()
    if below == above:
        return (-np.inf, np.inf) if below else (np.inf, -np.inf)
    last = last_between(lambda x: holds(x) == below, ends[:1], ends[1:])
    after = np.nextafter(last, np.inf)
    if step := float(domain.step[j]):
        point = grid_down(last, step, float(domain.anchor[j]))
        point = np.where(holds(point + step) == below, point + step, point)
        last = after = point + step / 2
    return (-np.inf, float(last[0])) if below else (float(after[0]), np.inf)


def _with(problem: Problem, j: int, values: FloatArray) -> tuple[Space, FloatArray, FloatArray]:
    """The only row before, and after column `j` has become each of some values."""
    before = np.repeat(problem.factuals, len(values), axis=0)
    after = before.copy()
    after[:, j] = values
    return problem.space, before, after
