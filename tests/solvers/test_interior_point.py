"""Quadratic forms over real numbers: against HiGHS on small problems, and a proof of its own on large ones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from butfor.model.questions import evaluate
from butfor.problem.costs import L2, Quadratic, price
from butfor.solvers.linear.interior_point import InteriorPoint, minimise
from butfor.solvers.milp.milp import Milp
from butfor.solvers.outcome import Status
from butfor.solvers.solver import Budget
from butfor.testing.problems import Kinds, random_problem

KINDS = Kinds(whole=False, levels=False, missing=False, features=5, relations=("margin",), costs=("l2",))


def quadratic(seed):
    """A random linear problem with a random quadratic form as cost, some of them singular, some with L2 added."""
    problem = random_problem(seed, "linear", KINDS)
    B = np.random.default_rng(seed).normal(size=(len(problem.space),) * 2)
    B[0] *= seed % 3 > 0
    cost = Quadratic(B.T @ B)
    return replace(problem, prices=price(cost + L2() if seed % 2 else cost, problem.space))


@pytest.mark.long
def test_agrees_with_highs():
    compared, tied = 0, []
    for seed in range(250):
        problem = quadratic(seed)
        if not InteriorPoint().accepts(problem.form()):
            continue
        ours, theirs = InteriorPoint().solve(problem, Budget()), Milp().solve(problem, Budget())
        assert ours.cost[0] == theirs.cost[0] or ours.cost[0] == pytest.approx(theirs.cost[0], rel=2e-6, abs=2e-6), seed
        if ours.status()[0] not in (Status.PROVEN_OPTIMAL, Status.PROVEN_INFEASIBLE):
            assert ours.bound[0] == pytest.approx(theirs.bound[0]), seed
            tied.append(seed)
        assert np.isinf(ours.cost[0]) or (problem.score_sets and problem.admits(ours.points)[0]), seed
        compared += 1
    assert compared > 80
    assert tied in ([], [30])  # the cheaper point has a score of exactly the threshold, and rounding decides


def test_each_of_800_columns_beside_its_neighbours():
    n, rng = 800, np.random.default_rng(0)
    Q = np.eye(n) - 0.25 * (np.eye(n, k=1) + np.eye(n, k=-1) + np.eye(n, k=28) + np.eye(n, k=-28))
    x, A = rng.uniform(size=n), rng.normal(size=(12, n)) / np.sqrt(n)
    b = A @ (rng.uniform(size=n) - x)
    d, bound = minimise(Q, -x, 1 - x, A, b)
    assert (A @ d >= b).all()
    assert ((d >= -x) & (d <= 1 - x)).all()
    assert 0 < d @ Q @ d - bound <= 1e-6 * bound


def test_says_when_nothing_meets_the_half_spaces():
    found = minimise(np.eye(3), -np.ones(3), np.ones(3), np.array([[1.0, 0, 0], [-1.0, 0, 0]]), np.array([0.5, 0.5]))
    assert found == (None, np.inf)


def test_what_lies_inside_stays():
    problem = next(
        p
        for p in map(quadratic, range(100))
        if p.score_sets[0].holds(evaluate(p.model, p.factuals))[0]
        and not p.demands.margin
        and InteriorPoint().accepts(p.form())
    )
    found = InteriorPoint().solve(problem, Budget())
    assert found.cost[0] <= 1e-9


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"model": "tree"}, "linear model"),
        ({"cost": frozenset({"l1", "quadratic"})}, "quadratic form"),
        ({"movable": frozenset({"whole"})}, "continuous"),
        ({"constraints": frozenset({"linear"})}, "constraints of the kinds linear"),
        ({"forced": True}, "forces"),
    ],
)
def test_refuses(changed, said):
    form = replace(quadratic(0).form(), forced=False, constraints=frozenset(), movable=frozenset({"continuous"}))
    refused = InteriorPoint().accepts(replace(form, **changed))
    assert not refused
    assert said in refused.why
