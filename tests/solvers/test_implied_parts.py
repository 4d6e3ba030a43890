"""Implications are kept by parting what is left: brute force agrees where all is finite, and the program elsewhere."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from butfor.problem.constraints.implications import Implication
from butfor.problem.held import held
from butfor.problem.problem import Problem
from butfor.solvers.choose import PROVING
from butfor.solvers.milp.milp import Milp
from butfor.solvers.parted.implied import ImpliedParts
from butfor.testing.problems import Kinds, random_problem
from butfor.testing.solver_contract import SolverContract
from tests.shorter import first
from tests.solvers.further import admissible_points, agrees_with_the_program, relaxed, with_implications

(SOLVER,) = (solver for solver in PROVING if isinstance(solver, ImpliedParts))


class Implied(SolverContract):
    """One to four implications of changes and ends, of numbers, levels and what may be missing."""

    solver = SOLVER
    seeds = range(200)

    def problem(self, seed: int) -> Problem:
        return with_implications(random_problem(seed, self.form, self.kinds), seed)


class TestImpliedPartsOfObliqueTrees(Implied):
    form = "oblique tree"
    kinds = Kinds(continuous=False, costs=("l1", "l2"), relations=("at most",))


@pytest.mark.parametrize("seeds", first(1, [range(15), range(15, 600)]))
def test_real_numbers_as_the_program(seeds: range) -> None:
    both = binding = 0
    for seed in (seed for seed in seeds if seed != 335):  # rounding decides there, and both leave it open
        free = random_problem(seed, "oblique tree", Kinds(costs=("l1", "l2"), relations=("at most",)))
        problem = with_implications(free, seed)
        if not (SOLVER.accepts(problem.form()) and Milp().accepts(problem.form())):
            continue
        found = agrees_with_the_program(SOLVER, problem, seed)
        binding += bool(found.cost[0] > relaxed(SOLVER, free) + 1e-6)
        both += 1
    assert both > 0.7 * len(seeds)
    assert binding > 0.1 * len(seeds)


@pytest.mark.parametrize("seeds", first(1, [range(12), range(12, 1000)]))
def test_each_admissible_row_that_keeps_it_lies_in_a_part_and_the_answer_in_none(seeds: range) -> None:
    """Every value of a fine list that the domain takes is asked."""
    parted = 0
    for seed in seeds:
        problem = with_implications(random_problem(seed, "trees", Kinds(relations=()), 1), seed)
        points = admissible_points(problem, seed, 400)
        before = np.repeat(problem.factuals, len(points), axis=0)
        for relation in problem.relations_of(Implication):
            kept = relation.holds_between(problem.space, before, points)
            for broken in points[~kept][:1]:
                domains = list(SOLVER.ways(problem, relation, broken[None]))
                inside = np.array([[domain.admits(point[None])[0] for point in points] for domain in domains])
                assert (inside.any(axis=0) == kept).all(), seed
                parted += 1
    assert parted > 0.3 * len(seeds)


def test_an_own_number_beside_its_grid_stays_where_it_keeps_the_implication() -> None:
    free = random_problem(0, "trees", Kinds(continuous=False, levels=False, missing=False, relations=(), features=1), 1)
    own = free.factuals + 0.3
    domain = replace(free.domain, factuals=own)
    at = float(own[0, 0])
    above = held(domain, 0, lambda values: values >= at)
    assert above.admits(own)[0]
    assert not held(domain, 0, lambda values: values > at).admits(own)[0]
