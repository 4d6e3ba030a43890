"""Answers that keep apart from earlier ones: brute force agrees, on every kind of model."""

from __future__ import annotations

import numpy as np

from butfor.problem.constraints.relations import Apart
from butfor.problem.problem import Problem
from butfor.solvers.apart.parting import FarApart
from butfor.solvers.choose import EXACT_SOLVERS
from butfor.testing.problems import Kinds, random_problem
from butfor.testing.solver_contract import SolverContract
from tests.solvers.further import with_earlier


class Apartness(SolverContract):
    """Problems in which the cheapest answers were given before."""

    solver = FarApart(EXACT_SOLVERS)
    kinds = Kinds(continuous=False, costs=("l1", "l2", "l0", "mix", "table"), relations=("at most", "linear"))
    seeds = range(300)
    trees = 1

    def problem(self, seed: int) -> Problem:
        return with_earlier(random_problem(seed, self.form, self.kinds, self.trees), seed)


class TestFarApartOnTrees(Apartness):
    form = "trees"


class TestFarApartOnSums(Apartness):
    form = "trees"
    trees = 3
    kinds = Kinds(continuous=False, costs=("l1", "l2", "l0", "mix"), relations=("at most",))


class TestFarApartOnLinear(Apartness):
    form = "linear"


def test_far_and_not_dominated_in_one_picture() -> None:
    problem = random_problem(0, "linear", Kinds(continuous=True, whole=False, levels=False, missing=False))
    space, start = problem.space, problem.factuals
    ahead = start + 0.2 * np.array([feature.range for feature in space])
    rule = Apart(tuple(ahead[0].tolist()), 0.1)
    steps = {0.0: True, 0.15: False, 0.2: False, 0.35: False, -0.2: True}
    for share, holds in steps.items():
        point = start + share * np.array([feature.range for feature in space])
        assert rule.holds_between(space, start, point)[0] == holds
