"""Levels that may slip to others in the ball around an answer, against plain enumeration of all that a row may be seen as."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from butfor.model.questions import evaluate
from butfor.neighbours.ball import BallNorm
from butfor.neighbours.slips import Slips
from butfor.neighbours.trees.counterpart import counterpart, on_grid
from butfor.neighbours.trees.reply import reply
from butfor.neighbours.worst import worst_neighbours
from butfor.problem.problem import Problem
from butfor.solvers.choose import PROVING
from butfor.solvers.enumeration import Enumeration
from butfor.solvers.linear.exact import LinearExact
from butfor.solvers.linear.knapsack import LinearKnapsack
from butfor.solvers.robust.exact import RobustExact
from butfor.solvers.robust.linear import RobustLinear
from butfor.solvers.solver import Budget
from butfor.testing.problems import Kinds, random_problem, random_row
from tests.shorter import first
from tests.solvers.balls import agrees_with_enumeration, enumerated, neighbours
from tests.solvers.further import random_ball

ROBUST = RobustExact(PROVING)
TOGETHER = RobustLinear((LinearExact(), LinearKnapsack()))
KINDS = Kinds(costs=("l1", "l2", "l0", "mix", "table"), relations=("at most",), features=4, classes=3, bins=False)


def random_slips(rng: np.random.Generator, problem: Problem) -> Slips:
    """Any levels, neighbouring ones, or whatever may be seen as whatever."""
    seen = {}
    for j, feature in enumerate(problem.space):
        if feature.levels is None or rng.random() < 0.1:
            continue
        count = len(feature.levels)
        may = np.eye(count + 1, dtype=bool)
        way = rng.integers(4)
        steps = np.abs(np.subtract.outer(np.arange(count), np.arange(count)))
        may[:-1, :-1] |= (steps >= 0, steps <= 1, rng.random((count, count)) < 0.4, rng.random((count, count)) < 0.15)[
            way
        ]
        seen[j] = may
    return Slips(seen)


def slipping(seed: int, form: str, norm: BallNorm = BallNorm.LINF, shifted: int | None = None) -> Problem:
    """A random problem whose levels may slip. At most so many numbers are shifted, too (None: any).

    Half of those in which none is have no numbers at all.
    """
    rng = np.random.default_rng(seed)
    kinds = replace(KINDS, whole=shifted != 0 or seed % 2 == 0, continuous=form == "ensemble" and shifted != 0)
    problem = random_problem(seed, form, kinds, **({"trees": 1 + seed % 4} if form == "ensemble" else {}))
    ball = random_ball(rng, problem, norm)
    if shifted is not None:
        ball.radius[rng.permutation(np.flatnonzero(ball.radius))[shifted:]] = 0.0
    slips = random_slips(rng, problem)
    return problem.with_demands(ball=replace(ball, step=np.where(ball.radius > 0, ball.step, 0.0), slips=slips))


def is_less_free(problem: Problem, truth: float) -> bool:
    """Whether the slips alone make the answer dearer, or impossible."""
    without = problem.with_demands(ball=replace(problem.demands.ball, slips=Slips()))
    return enumerated(without) < truth


@pytest.mark.parametrize("seeds", first(1, [range(30), *(range(at, at + 75) for at in range(0, 900, 75))]))
@pytest.mark.parametrize("shifted", [0, None])
@pytest.mark.parametrize("form", ["ensemble", "linear"])
@pytest.mark.shorter(1)
def test_agrees_with_enumeration(form: str, shifted: int | None, seeds: range) -> None:
    judged = dearer = impossible = 0
    for seed in seeds:
        problem = slipping(seed, form, shifted=shifted)
        if not problem.demands.ball.slips or not ROBUST.accepts(problem.form()):
            continue
        truth = agrees_with_enumeration(ROBUST, problem, seed)
        judged, impossible = judged + 1, impossible + np.isinf(truth)
        dearer += is_less_free(problem, truth)
    assert judged > 0.2 * len(seeds)
    assert dearer > 0.06 * len(seeds)
    assert 0 < impossible < judged


@pytest.mark.long
@pytest.mark.parametrize("block", range(5))
@pytest.mark.parametrize("shifted", [0, None])
def test_a_network_agrees_with_enumeration(shifted: int | None, block: int) -> None:
    """About ties of a network, rounding decides."""
    judged = agreed = dearer = 0
    for seed in range(80 * block, 80 * block + 80):
        problem = slipping(seed, "network", shifted=shifted)
        if not problem.demands.ball.slips or not ROBUST.accepts(problem.form()):
            continue
        truth, found = enumerated(problem), ROBUST.solve(problem, Budget())
        message = f"seed {seed}: {truth} by enumeration, {found.cost} (bound {found.bound})"
        assert found.bound[0] <= truth + 1e-6, message
        assert found.cost[0] >= truth - 1e-6, message
        agreed += found.cost[0] == truth or abs(found.cost[0] - truth) <= 1e-6 * (1 + truth)
        judged, dearer = judged + 1, dearer + is_less_free(problem, truth)
    assert agreed > 0.9 * judged > 20
    assert dearer > 4


@pytest.mark.parametrize("block", range(2))
@pytest.mark.parametrize("norm", [BallNorm.L2, BallNorm.L1])
@pytest.mark.long
def test_round_balls_agree_with_enumeration_where_one_number_is_shifted(norm: BallNorm, block: int) -> None:
    judged = dearer = 0
    for seed in range(75 * block, 75 * block + 75):
        problem = slipping(seed, "ensemble", norm, shifted=1)
        ball = problem.demands.ball
        if not ball.slips or not ball.radius.any() or not ROBUST.accepts(problem.form()):
            continue
        truth, found = enumerated(problem), ROBUST.solve(problem, Budget(30.0))
        message = f"seed {seed}: {truth} by enumeration, {found.cost} (bound {found.bound})"
        assert found.cost[0] == truth or abs(found.cost[0] - truth) <= 1e-5 * (1 + truth), message
        assert found.bound[0] <= truth + 1e-6 * (1 + abs(truth)), message
        judged, dearer = judged + 1, dearer + is_less_free(problem, truth)
    assert judged > 7
    assert dearer > 1


@pytest.mark.shorter(1)
@pytest.mark.parametrize("norm", [BallNorm.L2, BallNorm.L1])
def test_round_balls_are_valid_and_bounds_are_bounds(norm: BallNorm) -> None:
    judged = 0
    for seed in range(40):
        problem = slipping(seed, "ensemble", norm)
        ball = problem.demands.ball
        if not ball.slips or not ball.radius.any() or not ROBUST.accepts(problem.form()):
            continue
        found = ROBUST.solve(problem, Budget(10.0))
        box = enumerated(problem.with_demands(ball=replace(ball, norm=BallNorm.LINF)))
        assert found.bound[0] <= box + 1e-6 * (1 + abs(box)), f"seed {seed}: the box around the ball allows {box}"
        if found.found()[0]:
            scores = evaluate(problem.model, neighbours(problem, found.points[0]))
            assert any(part.holds(scores).all() for part in problem.score_sets), f"seed {seed}"
            judged += 1
    assert judged > 5


@pytest.mark.shorter(1)
@pytest.mark.parametrize("block", first(1, range(2)))
@pytest.mark.parametrize("form", ["ensemble", "linear", "network"])
def test_the_adversary_is_exact(form: str, block: int) -> None:
    slipped = 0
    for seed in range(75 * block, 75 * block + 75):
        problem = slipping(seed, form, (BallNorm.LINF, BallNorm.L2, BallNorm.L1)[seed % 3 if form == "ensemble" else 0])
        row, A = random_row(np.random.default_rng(seed), problem.space), np.eye(problem.model.scores)
        near = neighbours(problem, row)
        scores = evaluate(problem.model, near)
        worst = worst_neighbours(problem.model, A, row, problem.demands.ball)
        assert np.allclose([found.score for found in worst], scores.min(axis=0)), f"seed {seed}"
        points = np.array([found.point for found in worst])
        assert np.allclose(np.diag(evaluate(problem.model, points)), scores.min(axis=0))
        for j, may in problem.demands.ball.slips.seen.items():
            if not np.isnan(row[j]):
                assert may[int(row[j]), points[:, j].astype(int)].all()
                slipped += int((points[:, j] != row[j]).any())
    assert slipped > 15


@pytest.mark.parametrize("block", first(1, range(4)))
def test_the_counterpart_is_the_smallest_leaf_and_a_reply_is_a_neighbour(block: int) -> None:
    differ = 0
    for seed in range(20 * block, 20 * block + 20):
        problem = slipping(seed, "ensemble")
        ball, rng = problem.demands.ball, np.random.default_rng(seed)
        model = on_grid(problem.model, ball)
        lacking = frozenset(j for j, feature in enumerate(problem.space) if feature.missing)
        low = counterpart(model, np.eye(model.scores), ball, lacking)
        direction, point = rng.normal(size=model.scores), random_row(rng, problem.space)
        (worst,) = worst_neighbours(model, direction[None], point, ball)
        replied = reply(model, direction, ball, point, worst.point)
        assert np.allclose(evaluate(replied, point[None])[0], evaluate(model, worst.point[None])[0], atol=1e-12)
        for _ in range(10):
            row = random_row(rng, problem.space)
            near = neighbours(problem, row)
            scores = evaluate(replied, row[None])[0]
            assert np.isclose(evaluate(model, near), scores, atol=1e-12).all(axis=1).any(), seed
            differ += not np.allclose(scores, evaluate(model, row[None])[0])
            by_tree = np.array([[model.value[model.leaves_at(each)] for each in near]])[0]
            smallest = model.base + by_tree.min(axis=0).sum(axis=0)
            assert (evaluate(low, row[None])[0] <= smallest + 1e-12).all()
            assert lacking or np.allclose(evaluate(low, row[None])[0], smallest)
    assert differ > 25


@pytest.mark.parametrize("seeds", first(1, [range(60), range(60, 150)]))
def test_rows_of_a_linear_model_together_are_as_each_alone(seeds: range) -> None:
    judged = 0
    for seed in seeds:
        problem = slipping(seed, "linear")
        if not problem.demands.ball.slips or not TOGETHER.accepts(problem.form()):
            continue
        found, alone = TOGETHER.solve(problem, Budget()), ROBUST.solve(problem, Budget())
        assert found.status() == alone.status(), f"seed {seed}"
        if found.found()[0]:
            assert found.cost[0] == pytest.approx(alone.cost[0], rel=1e-6, abs=1e-9), f"seed {seed}"
        judged += 1
    assert judged > 2 * len(seeds) // 15


@pytest.mark.parametrize("block", first(1, range(5)))
def test_whoever_tries_all_combinations_lets_levels_slip(block: int) -> None:
    judged = 0
    for seed in range(40 * block, 40 * block + 40):
        problem = slipping(seed, "linear")
        if not problem.demands.ball.slips or not Enumeration().accepts(problem.form()):
            continue
        truth, found = enumerated(problem), Enumeration().solve(problem, Budget())
        assert found.cost[0] == truth or found.cost[0] == pytest.approx(truth), f"seed {seed}"
        judged += 1
    assert judged > 10


@pytest.mark.long
def test_all_and_some_of_what_rows_may_be_seen_as() -> None:
    """A missing level stays missing, and no level becomes missing."""
    rng = np.random.default_rng(0)
    for seed in range(60):
        problem = slipping(seed, "linear")
        ball = problem.demands.ball
        if not ball.slips:
            continue
        rows = np.array([random_row(rng, problem.space) for _ in range(5)])
        some = ball.some_around(rng, rows, 400)
        for row, every, drawn in zip(rows, ball.around(rows), some, strict=True):
            assert len(every) == ball.count
            np.testing.assert_array_equal(every[0], row)
            wanted = {tuple(np.nan_to_num(near, nan=-9.0)) for near in neighbours(problem, row)}
            assert {tuple(np.nan_to_num(near, nan=-9.0)) for near in every} == wanted
            assert {tuple(np.nan_to_num(near, nan=-9.0)) for near in drawn} <= wanted
