"""Implications are kept by parting what is left: brute force agrees where all is finite, and the program elsewhere."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from butfor.problem.constraints.relations import Implication
from butfor.problem.problem import Problem
from butfor.solvers.choose import PROVING
from butfor.solvers.milp.milp import Milp
from butfor.solvers.outcome import Outcome
from butfor.solvers.parted.held import held
from butfor.solvers.parted.implied import ImpliedParts
from butfor.solvers.solver import AbstractSolver
from butfor.testing.problems import Kinds, random_problem
from butfor.testing.solver_contract import SolverContract
from tests.shorter import first
from tests.solvers.further import agrees_with_the_program, relaxed, with_implications

(SOLVER,) = (solver for solver in PROVING if isinstance(solver, ImpliedParts))


def no_one(solver: AbstractSolver, problem: Problem) -> Outcome:
    raise AssertionError(solver)


ADDED = ("l1", "l2", "l0", "mix", "table")


class Implied(SolverContract):
    """One to four implications of changes and ends, of numbers, levels and what may be missing."""

    solver = SOLVER
    kinds = Kinds(continuous=False, costs=ADDED, relations=("at most", "margin"))
    seeds = range(600)
    trees = 1

    def problem(self, seed: int) -> Problem:
        return with_implications(random_problem(seed, self.form, self.kinds, self.trees), seed)


class TestImpliedPartsOfTrees(Implied):
    form = "trees"


class TestImpliedPartsOfSums(Implied):
    form = "trees"
    trees = 3


class TestImpliedPartsOfObliqueTrees(Implied):
    form = "oblique tree"
    kinds = Kinds(continuous=False, costs=("l1", "l2"), relations=("at most",))


class TestImpliedPartsOfMixedModels(Implied):
    form = "mixed"
    kinds = Kinds(continuous=False, costs=("l1", "l0"), relations=("at most",), features=2)
    seeds = range(200)


@pytest.mark.parametrize("seeds", first(1, [range(40), range(40, 600)]))
def test_real_numbers_as_the_program(seeds: range) -> None:
    both = binding = 0
    for seed in seeds:
        free = random_problem(seed, "trees", Kinds(costs=("l1", "l0", "table"), relations=("at most",)), 1 + seed % 4)
        problem = with_implications(free, seed)
        if not (SOLVER.accepts(problem.form()) and Milp().accepts(problem.form())):
            continue
        found = agrees_with_the_program(SOLVER, problem, seed)
        binding += bool(found.cost[0] > relaxed(SOLVER, free) + 1e-6)
        both += 1
    assert both > 0.7 * len(seeds)
    assert binding > 0.1 * len(seeds)


@pytest.mark.parametrize("seeds", first(1, [range(25), range(25, 1000)]))
def test_each_admissible_row_that_keeps_it_lies_in_a_part_and_the_answer_in_none(seeds: range) -> None:
    """Every value of a fine list that the domain takes is asked."""
    parted = 0
    for seed in seeds:
        problem = with_implications(random_problem(seed, "trees", Kinds(relations=()), 1), seed)
        rng = np.random.default_rng(seed)
        points = np.array([[_value(rng, problem, j) for j in range(len(problem.space))] for _ in range(400)])
        points = points[[bool(problem.domain.admits(point[None])[0]) for point in points]]
        before = np.repeat(problem.factuals, len(points), axis=0)
        for relation in problem.relations_of(Implication):
            kept = relation.holds_between(problem.space, before, points)
            for broken in points[~kept][:1]:
                domains = [way.domain for way in SOLVER.ways(problem, relation, broken[None], no_one)]
                inside = np.array([[domain.admits(point[None])[0] for point in points] for domain in domains])
                assert (inside.any(axis=0) == kept).all(), seed
                parted += 1
    assert parted > 0.3 * len(seeds)


def _value(rng: np.random.Generator, problem: Problem, j: int) -> float:
    """A value that column `j` may take, often beside the end of something."""
    feature, own = problem.space.features[j], float(problem.factuals[0, j])
    if rng.random() < 0.2:
        return own
    if feature.levels is not None:
        return float(rng.integers(len(feature.levels)))
    if feature.step:
        return feature.low + feature.step * float(rng.integers(0, 1 + (feature.high - feature.low) // feature.step))
    edge = rng.choice([np.nan_to_num(own), feature.low]) + rng.choice([0.25, 0.5, 1.0, 1.5, 2.0, -1.0, -0.5, 0.0])
    if problem.domain.step[j]:
        return float(edge)
    return float(rng.choice([edge, np.nextafter(edge, np.inf), np.nextafter(edge, -np.inf), edge + 0.1]))


def test_an_own_number_beside_its_grid_stays_where_it_keeps_the_implication() -> None:
    free = random_problem(0, "trees", Kinds(continuous=False, levels=False, missing=False, relations=(), features=1), 1)
    own = free.factuals + 0.3
    domain = replace(free.domain, factuals=own)
    at = float(own[0, 0])
    above = held(domain, 0, lambda values: values >= at)
    assert above.admits(own)[0]
    assert not held(domain, 0, lambda values: values > at).admits(own)[0]
