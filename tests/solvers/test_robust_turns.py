"""Searches for robust answers that are cut short go on in the next turn."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier

import butfor as bf
from butfor.neighbours.ball import Ball, BallNorm
from butfor.neighbours.trees.search import Worst
from butfor.problem.problem import Problem
from butfor.solvers.choose import PROVING
from butfor.solvers.combine import SetAnswer
from butfor.solvers.outcome import Status, Stopped
from butfor.solvers.robust import cutting, trees_in_ball
from butfor.solvers.robust.exact import RobustExact
from butfor.solvers.robust.round.round_zones import RoundZones
from butfor.solvers.robust.trees_in_ball import TreesInBall
from butfor.solvers.solver import Budget
from butfor.testing.problems import Kinds, random_problem
from tests.shorter import first

ROBUST = RobustExact(PROVING)
KINDS = Kinds(costs=("l1",), relations=(), missing=False, whole=False, levels=False, bins=False, features=3, classes=2)


def problem_in_ball(seed: int, form: str, norm: BallNorm) -> Problem:
    problem = random_problem(seed, form, KINDS, trees=2 + seed % 4)
    nothing = np.zeros(len(problem.space))
    return problem.with_demands(ball=Ball(norm, nothing + [0.1, 0.25, 0.4][seed % 3], nothing, nothing))


@pytest.mark.shorter(1)
@pytest.mark.parametrize("seeds", first(1, [range(8), range(8, 20)]))
@pytest.mark.parametrize(
    ("form", "norm"), [("ensemble", BallNorm.LINF), ("ensemble", BallNorm.L2), ("network", BallNorm.LINF)]
)
def test_a_search_that_ran_out_of_time_goes_on_in_the_next_turn(form: str, norm: BallNorm, seeds: range) -> None:
    gone_on = proven = 0
    for seed in seeds:
        problem = problem_in_ball(seed, form, norm)
        whole, seconds = ROBUST.solve(problem, Budget(20.0)), 1e-4
        if whole.stopped[0]:
            continue
        found, bounds = ROBUST.solve(problem, Budget(seconds)), [0.0]
        while found.stopped[0] == Stopped.TIME:
            (left,), seconds = found.rest, 2 * seconds
            assert left is not None, f"seed {seed}: the search is not kept"
            searches = dict(left.cut_short)
            found = left.go_on(Budget(seconds))
            gone_on += any(left.cut_short.get(score_set) is search for score_set, search in searches.items())
            bounds.append(float(found.bound[0]))
        assert found.rest[0] is None, f"seed {seed}: a search that is over is kept"
        assert found.status() == whole.status(), f"seed {seed}"
        assert np.allclose(found.cost, whole.cost, rtol=1e-6), f"seed {seed}"
        if len(problem.score_sets) == 1:
            assert bounds == sorted(bounds), f"seed {seed}: what was proven is forgotten"
        proven += found.status()[0] is Status.PROVEN_OPTIMAL
    assert gone_on > 0.15 * len(seeds)
    assert proven > 0.15 * len(seeds)


@pytest.mark.shorter(1)
@pytest.mark.parametrize(
    ("form", "norm"), [("ensemble", BallNorm.LINF), ("ensemble", BallNorm.L2), ("network", BallNorm.LINF)]
)
def test_ctrl_c_keeps_the_answer_and_the_bound(form: str, norm: BallNorm, monkeypatch: pytest.MonkeyPatch) -> None:
    def pressed(*_: object) -> None:
        raise KeyboardInterrupt

    kept = 0
    for seed in range(20):
        problem = problem_in_ball(seed, form, norm)
        whole = ROBUST.solve(problem, Budget(20.0))
        with monkeypatch.context() as patch:
            patch.setattr(cutting, "tell_round", pressed)
            budget = Budget(20.0)
            found = ROBUST.solve(problem, budget)
        if not budget.flag.raised:  # nothing was left to press it in
            continue
        assert found.stopped[0] == Stopped.INTERRUPTED
        assert found.bound[0] <= whole.cost[0] + 1e-6, f"seed {seed}"
        if np.isfinite(found.cost[0]):
            assert found.cost[0] >= whole.cost[0] - 1e-6, f"seed {seed}"
            assert problem.admits(found.points)[0]
            kept += 1
    assert kept > 3


@pytest.mark.parametrize("norm", ["linf", "l2"])
def test_deep_trees_without_a_counterpart_have_answers_among_the_data(norm, monkeypatch) -> None:
    monkeypatch.setattr(trees_in_ball, "counterpart", lambda *_: None)
    monkeypatch.setattr(TreesInBall, "under", lambda *_: SetAnswer(None, np.inf, 0.0, Stopped.TIME))
    monkeypatch.setattr(RoundZones, "learn", lambda search, found, upper, budget: budget.interrupt())
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X = X.iloc[:, :5]
    forest = RandomForestClassifier(10, random_state=0).fit(X, y)
    rows = X[forest.predict(X) == 0].iloc[:1]
    answer = bf.Explainer(forest, X).explain(rows, target=1, constraints=[bf.robust(0.01, norm=norm)]).only
    assert answer.found


@pytest.mark.parametrize("norm", [BallNorm.LINF, BallNorm.L2])
def test_nothing_is_said_of_a_ball_that_was_not_judged_in_time(norm, monkeypatch) -> None:
    cut_short = 0
    for seed in range(12):
        problem = problem_in_ball(seed, "ensemble", norm)
        whole = ROBUST.solve(problem, Budget(20.0))
        with monkeypatch.context() as patched:
            patched.setattr(trees_in_ball, "counterpart", lambda *_: None)  # it needs no judging
            patched.setattr(
                trees_in_ball, "worst_neighbours", lambda _, A, point, *__, **___: [Worst(np.nan, point)] * len(A)
            )
            found = ROBUST.solve(problem, Budget(20.0))
        assert not found.found().any()
        assert found.bound[0] <= whole.cost[0] * (1 + 1e-6) + 1e-6
        cut_short += found.stopped[0] == Stopped.TIME
    assert cut_short > 5
