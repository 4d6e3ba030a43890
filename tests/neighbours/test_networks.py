"""The adversary of networks against every pattern of units above and below 0, with a program each."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, linprog, milp

from butfor.compiled.clock import now
from butfor.model.cells import number_cells
from butfor.model.linear import Linear, evaluate_linear
from butfor.model.network import Layer, Network
from butfor.model.questions import evaluate
from butfor.neighbours.ball import Ball, BallNorm
from butfor.neighbours.networks.relaxation import Relaxation
from butfor.neighbours.networks.search import NetworkAdversary
from butfor.neighbours.networks.unit_bounds import UnitBounds
from butfor.testing.problems import Kinds, random_problem, random_row

KINDS = Kinds(features=3)


def linear_within(model: Network, pattern: list[np.ndarray], point: np.ndarray, row: np.ndarray) -> tuple:
    """The sum as it is where the units have a pattern, and the rows `G s <= h` of where they have it."""
    constant, matrix = evaluate_linear(model.first, point[None])[0], np.where(np.isnan(point), 0.0, model.first.slope)
    G, h = [], []
    for layer, on in zip(model.layers, pattern, strict=True):
        sign = np.where(on, -1.0, 1.0)
        G.append(sign[:, None] * matrix)
        h.append(-sign * constant)
        slope = np.where(on, 1.0, layer.leak)
        constant = layer.intercept + layer.weight @ (slope * constant)
        matrix = layer.weight @ (slope[:, None] * matrix)
    return float(row @ constant), row @ matrix, np.vstack(G), np.concatenate(h)


def enumerated(model: Network, row: np.ndarray, point: np.ndarray, ball: Ball) -> float:
    """The smallest sum over all patterns, for a box without whole numbers."""
    best = np.inf
    sizes = [len(layer.leak) for layer in model.layers]
    for chosen in itertools.product([False, True], repeat=sum(sizes)):
        pattern, at = [], 0
        for size in sizes:
            pattern.append(np.array(chosen[at : at + size]))
            at += size
        constant, cost, G, h = linear_within(model, pattern, point, row)
        if ball.norm is BallNorm.L1:
            d = len(cost)
            unit, spread = np.eye(d), np.where(ball.radius > 0, 1 / np.where(ball.radius > 0, ball.radius, 1.0), 0.0)
            G = np.vstack([np.pad(G, ((0, 0), (0, d))), np.block([[unit, -unit], [-unit, -unit]])])
            G = np.vstack([G, np.concatenate([np.zeros(d), spread])])
            h, cost = np.concatenate([h, np.zeros(2 * d), [1.0]]), np.concatenate([cost, np.zeros(d)])
            bounds = [(-r, r) for r in ball.radius] + [(0.0, r) for r in ball.radius]
        else:
            bounds = [(-r, r) for r in ball.radius]
        found = linprog(cost, G, h, bounds=bounds)
        if found.status == 0:
            best = min(best, constant + found.fun)
    return best


def random_case(seed: int, norm: BallNorm) -> tuple[Network, np.ndarray, np.ndarray, Ball]:
    rng = np.random.default_rng(seed)
    problem = random_problem(seed, "network", KINDS)
    assert isinstance(problem.model, Network)
    point = random_row(rng, problem.space)
    numbers = np.array([not cells.levels and not len(cells.edges) for cells in problem.model.cells])
    radius = np.where(numbers, rng.choice([0.0, 0.3, 1.0, 2.5], len(point)), 0.0)
    none = np.zeros(len(point))
    return problem.model, rng.normal(size=problem.model.scores), point, Ball(norm, radius, none, none)


@pytest.mark.long
@pytest.mark.parametrize("seeds", [range(25), range(25, 80)])
@pytest.mark.parametrize("norm", [BallNorm.LINF, BallNorm.L1])
def test_the_smallest_sum_is_that_of_the_best_pattern(norm: BallNorm, seeds: range) -> None:
    moved = 0
    for seed in seeds:
        model, row, point, ball = random_case(seed, norm)
        if sum(len(layer.leak) for layer in model.layers) > 8:
            continue
        truth = enumerated(model, row, point, ball)
        found = NetworkAdversary(model, row, point, ball).worst()
        size = 1 + abs(truth)
        assert found.score == pytest.approx(truth, abs=1e-6 * size), f"seed {seed}"
        assert found.score <= truth + 1e-9 * size, f"seed {seed}: it is called better than it is"
        assert evaluate(model, found.point[None])[0] @ row == pytest.approx(truth, abs=1e-6 * size)
        assert ball.holds(np.nan_to_num(found.point - point)[None])[0]
        assert NetworkAdversary(model, row, point, ball, truth - 1e-6 * size).worst().score == np.inf
        some = NetworkAdversary(model, row, point, ball, truth + 1e-5 * size).worst()
        assert evaluate(model, some.point[None])[0] @ row < truth + 1e-5 * size
        moved += truth < evaluate(model, point[None])[0] @ row - 1e-6
    assert moved > 0.375 * len(seeds)


@pytest.mark.long
def test_a_round_ball_is_bounded_and_its_worst_is_near() -> None:
    for seed in range(60):
        model, row, point, ball = random_case(seed, BallNorm.L2)
        found = NetworkAdversary(model, row, point, ball).worst()
        shifts = ball.sample(np.random.default_rng(seed), 4000)
        scores = evaluate(model, point + shifts) @ row
        assert found.score <= scores.min() + 1e-9
        reached = evaluate(model, found.point[None])[0] @ row
        assert ball.holds(np.nan_to_num(found.point - point)[None])[0]
        assert reached <= scores.min() + 1e-3 * (1 + abs(reached))
        assert found.score == pytest.approx(reached, abs=3e-3 * (1 + abs(reached))), f"seed {seed}"


def test_whole_steps() -> None:
    for seed in range(60):
        model, row, point, _ = random_case(seed, BallNorm.LINF)
        rng = np.random.default_rng(seed)
        whole = np.where(
            np.isnan(point)
            | np.array([cells.levels or len(cells.edges) for cells in model.cells], dtype=bool)
            | (model.first.slope == 0).all(axis=0),
            0.0,
            rng.integers(0, 3, len(point)),
        )
        ball = Ball(BallNorm.LINF, whole, np.where(whole > 0, 1.0, 0.0), np.zeros(len(point)))
        every = itertools.product(*(np.arange(-r, r + 1) for r in whole))
        truth = min(evaluate(model, (point + np.array(shift))[None])[0] @ row for shift in every)
        found = NetworkAdversary(model, row, point, ball).worst()
        assert found.score == pytest.approx(truth, abs=1e-6 * (1 + abs(truth))), f"seed {seed}"
        assert evaluate(model, found.point[None])[0] @ row == pytest.approx(truth, abs=1e-9 * (1 + abs(truth)))


def wide_case(seed: int, norm: BallNorm) -> tuple[Network, np.ndarray, np.ndarray, Ball]:
    """A network of one hidden layer of 12 units over 4 numbers."""
    rng = np.random.default_rng(seed)
    layer = Layer(rng.choice([0.0, 0.0, 0.25], 12), rng.normal(size=(1, 12)), rng.normal(size=1))
    cells = (number_cells(np.empty(0)),) * 4
    first = Linear(rng.normal(size=12), rng.normal(size=(12, 4)), cells, (np.zeros((12, 2)),) * 4)
    none = np.zeros(4)
    return Network(first, (layer,)), np.ones(1), rng.normal(size=4), Ball(norm, rng.uniform(0.1, 1.0, 4), none, none)


@pytest.mark.parametrize("norm", [BallNorm.L2, BallNorm.L1])
def test_bounds_by_ascent_lie_below_and_near_those_of_programs(norm: BallNorm) -> None:
    gaps = []
    for seed in range(40):
        model, row, point, ball = wide_case(seed, norm)
        bounds = UnitBounds(model, row, point, ball, np.arange(4))
        nodes, rng = bounds.root(), np.random.default_rng(seed)
        for _ in range(3):
            nodes = bounds.children(nodes, rng.integers(0, 12, len(nodes.q)))
        near = ball.sample(rng, 3000)
        z, scores = evaluate(Network(model.first, (identity(12),)), point + near), evaluate(model, point + near)[:, 0]
        found, _, _ = bounds.raised(nodes, float(scores.max()))
        for held, bound in zip(nodes.held, found, strict=True):
            inside = ((z * held >= 0) | (held == 0)).all(axis=1)
            assert bound <= scores[inside].min(initial=np.inf) + 1e-9, f"seed {seed}"
        whole, _, _ = bounds.raised(bounds.root(), float(scores.min()))
        gaps.append(float(scores.min() - whole[0]))
    assert min(gaps) >= -1e-9
    assert np.median(gaps) < 1.5


def identity(units: int) -> Layer:
    return Layer(np.ones(units), np.eye(units), np.zeros(units))


def test_a_search_that_is_cut_short_calls_nothing_robust() -> None:
    """The time is over before it begins: what is told is a bound, and any row may be as bad as that."""
    for seed in range(20):
        model, row, point, ball = wide_case(seed, BallNorm.LINF)
        truth = NetworkAdversary(model, row, point, ball).worst().score
        hurried = NetworkAdversary(model, row, point, ball, truth - 1.0, until=now()).worst()
        assert hurried.score <= truth - 1.0
        assert ball.holds((hurried.point - point)[None])[0]


def by_integer_program(model: Network, row: np.ndarray, point: np.ndarray, radius: np.ndarray) -> float:
    """The smallest sum in a box, with a whole number for the side of each unit."""
    count, sizes = len(point), [len(layer.leak) for layer in model.layers]
    width = count + 2 * sum(sizes)
    low, high = np.append(-radius, np.zeros(width - count)), np.append(radius, np.ones(width - count))
    constant, matrix = (
        evaluate_linear(model.first, point[None])[0],
        np.pad(model.first.slope, ((0, 0), (0, width - count))),
    )
    rows, ends, at = [], [], count
    for layer, units in zip(model.layers, sizes, strict=True):
        middle, half = constant + matrix @ ((low + high) / 2), np.abs(matrix) @ ((high - low) / 2)
        least, most = middle - half - 1e-6, middle + half + 1e-6
        passed, side = np.eye(width)[at : at + units], np.eye(width)[at + units : at + 2 * units]
        low[at : at + units], high[at : at + units] = layer.leak * np.minimum(least, 0), np.maximum(most, 0)
        leak, lift = layer.leak[:, None], (1 - layer.leak)[:, None]
        rows += [matrix - passed, leak * matrix - passed]
        ends += [-constant, -layer.leak * constant]
        rows.append(passed - leak * matrix - lift * np.maximum(most, 0)[:, None] * side)
        ends.append(layer.leak * constant)
        rows.append(passed - matrix - lift * np.minimum(least, 0)[:, None] * side)
        ends.append(constant - (1 - layer.leak) * np.minimum(least, 0))
        constant, matrix = layer.intercept, layer.weight @ passed
        at += 2 * units
    whole = np.zeros(width)
    for start, units in zip(np.cumsum([count, *(2 * size for size in sizes)])[:-1], sizes, strict=True):
        whole[start + units : start + 2 * units] = 1
    found = milp(
        row @ matrix,
        integrality=whole,
        bounds=Bounds(low, high),
        constraints=LinearConstraint(np.vstack(rows), -np.inf, np.concatenate(ends)),
        options={"mip_rel_gap": 1e-9},
    )
    assert found.status == 0
    return float(row @ constant + found.fun)


@pytest.mark.parametrize("sizes", [(14,), (8, 6), (5, 5, 4)])
def test_boxes_of_wider_networks_as_by_an_integer_program(sizes: tuple[int, ...]) -> None:
    """Over many columns the planes above units do most of the work, and those of deeper layers are used."""
    for seed in range(12):
        rng = np.random.default_rng(seed)
        columns, layers = 9, []
        for units, after in zip(sizes, [*sizes[1:], 1], strict=True):
            leak = rng.choice([0.0, 0.0, 0.25], units)
            layers.append(Layer(leak, rng.normal(size=(after, units)), rng.normal(size=after)))
        cells = (number_cells(np.empty(0)),) * columns
        slope = rng.normal(size=(sizes[0], columns)) * rng.choice([1e-2, 1.0, 30.0], columns)
        model = Network(
            Linear(rng.normal(size=sizes[0]), slope, cells, (np.zeros((columns, 2)),) * columns), tuple(layers)
        )
        radius = rng.uniform(0.1, 0.6, columns) / np.abs(slope).max(axis=0)
        none = np.zeros(columns)
        row, point = np.array([rng.choice([-1.0, 1.0])]), rng.normal(size=columns)
        truth = by_integer_program(model, row, point, radius)
        ball = Ball(BallNorm.LINF, radius, none, none)
        found = NetworkAdversary(model, row, point, ball).worst()
        size = 1 + abs(truth)
        assert found.score == pytest.approx(truth, abs=1e-6 * size), f"seed {seed}"
        assert evaluate(model, found.point[None])[0] @ row == pytest.approx(truth, abs=1e-6 * size)
        assert NetworkAdversary(model, row, point, ball, truth - 1e-6 * size).worst().score == np.inf
        some = NetworkAdversary(model, row, point, ball, truth + 1e-5 * size).worst()
        assert evaluate(model, some.point[None])[0] @ row < truth + 1e-5 * size


def deep_case(seed: int, norm: BallNorm) -> tuple[Network, np.ndarray, np.ndarray, Ball]:
    """A network of three hidden layers over twenty numbers."""
    rng, sizes = np.random.default_rng(seed), (20, 8, 8, 8, 1)
    weights = [rng.normal(size=(many, few)) / np.sqrt(few) for few, many in itertools.pairwise(sizes)]
    layers = tuple(Layer(np.zeros(8), weight, rng.normal(size=len(weight)) / 4) for weight in weights[1:])
    first = Linear(rng.normal(size=8) / 4, weights[0], (number_cells(np.empty(0)),) * 20, (np.zeros((8, 2)),) * 20)
    none = np.zeros(20)
    return Network(first, layers), np.ones(1), rng.normal(size=20), Ball(norm, rng.uniform(0.1, 0.4, 20), none, none)


@pytest.mark.parametrize("norm", [BallNorm.L2, BallNorm.L1])
def test_the_ends_of_units_hold_in_a_round_ball_and_those_of_the_first_layer_are_reached(norm: BallNorm) -> None:
    seen = 0
    for seed in range(20):
        model, row, point, ball = deep_case(seed, norm)
        known = Relaxation(model, row, point, ball, np.arange(20))
        shifts = ball.sample(np.random.default_rng(seed), 2000)
        slopes = model.first.slope
        extreme = np.array([ball.worst_shift(sign * one) for one in slopes for sign in (1, -1)])
        z = evaluate_linear(model.first, point + np.vstack([shifts, extreme]))
        for at, layer in enumerate(model.layers):
            two_sided = [unit for place, unit in known.units if place == at]
            one_sided = np.setdiff1d(np.arange(len(layer.leak)), two_sided)
            assert not ((z[:, one_sided].min(axis=0) < 0) & (z[:, one_sided].max(axis=0) > 0)).any()
            passed = np.maximum(z, layer.leak * z)
            if at == 0:
                assert ((z[:, two_sided].min(axis=0) < 1e-12) & (z[:, two_sided].max(axis=0) > -1e-12)).all()
                high = known.high[known.first : known.first + len(two_sided)]
                np.testing.assert_allclose(
                    passed[:, two_sided].max(axis=0), high, rtol=0, atol=1e-11
                )  # the ends are widened for rounding
                seen += len(two_sided)
            z = layer.intercept + passed @ layer.weight.T
    assert seen >= 15


@pytest.mark.long
@pytest.mark.parametrize(("norm", "near"), [(BallNorm.L2, 1e-4), (BallNorm.L1, 1e-6)])
def test_a_round_ball_of_three_layers_is_bounded_and_its_worst_is_near(norm: BallNorm, near: float) -> None:
    for seed in range(4):
        model, row, point, ball = deep_case(seed, norm)
        found = NetworkAdversary(model, row, point, ball).worst()
        scores = evaluate(model, point + ball.sample(np.random.default_rng(seed), 5000)) @ row
        reached = float(evaluate(model, found.point[None])[0] @ row)
        assert ball.holds((found.point - point)[None])[0]
        assert found.score <= reached <= scores.min() + 1e-9
        assert found.score == pytest.approx(reached, abs=near * (1 + abs(reached)))
