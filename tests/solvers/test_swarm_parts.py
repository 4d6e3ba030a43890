"""The parts of the swarm, each alone: the update, the hypercube, prices, information value, clusters."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

import butfor as bf
from butfor.errors import InputError, UnsupportedProblemError
from butfor.explain.plan import plan
from butfor.formulation.oracles import model_oracle
from butfor.problem.problem import Problem
from butfor.solvers.swarm.appraiser import ahead, foremost
from butfor.solvers.swarm.ball_of_cost import BallOfCost
from butfor.solvers.swarm.diverse import cheapest_of_clusters, distinct, random_of_clusters
from butfor.solvers.swarm.hypercube import hypercube, moved
from butfor.solvers.swarm.kernels import move
from butfor.solvers.swarm.opening import opening
from butfor.solvers.swarm.pricing import Pricing
from butfor.solvers.swarm.swarm import Swarm, constriction
from butfor.solvers.swarm.telling import information_value, printed_information_value
from butfor.space.feature import Feature
from butfor.testing.problems import Kinds, random_problem

EVERYTHING = Kinds()


def problems(count: int, kinds: Kinds = EVERYTHING):
    for seed in range(count):
        try:
            yield seed, random_problem(seed, "ensemble", kinds, trees=2)
        except UnsupportedProblemError:
            continue


def positions(problem: Problem, cube, rng: np.random.Generator, count: int = 40):
    """Anywhere, also beyond the walls, and often at home."""
    out = rng.normal(0.3, 0.8, (count, cube.size))
    return np.where(rng.random(out.shape) < 0.3, cube.home[[0] * count], out)


def test_the_update_is_the_printed_sum() -> None:
    rng = np.random.default_rng(0)
    X, V, own = rng.random((3, 2, 7, 5))
    lead, mean = rng.random((2, 3, 5)), rng.random((2, 5))
    r1, r2, r3 = rng.random((7, 5)), rng.random((7, 5)), rng.random(7)
    c = np.array([0.7, 1.5, 1.4, 0.3])
    wide = np.full((2, 5), 100.0)
    before = [part.copy() for part in (X, V, own, lead, mean)]
    X2, V2 = move(X, V, own, lead, mean, -wide, wide, c, r1, r2, r3)
    follow = lead[:, np.arange(7) % 3]
    due = c[0] * V + c[1] * r1 * (own - X) + c[2] * r2 * (follow - X) + c[3] * r3[:, None] * (X - mean[:, None])
    assert np.allclose(V2, due, rtol=1e-12)
    assert np.allclose(X2, X + due, rtol=1e-12)
    assert all(np.array_equal(a, b) for a, b in zip(before, (X, V, own, lead, mean), strict=True)), "it is pure"


def test_a_particle_rests_at_a_wall() -> None:
    X, V = np.full((1, 1, 2), 0.5), np.array([[[3.0, -3.0]]])
    here, ones, r = np.full((1, 1, 2), 0.5), np.ones((1, 2)), np.zeros((1, 2))
    X2, V2 = move(X, V, here, here, here[0], 0 * ones, ones, np.array([1.0, 0.0, 0.0, 0.0]), r, r, np.zeros(1))
    assert X2.tolist() == [[[1.0, 0.0]]]
    assert V2.tolist() == [[[0.0, 0.0]]]


def test_constriction() -> None:
    eta, c1, c2 = constriction()
    assert (round(eta, 3), round(c1, 3), round(c2, 3)) == (0.730, 1.496, 1.496)
    assert constriction(k=0.5)[0] == eta / 2
    with pytest.raises(InputError, match="must exceed 4"):
        constriction(2.0, 2.0)


@pytest.mark.parametrize(("swarm", "settles"), [(Swarm(), True), (Swarm.printed(), False)], ids=["default", "printed"])
def test_the_default_settles_and_the_update_as_printed_does_not(swarm, settles) -> None:
    """Fifty particles drawn to one point, without walls: with the paper's ranges they scatter ever wider."""
    rng, wide = np.random.default_rng(0), np.full((1, 20), 1e300)
    X, V, here = rng.normal(size=(1, 50, 20)), np.zeros((1, 50, 20)), np.zeros((1, 50, 20))
    weights = np.array([*swarm.weights[:3], 0.0])
    for _ in range(100):
        r1, r2 = (low + (high - low) * rng.random((50, 20)) for low, high in swarm.draws[:2])
        X, V = move(X, V, here, here[:, :1], here[:, 0], -wide, wide, weights, r1, r2, np.ones(50))
    assert X.std() < 0.1 if settles else X.std() > 100


def test_every_position_decodes_to_an_admissible_point() -> None:
    """Grids, boxes, directions, moves, single categories, missing values, at most so many changes: whatever the position."""
    checked = 0
    for seed, problem in problems(300, Kinds(relations=("at most",))):
        cube, rng = hypercube(problem), np.random.default_rng(seed)
        if cube.impossible[0]:
            continue
        points = cube.decode(positions(problem, cube, rng), np.zeros(40, dtype=np.intp))
        tiled = problem.take(np.zeros(40, dtype=np.intp))
        assert tiled.domain.admits(points).all(), f"seed {seed}"
        must = ~problem.domain.stay[0]
        assert ((moved(tiled.factuals, points) & ~must).sum(axis=1) <= max(0, problem.most_changes - must.sum())).all()
        for j, feature in enumerate(problem.space.features):
            if feature.levels is not None:
                assert set(points[~np.isnan(points[:, j]), j]) <= set(range(len(feature.levels))), (
                    "exactly one category"
                )
        checked += 1
    assert checked > 150


def test_admissible_points_are_their_own_vertex() -> None:
    for seed, problem in problems(150, Kinds(relations=())):
        cube, rng = hypercube(problem), np.random.default_rng(seed)
        rows = np.zeros(40, dtype=np.intp)
        points = cube.decode(positions(problem, cube, rng), rows)
        again = cube.decode(cube.encode(points, rows), rows)
        assert np.allclose(points, again, rtol=0, atol=1e-12, equal_nan=True), f"seed {seed}"


def test_impossible_rows_are_those_without_any_value() -> None:
    for seed, problem in problems(200):
        cube = hypercube(problem)
        if not cube.impossible[0] and problem.most_changes >= len(problem.space):
            point = cube.decode(cube.home, np.zeros(1, dtype=np.intp))
            assert problem.domain.admits(point)[0], f"seed {seed}: the nearest point to home"


def test_prices_are_those_of_the_cost() -> None:
    for seed, problem in problems(200):
        cube, rng = hypercube(problem), np.random.default_rng(seed)
        rows = np.zeros(40, dtype=np.intp)
        points = cube.decode(positions(problem, cube, rng), rows)
        truth = problem.prices.total(problem.factuals[rows], points)
        assert np.allclose(Pricing(problem)(points, rows), truth, rtol=1e-12), f"seed {seed}"


def test_the_ball_holds_everything_cheaper() -> None:
    """Bounds shrunk to the ball of a cost lose no point that costs less."""
    for seed, problem in problems(100, Kinds(relations=())):
        rng, rows = np.random.default_rng(seed), np.zeros(40, dtype=np.intp)
        wide, tight = hypercube(problem), hypercube(problem)
        points = wide.decode(positions(problem, wide, rng), rows)
        cost = Pricing(problem)(points, rows)
        bar = np.median(cost[np.isfinite(cost)]) if np.isfinite(cost).any() else 1.0
        tight.shrink(np.array([0]), np.array([bar]))
        cheap = wide.encode(points[cost <= bar], rows[cost <= bar])
        assert (cheap >= tight.lower[0] - 1e-9).all(), f"seed {seed}"
        assert (cheap <= tight.upper[0] + 1e-9).all(), f"seed {seed}"


def test_valid_points_come_before_invalid_ones() -> None:
    first, second = np.array([[-1.0, 0.2, -1.0, 0.1]]), np.array([[3.0, 0.0, 2.0, 0.0]])
    assert foremost(first, second).tolist() == [2]
    assert ahead(first[0], second[0], np.full(4, 0.15), np.zeros(4)).tolist() == [True, False, True, True]
    assert ahead(np.zeros(1), np.ones(1), np.zeros(1), np.ones(1)).tolist() == [True], (
        "as good is good enough to move on"
    )


def test_information_value_by_hand() -> None:
    """Two categories, 4 rows that meet the target and 4 that do not, half a row added to each count."""
    codes, met = np.array([0.0, 0, 0, 1, 1, 1, 1, 0]), np.array([1, 1, 1, 1, 0, 0, 0, 0], dtype=bool)
    p, q = np.array([3.5, 1.5]) / 5, np.array([1.5, 3.5]) / 5
    due = float(((p - q) * np.log(p / q)).sum())
    assert information_value(codes, met, Feature("f", levels=("a", "b"))) == pytest.approx(due)


def test_information_value_leaves_outliers_out_and_takes_constants() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=500)
    met = x > 0
    with_outlier = np.append(x, 1e9), np.append(met, True)
    assert information_value(*with_outlier) == pytest.approx(information_value(x, met), rel=0.05)
    assert information_value(np.full(500, 3.0), met) < 1e-4
    assert information_value(np.full(500, np.nan), met) < 1e-4


def test_distinct_points_cheapest_first() -> None:
    points = np.array([[1.0, np.nan], [2.0, 0.0], [1.0, np.nan], [3.0, 0.0]])
    assert distinct(points, np.array([2.0, 1.0, 2.0, np.inf])).tolist() == [1, 0]


def test_one_of_each_cluster() -> None:
    rng = np.random.default_rng(0)
    heaps = np.concatenate([rng.normal(centre, 0.01, (20, 2)) for centre in (0.0, 5.0, 9.0)])
    cost = rng.random(60)
    chosen = cheapest_of_clusters(heaps, cost, 3, seed=0)
    assert sorted(chosen // 20) == [0, 1, 2]
    assert chosen[0] == np.argmin(cost)
    assert all(cost[i] == cost[20 * (i // 20) : 20 * (i // 20) + 20].min() for i in chosen)


def test_a_random_one_of_each_cluster() -> None:
    rng = np.random.default_rng(0)
    heaps = np.concatenate([rng.normal(centre, 0.01, (20, 2)) for centre in (0.0, 5.0, 9.0)])
    cost = rng.random(60)
    drawn = [random_of_clusters(heaps, cost, 3, seed) for seed in range(40)]
    assert all(sorted(chosen // 20) == [0, 1, 2] for chosen in drawn)
    assert all((np.diff(cost[chosen]) > 0).all() for chosen in drawn)
    assert len(np.unique(np.concatenate(drawn))) > 30, "not the cheapest alone"


def test_information_value_as_printed_by_hand() -> None:
    """Eq. 16: (p - q) p / q summed over bins, with half a row more in each."""
    codes = np.array([0.0, 0, 0, 1, 1, 1, 1, 1])
    met = np.array([True, True, False, True, False, False, False, False])
    p, q = np.array([2.5, 1.5]) / 4, np.array([1.5, 4.5]) / 6
    due = ((p - q) * p / q).sum()
    assert printed_information_value(codes, met, Feature("f", levels=("a", "b"))) == pytest.approx(due)


def balls_of_cost(most: float):
    """Problems of real numbers alone under squared prices, each with the ball of a cost."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        data = rng.normal(size=(50, 4)) * [1.0, 3.0, 0.1, 20.0]
        explainer = bf.Explainer(LinearRegression().fit(data, data.sum(axis=1)), data)
        case = explainer._asking.case(data[:3], bf.value(at_least=100.0), bf.L2())
        (part,) = plan(case.question, case.referee, case.factuals, case.before)
        yield data, part.problem, BallOfCost(hypercube(part.problem), np.array([most, 2 * most, np.inf]))


def test_the_restriction_procedure_is_the_printed_one() -> None:
    """z = x + min(|z - x|, R) (z - x) / |z - x|, then min and max with the ends of each column."""
    for data, problem, ball in balls_of_cost(0.5):
        rng = np.random.default_rng(1)
        X = rng.normal(size=(3, 30, ball.cube.size))
        found = ball.restricted(X)
        low, high, unit = data.min(axis=0), data.max(axis=0), np.sqrt(problem.prices.l2)
        for row, radius in enumerate(np.sqrt(ball.most)):
            for q in range(30):
                x, z = data[row], data[row] + X[row, q] * ball.cube.width
                gap = np.linalg.norm(unit * (z - x))
                z = x + min(gap, radius) * (z - x) / gap
                z = np.maximum(np.minimum(z, high), low)
                assert np.allclose(data[row] + found[row, q] * ball.cube.width, z, rtol=1e-9)


def test_starts_are_even_in_the_ball() -> None:
    """In d dimensions the distance of a point from the middle is below r R with probability r^d."""
    looked_at = 0
    for data, problem, ball in balls_of_cost(1e-6):
        moved = ball.drawn(2000, np.random.default_rng(0))[0] * ball.cube.width * np.sqrt(problem.prices.l2)
        share = np.linalg.norm(moved, axis=1) / 1e-3
        assert share.max() <= 1 + 1e-9
        if ((data[0] > data.min(axis=0) + 0.01) & (data[0] < data.max(axis=0) - 0.01)).all():  # the box cuts nothing
            assert np.allclose(np.quantile(share**4, [0.25, 0.5, 0.75]), [0.25, 0.5, 0.75], atol=0.04)
            assert np.abs(moved.mean(axis=0)).max() < 1e-4
            looked_at += 1
    assert looked_at > 2


def test_a_swarm_begins_with_single_changes() -> None:
    rng = np.random.default_rng(0)
    for _, problem in problems(15):
        cube = hypercube(problem)
        begin = opening(cube, model_oracle(problem), 3, 40, rng)
        points, rows = begin.points()
        assert rows.tolist() == np.repeat(np.arange(len(problem)), begin.count).tolist()
        assert begin.count <= 43
        which = np.tile(np.arange(begin.count), len(problem))
        positions = begin.positions(which, rows)
        assert np.array_equal(cube.decode(positions, rows), points, equal_nan=True)
        single = which >= 3
        away = [set(cube.owner[at].tolist()) for at in (positions != cube.home[rows])[single]]
        assert all(len(features) <= 1 for features in away)


def test_a_swarm_begins_within_memory_whatever_the_levels_are() -> None:
    """A change of each of 3,000 levels, as a position of 3,000 coordinates for each row, would be 580 MB."""
    levels = [f"z{i}" for i in range(3000)]
    X = pd.DataFrame({"zip": levels, "a": np.linspace(0, 1, 3000)})
    explainer = bf.Explainer(bf.black_box(lambda rows: rows["a"] > 0.5, classes=[False, True]), X)
    case = explainer._asking.case(X[:8], True, bf.L1())
    (part,) = plan(case.question, case.referee, case.factuals, case.before)
    oracle = part.problem.witnesses.oracle
    assert oracle is not None
    cube = hypercube(part.problem)
    tracemalloc.start()
    try:
        opening(cube, oracle, 10, 1000, np.random.default_rng(0)).points()
        assert tracemalloc.get_traced_memory()[1] < 250e6
    finally:
        tracemalloc.stop()
