"""Relations are limits on what cells count: brute force agrees where all is finite, and the program elsewhere."""

from __future__ import annotations

import numpy as np
import pytest

from butfor.problem.constraints.relations import LinearRelation
from butfor.problem.problem import Problem
from butfor.solvers.ensemble import limits
from butfor.solvers.ensemble.branch_bound import EnsembleBranchBound
from butfor.solvers.ensemble.row_cells import row_cells
from butfor.solvers.milp.milp import Milp
from butfor.solvers.mixed.branch_bound import MixedBranchBound
from butfor.solvers.solver import AbstractSolver, Budget
from butfor.testing.problems import Kinds, random_problem
from butfor.testing.solver_contract import SolverContract
from tests.shorter import first
from tests.solvers.further import (
    RELATED,
    Related,
    admissible_points,
    agrees_with_the_program,
    with_both,
    with_implications,
    with_linear_relations,
)

COSTS = ("l1", "l2", "l0", "mix", "table")


class RelatedTrees(SolverContract):
    """Sums of one to four trees under relations."""

    solver = EnsembleBranchBound()
    form = "trees"
    kinds = Kinds(continuous=False, costs=COSTS, relations=("at most", "margin"))
    related: staticmethod[[Problem, int], Problem]

    def problem(self, seed: int) -> Problem:
        return self.related(random_problem(seed, self.form, self.kinds, 1 + seed % 4), seed)


class TestTreesUnderImplications(RelatedTrees):
    related = staticmethod(with_implications)


class TestTreesUnderSums(RelatedTrees):
    related = staticmethod(with_linear_relations)


class TestTreesUnderBoth(RelatedTrees):
    related = staticmethod(with_both)
    seeds = range(300)


class TestManyValues(TestTreesUnderBoth):
    """Grids are not told value by value, so that numbers are left to be found inside of cells."""

    seeds = range(10_000, 10_300)

    @pytest.fixture(autouse=True)
    def coarse(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(limits, "FEW_VALUES", 0)

    def test_a_number_inside_a_cell_is_a_point_of_its_grid(self) -> None:
        """A float above 2, where a cell begins, was taken for 2. It cost less, and the target was missed."""
        problem = self.problem(10_239)
        found = self.solver.solve(problem, Budget())
        assert found.cost[0] == pytest.approx(self.judge(problem), rel=2e-6)


class TestMixedModelsUnderBoth(SolverContract):
    """One to three trees and a linear model."""

    solver = MixedBranchBound()
    form = "mixed"
    kinds = Kinds(continuous=False, costs=COSTS, relations=("at most",))
    seeds = range(20_000, 20_300)

    def problem(self, seed: int) -> Problem:
        return RELATED[seed % 3](random_problem(seed, self.form, self.kinds, 1 + seed % 3), seed)


class TestMixedModelsOfManyValues(TestMixedModelsUnderBoth):
    """Sums and the linear model are left to be decided inside of cells."""

    seeds = range(30_000, 30_300)

    @pytest.fixture(autouse=True)
    def coarse(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(limits, "FEW_VALUES", 1)


LEFT_OPEN = {("mixed", with_linear_relations, 142), ("mixed", with_both, 83)}
"""Of these, the program of the whole model proves nothing, and so do the programs in its cells."""


@pytest.mark.parametrize("solver", [EnsembleBranchBound(), MixedBranchBound()], ids=["trees", "mixed"])
@pytest.mark.parametrize("related", RELATED)
@pytest.mark.parametrize("seeds", first(1, [range(15), range(15, 600)]))
@pytest.mark.shorter(1)
def test_real_numbers_as_the_program(solver: AbstractSolver, related: Related, seeds: range) -> None:
    both = binding = 0
    form, kept = ("mixed", ("at most",)) if solver.name == "mixed_branch_bound" else ("trees", ("at most", "margin"))
    for seed in (seed for seed in seeds if (form, related, seed) not in LEFT_OPEN):
        free = random_problem(seed, form, Kinds(costs=COSTS, relations=kept), 2 + seed % 3)
        problem = related(free, seed)
        if not (solver.accepts(problem.form()) and Milp().accepts(problem.form())):
            continue
        found = agrees_with_the_program(solver, problem, seed)
        binding += bool(found.cost[0] > solver.solve(free, Budget()).cost[0] + 1e-6)
        both += 1
    assert both > 0.6 * len(seeds)
    assert binding > 0.1 * len(seeds)


@pytest.mark.shorter(1)
@pytest.mark.parametrize("related", [with_implications, with_linear_relations])
@pytest.mark.parametrize("seeds", first(1, [range(40), range(40, 1000)]))
def test_no_row_that_keeps_relations_is_beyond_their_limits(related: Related, seeds: range) -> None:
    """For implications, all others are: each holds, or does not, in a whole cell."""
    kept = broken = 0
    for seed in seeds:
        problem = related(random_problem(seed, "trees", Kinds(relations=()), 1), seed)
        row, points = row_cells(problem), admissible_points(problem, seed, 200)
        before = np.repeat(problem.factuals, len(points), axis=0)
        holds = np.ones(len(points), dtype=np.bool_)
        for relation in problem.relations:
            holds &= relation.holds_between(problem.space, before, points)
        at = np.array(
            [
                start + cell.index(column)
                for start, cell, column in zip(row.tables.start[:-1], row.cells, points.T, strict=True)
            ]
        )
        within = (row.limits.side[:, at].sum(axis=1) <= row.limits.limit[:, None]).all(axis=0)
        assert within[holds].all(), seed
        assert not within[~holds].any() or problem.relations_of(LinearRelation), seed
        kept, broken = kept + holds.sum(), broken + (~within).sum()
    assert kept > 1000
    assert broken > 500
