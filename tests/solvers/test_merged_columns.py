"""Columns that belong together: every kind of model against all combinations, tried one by one."""

from __future__ import annotations

from butfor.problem.problem import Problem
from butfor.solvers.choose import OF_ANY_ANSWER
from butfor.solvers.merged.columns import MergedColumns
from butfor.testing.problems import Kinds, random_problem
from butfor.testing.solver_contract import SolverContract, brute_force_cost
from tests.solvers.further import by_combination, with_combinations


class Merged(SolverContract):
    """The judge tries each combination, with the values of its columns kept, and knows nothing of merged columns."""

    solver = MergedColumns(OF_ANY_ANSWER)
    kinds = Kinds(continuous=False, features=4, relations=("at most", "linear", "implies"))
    trees = 1

    def problem(self, seed):
        found = random_problem(seed, self.form, self.kinds, trees=1 + seed % self.trees)
        return with_combinations(found, seed) if len(found.space) > 1 else found

    def judge(self, problem: Problem) -> float | None:
        return by_combination(problem, brute_force_cost)


class TestMergedTrees(Merged):
    form = "tree"
    kinds = Kinds(features=4, relations=("at most",))
    seeds = range(400)


class TestMergedSumsOfTrees(Merged):
    form = "ensemble"
    kinds = Kinds(features=4, relations=("at most",))
    trees = 4
    seeds = range(400)


class TestMergedSumsOfTreesWithRelations(Merged):
    form = "ensemble"
    trees = 3
    seeds = range(10_000, 10_200)


class TestMergedLinearModels(Merged):
    form = "linear"
    seeds = range(300)


class TestMergedObliqueTrees(Merged):
    form = "oblique tree"
    seeds = range(200)


class TestMergedObliqueForests(Merged):
    form = "oblique forest"
    trees = 2
    seeds = range(100)


class TestMergedNetworks(Merged):
    form = "network"
    seeds = range(100)


class TestMergedBothKinds(Merged):
    form = "mixed"
    trees = 2
    seeds = range(100)
