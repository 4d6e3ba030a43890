"""Linear relations are kept by parting cells: brute force agrees where all is finite, and the program elsewhere."""

from __future__ import annotations

import pytest

from butfor.problem.problem import Problem
from butfor.solvers.choose import PROVING
from butfor.solvers.milp.milp import Milp
from butfor.solvers.parted.related import RelatedParts
from butfor.testing.problems import Kinds, random_problem
from butfor.testing.solver_contract import SolverContract
from tests.shorter import first
from tests.solvers.further import agrees_with_the_program, relaxed, with_implications, with_linear_relations

(SOLVER,) = (solver for solver in PROVING if isinstance(solver, RelatedParts))
COSTS = ("l1", "l2", "l0", "mix", "table")


class Related(SolverContract):
    """One to three relations, equations among them."""

    solver = SOLVER
    form = "trees"
    kinds = Kinds(continuous=False, costs=COSTS, relations=("at most", "margin"))
    seeds = range(600)
    trees = 1

    def problem(self, seed: int) -> Problem:
        return with_linear_relations(random_problem(seed, self.form, self.kinds, self.trees), seed)


class TestRelatedPartsOfTrees(Related):
    pass


class TestRelatedPartsOfSums(Related):
    trees = 3


@pytest.mark.parametrize("seeds", first(1, [range(40), range(40, 600)]))
def test_real_numbers_as_the_program(seeds: range) -> None:
    both = binding = 0
    for seed in seeds:
        free = random_problem(seed, "trees", Kinds(costs=COSTS, relations=("at most", "margin")), 1 + seed % 4)
        problem = with_linear_relations(free, seed)
        if not (SOLVER.accepts(problem.form()) and Milp().accepts(problem.form())):
            continue
        found = agrees_with_the_program(SOLVER, problem, seed)
        binding += bool(found.cost[0] > relaxed(SOLVER, free) + 1e-6)
        both += 1
    assert both > 0.4 * len(seeds)
    assert binding > 0.1 * len(seeds)


@pytest.mark.parametrize("seeds", first(1, [range(25), range(25, 400)]))
def test_implications_beside_them(seeds: range) -> None:
    both = 0
    for seed in seeds:
        kinds = Kinds(continuous=False, costs=("l1", "l0"), relations=("at most", "margin"))
        problem = with_implications(with_linear_relations(random_problem(seed, "trees", kinds, 3), seed), seed)
        solver = next(one for one in PROVING if one.accepts(problem.form()))
        agrees_with_the_program(solver, problem, seed)
        both += solver.name == "implied_parts"
    assert both == len(seeds)
