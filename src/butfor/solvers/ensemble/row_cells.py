"""The cells of one row, in which relations between columns are limits, and the numbers that keep sums in given cells."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from butfor.arrays import FloatArray, IntArray
from butfor.formulation.tables import Tables, tabulate
from butfor.model.cells import Cells, level_cells, number_cells
from butfor.model.scores import ScoreSet, everything
from butfor.model.trees import Trees
from butfor.problem.constraints.implications import Implication
from butfor.problem.constraints.relations import LinearRelation
from butfor.problem.domain import Domain
from butfor.problem.problem import Problem
from butfor.problem.witnesses import NO_WITNESSES
from butfor.solvers.ensemble.cell_search import NOTHING, Inside
from butfor.solvers.ensemble.instance import Instance
from butfor.solvers.ensemble.leaves import LeafTable, all_leaves, over_finer
from butfor.solvers.ensemble.limits import CellLimits, limits_of, narrow_cells, sum_columns, with_numbers
from butfor.solvers.reduction import Handing
from butfor.solvers.solver import Budget
from butfor.space.space import Space


@dataclass(frozen=True, eq=False)
class RowCells:
    """The only row of a problem, over the cells of its model and those that its relations need.

    - `model`, `cells`, `leaves`: the trees, their cells, and their leaves over these cells;
    - `tables`: the cheapest value of each cell, and its price;
    - `limits`: what the cells count.
    """

    problem: Problem
    model: Trees
    cells: tuple[Cells, ...]
    leaves: LeafTable
    tables: Tables
    limits: CellLimits

    @property
    def related(self) -> bool:
        """Whether there are relations between columns."""
        return bool(self.problem.relations_of(Implication) or self.problem.relations_of(LinearRelation))

    def asked(self, score: FloatArray, goal: FloatArray, firm: FloatArray) -> Instance:
        """The question for cells whose leaves reach a goal."""
        return Instance(self.leaves, score, goal, firm, np.ascontiguousarray(self.tables.price[0]), self.limits)

    def cheapest_inside(self, chosen: IntArray, score_set: ScoreSet, handing: Handing, budget: Budget) -> Inside:
        """The cheapest row in some cells that keeps all sums, if that is an answer.

        All rows in the cells have the same scores. So it is a small program of the columns of the sums, without the trees.
        """
        problem, value, price = self.problem, self.tables.value[0, chosen], self.tables.price[0, chosen]
        sums = problem.relations_of(LinearRelation)
        if all(one.holds_between(problem.space, problem.factuals, value[None])[0] for one in sums):
            return NOTHING
        columns, domain = sum_columns(problem), problem.domain
        for j in columns:
            domain = _in_cell(domain, j, self.cells[j], int(chosen[j] - self.tables.start[j]))
        others = ~np.isin(np.arange(len(value)), columns)
        kept = domain.without_moves(others)
        small = replace(
            problem,
            model=_of_nothing(problem.space),
            domain=replace(kept, stay=kept.stay | others),
            score_sets=(everything(1),),
            relations=sums,
            witnesses=NO_WITNESSES,
        ).with_demands(margin=0.0)
        found, rest = handing.solve(small, budget), float(price[others].sum())
        if not found.found()[0]:
            return Inside(None, np.inf, rest + float(found.bound[0]))
        point = np.where(others, value, found.points[0])
        if not problem.reached(score_set, point):
            return NOTHING
        return Inside(point, rest + float(found.cost[0]), rest + float(found.bound[0]))


def row_cells(problem: Problem) -> RowCells:
    """The cells of the only row of a problem about trees."""
    model = problem.model
    assert isinstance(model, Trees)
    problem = with_numbers(problem)
    coarse, leaves = all_leaves(model, problem.space, problem.demands.margin)
    cells = narrow_cells(problem, coarse)
    leaves = over_finer(leaves, coarse, cells)
    tables = tabulate(problem, cells)
    return RowCells(problem, model, cells, leaves, tables, limits_of(problem, cells, tables))


def _in_cell(domain: Domain, j: int, cells: Cells, at: int) -> Domain:
    """The domain in which a column lies in one of its cells. A number moves to a point of its grid there, and not beside it."""
    if cells.levels:
        return domain.at_levels(j, np.arange(cells.count) == at)
    low, high = domain.within(j, cells.lower()[None, [at]], cells.upper()[None, [at]])
    stay = domain.stay.copy()
    stay[:, j] &= cells.index(domain.factuals[:, j]) == at
    return replace(domain.narrowed(j, low[0, 0], high[0, 0]), stay=stay)


def _of_nothing(space: Space) -> Trees:
    """A tree of a single leaf."""
    leaf, yes = np.zeros(1, dtype=np.intp), np.ones(1, dtype=np.bool_)
    cells = tuple(
        number_cells(np.empty(0)) if feature.levels is None else level_cells(len(feature.levels)) for feature in space
    )
    return Trees(leaf, leaf - 1, np.zeros(1), leaf - 1, yes, leaf, leaf, np.zeros((1, 1)), (), np.zeros(1), cells)
