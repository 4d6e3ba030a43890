"""Every solver against brute force or an independent judge: 2,000 and more random problems each."""

from __future__ import annotations

import numpy as np
import pytest
from continuous_oracle import cheapest, supported

from butfor.problem.problem import Problem
from butfor.solvers.brute_force import BruteForce
from butfor.solvers.ensemble_branch_bound import EnsembleBranchBound
from butfor.solvers.linear_exact import LinearExact
from butfor.solvers.milp import Milp
from butfor.solvers.solver import Budget
from butfor.solvers.tree_exact import TreeExact
from butfor.testing.problems import Kinds, random_problem
from butfor.testing.solver_contract import SolverContract


class Continuous(SolverContract):
    form = "linear"

    def judge(self, problem: Problem) -> float | None:
        return cheapest(problem) if supported(problem) else None


class TestTreeExact(SolverContract):
    solver = TreeExact()
    form = "tree"
    seeds = range(2700)


class TestMilpOnTrees(SolverContract):
    solver = Milp()
    form = "tree"
    seeds = range(700)


class TestMilpOnTreesWithRelations(SolverContract):
    solver = Milp()
    form = "tree"
    kinds = Kinds(continuous=False)
    seeds = range(10_000, 10_600)


class TestMilpOnEnsembles(SolverContract):
    """The tight order formulation with several trees (their importers come later)."""

    solver = Milp()
    form = "ensemble"
    kinds = Kinds(continuous=False, relations=("at most", "linear"))
    seeds = range(300)

    def problems(self, seeds):
        for seed in seeds:
            problem = random_problem(seed, "ensemble", self.kinds, trees=2 + seed % 4)
            if self.solver.accepts(problem.form()):
                yield seed, problem


class TestEnsembleBranchBound(SolverContract):
    """Sums of two to six trees over numbers, categories and missing values, one or several inequalities, margins, counts."""

    solver = EnsembleBranchBound()
    form = "ensemble"
    seeds = range(3400)

    def problems(self, seeds):
        for seed in seeds:
            problem = random_problem(seed, "ensemble", self.kinds, trees=2 + seed % 5)
            if self.solver.accepts(problem.form()):
                yield seed, problem


class TestMilpOnFiniteLinear(SolverContract):
    solver = Milp()
    form = "linear"
    kinds = Kinds(continuous=False)
    seeds = range(700)


class TestMilpOnContinuousLinear(Continuous):
    solver = Milp()
    kinds = Kinds(relations=("margin", "at most", "linear"), costs=("l1", "l0", "linf", "table"))
    seeds = range(700)


class TestMilpOnSquares(Continuous):
    solver = Milp()
    kinds = Kinds(relations=("margin", "at most", "linear"), costs=("l2", "mix"))
    seeds = range(500)


class TestLinearExact(Continuous):
    solver = LinearExact()
    kinds = Kinds(
        whole=False,
        levels=False,
        missing=False,
        classes=1,
        relations=("margin",),
        costs=("l1", "l2", "linf", "l0", "l1+l2"),
    )
    seeds = range(3200)


class TestLinearExactWide(Continuous):
    solver = LinearExact()
    kinds = Kinds(
        whole=False,
        levels=False,
        missing=False,
        features=6,
        relations=("margin",),
        costs=("l1", "l2", "linf", "l0", "l1+l2"),
    )
    seeds = range(2000)


class TestBruteForce(SolverContract):
    """The judge itself, for everything but its own judgement."""

    solver = BruteForce()
    form = "tree"
    seeds = range(200)


def test_linear_exact_and_milp_agree_where_both_accept() -> None:
    kinds = TestLinearExactWide.kinds
    compared = 0
    for seed in range(50_000, 50_300):
        problem = random_problem(seed, "linear", kinds)
        if LinearExact().accepts(problem.form()):
            a, b = LinearExact().solve(problem, Budget()).cost[0], Milp().solve(problem, Budget()).cost[0]
            assert np.isinf(a) == np.isinf(b)
            assert np.isinf(a) or a == pytest.approx(b, rel=2e-6, abs=2e-6)
            compared += 1
    assert compared > 80
