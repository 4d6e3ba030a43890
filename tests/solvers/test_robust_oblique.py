"""Robust answers of oblique trees: whole numbers by plain enumeration, real ones by a program per leaf and row."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linprog
from sklearn.datasets import make_classification

import butfor as bf
from butfor.model.oblique import ObliqueTree
from butfor.model.questions import evaluate
from butfor.neighbours.ball import Ball, BallNorm
from butfor.neighbours.oblique.leaf_reach import LeafReach, Reached
from butfor.neighbours.shifts import shifts_of
from butfor.neighbours.worst import worst_neighbours
from butfor.problem.problem import Problem
from butfor.solvers.choose import PROVING
from butfor.solvers.outcome import Status
from butfor.solvers.robust.exact import RobustExact
from butfor.solvers.solver import Budget
from butfor.testing.problems import Kinds, random_problem
from butfor.trees import ObliqueTreeClassifier, TAOClassifier
from tests.shorter import first

ROBUST = RobustExact(PROVING)
WHOLE = Kinds(continuous=False, costs=("l1", "l0", "table"), relations=("at most",), features=3, classes=3)
REAL = Kinds(whole=False, levels=False, missing=False, costs=("l1", "l2"), relations=(), features=2, classes=2)


def problem_of(seed: int, kinds: Kinds, norm: BallNorm) -> Problem:
    """A random problem with a ball over the numbers that the tree reads as numbers."""
    problem = random_problem(seed, "oblique tree", kinds)
    rng, d = np.random.default_rng(seed), len(problem.space)
    step = np.array([feature.step if feature.levels is None else 0.0 for feature in problem.space])
    numbers = np.array([feature.levels is None for feature in problem.space])
    numbers &= np.array([not len(cells.edges) for cells in problem.model.cells])
    radius = np.where(step > 0, step * rng.integers(0, 3, d), rng.choice([0.1, 0.4, 1.0], d)) * numbers
    return problem.with_demands(ball=Ball(norm, radius, np.where(radius > 0, step, 0.0), np.zeros(d)))


def every_row(problem: Problem) -> np.ndarray:
    """All admissible rows of a problem of whole numbers and levels."""
    ways = []
    for j, feature in enumerate(problem.space):
        if feature.levels is not None:
            values = np.arange(len(feature.levels), dtype=float)
        else:
            step, low, high = (float(one[j]) for one in (problem.domain.step, *ends(problem)))
            values = np.arange(np.ceil(low / step), np.floor(high / step) + 1) * step
        ways.append(np.unique(np.append(values, [problem.factuals[0, j], np.nan] if feature.missing else values[0])))
        ways[-1] = np.unique(np.append(ways[-1], problem.factuals[0, j]))
    rows = np.array(list(itertools.product(*ways)))
    return rows[[bool(problem.admits(row[None])[0]) for row in rows]]


def ends(problem: Problem) -> tuple[np.ndarray, np.ndarray]:
    return problem.domain.extent.low, problem.domain.extent.high


def robust_on_grid(problem: Problem, row: np.ndarray) -> np.ndarray:
    """In which score sets all neighbours of a row in whole steps lie."""
    ball = problem.demands.ball
    ways = [
        [0.0] if np.isnan(x) or not r else np.arange(-np.round(r / s), np.round(r / s) + 1) * s
        for x, r, s in zip(row, ball.radius, ball.step, strict=True)
    ]
    scores = evaluate(problem.model, row + np.array(list(itertools.product(*ways))))
    return np.array([part.holds(scores).all() for part in problem.score_sets])


@pytest.mark.parametrize("block", first(1, range(8)))
def test_whole_numbers_agree_with_enumeration(block: int) -> None:
    judged = agreed = shifted = 0
    for seed in range(50 * block, 50 * block + 50):
        problem = problem_of(seed, WHOLE, BallNorm.LINF)
        if not ROBUST.accepts(problem.form()):
            continue
        best = np.inf
        for row in every_row(problem):
            cost = problem.prices.total(problem.factuals, row[None])[0]
            offsets = [part.offset for part in problem.score_sets]
            fine = robust_on_grid(problem, row)
            best = min([best, *(cost + off for off, ok in zip(offsets, fine, strict=True) if ok)])
        found = ROBUST.solve(problem, Budget())
        message = f"seed {seed}: {best} by enumeration, {found.cost} (bound {found.bound})"
        assert found.bound[0] <= best + 1e-6 * (1 + abs(best)) or best == found.bound[0], message
        if found.found()[0]:
            assert robust_on_grid(problem, found.points[0]).any(), message
            assert found.cost[0] >= best - 1e-6, message
        judged, shifted = judged + 1, shifted + problem.demands.ball.radius.any()
        equal = found.cost[0] == best or abs(found.cost[0] - best) <= 1e-6 * (1 + best)
        agreed += equal and found.status()[0] in (Status.PROVEN_OPTIMAL, Status.PROVEN_INFEASIBLE)
    assert agreed >= 0.95 * judged > 20  # about few ties of decisions, rounding decides
    assert shifted > 12


def clear_of(model: ObliqueTree, path, row: np.ndarray, ball: Ball) -> float:
    """The largest number by which all decisions into a leaf are taken at once, over a box or a diamond of shifts."""
    sign = np.where(path.right, 1.0, -1.0)
    z = sign * evaluate(model.gates, row[None])[0][path.gates]
    A = sign[:, None] * model.gates.slope[path.gates] * ball.radius
    d = len(row)
    rows, most = np.column_stack([-A, np.ones(len(z))]), z
    bounds, cost = [(-1, 1)] * d + [(None, 1e3)], np.append(np.zeros(d), -1.0)
    if ball.norm is BallNorm.L1:
        corners = np.array(list(itertools.product([-1.0, 1.0], repeat=d)))
        rows = np.vstack([rows, np.column_stack([corners, np.zeros(len(corners))])])
        most = np.append(z, np.ones(len(corners)))
    found = linprog(cost, rows, most, bounds=bounds)
    return -found.fun


def deep(problem: Problem, part, row: np.ndarray) -> float:
    """How deep some shift gets into a leaf that misses a set of scores: negative for a robust row."""
    model = problem.model
    missed = [path for path in model.paths if not part.holds(model.value[[path.node]])[0]]
    return max([clear_of(model, path, row, problem.demands.ball) for path in missed], default=-np.inf)


@pytest.mark.long
@pytest.mark.parametrize("seeds", [range(8), range(8, 50)])
@pytest.mark.parametrize("norm", [BallNorm.LINF, BallNorm.L1])
def test_an_answer_is_robust_and_no_cheaper_row_of_a_grid_is(norm: BallNorm, seeds: range) -> None:
    judged = proven = found_some = 0
    for seed in seeds:
        problem = problem_of(seed, REAL, norm)
        if not ROBUST.accepts(problem.form()):
            continue
        found = ROBUST.solve(problem, Budget())
        proven += found.status()[0] in (Status.PROVEN_OPTIMAL, Status.PROVEN_INFEASIBLE)
        low, high = ends(problem)
        count = 400 if len(problem.space) == 1 else 41
        grid = np.array(list(itertools.product(*(np.linspace(a, b, count) for a, b in zip(low, high, strict=True)))))
        grid = grid[problem.domain.admits(grid)]
        costs = problem.prices.total(np.repeat(problem.factuals, len(grid), axis=0), grid)
        rng = np.random.default_rng(seed)
        for part in problem.score_sets:
            cheaper = np.flatnonzero(costs + part.offset < found.bound[0] * (1 - 1e-6) - 1e-9)
            for at in rng.permutation(cheaper)[:60]:
                assert deep(problem, part, grid[at]) > -1e-7, f"seed {seed}: {grid[at]} is robust and cheaper"
        if found.found()[0]:
            point = found.points[0]
            assert min(deep(problem, part, point) for part in problem.score_sets) <= 1e-9, f"seed {seed}"
            found_some += found.cost[0] > 0
        judged += 1
    assert proven >= 0.95 * judged > 0.8 * len(seeds)  # if a ball touches a leaf, rounding decides
    assert found_some > 0.2 * len(seeds)


@pytest.mark.parametrize("seeds", first(1, [range(50), range(50, 150)]))
@pytest.mark.parametrize("norm", list(BallNorm))
def test_a_leaf_is_reached_iff_a_program_says_so(norm: BallNorm, seeds: range) -> None:
    seen = {Reached.NO: 0, Reached.YES: 0}
    for seed in seeds:
        problem = problem_of(seed, replace(REAL, features=4), norm)
        model, point, ball = problem.model, problem.factuals[0], problem.demands.ball
        reach = LeafReach(model, point, shifts_of(ball, point))
        for path in model.paths:
            way = reach.into(path)
            if way.reached is Reached.PERHAPS:
                continue
            seen[way.reached] += 1
            if way.reached is Reached.YES:
                assert model.leaf((point + way.shift)[None])[0] == path.node
                assert ball.holds(way.shift[None])[0]
            else:
                near = point + ball.sample(np.random.default_rng(seed), 300)
                assert (model.leaf(near) != path.node).all(), f"seed {seed}"
                if norm is not BallNorm.L2:
                    assert clear_of(model, path, point, ball) <= 1e-9
    assert min(seen.values()) > 2 * len(seeds) // 3


@pytest.mark.parametrize("seeds", first(1, [range(40), range(40, 100)]))
def test_the_worst_neighbour_is_the_worst_of_many(seeds: range) -> None:
    for seed in seeds:
        problem = problem_of(seed, Kinds(features=3, relations=()), BallNorm.LINF)
        model, point, ball = problem.model, problem.factuals[0], problem.demands.ball
        (worst, *_) = worst_neighbours(model, np.eye(model.scores)[:1], point, ball)
        near = point + ball.sample(np.random.default_rng(seed), 500)
        assert worst.score <= evaluate(model, near)[:, 0].min(), f"seed {seed}"
        below = worst_neighbours(model, np.eye(model.scores)[:1], point, ball, [worst.score])
        assert below[0].score == np.inf


@pytest.fixture(scope="module")
def oblique() -> tuple[pd.DataFrame, TAOClassifier]:
    X, y = make_classification(300, 4, n_informative=4, n_redundant=0, random_state=0)
    X = pd.DataFrame(X, columns=list("abcd"))
    return X, TAOClassifier(3, random_state=0).fit(X, y)


@pytest.mark.shorter(1)
@pytest.mark.parametrize("norm", ["linf", "l2", "l1"])
def test_every_neighbour_is_predicted_as_wanted(norm: str, oblique: tuple[pd.DataFrame, TAOClassifier]) -> None:
    X, model = oblique
    explainer = bf.Explainer(model, X)
    rows = X[model.predict(X) == 0].iloc[:5]
    plain = explainer.explain(rows, target=1)
    robust = explainer.explain(rows, target=1, constraints=[bf.robust(0.05, norm=norm)], time_limit=60.0)
    rng, width = np.random.default_rng(0), (X.max() - X.min()).to_numpy()
    for before, answer in zip(plain, robust, strict=True):
        assert answer.certificate.status is Status.PROVEN_OPTIMAL
        assert answer.cost >= before.cost - 1e-9
        assert ("all constraints hold", True) in answer.certificate.checks
        shifts = rng.uniform(-1, 1, (2000, 4)) * 0.05
        shifts[::3] = np.sign(shifts[::3]) * 0.05
        if norm != "linf":
            size = np.linalg.norm(shifts, ord=2 if norm == "l2" else 1, axis=1, keepdims=True)
            shifts *= np.minimum(1.0, 0.05 / size)
        near = pd.DataFrame(answer.point.to_numpy() + shifts * width, columns=list("abcd"))
        assert (model.predict(near) == 1).all()


def with_weights_times(factor: float) -> ObliqueTreeClassifier:
    """A tree of three decisions. The factor changes no prediction."""
    weights = np.zeros((7, 2))
    weights[:3] = [[1.0, -0.5], [0.7, 1.0], [-0.3, 1.0]]
    bias = np.array([-0.2, -0.3, 0.1, 0, 0, 0, 0])
    values = np.array([[0.5, 0.5]] * 3 + [[1, 0], [0, 1], [1, 0], [0, 1]])
    children = [1, 3, 5, -1, -1, -1, -1], [2, 4, 6, -1, -1, -1, -1]
    return ObliqueTreeClassifier(weights * factor, bias * factor, *children, values, ["no", "yes"])


def test_a_tree_with_small_weights_gets_the_same_answers() -> None:
    """Decisions have no unit: a real gap between two of them is no rounding because its number is small."""
    X = np.random.default_rng(1).uniform(-1, 1, (300, 2))
    rows = X[with_weights_times(1.0).predict(X) == "no"][[2, 4]]
    for ball in (bf.robust(0.05), bf.robust(0.05, norm="l2"), bf.robust({"x1": 0.05})):
        costs = []
        for factor in (1.0, 1e-13):
            explainer = bf.Explainer(with_weights_times(factor), data=X)
            answers = explainer.explain(rows, target="yes", constraints=[ball])
            assert all(answer.certificate.status is Status.PROVEN_OPTIMAL for answer in answers)
            costs.append([answer.cost for answer in answers])
        assert costs[1] == pytest.approx(costs[0], rel=2e-6)


@pytest.mark.long
def test_around_a_row() -> None:
    """The widest box and the largest ball of an oblique tree, against many rows inside and just outside."""
    X, y = make_classification(300, 3, n_informative=3, n_redundant=0, random_state=0)
    model = TAOClassifier(3, random_state=0).fit(X, y)
    explainer, rng, width = bf.Explainer(model, X), np.random.default_rng(0), X.max(axis=0) - X.min(axis=0)
    for row in X[model.predict(X) == 1][:3]:
        region = explainer.region(row[None], target=1)
        inside = region.low + rng.random((4000, 3)) * (region.high - region.low)
        inside[::2] = np.where(rng.random((2000, 3)) < 0.5, region.low, region.high)
        assert (model.predict(inside) == 1).all()
        for j in range(3):
            for side, end, out in ((region.high, X.max(axis=0), 1e-5), (region.low, X.min(axis=0), -1e-5)):
                if side[j] != end[j]:
                    low, high = region.low.copy(), region.high.copy()
                    (high if out > 0 else low)[j] += out * width[j]
                    middle, ball = (low + high) / 2, Ball(BallNorm.LINF, (high - low) / 2, np.zeros(3), np.zeros(3))
                    tree = explainer._reading.model
                    missed = [path for path in tree.paths if model.classes_[tree.value[path.node].argmax()] == 0]
                    assert max(clear_of(tree, path, middle, ball) for path in missed) > 0
        for norm in ("linf", "l2", "l1"):
            found = explainer.robustness(row[None], target=1, norm=norm)
            assert 0 < found.radius < 1
            assert model.predict(found.worst)[0] == 0
            ball = Ball(BallNorm(norm), found.radius * width, np.zeros(3), np.zeros(3))
            assert (model.predict(row + ball.sample(rng, 4000)) == 1).all()
            wider = Ball(BallNorm(norm), found.radius * width * 1.00001, np.zeros(3), np.zeros(3))
            assert wider.holds(found.worst - row)[0]
