"""The cheapest row of trees under linear relations between columns.

An answer breaks one. Of all rows with its cells in the related columns, trees answer alike. So the cheapest numbers in these
cells that keep the relations are a small program without the trees. The other rows are those of the parts "the first column
lies below its cell", "above it", "it lies inside, and the second one below its cell", and so on.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from butfor.arrays import FloatArray
from butfor.model.cells import level_cells, number_cells
from butfor.model.questions import ModelKind
from butfor.model.scores import everything
from butfor.model.trees import Trees
from butfor.problem.constraints.linked import sharing
from butfor.problem.constraints.relations import LinearRelation
from butfor.problem.domain import Domain
from butfor.problem.form import ConstraintKind, CostTerm, Form
from butfor.problem.problem import Problem
from butfor.problem.witnesses import NO_WITNESSES
from butfor.solvers.ensemble.leaves import all_leaves
from butfor.solvers.milp.milp import Milp
from butfor.solvers.outcome import Status
from butfor.solvers.parted.held import held
from butfor.solvers.parted.parting import AbstractParting, Ask, Way
from butfor.solvers.solver import Support

SUMS = frozenset({CostTerm.L0, CostTerm.L1, CostTerm.L2, CostTerm.FORBIDDEN})
"""The terms of a cost that are sums over columns, and that a program knows."""


class RelatedParts(AbstractParting[LinearRelation]):
    """Branching on the cells of related columns. Guarantee: optimal (to 1e-6), or a proven bound when the time ends."""

    name = "related_parts"
    does = "trees and sums of trees under linear relations: what is left is parted by cells, and each part is solved"
    left = "the problem without the relations"
    relation = LinearRelation

    def takes(self, form: Form) -> Support:
        if ConstraintKind.LINEAR not in form.constraints:
            return Support(False, "it is only for linear relations")
        if form.model not in (ModelKind.TREE, ModelKind.ENSEMBLE):
            return Support(False, f"it takes trees and sums of trees, and the model is a {form.model}")
        if form.cost - SUMS:
            return Support(False, "the cost must be a sum over columns, and no function")
        return Support(True, "where an answer breaks a relation, what is left is parted")

    def ways(self, problem: Problem, relation: LinearRelation, point: FloatArray, ask: Ask) -> Iterator[Way]:
        every = problem.relations_of(LinearRelation)
        names = next(group for group in sharing(one.numbers for one in every) if relation.numbers[0] in group)
        relations = tuple(one for one in every if one.numbers[0] in names)
        columns = sorted(map(problem.space.index, names))
        inside = problem.domain.without_missing(columns)  # what is missing keeps no relation
        if np.isnan(point[0, columns]).any():
            yield Way(inside)
            return
        for j in columns:
            below, inside, above = _cut(problem, inside, j, float(point[0, j]))
            yield from (Way(below), Way(above))
        yield from _cheapest_inside(problem, inside, columns, relations, ask)


def _cut(problem: Problem, domain: Domain, j: int, at: float) -> tuple[Domain, Domain, Domain]:
    """The domain in which column `j` lies below the cell of a value, inside it, and above it.

    Where changes are counted, the row's own value is a cell of its own.
    """
    assert isinstance(problem.model, Trees)
    cells = all_leaves(problem.model, problem.space, problem.demands.margin)[0][j]
    own, counted = problem.factuals[0, j], bool(problem.limits)

    def rank(values: FloatArray) -> FloatArray:
        """It grows from cell to cell; NaN for a missing value, which is in none."""
        side = np.sign(np.nan_to_num(values - own)) if counted else np.zeros(len(values))
        return np.where(np.isnan(values), np.nan, 2 * cells.index(values) + side / 2)

    (here,) = rank(np.array([at]))
    from_here = held(domain, j, lambda values: rank(values) >= here)
    return (
        held(domain, j, lambda values: rank(values) < here),
        held(from_here, j, lambda values: rank(values) <= here),
        held(domain, j, lambda values: rank(values) > here),
    )


def _cheapest_inside(
    problem: Problem, inside: Domain, columns: list[int], relations: tuple[LinearRelation, ...], ask: Ask
) -> Iterator[Way]:
    """The rows of some cells, at the cheapest numbers that keep the relations, if there are any."""
    others = ~np.isin(np.arange(len(problem.space)), columns)
    kept = inside.without_moves(others)
    small = replace(
        problem,
        model=_of_nothing(problem),
        domain=replace(kept, stay=kept.stay | others),
        score_sets=(everything(1),),
        relations=relations,
        witnesses=NO_WITNESSES,
    ).with_demands(margin=0.0)
    found = ask(Milp(), small)
    if found.found()[0]:
        yield Way(_fixed(inside, columns, found.points[0]), float(found.cost[0] - found.bound[0]))
    elif found.status()[0] is not Status.PROVEN_INFEASIBLE:
        yield Way(inside)


def _fixed(domain: Domain, columns: list[int], point: FloatArray) -> Domain:
    """The domain in which some columns have the values of a point."""
    for j in columns:
        if j in domain.levels:
            domain = domain.at_levels(j, np.arange(domain.levels[j].shape[1]) == point[j])
        else:
            domain = domain.narrowed(j, float(point[j]), float(point[j]))
    return domain


def _of_nothing(problem: Problem) -> Trees:
    """A tree of a single leaf."""
    leaf, yes = np.zeros(1, dtype=np.intp), np.ones(1, dtype=np.bool_)
    cells = tuple(
        number_cells(np.empty(0)) if feature.levels is None else level_cells(len(feature.levels))
        for feature in problem.space
    )
    return Trees(leaf, leaf - 1, np.zeros(1), leaf - 1, yes, leaf, leaf, np.zeros((1, 1)), (), np.zeros(1), cells)
